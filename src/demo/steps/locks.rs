//! What a transaction keeps others from.

use crate::demo::steps::names::{item, number, room, room_of};
use crate::store::StepView;
use crate::store::stepping::{ListedLock, Names, TracedStep};

/// A lock, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldLock {
    /// What is locked, and what that keeps others from.
    pub words: String,
    /// How it is known.
    pub known_from: KnownFrom,
}

/// How a lock is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownFrom {
    /// From the steps passed: rows carry their locks themselves, and PostgreSQL lists them nowhere.
    Steps,
    /// From `pg_locks`.
    PgLocks,
}

/// The locks that a transaction holds: first those on rows that the steps took, then those that PostgreSQL lists.
pub fn locks(view: &StepView) -> Vec<HeldLock> {
    let mut locks = row_locks(view);
    locks.extend(view.listed_locks.iter().map(|lock| HeldLock {
        words: listed_lock(lock),
        known_from: KnownFrom::PgLocks,
    }));
    locks
}

/// The locks on rows that the steps took; none when it is over.
pub(super) fn row_locks(view: &StepView) -> Vec<HeldLock> {
    let mut locks: Vec<HeldLock> = Vec::new();
    if view.is_over() {
        return locks;
    }
    for words in view
        .standing()
        .filter_map(|traced| row_lock(traced, &view.names))
    {
        if !locks.iter().any(|lock| lock.words == words) {
            locks.push(HeldLock {
                words,
                known_from: KnownFrom::Steps,
            });
        }
    }
    locks
}

fn row_lock(traced: &TracedStep, names: &Names) -> Option<String> {
    let result = traced.result();
    Some(match &*traced.step.name {
        "begin_request" if result.is_null() => {
            "The request id: a twin of this press waits until this transaction ends.".into()
        }
        "lock_room" if !result.is_null() => format!(
            "{}, its row (FOR NO KEY UPDATE): nobody else decides about this room.",
            room(names, traced.argument("p_room"))
        ),
        "lock_item" if !result.is_null() => format!(
            "{}, its row (FOR NO KEY UPDATE): nobody else takes or gives back its units.",
            item(names, traced.argument("p_item"))
        ),
        "lock_slot_hold" if !result.is_null() => format!(
            "Room claim {}, its row (FOR NO KEY UPDATE), also against writers that go around the protocol.",
            number(traced.argument("p_hold"))
        ),
        "lock_stock_hold" if !result.is_null() => format!(
            "Stock claim {}, its row (FOR NO KEY UPDATE), also against writers that go around the protocol.",
            number(traced.argument("p_hold"))
        ),
        "expire_room" if result.as_i64() > Some(0) => format!(
            "The rows of the holds in {} that were due.",
            room(names, traced.argument("p_room"))
        ),
        "expire_item" if result.as_i64() > Some(0) => format!(
            "The rows of the holds of {} that were due.",
            item(names, traced.argument("p_item"))
        ),
        "place_slot" if !result.is_null() => format!(
            "Room claim {}, new on {} and not yet visible to others: a writer that goes around the protocol and wants \
             the same time waits for this transaction.",
            number(result),
            room_of(names, traced)
        ),
        "replace_slot" if result == true => format!(
            "Room claim {}, at its new place on {}, not yet visible to others; its old place is not free before the \
             COMMIT.",
            number(traced.argument("p_hold")),
            room_of(names, traced)
        ),
        "exchange_slots" if result == true => format!(
            "Room claims {} and {}, at their new places, not yet visible to others.",
            number(&traced.argument("p_first")["hold_id"]),
            number(&traced.argument("p_second")["hold_id"])
        ),
        _ => return None,
    })
}

fn listed_lock(lock: &ListedLock) -> String {
    match lock {
        ListedLock::Transaction { id, modes } => format!(
            "Transaction {id} ({modes}): whoever waits for a row that it has locked or written waits for its end."
        ),
        ListedLock::Table { name, modes } => {
            format!("Table {name} ({modes}): others may read and write it; nobody may alter it.")
        }
    }
}
