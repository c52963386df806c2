//! A house and a claim, for the tests of what is printed.
#![allow(clippy::unwrap_used)]

use chrono::{DateTime, Utc};

use crate::domain::{ClaimState, Period, SlotHold, SlotHoldId, examples};

pub(crate) use crate::domain::examples::site;

pub(crate) fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

pub(crate) fn slot_hold() -> SlotHold {
    let period = Period::new(utc("2027-07-01T09:00:00Z"), utc("2027-07-01T10:30:00Z")).unwrap();
    SlotHold {
        id: SlotHoldId(17),
        occupied_until: utc("2027-07-01T10:45:00Z"),
        state: ClaimState::Held,
        guest: "Müller \u{1b}[2J".into(),
        party: Some(8),
        expires_at: Some(utc("2027-06-30T12:10:00Z")),
        created_at: utc("2027-06-30T12:00:00Z"),
        changed_at: utc("2027-06-30T12:00:00Z"),
        ..examples::slot_hold(&examples::room(), period)
    }
}
