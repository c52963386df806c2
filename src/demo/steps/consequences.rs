//! What would become of a transaction.

use serde_json::Value;

use crate::demo::steps::locks::row_locks;
use crate::demo::steps::names::{item, number, room};
use crate::store::stepping::{Names, TracedStep};
use crate::store::{StepPlace, StepView};

/// What would become of a transaction, a sentence each. Nothing any more when it is over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Consequences {
    /// With a COMMIT.
    pub on_commit: Vec<String>,
    /// With a ROLLBACK.
    pub on_rollback: Vec<String>,
}

/// What COMMIT and ROLLBACK would bring, a sentence each.
pub fn consequences(view: &StepView) -> Consequences {
    if view.is_over() {
        return Consequences::default();
    }
    let answered = matches!(view.place, StepPlace::Answered(_));
    let (mut on_commit, mut on_rollback): (Vec<String>, Vec<String>) = view
        .standing()
        .filter_map(|traced| consequence(traced, &view.names))
        .unzip();
    let remembered = view
        .standing()
        .find(|traced| traced.step.name == "remember_outcome")
        .map(|traced| traced.argument("p_refusal").as_str());
    let (kept, lost) = match remembered {
        // Busy is no answer (R23).
        Some(Some("busy")) => (
            "Nothing is remembered: the same request id asks anew.",
            "Nothing is remembered: the same request id asks anew.",
        ),
        Some(Some(_)) => (
            "The refusal is remembered: asking again with the same request id hears it again.",
            "The refusal is forgotten: the same request id asks anew.",
        ),
        Some(None) => (
            "The answer is remembered: asking again with the same request id hears it again and changes nothing.",
            "The answer is forgotten: the same request id asks anew.",
        ),
        None if answered => (
            "Nothing changes: this request was answered before.",
            "Nothing changes: this request was answered before.",
        ),
        None => (
            "It has not answered yet, so there can be no COMMIT.",
            "The request id is free to ask anew.",
        ),
    };
    on_commit.push(kept.into());
    on_rollback.push(lost.into());
    if !row_locks(view).is_empty() {
        on_rollback.push("The locks are let go of, and whoever waits goes on.".into());
    }
    Consequences {
        on_commit,
        on_rollback,
    }
}

/// What stands with a COMMIT, and what becomes of it with a ROLLBACK.
fn consequence(traced: &TracedStep, names: &Names) -> Option<(String, String)> {
    Some(match &*traced.step.name {
        "record_slot" | "record_stock" => {
            let kind = if traced.step.name == "record_slot" {
                "Room"
            } else {
                "Stock"
            };
            let hold = number(traced.argument("p_hold"));
            let what = traced.argument("p_what").as_str().unwrap_or("changed");
            let kept = format!(
                "{kind} claim {hold} is {} for everybody to see.",
                done(what)
            );
            let lost = match traced.argument("p_from").as_str() {
                None => format!("{kind} claim {hold} was never there."),
                Some(from) => format!("{kind} claim {hold} stays {from}, as it was."),
            };
            (kept, lost)
        }
        "record_house" => {
            let place = match traced.argument("p_room") {
                Value::Null => item(names, traced.argument("p_item")),
                id => room(names, id),
            };
            match traced.argument("p_what").as_str() {
                Some("added") => (
                    format!("New for everybody to see: {place}."),
                    format!("Never there: {place}."),
                ),
                Some("retired") => (
                    format!("Retired for everybody to see: {place}."),
                    format!("Stays in use: {place}."),
                ),
                _ => {
                    let change = traced.argument("p_quantity").as_i64().unwrap_or(0);
                    (
                        format!("The count of {place} changes by {change:+}."),
                        format!("The count of {place} stays as it was."),
                    )
                }
            }
        }
        "expire_room" | "expire_item" => {
            let expired = traced.result().as_i64().filter(|expired| *expired > 0)?;
            let place = if traced.step.name == "expire_room" {
                room(names, traced.argument("p_room"))
            } else {
                item(names, traced.argument("p_item"))
            };
            let holds = if expired == 1 {
                "One hold".to_owned()
            } else {
                format!("{expired} holds")
            };
            (
                format!("{holds} of {place} that ran out: expired."),
                format!(
                    "{holds} of {place} that ran out: left to whoever looks next, and in nobody's way."
                ),
            )
        }
        _ => return None,
    })
}

/// A change as it is said of a claim.
fn done(what: &str) -> &str {
    match what {
        "blocked" => "blocked for the house",
        "imported" => "taken over as confirmed",
        what => what,
    }
}
