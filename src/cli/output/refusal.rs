//! A refusal as an object for programs.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;

use crate::cli::failure::RefusalText;
use crate::cli::output::result::{to_json, to_value};
use crate::domain::{Refusal, SiteCalendar};

#[derive(Serialize)]
struct RefusalJson {
    refusal: &'static str,
    message: String,
    retryable: bool,
    details: Value,
}

/// A refusal, for programs; instants in the details have the site's offset, and a group's line is among them.
pub(crate) fn refusal_json(refused: &RefusalText) -> String {
    let mut details = to_value(&refused.refusal)["details"].take();
    with_offset(&mut details, &refused.calendar);
    if let Some(line) = refused.line {
        details["line"] = to_value(&line);
    }
    to_json(&RefusalJson {
        refusal: refused.refusal.code(),
        message: refused.sentence(),
        retryable: refused.refusal.is_retryable(),
        details,
    })
}

fn with_offset(details: &mut Value, calendar: &SiteCalendar) {
    match details {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text) if Refusal::INSTANTS.contains(&key.as_str()) => {
                        if let Ok(instant) = text.parse::<DateTime<Utc>>() {
                            *text = calendar.rfc3339(instant);
                        }
                    }
                    inner => with_offset(inner, calendar),
                }
            }
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| with_offset(value, calendar)),
        _ => {}
    }
}
