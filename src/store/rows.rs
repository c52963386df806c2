//! Rows as the database sends them, and the domain's values made of them.
//!
//! Columns of functions and views count as nullable for sqlx; a null where the schema rules it out is a fault.

use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::StoreError;
use crate::domain::{
    BookedBy, ClaimState, Desk, Event, EventKind, FailedLine, Group, GroupId, Item, ItemId,
    NightTimes, Period, Purpose, Refusal, RequestId, Room, RoomId, Site, SiteCalendar, SiteId,
    SlotHold, SlotHoldId, StockHold, StockHoldId, Subject, Version,
};

/// The value of a column that the schema never leaves null.
fn required<T>(value: Option<T>, column: &'static str) -> Result<T, StoreError> {
    value.ok_or_else(|| unreadable(column))
}

pub(super) fn unreadable(column: &str) -> StoreError {
    StoreError::Fault(format!(
        "The database sent something that this program can't read ({column}). Run `keyrack check`; if all is well \
         there, this program and the database are of different versions."
    ))
}

/// The part of an answer that is the same for every command.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) refusal: Option<Refusal>,
    /// The line of a group that was refused.
    pub(super) failed_line: Option<FailedLine>,
    pub(super) repeated: bool,
    pub(super) now: DateTime<Utc>,
}

fn head(
    refusal: Option<String>,
    details: Option<Value>,
    repeated: Option<bool>,
    now: Option<DateTime<Utc>>,
) -> Result<Head, StoreError> {
    let failed_line = details
        .as_ref()
        .and_then(|details| details.get("line"))
        .and_then(|line| FailedLine::deserialize(line).ok());
    let refusal = match refusal {
        None => None,
        Some(code) => {
            let value = json!({ "refusal": code, "details": details.unwrap_or_else(|| json!({})) });
            Some(serde_json::from_value(value).map_err(|error| {
                tracing::error!(code, %error, "unreadable refusal");
                unreadable("refusal")
            })?)
        }
    };
    Ok(Head {
        refusal,
        failed_line,
        repeated: required(repeated, "repeated")?,
        now: required(now, "now")?,
    })
}

/// A row of a view, and the row of an answer that carries the same columns behind its head.
macro_rules! claim_rows {
    ($row:ident, $answer:ident, { $($field:ident : $type:ty),* $(,)? }) => {
        #[derive(Debug, Deserialize)]
        pub(super) struct $row {
            $(pub(super) $field: Option<$type>,)*
        }

        #[derive(Debug)]
        pub(super) struct $answer {
            pub(super) refusal: Option<String>,
            pub(super) details: Option<Value>,
            pub(super) repeated: Option<bool>,
            pub(super) now: Option<DateTime<Utc>>,
            $(pub(super) $field: Option<$type>,)*
        }

        impl $answer {
            /// The head, and the row behind it.
            pub(super) fn split(self) -> Result<(Head, $row), StoreError> {
                let head = head(self.refusal, self.details, self.repeated, self.now)?;
                Ok((head, $row { $($field: self.$field,)* }))
            }
        }
    };
}

claim_rows!(SlotRow, SlotAnswerRow, {
    hold_id: i64,
    group_id: i64,
    room_id: i64,
    room: String,
    starts_at: DateTime<Utc>,
    ends_at: DateTime<Utc>,
    occupied_until: DateTime<Utc>,
    nights: i32,
    purpose: String,
    state: String,
    guest: String,
    note: String,
    party: i32,
    expires_at: DateTime<Utc>,
    version: i64,
    desk: String,
    request_id: Uuid,
    created_at: DateTime<Utc>,
    changed_at: DateTime<Utc>,
});

claim_rows!(StockRow, StockAnswerRow, {
    hold_id: i64,
    group_id: i64,
    item_id: i64,
    item: String,
    quantity: i32,
    state: String,
    guest: String,
    note: String,
    expires_at: DateTime<Utc>,
    version: i64,
    desk: String,
    request_id: Uuid,
    created_at: DateTime<Utc>,
    changed_at: DateTime<Utc>,
});

claim_rows!(ItemRow, ItemAnswerRow, {
    item_id: i64,
    item: String,
    total: i32,
    available: i32,
    held: i32,
    sold: i32,
    retired_at: DateTime<Utc>,
});

claim_rows!(RoomIdRow, RoomAnswerRow, { room_id: i64 });

#[derive(Debug)]
pub(super) struct GroupAnswerRow {
    pub(super) refusal: Option<String>,
    pub(super) details: Option<Value>,
    pub(super) repeated: Option<bool>,
    pub(super) now: Option<DateTime<Utc>>,
    pub(super) group_id: Option<i64>,
    pub(super) state: Option<String>,
    pub(super) slots: Option<Value>,
    pub(super) stock: Option<Value>,
}

impl GroupAnswerRow {
    /// The head, and the group behind it.
    pub(super) fn split(self) -> Result<(Head, Option<Group>), StoreError> {
        let head = head(self.refusal, self.details, self.repeated, self.now)?;
        let Some(id) = self.group_id else {
            return Ok((head, None));
        };
        let group = Group {
            id: GroupId(id),
            state: state(self.state)?,
            slots: members::<SlotRow, _>(self.slots)?,
            stock: members::<StockRow, _>(self.stock)?,
        };
        Ok((head, Some(group)))
    }
}

/// The members of a group, which travel as JSON in the row of their group.
fn members<Row, Member>(rows: Option<Value>) -> Result<Vec<Member>, StoreError>
where
    Row: for<'de> Deserialize<'de>,
    Member: TryFrom<Row, Error = StoreError>,
{
    serde_json::from_value::<Vec<Row>>(required(rows, "members")?)
        .map_err(|_| unreadable("members"))?
        .into_iter()
        .map(Member::try_from)
        .collect()
}

fn state(word: Option<String>) -> Result<ClaimState, StoreError> {
    required(word, "state")?
        .parse()
        .map_err(|_| unreadable("state"))
}

impl TryFrom<SlotRow> for SlotHold {
    type Error = StoreError;

    fn try_from(row: SlotRow) -> Result<Self, StoreError> {
        let period = Period::new(
            required(row.starts_at, "starts_at")?,
            required(row.ends_at, "ends_at")?,
        )
        .map_err(|_| unreadable("period"))?;
        Ok(Self {
            id: SlotHoldId(required(row.hold_id, "hold_id")?),
            group: row.group_id.map(GroupId),
            room: RoomId(required(row.room_id, "room_id")?),
            room_name: required(row.room, "room")?,
            period,
            occupied_until: required(row.occupied_until, "occupied_until")?,
            nights: row.nights,
            purpose: required(row.purpose, "purpose")?
                .parse::<Purpose>()
                .map_err(|_| unreadable("purpose"))?,
            state: state(row.state)?,
            guest: required(row.guest, "guest")?,
            note: required(row.note, "note")?,
            party: row.party,
            expires_at: row.expires_at,
            version: Version(required(row.version, "version")?),
            desk: Desk(required(row.desk, "desk")?),
            request: row.request_id.map(RequestId),
            created_at: required(row.created_at, "created_at")?,
            changed_at: required(row.changed_at, "changed_at")?,
        })
    }
}

impl TryFrom<StockRow> for StockHold {
    type Error = StoreError;

    fn try_from(row: StockRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: StockHoldId(required(row.hold_id, "hold_id")?),
            group: row.group_id.map(GroupId),
            item: ItemId(required(row.item_id, "item_id")?),
            item_name: required(row.item, "item")?,
            quantity: required(row.quantity, "quantity")?,
            state: state(row.state)?,
            guest: required(row.guest, "guest")?,
            note: required(row.note, "note")?,
            expires_at: row.expires_at,
            version: Version(required(row.version, "version")?),
            desk: Desk(required(row.desk, "desk")?),
            request: row.request_id.map(RequestId),
            created_at: required(row.created_at, "created_at")?,
            changed_at: required(row.changed_at, "changed_at")?,
        })
    }
}

impl TryFrom<ItemRow> for Item {
    type Error = StoreError;

    fn try_from(row: ItemRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: ItemId(required(row.item_id, "item_id")?),
            name: required(row.item, "item")?,
            total: required(row.total, "total")?,
            available: required(row.available, "available")?,
            held: required(row.held, "held")?,
            sold: required(row.sold, "sold")?,
            retired_at: row.retired_at,
        })
    }
}

#[derive(Debug)]
pub(super) struct RoomRow {
    pub(super) room_id: i64,
    pub(super) name: String,
    pub(super) capacity: i32,
    pub(super) booked_by: String,
    pub(super) check_in: chrono::NaiveTime,
    pub(super) check_out: chrono::NaiveTime,
    pub(super) turnaround_seconds: i64,
    pub(super) features: Vec<String>,
    pub(super) retired_at: Option<DateTime<Utc>>,
}

impl TryFrom<RoomRow> for Room {
    type Error = StoreError;

    fn try_from(row: RoomRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: RoomId(row.room_id),
            name: row.name,
            capacity: row.capacity,
            booked_by: row
                .booked_by
                .parse::<BookedBy>()
                .map_err(|_| unreadable("booked_by"))?,
            night_times: NightTimes {
                check_in: row.check_in,
                check_out: row.check_out,
            },
            turnaround: TimeDelta::seconds(row.turnaround_seconds),
            features: row.features,
            retired_at: row.retired_at,
        })
    }
}

#[derive(Debug)]
pub(super) struct SiteRow {
    pub(super) site_id: i64,
    pub(super) name: String,
    pub(super) time_zone: String,
    pub(super) default_hold_seconds: i64,
    pub(super) longest_hold_seconds: i64,
    pub(super) renewals: i32,
    pub(super) horizon_seconds: i64,
    pub(super) is_default: bool,
    pub(super) is_demo: bool,
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
            id: SiteId(row.site_id),
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

#[derive(Debug)]
pub(super) struct EventRow {
    pub(super) event_id: Option<i64>,
    pub(super) at: Option<DateTime<Utc>>,
    pub(super) what: Option<String>,
    pub(super) slot_hold_id: Option<i64>,
    pub(super) stock_hold_id: Option<i64>,
    pub(super) room_id: Option<i64>,
    pub(super) item_id: Option<i64>,
    pub(super) subject: Option<String>,
    pub(super) guest: Option<String>,
    pub(super) quantity: Option<i32>,
    pub(super) from_state: Option<String>,
    pub(super) to_state: Option<String>,
    pub(super) desk: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) request_id: Option<Uuid>,
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
            (Some(hold), _, Some(room), _) => Subject::SlotHold(SlotHoldId(hold), RoomId(room)),
            (_, Some(hold), _, Some(item)) => Subject::StockHold(StockHoldId(hold), ItemId(item)),
            (None, None, Some(room), _) => Subject::Room(RoomId(room)),
            (None, None, None, Some(item)) => Subject::Item(ItemId(item)),
            (None, None, None, None) => Subject::House,
            _ => return Err(unreadable("event")),
        };
        let optional_state = |word: Option<String>| word.map(|word| state(Some(word))).transpose();
        Ok(Self {
            id: required(row.event_id, "event_id")?,
            at: required(row.at, "at")?,
            kind: EventKind::from_word(&required(row.what, "what")?)
                .ok_or_else(|| unreadable("what"))?,
            subject,
            subject_name: required(row.subject, "subject")?,
            guest: required(row.guest, "guest")?,
            quantity: row.quantity,
            from: optional_state(row.from_state)?,
            to: optional_state(row.to_state)?,
            desk: Desk(required(row.desk, "desk")?),
            reason: required(row.reason, "reason")?,
            request: row.request_id.map(RequestId),
        })
    }
}
