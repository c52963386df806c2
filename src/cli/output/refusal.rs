//! A refusal as an object for programs.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;

use crate::domain::{Refusal, SiteCalendar};

use super::to_json;

#[derive(Serialize)]
struct RefusalJson {
    refusal: &'static str,
    message: String,
    retryable: bool,
    details: Value,
}

/// A refusal, for programs; instants in the details have the site's offset.
pub fn refusal_json(refusal: &Refusal, calendar: &SiteCalendar) -> String {
    to_json(&RefusalJson {
        refusal: refusal.code(),
        message: refusal.sentence(calendar),
        retryable: refusal.is_retryable(),
        details: details(refusal, calendar),
    })
}

/// The keys under which a refusal's details have instants. Never a guest's own words.
const INSTANTS: [&str; 7] = [
    "from",
    "to",
    "occupied_until",
    "expires_at",
    "expired_at",
    "horizon",
    "gap_at",
];

fn details(refusal: &Refusal, calendar: &SiteCalendar) -> Value {
    let mut value = serde_json::to_value(refusal).unwrap_or_default();
    let mut details = value["details"].take();
    for key in INSTANTS {
        if let Some(Value::String(text)) = details.get_mut(key)
            && let Ok(instant) = text.parse::<DateTime<Utc>>()
        {
            *text = calendar.rfc3339(instant);
        }
    }
    details
}
