//! What a run's steps mean, in words: the locks that they took, what COMMIT and ROLLBACK would bring, and what it waits
//! for. Pure.

use std::collections::HashMap;

use serde_json::Value;

use crate::domain::Success;
use crate::domain::text::harmless;
use crate::store::stepping::trace::{Story, Told};
use crate::store::stepping::view::{Deadline, HeldLock, KnownFrom, StepPlace};

/// The names of a site's rooms and items, by number.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) rooms: HashMap<i64, String>,
    pub(super) items: HashMap<i64, String>,
}

impl Names {
    fn room(&self, id: &Value) -> String {
        named(&self.rooms, id, "room")
    }

    fn item(&self, id: &Value) -> String {
        named(&self.items, id, "item")
    }

    /// The room of a step: of its argument, which is a number or a row.
    fn room_of(&self, told: &Told) -> String {
        match told.argument("p_room") {
            Value::Object(row) => self.room(row.get("room_id").unwrap_or(&Value::Null)),
            id => self.room(id),
        }
    }
}

fn named(names: &HashMap<i64, String>, id: &Value, kind: &str) -> String {
    match id.as_i64().and_then(|id| names.get(&id)) {
        Some(name) => harmless(name),
        None => format!("{kind} #{}", number(id)),
    }
}

fn number(value: &Value) -> String {
    value
        .as_i64()
        .map_or_else(|| "?".into(), |number| number.to_string())
}

/// The locks on rows that the steps took.
pub(super) fn row_locks(story: &Story, names: &Names) -> Vec<HeldLock> {
    let mut locks: Vec<HeldLock> = Vec::new();
    for words in story.standing().filter_map(|told| row_lock(told, names)) {
        if !locks.iter().any(|lock| lock.words == words) {
            locks.push(HeldLock {
                words,
                known_from: KnownFrom::Steps,
            });
        }
    }
    locks
}

fn row_lock(told: &Told, names: &Names) -> Option<String> {
    let result = told.result();
    Some(match &*told.step.name {
        "begin_request" if result.is_null() => {
            "The request id: a twin of this press waits until this transaction ends.".into()
        }
        "lock_room" if !result.is_null() => format!(
            "{}, its row (FOR NO KEY UPDATE): nobody else decides about this room.",
            names.room(told.argument("p_room"))
        ),
        "lock_item" if !result.is_null() => format!(
            "{}, its row (FOR NO KEY UPDATE): nobody else takes or gives back its units.",
            names.item(told.argument("p_item"))
        ),
        "lock_slot_hold" if !result.is_null() => format!(
            "Room claim {}, its row (FOR NO KEY UPDATE), also against writers that go around the protocol.",
            number(told.argument("p_hold"))
        ),
        "lock_stock_hold" if !result.is_null() => format!(
            "Stock claim {}, its row (FOR NO KEY UPDATE), also against writers that go around the protocol.",
            number(told.argument("p_hold"))
        ),
        "expire_room" if result.as_i64() > Some(0) => format!(
            "The rows of the holds in {} that were due.",
            names.room(told.argument("p_room"))
        ),
        "expire_item" if result.as_i64() > Some(0) => format!(
            "The rows of the holds of {} that were due.",
            names.item(told.argument("p_item"))
        ),
        "place_slot" if !result.is_null() => format!(
            "Room claim {}, new on {} and not yet visible to others: a writer that goes around the protocol and wants \
             the same time waits for this transaction.",
            number(result),
            names.room_of(told)
        ),
        "replace_slot" if result == true => format!(
            "Room claim {}, at its new place on {}, not yet visible to others; its old place is not free before the \
             COMMIT.",
            number(told.argument("p_hold")),
            names.room_of(told)
        ),
        "exchange_slots" if result == true => format!(
            "Room claims {} and {}, at their new places, not yet visible to others.",
            number(&told.argument("p_first")["hold_id"]),
            number(&told.argument("p_second")["hold_id"])
        ),
        _ => return None,
    })
}

/// What COMMIT and ROLLBACK would bring, a sentence each.
pub(super) fn consequences(
    story: &Story,
    names: &Names,
    answered: bool,
) -> (Vec<String>, Vec<String>) {
    let (mut commit, mut roll_back): (Vec<String>, Vec<String>) = story
        .standing()
        .filter_map(|told| consequence(told, names))
        .unzip();
    let remembered = story
        .standing()
        .find(|told| told.step.name == "remember_outcome")
        .map(|told| told.argument("p_refusal").as_str());
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
    commit.push(kept.into());
    roll_back.push(lost.into());
    if !row_locks(story, names).is_empty() {
        roll_back.push("The locks are let go of, and whoever waits goes on.".into());
    }
    (commit, roll_back)
}

/// The deadline of a claim that the command itself makes: as it is being written, then as it was answered.
pub(super) fn deadline(story: &Story, place: &StepPlace) -> Option<Deadline> {
    if let StepPlace::Answered(answer) | StepPlace::Done(answer) = place {
        let (words, at) = match answer.outcome.as_ref().ok()? {
            Success::Slot(hold) => (format!("room claim {}", hold.id), hold.expires_at),
            Success::Stock(hold) => (format!("stock claim {}", hold.id), hold.expires_at),
            Success::Group(group) => {
                let slots = group.slots.iter().filter_map(|hold| hold.expires_at);
                let stock = group.stock.iter().filter_map(|hold| hold.expires_at);
                (format!("group {}", group.id), slots.chain(stock).min())
            }
            Success::Room(_) | Success::Item(_) => return None,
        };
        return at.map(|at| Deadline { words, at });
    }
    let placed = story
        .standing()
        .find(|told| told.step.name == "place_slot")?;
    Some(Deadline {
        words: format!("room claim {}", number(placed.result())),
        at: placed.argument("p_expires_at").as_str()?.parse().ok()?,
    })
}

/// What stands with a COMMIT, and what becomes of it with a ROLLBACK.
fn consequence(told: &Told, names: &Names) -> Option<(String, String)> {
    Some(match &*told.step.name {
        "record_slot" | "record_stock" => {
            let kind = if told.step.name == "record_slot" {
                "Room"
            } else {
                "Stock"
            };
            let hold = number(told.argument("p_hold"));
            let what = told.argument("p_what").as_str().unwrap_or("changed");
            let kept = format!(
                "{kind} claim {hold} is {} for everybody to see.",
                done(what)
            );
            let lost = match told.argument("p_from").as_str() {
                None => format!("{kind} claim {hold} was never there."),
                Some(from) => format!("{kind} claim {hold} stays {from}, as it was."),
            };
            (kept, lost)
        }
        "record_house" => {
            let place = match told.argument("p_room") {
                Value::Null => names.item(told.argument("p_item")),
                room => names.room(room),
            };
            match told.argument("p_what").as_str() {
                Some("added") => (
                    format!("New for everybody to see: {place}."),
                    format!("Never there: {place}."),
                ),
                Some("retired") => (
                    format!("Retired for everybody to see: {place}."),
                    format!("Stays in use: {place}."),
                ),
                _ => {
                    let change = told.argument("p_quantity").as_i64().unwrap_or(0);
                    (
                        format!("The count of {place} changes by {change:+}."),
                        format!("The count of {place} stays as it was."),
                    )
                }
            }
        }
        "expire_room" | "expire_item" => {
            let expired = told.result().as_i64().filter(|expired| *expired > 0)?;
            let place = if told.step.name == "expire_room" {
                names.room(told.argument("p_room"))
            } else {
                names.item(told.argument("p_item"))
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

/// What the innermost step waits for, given the kind of lock that it wants.
pub(super) fn awaited(step: Option<&Told>, kind: &str, names: &Names) -> String {
    const CHANGED_ROW: &str = "a row that another transaction has locked or changed";
    let Some(told) = step else {
        return CHANGED_ROW.into();
    };
    let argument = |name| told.argument(name);
    match &*told.step.name {
        "begin_request" => "the answer to a twin of this request, which is under way".into(),
        "lock_room" => format!("the lock on {}", names.room(argument("p_room"))),
        "lock_item" => format!("the lock on {}", names.item(argument("p_item"))),
        "lock_slot_hold" => format!(
            "the row of room claim {}, which another transaction has locked or changed",
            number(argument("p_hold"))
        ),
        "lock_stock_hold" => format!(
            "the row of stock claim {}, which another transaction has locked or changed",
            number(argument("p_hold"))
        ),
        "place_slot" | "replace_slot" | "exchange_slots" if kind == "transactionid" => {
            "whether another transaction keeps what it has written for the same time and not committed".into()
        }
        _ => CHANGED_ROW.into(),
    }
}
