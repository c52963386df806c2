//! Words that the answers to several actions, and what is said of claims that have ended, are made of.

use chrono::{DateTime, Utc};

use crate::console::model::Model;
use crate::domain::{Group, SlotHold, StockHold};

/// The room and the period of a claim.
pub(crate) fn slot(model: &Model, claim: &SlotHold) -> String {
    format!(
        "{} {}",
        claim.room_name,
        model.calendar().span(&claim.period)
    )
}

/// The quantity and the item of a claim.
pub(crate) fn stock(claim: &StockHold) -> String {
    format!("{} of {}", claim.quantity, claim.item_name)
}

/// A group by its number, and how many claims it has.
pub(crate) fn group(group: &Group) -> String {
    match group.slots.len() + group.stock.len() {
        1 => format!("group {}, 1 claim", group.id),
        claims => format!("group {}, {claims} claims", group.id),
    }
}

/// The deadline that the held members of a group share.
pub(crate) fn group_deadline(group: &Group) -> Option<DateTime<Utc>> {
    let slots = group.slots.iter().map(|hold| hold.expires_at);
    let stock = group.stock.iter().map(|hold| hold.expires_at);
    slots.chain(stock).flatten().max()
}

/// ` until 10:34`; nothing where there is no deadline.
pub(crate) fn until(model: &Model, deadline: Option<DateTime<Utc>>) -> String {
    let clock_time = |at| format!(" until {}", model.calendar().clock_time(at));
    deadline.map_or(String::new(), clock_time)
}

/// `, Müller`; nothing where no guest is written down.
pub(crate) fn guest(name: &str) -> String {
    if name.is_empty() {
        String::new()
    } else {
        format!(", {name}")
    }
}
