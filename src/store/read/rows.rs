//! The rows that need a sentence when they can't be read.

use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;
use uuid::Uuid;

use crate::domain::{
    ClaimState, Desk, Event, EventKind, EventSubject, ItemId, RequestId, RoomId, Site,
    SiteCalendar, SiteId, SlotHoldId, StockHoldId,
};
use crate::store::connection::error::StoreError;
use crate::store::read::decode::unreadable;

#[derive(Debug, Deserialize)]
pub(crate) struct SiteRow {
    site_id: SiteId,
    name: String,
    time_zone: String,
    default_hold_seconds: i64,
    longest_hold_seconds: i64,
    renewals: i32,
    horizon_seconds: i64,
    is_default: bool,
    is_demo: bool,
}

impl TryFrom<SiteRow> for Site {
    type Error = StoreError;

    fn try_from(row: SiteRow) -> Result<Self, StoreError> {
        let zone = row
            .time_zone
            .parse()
            .map_err(|_| StoreError::UnknownTimeZone {
                zone: row.time_zone.clone(),
            })?;
        Ok(Self {
            id: row.site_id,
            name: row.name,
            calendar: SiteCalendar::new(zone),
            default_hold: TimeDelta::seconds(row.default_hold_seconds),
            longest_hold: TimeDelta::seconds(row.longest_hold_seconds),
            renewals: row.renewals,
            horizon: TimeDelta::seconds(row.horizon_seconds),
            is_default: row.is_default,
            is_demo: row.is_demo,
        })
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct EventRow {
    event_id: i64,
    at: DateTime<Utc>,
    what: String,
    slot_hold_id: Option<SlotHoldId>,
    stock_hold_id: Option<StockHoldId>,
    room_id: Option<RoomId>,
    item_id: Option<ItemId>,
    version: Option<i64>,
    subject: String,
    guest: String,
    quantity: Option<i32>,
    from_state: Option<ClaimState>,
    to_state: Option<ClaimState>,
    desk: Desk,
    reason: String,
    request_id: Option<Uuid>,
}

impl EventRow {
    /// Where a list goes on behind this event: a claim's life by version, everything else by number.
    pub(crate) fn place(&self, life_of_a_claim: bool) -> i64 {
        if life_of_a_claim {
            self.version.unwrap_or_default()
        } else {
            self.event_id
        }
    }
}

impl TryFrom<EventRow> for Event {
    type Error = StoreError;

    fn try_from(row: EventRow) -> Result<Self, StoreError> {
        let subject = match (
            row.slot_hold_id,
            row.stock_hold_id,
            row.room_id,
            row.item_id,
        ) {
            (Some(hold), _, Some(room), _) => EventSubject::SlotHold(hold, room),
            (_, Some(hold), _, Some(item)) => EventSubject::StockHold(hold, item),
            (None, None, Some(room), _) => EventSubject::Room(room),
            (None, None, None, Some(item)) => EventSubject::Item(item),
            (None, None, None, None) => EventSubject::Site,
            _ => return Err(unreadable("event")),
        };
        Ok(Self {
            id: row.event_id,
            at: row.at,
            kind: EventKind::from_word(&row.what).ok_or_else(|| unreadable("what"))?,
            subject,
            subject_name: row.subject,
            guest: row.guest,
            quantity: row.quantity,
            from: row.from_state,
            to: row.to_state,
            desk: row.desk,
            reason: row.reason,
            request: row.request_id.map(RequestId),
        })
    }
}
