//! What the reports of a run add up to: which steps were passed, what they returned, and where it stands. Pure.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::domain::text::harmless;
use crate::domain::{ClaimId, SlotHoldId, Success};
use crate::store::stepping::notices::StepReport;
use crate::store::stepping::view::{Deadline, Return, Step, StepPlace, TracedStep};

/// The words and the source of every step, by name.
pub(super) type Texts = HashMap<String, StepText>;

/// A step's words and source.
#[derive(Debug, Clone)]
pub(super) struct StepText {
    pub(super) words: Arc<str>,
    pub(super) source: Arc<str>,
}

/// A step that was reached, with what is needed to tell how long it took.
struct Entry {
    traced: TracedStep,
    reached_at: DateTime<Utc>,
    /// How long it stood at the gates of the steps inside it.
    stopped: Duration,
}

/// Everything that a run has reported.
pub(super) struct Trace {
    texts: Texts,
    steps: Vec<Entry>,
    /// The steps that have not returned, outermost first: positions in `steps`.
    open: Vec<usize>,
}

impl Trace {
    pub(super) fn new(texts: Texts) -> Self {
        Self {
            texts,
            steps: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Hears a report; says which step has been reached, if one has.
    pub(super) fn hear(&mut self, report: StepReport) -> Option<Step> {
        match report {
            StepReport::Reached {
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
                self.steps.push(Entry {
                    traced: TracedStep {
                        step: step.clone(),
                        arguments,
                        returned: None,
                        undone: false,
                    },
                    reached_at: at,
                    stopped: Duration::ZERO,
                });
                Some(step)
            }
            StepReport::Returned {
                gate,
                result,
                kept,
                began,
                at,
            } => {
                let position = self
                    .steps
                    .iter()
                    .position(|entry| entry.traced.step.gate == gate)?;
                self.open.retain(|open| *open < position);
                let entry = &mut self.steps[position];
                let at_gate = span(entry.reached_at, began);
                entry.traced.returned = Some(Return {
                    result: without_nulls(result),
                    at,
                    took: span(began, at).saturating_sub(entry.stopped),
                });
                let stopped = at_gate + entry.stopped;
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
        for Entry { traced, .. } in &mut self.steps {
            traced.undone = traced.returned.is_some() && !kept.contains(&traced.step.gate);
        }
    }

    /// The innermost step that has not returned.
    pub(super) fn current(&self) -> Option<Step> {
        let position = *self.open.last()?;
        Some(self.steps[position].traced.step.clone())
    }

    /// The steps, in the order in which they were reached.
    pub(super) fn steps(&self) -> impl Iterator<Item = &TracedStep> {
        self.steps.iter().map(|entry| &entry.traced)
    }

    /// The deadline of a claim that the command itself makes: as it is being written, then as it was answered.
    pub(super) fn deadline(&self, place: &StepPlace) -> Option<Deadline> {
        if let StepPlace::Answered(answer) | StepPlace::Done(answer) = place {
            let (claim, at) = match answer.outcome.as_ref().ok()? {
                Success::Slot(hold) => (ClaimId::Slot(hold.id), hold.expires_at),
                Success::Stock(hold) => (ClaimId::Stock(hold.id), hold.expires_at),
                Success::Group(group) => {
                    let slots = group.slots.iter().filter_map(|hold| hold.expires_at);
                    let stock = group.stock.iter().filter_map(|hold| hold.expires_at);
                    (ClaimId::Group(group.id), slots.chain(stock).min())
                }
                Success::Room(_) | Success::Item(_) => return None,
            };
            return at.map(|at| Deadline { claim, at });
        }
        let placed = self
            .steps()
            .find(|traced| traced.stands() && traced.step.name == "place_slot")?;
        Some(Deadline {
            claim: ClaimId::Slot(SlotHoldId(placed.result().as_i64()?)),
            at: placed.argument("p_expires_at").as_str()?.parse().ok()?,
        })
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    fn reached(gate: i32, step: &str, kept: &str, at: &str) -> StepReport {
        serde_json::from_value(json!({
            "report": "reached", "gate": gate, "step": step, "call": format!("{step}()"),
            "arguments": {"p_room": 2}, "kept": kept, "at": format!("2026-12-03T10:00:{at}Z"),
        }))
        .unwrap()
    }

    fn returned(gate: i32, result: Value, kept: &str, began: &str, at: &str) -> StepReport {
        serde_json::from_value(json!({
            "report": "returned", "gate": gate, "result": result, "kept": kept,
            "began": format!("2026-12-03T10:00:{began}Z"), "at": format!("2026-12-03T10:00:{at}Z"),
        }))
        .unwrap()
    }

    fn standing(trace: &Trace) -> usize {
        trace.steps().filter(|traced| traced.stands()).count()
    }

    #[test]
    fn what_a_step_took_is_told_without_the_stops_inside_it() {
        let mut trace = Trace::new(Texts::new());
        trace.hear(reached(1, "lock_room_of_hold", "", "00"));
        let inner = trace.hear(reached(2, "lock_room", "", "11")).unwrap();
        assert_eq!(inner.depth, 1);
        trace.hear(returned(2, json!({"name": "Blue"}), "2 ", "31", "33"));
        assert_eq!(trace.current().unwrap().name, "lock_room_of_hold");
        trace.hear(returned(1, json!("locked"), "2 1 ", "10", "34"));
        assert_eq!(trace.current(), None);
        let took: Vec<u64> = trace
            .steps()
            .map(|traced| traced.returned.as_ref().unwrap().took.as_secs())
            .collect();
        // From 10 to 34, less the twenty at the inner gate.
        assert_eq!(took, [4, 2]);
    }

    #[test]
    fn r20_what_the_protocol_took_back_itself_does_not_stand() {
        let mut trace = Trace::new(Texts::new());
        trace.hear(reached(1, "lock_room", "", "00"));
        trace.hear(returned(1, json!({"name": "Blue"}), "1 ", "01", "02"));
        trace.hear(reached(2, "place_slot", "1 ", "03"));
        trace.hear(returned(2, json!(7), "1 2 ", "04", "05"));
        assert_eq!(standing(&trace), 2);
        trace.hear(reached(3, "expire_room", "1 ", "06"));
        assert_eq!(standing(&trace), 1);
        assert!(trace.steps().nth(1).unwrap().undone);
    }

    #[test]
    fn a_row_of_nulls_is_nothing() {
        let row = json!({"hold_id": null, "hold": {"guest": null}});
        assert_eq!(without_nulls(row), Value::Null);
        let row = json!({"hold_id": 7, "guest": {"name": "Eva", "note": null}});
        assert_eq!(
            without_nulls(row),
            json!({"hold_id": 7, "guest": {"name": "Eva"}})
        );
    }
}
