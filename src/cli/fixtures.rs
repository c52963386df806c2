//! A house and a claim, for the tests of what is printed.
#![allow(clippy::unwrap_used)]

use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::{
    ClaimState, Desk, Period, Purpose, RoomId, Site, SiteCalendar, SiteId, SlotHold, SlotHoldId,
    Version,
};

pub(crate) fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

pub(crate) fn site() -> Site {
    Site {
        id: SiteId(1),
        name: "Riverside House".into(),
        calendar: SiteCalendar::new(chrono_tz::Europe::London),
        default_hold: TimeDelta::minutes(10),
        longest_hold: TimeDelta::hours(24),
        renewals: 3,
        horizon: TimeDelta::days(730),
        is_default: true,
        is_demo: false,
    }
}

pub(crate) fn slot_hold() -> SlotHold {
    SlotHold {
        id: SlotHoldId(17),
        group: None,
        room: RoomId(1),
        room_name: "Blue room".into(),
        period: Period::new(utc("2027-07-01T09:00:00Z"), utc("2027-07-01T10:30:00Z")).unwrap(),
        occupied_until: utc("2027-07-01T10:45:00Z"),
        nights: None,
        purpose: Purpose::Guest,
        state: ClaimState::Held,
        guest: "Müller \u{1b}[2J".into(),
        note: String::new(),
        party: Some(8),
        expires_at: Some(utc("2027-06-30T12:10:00Z")),
        version: Version(1),
        desk: Desk("anna".into()),
        request: None,
        created_at: utc("2027-06-30T12:00:00Z"),
        changed_at: utc("2027-06-30T12:00:00Z"),
    }
}
