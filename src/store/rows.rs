//! What the database's answers and readings are made of. Every one is a `jsonb`: claims, groups, rooms and items read
//! themselves (the domain says which columns they have); here is what is around them, and what needs a sentence when it
//! can't be read.

use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sqlx::types::Json;
use uuid::Uuid;

use super::StoreError;
use crate::domain::{
    Answer, Claim, ClaimState, Desk, Event, EventKind, EventSubject, FailedLine, FileChange, Group,
    Item, ItemId, Refusal, RefusalAnswer, RequestId, Room, RoomId, ServerAnswer, Site,
    SiteCalendar, SiteChange, SiteId, SlotHold, SlotHoldId, StockHold, StockHoldId, Success,
};

pub(super) fn unreadable(what: &str) -> StoreError {
    StoreError::Fault(format!(
        "The database sent something that this program can't read ({what}). Run `keyrack check`; if all is well \
         there, this program and the database are of different versions."
    ))
}

/// What a function of the database gave, as what it is.
pub(super) fn read<T: DeserializeOwned>(
    value: Option<Value>,
    what: &'static str,
) -> Result<T, StoreError> {
    serde_json::from_value(value.unwrap_or(Value::Null)).map_err(|error| {
        // What it says may quote the value, and that a guest (R27): only where and of which kind.
        tracing::error!(what, category = ?error.classify(), "unreadable");
        unreadable(what)
    })
}

/// A list as the database sends it: text that is read once, straight into what it is.
pub(super) type List = Json<Box<RawValue>>;

/// The same for a list.
pub(super) fn read_list<T: DeserializeOwned>(
    list: Option<List>,
    what: &'static str,
) -> Result<T, StoreError> {
    let text = list.as_ref().map_or("null", |list| list.0.get());
    serde_json::from_str(text).map_err(|error| {
        tracing::error!(what, category = ?error.classify(), "unreadable");
        unreadable(what)
    })
}

/// The answer of every command.
#[derive(Debug, Deserialize)]
pub(super) struct AnswerRow {
    refusal: Option<String>,
    details: Option<Value>,
    repeated: bool,
    now: DateTime<Utc>,
    slot: Option<SlotHold>,
    stock: Option<StockHold>,
    group: Option<Group>,
    item: Option<Item>,
    room: Option<Room>,
    site: Option<SiteRow>,
    applied: Option<Vec<FileChange>>,
}

impl AnswerRow {
    fn refusal(&mut self) -> Result<Option<Refusal>, StoreError> {
        let Some(code) = self.refusal.take() else {
            return Ok(None);
        };
        let details = self.details.take().unwrap_or_else(|| json!({}));
        read(
            Some(json!({ "refusal": code, "details": details })),
            "refusal",
        )
        .map(Some)
    }
}

impl TryFrom<AnswerRow> for Answer {
    type Error = StoreError;

    fn try_from(mut row: AnswerRow) -> Result<Self, StoreError> {
        let line = row
            .details
            .as_ref()
            .and_then(|details| details.get("line"))
            .and_then(|line| FailedLine::deserialize(line).ok());
        let refusal = row.refusal()?;
        let outcome = match refusal {
            Some(refusal) => Err(RefusalAnswer {
                refusal,
                claim: row.slot.map(Claim::Slot).or(row.stock.map(Claim::Stock)),
                line,
            }),
            None => Ok(None
                .or(row.slot.map(Success::Slot))
                .or(row.stock.map(Success::Stock))
                .or(row.group.map(Success::Group))
                .or(row.item.map(Success::Item))
                .or(row.room.map(Success::Room))
                .ok_or_else(|| unreadable("an answer about nothing"))?),
        };
        Ok(Self {
            outcome,
            repeated: row.repeated,
            now: row.now,
        })
    }
}

impl TryFrom<AnswerRow> for ServerAnswer {
    type Error = StoreError;

    fn try_from(mut row: AnswerRow) -> Result<Self, StoreError> {
        let outcome = match row.refusal()? {
            Some(refusal) => Err(refusal),
            None => Ok(SiteChange {
                site: row
                    .site
                    .ok_or_else(|| unreadable("an answer about no site"))?
                    .try_into()?,
                changes: row.applied.unwrap_or_default(),
            }),
        };
        Ok(Self {
            outcome,
            repeated: row.repeated,
            now: row.now,
        })
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct SiteRow {
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
        let zone = row.time_zone.parse().map_err(|_| {
            StoreError::Fault(format!(
                "This program does not know the time zone {} that the house uses. Update this program.",
                crate::domain::text::harmless(&row.time_zone)
            ))
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
pub(super) struct EventRow {
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
    pub(super) fn place(&self, life_of_a_claim: bool) -> i64 {
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
