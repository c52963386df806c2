//! Claims: a slot hold on a room, a stock hold on an item, and the states they go through (R9).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantNames};

use crate::domain::catalogue::Room;
use crate::domain::ids::{
    Desk, GroupId, ItemId, RequestId, RoomId, SlotHoldId, StockHoldId, Version,
};
use crate::domain::period::Period;
use crate::domain::unknown_word::UnknownWord;

/// Where a claim stands. Held and confirmed are active; cancelled and expired are ended (R9).
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    VariantNames,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[strum(parse_err_ty = UnknownWord, parse_err_fn = no_state)]
pub enum ClaimState {
    /// Claimed until its deadline.
    Held,
    /// Claimed for good.
    Confirmed,
    /// Given back by a person.
    Cancelled,
    /// Given back because its deadline passed.
    Expired,
}

impl ClaimState {
    /// Whether a claim in this state still takes its room or its units.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Held | Self::Confirmed)
    }

    /// The word for it, in code, schema and on screen.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

fn no_state(word: &str) -> UnknownWord {
    UnknownWord::new::<ClaimState>("state", word)
}

/// Whom a claim on a room is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A guest.
    Guest,
    /// The site itself (maintenance).
    Block,
}

/// A period that lies in two columns.
fn from_its_ends<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Period, D::Error> {
    #[derive(Deserialize)]
    struct Ends {
        starts_at: DateTime<Utc>,
        ends_at: DateTime<Utc>,
    }
    let ends = Ends::deserialize(deserializer)?;
    Period::new(ends.starts_at, ends.ends_at).map_err(serde::de::Error::custom)
}

/// A claim on a room for a period. Read from the columns of the view `slot_claim`, whose names are said here where they
/// differ.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SlotHold {
    /// Its number.
    #[serde(rename = "hold_id")]
    pub id: SlotHoldId,
    /// The group that it belongs to, if any.
    #[serde(rename = "group_id")]
    pub group: Option<GroupId>,
    /// The room claimed.
    #[serde(rename = "room_id")]
    pub room: RoomId,
    /// The room's name, for people.
    #[serde(rename = "room")]
    pub room_name: String,
    /// What the guest sees.
    #[serde(flatten, deserialize_with = "from_its_ends")]
    pub period: Period,
    /// Until when the claim keeps others out: the end of the period plus the turnaround (R4).
    pub occupied_until: DateTime<Utc>,
    /// Nights in dates, for a room booked by the night (R7).
    pub nights: Option<i32>,
    /// Guest or block.
    pub purpose: Purpose,
    /// Where it stands, as the database last wrote it.
    pub state: ClaimState,
    /// The guest's name, exactly as typed (R26); empty if not known yet.
    pub guest: String,
    /// A note, exactly as typed.
    pub note: String,
    /// How many people.
    pub party: Option<i32>,
    /// The deadline; there while held, and kept on an expired claim for explanation.
    pub expires_at: Option<DateTime<Utc>>,
    /// How often it has changed (R22).
    pub version: Version,
    /// The desk that made it.
    pub desk: Desk,
    /// The request that made it; none for a claim written around the protocol.
    #[serde(rename = "request_id")]
    pub request: Option<RequestId>,
    /// When it was made, by the database's clock.
    pub created_at: DateTime<Utc>,
    /// When it last changed, by the database's clock.
    pub changed_at: DateTime<Utc>,
}

impl SlotHold {
    /// See [`crate::domain::examples`].
    pub(super) fn example(room: &Room, period: Period) -> Self {
        let made_at = period.start();
        Self {
            id: SlotHoldId(1),
            group: None,
            room: room.id,
            room_name: room.name.clone(),
            period,
            occupied_until: period.end() + room.turnaround,
            nights: None,
            purpose: Purpose::Guest,
            state: ClaimState::Confirmed,
            guest: String::new(),
            note: String::new(),
            party: None,
            expires_at: None,
            version: Version(1),
            desk: Desk("anna".into()),
            request: None,
            created_at: made_at,
            changed_at: made_at,
        }
    }
}

/// What a desk writes on a claim on a room when it makes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlotDetails {
    /// The guest, may be empty.
    pub guest: String,
    /// A note, may be empty.
    pub note: String,
    /// How many people.
    pub party: Option<i32>,
}

impl SlotDetails {
    /// What most claims have.
    pub fn new(guest: String, note: String, party: Option<i32>) -> Self {
        Self { guest, note, party }
    }
}

/// What becomes of [`SlotDetails`]; what is none stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlotEdit {
    /// The new guest.
    pub guest: Option<String>,
    /// The new note.
    pub note: Option<String>,
    /// What becomes of the party.
    pub party: Change<i32>,
}

/// What becomes of something that need not be known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Change<T> {
    /// It stays as it is.
    #[default]
    Keep,
    /// It is not known any more.
    Clear,
    /// It is this from now on.
    Set(T),
}

/// A claim on a quantity of an item. Read from the columns of the view `stock_claim`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StockHold {
    /// Its number.
    #[serde(rename = "hold_id")]
    pub id: StockHoldId,
    /// The group that it belongs to, if any.
    #[serde(rename = "group_id")]
    pub group: Option<GroupId>,
    /// The item claimed.
    #[serde(rename = "item_id")]
    pub item: ItemId,
    /// The item's name, for people.
    #[serde(rename = "item")]
    pub item_name: String,
    /// How many units; at least one.
    pub quantity: i32,
    /// Where it stands, as the database last wrote it.
    pub state: ClaimState,
    /// The guest's name, exactly as typed (R26).
    pub guest: String,
    /// A note, exactly as typed.
    pub note: String,
    /// The deadline; there while held, and kept on an expired claim for explanation.
    pub expires_at: Option<DateTime<Utc>>,
    /// How often it has changed (R22).
    pub version: Version,
    /// The desk that made it.
    pub desk: Desk,
    /// The request that made it; none for a claim written around the protocol.
    #[serde(rename = "request_id")]
    pub request: Option<RequestId>,
    /// When it was made, by the database's clock.
    pub created_at: DateTime<Utc>,
    /// When it last changed, by the database's clock.
    pub changed_at: DateTime<Utc>,
}

macro_rules! deadline {
    ($claim:ty) => {
        impl $claim {
            /// Whole seconds until the deadline while held, rounded up so that 0 means due (R10); none otherwise.
            pub(crate) fn seconds_left(&self, now: DateTime<Utc>) -> Option<i64> {
                let deadline = self.expires_at.filter(|_| self.state == ClaimState::Held)?;
                let milliseconds = (deadline - now).num_milliseconds();
                Some(
                    milliseconds.max(0).div_euclid(1000)
                        + i64::from(milliseconds.max(0) % 1000 > 0),
                )
            }

            /// Held, and the deadline has come: the database is about to write `expired` (R10, R11).
            pub(crate) fn is_due(&self, now: DateTime<Utc>) -> bool {
                self.state == ClaimState::Held
                    && self.expires_at.is_some_and(|deadline| deadline <= now)
            }
        }
    };
}

deadline!(SlotHold);
deadline!(StockHold);

/// What is named by a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum HoldKind {
    /// A claim on a room.
    Room,
    /// A claim on stock.
    Stock,
    /// Several claims that were made as one (R20).
    Group,
}

impl HoldKind {
    pub(crate) fn word(self) -> &'static str {
        self.into()
    }
}

/// A claim of either kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// On a room.
    Slot(SlotHold),
    /// On an item.
    Stock(StockHold),
}

/// Several claims that were made as one (R20).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Group {
    /// Its number.
    #[serde(rename = "group_id")]
    pub id: GroupId,
    /// Held while any member is, else confirmed while any is, else as its members ended.
    pub state: ClaimState,
    /// Its claims on rooms, in the order in which they were made.
    pub slots: Vec<SlotHold>,
    /// Its claims on stock.
    pub stock: Vec<StockHold>,
}
