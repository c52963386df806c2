//! What the reports of a run add up to: which steps were passed, what they returned, and where it stands. Pure.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::domain::text::harmless;
use crate::store::stepping::notices::Report;
use crate::store::stepping::view::{PassedStep, Step};

/// The words and the source of every step, by name.
pub(super) type Texts = HashMap<String, StepText>;

/// A step's words and source.
#[derive(Debug, Clone)]
pub(super) struct StepText {
    pub(super) words: Arc<str>,
    pub(super) source: Arc<str>,
}

/// A step that was reached.
pub(super) struct Told {
    pub(super) step: Step,
    pub(super) arguments: Value,
    /// What it returned, once it has.
    pub(super) returned: Option<Returned>,
    /// Whether the block in which it ran was rolled back.
    pub(super) undone: bool,
    reached_at: DateTime<Utc>,
    /// How long it stood at the gates of the steps inside it.
    stopped: Duration,
}

pub(super) struct Returned {
    pub(super) result: Value,
    at: DateTime<Utc>,
    took: Duration,
}

/// Everything that a run has told.
pub(super) struct Story {
    texts: Texts,
    steps: Vec<Told>,
    /// The steps that have not returned, outermost first: positions in `steps`.
    open: Vec<usize>,
}

impl Story {
    pub(super) fn new(texts: Texts) -> Self {
        Self {
            texts,
            steps: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Hears a report; says which step has been reached, if one has.
    pub(super) fn hear(&mut self, report: Report) -> Option<Step> {
        match report {
            Report::Reached {
                gate,
                step,
                call,
                arguments,
                kept,
                at,
            } => {
                self.keep(&kept);
                let text = self.texts.get(&step);
                let step = Step {
                    gate,
                    words: text.map_or_else(|| "".into(), |text| text.words.clone()),
                    source: text.map_or_else(|| "".into(), |text| text.source.clone()),
                    name: step,
                    call: harmless(&call),
                    depth: self.open.len(),
                };
                self.open.push(self.steps.len());
                self.steps.push(Told {
                    step: step.clone(),
                    arguments,
                    returned: None,
                    undone: false,
                    reached_at: at,
                    stopped: Duration::ZERO,
                });
                Some(step)
            }
            Report::Returned {
                gate,
                result,
                kept,
                began,
                at,
            } => {
                let position = self.steps.iter().position(|told| told.step.gate == gate)?;
                self.open.retain(|open| *open < position);
                let told = &mut self.steps[position];
                let at_gate = span(told.reached_at, began);
                told.returned = Some(Returned {
                    result: without_nulls(result),
                    at,
                    took: span(began, at).saturating_sub(told.stopped),
                });
                let stopped = at_gate + told.stopped;
                if let Some(outer) = self.open.last() {
                    self.steps[*outer].stopped += stopped;
                }
                self.keep(&kept);
                None
            }
        }
    }

    /// Steps that have returned and are not on the list were taken back with their block.
    fn keep(&mut self, kept: &str) {
        let kept: Vec<i32> = kept
            .split(' ')
            .filter_map(|gate| gate.parse().ok())
            .collect();
        for told in &mut self.steps {
            told.undone = told.returned.is_some() && !kept.contains(&told.step.gate);
        }
    }

    /// The innermost step that has not returned.
    pub(super) fn current(&self) -> Option<Step> {
        self.innermost().map(|told| told.step.clone())
    }

    /// The same, with its arguments.
    pub(super) fn innermost(&self) -> Option<&Told> {
        self.open.last().map(|position| &self.steps[*position])
    }

    /// The steps that have returned.
    pub(super) fn passed(&self) -> Vec<PassedStep> {
        self.steps
            .iter()
            .filter_map(|told| {
                let returned = told.returned.as_ref()?;
                Some(PassedStep {
                    step: told.step.clone(),
                    returned: shown(&returned.result),
                    at: returned.at,
                    took: returned.took,
                    undone: told.undone,
                })
            })
            .collect()
    }

    /// The steps whose effects stand, in order; with the last one that was reached, if it only records what was done
    /// before it.
    pub(super) fn standing(&self) -> impl Iterator<Item = &Told> {
        self.steps.iter().filter(|told| match told.returned {
            Some(_) => !told.undone,
            None => told.step.name.starts_with("record_"),
        })
    }
}

impl Told {
    /// An argument.
    pub(super) fn argument(&self, name: &str) -> &Value {
        self.arguments.get(name).unwrap_or(&Value::Null)
    }

    /// What it returned; null as well for a row of nulls.
    pub(super) fn result(&self) -> &Value {
        self.returned
            .as_ref()
            .map_or(&Value::Null, |returned| &returned.result)
    }
}

fn span(from: DateTime<Utc>, to: DateTime<Utc>) -> Duration {
    (to - from).to_std().unwrap_or_default()
}

/// A row without its nulls; a row of nothing else is none.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: serde_json::Map<String, Value> = fields
                .into_iter()
                .map(|(name, value)| (name, without_nulls(value)))
                .filter(|(_, value)| !value.is_null())
                .collect();
            if fields.is_empty() {
                Value::Null
            } else {
                Value::Object(fields)
            }
        }
        value => value,
    }
}

/// A result for people.
fn shown(result: &Value) -> String {
    match result {
        Value::Null => "nothing".into(),
        Value::String(text) => harmless(text),
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{name} {}", shown(value)))
                .collect();
            fields.join(", ")
        }
        value => harmless(&value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    fn reached(gate: i32, step: &str, kept: &str, at: &str) -> Report {
        serde_json::from_value(json!({
            "report": "reached", "gate": gate, "step": step, "call": format!("{step}()"),
            "arguments": {"p_room": 2}, "kept": kept, "at": format!("2026-12-03T10:00:{at}Z"),
        }))
        .unwrap()
    }

    fn returned(gate: i32, result: Value, kept: &str, began: &str, at: &str) -> Report {
        serde_json::from_value(json!({
            "report": "returned", "gate": gate, "result": result, "kept": kept,
            "began": format!("2026-12-03T10:00:{began}Z"), "at": format!("2026-12-03T10:00:{at}Z"),
        }))
        .unwrap()
    }

    #[test]
    fn what_a_step_took_is_told_without_the_stops_inside_it() {
        let mut story = Story::new(Texts::new());
        story.hear(reached(1, "lock_room_of_hold", "", "00"));
        let inner = story.hear(reached(2, "lock_room", "", "11")).unwrap();
        assert_eq!(inner.depth, 1);
        story.hear(returned(2, json!({"name": "Blue"}), "2 ", "31", "33"));
        assert_eq!(story.current().unwrap().name, "lock_room_of_hold");
        story.hear(returned(1, json!("locked"), "2 1 ", "10", "34"));
        assert_eq!(story.current(), None);
        let took: Vec<u64> = story.passed().iter().map(|p| p.took.as_secs()).collect();
        // From 10 to 34, less the twenty at the inner gate.
        assert_eq!(took, [4, 2]);
    }

    #[test]
    fn r20_what_the_protocol_took_back_itself_does_not_stand() {
        let mut story = Story::new(Texts::new());
        story.hear(reached(1, "lock_room", "", "00"));
        story.hear(returned(1, json!({"name": "Blue"}), "1 ", "01", "02"));
        story.hear(reached(2, "place_slot", "1 ", "03"));
        story.hear(returned(2, json!(7), "1 2 ", "04", "05"));
        assert_eq!(story.standing().count(), 2);
        story.hear(reached(3, "expire_room", "1 ", "06"));
        assert_eq!(story.standing().count(), 1);
        assert!(story.passed()[1].undone);
    }

    #[test]
    fn a_row_of_nulls_is_nothing() {
        let row = json!({"hold_id": null, "hold": {"guest": null}});
        assert_eq!(shown(&without_nulls(row)), "nothing");
        let row = json!({"hold_id": 7, "guest": "\u{1b}[31m", "note": null});
        assert_eq!(shown(&without_nulls(row)), "guest ␛[31m, hold_id 7");
    }
}
