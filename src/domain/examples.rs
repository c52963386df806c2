//! A site, a room, an item and claims to begin with, for tests and benches: whoever needs another changes what differs, so
//! that a new field is spelled here alone.

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    ClaimState, Desk, Item, ItemId, Period, Room, Site, SiteCalendar, SiteId, SlotHold, StockHold,
    StockHoldId, Version,
};

/// A site in London with short holds.
pub fn site() -> Site {
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

/// A room by the hour, for eight people, without turnaround.
pub fn room() -> Room {
    Room::example()
}

/// Forty units, all available.
pub fn item() -> Item {
    Item {
        id: ItemId(1),
        name: "Breakfast".into(),
        total: 40,
        available: 40,
        held: 0,
        sold: 0,
        retired_at: None,
    }
}

/// A confirmed claim on a room, of nobody in particular, made at its start.
pub fn slot_hold(room: &Room, period: Period) -> SlotHold {
    SlotHold::example(room, period)
}

/// A sale of units to nobody in particular.
pub fn stock_hold(item: &Item, quantity: i32, made_at: DateTime<Utc>) -> StockHold {
    StockHold {
        id: StockHoldId(1),
        group: None,
        item: item.id,
        item_name: item.name.clone(),
        quantity,
        state: ClaimState::Confirmed,
        guest: String::new(),
        note: String::new(),
        expires_at: None,
        version: Version(1),
        desk: Desk("anna".into()),
        request: None,
        created_at: made_at,
        changed_at: made_at,
    }
}
