//! Events: the append-only record of every change (R25), as the feed and `keyrack history` show it.

use chrono::{DateTime, Utc};

use strum::{EnumString, IntoStaticStr};

use crate::domain::claim::ClaimState;
use crate::domain::ids::{Desk, ItemId, RequestId, RoomId, SlotHoldId, StockHoldId};

/// What an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventSubject {
    /// A claim on a room.
    SlotHold(SlotHoldId, RoomId),
    /// A claim on an item.
    StockHold(StockHoldId, ItemId),
    /// A room itself.
    Room(RoomId),
    /// An item itself.
    Item(ItemId),
    /// The site itself.
    Site,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum EventKind {
    /// A hold was made.
    Held,
    /// The site took the room for itself.
    Blocked,
    /// A claim came from elsewhere, already confirmed.
    Imported,
    /// A hold was confirmed.
    Confirmed,
    /// A claim was given back by a person.
    Cancelled,
    /// A hold ran out.
    Expired,
    /// What is written on it changed.
    Edited,
    /// A hold got more time.
    Renewed,
    /// A claim went to another room or another time.
    Moved,
    /// Units were received.
    Received,
    /// The count was corrected.
    Adjusted,
    /// A room or an item was added.
    Added,
    /// The settings of the site or of a room changed.
    Changed,
    /// A room or an item takes no new claims.
    Retired,
}

impl EventKind {
    /// The word for it, in the table and on screen.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// The state in which it leaves a claim; none where it leaves the state as it was, or is about no claim.
    pub(crate) fn state(self) -> Option<ClaimState> {
        match self {
            Self::Held => Some(ClaimState::Held),
            Self::Blocked | Self::Imported | Self::Confirmed => Some(ClaimState::Confirmed),
            Self::Cancelled => Some(ClaimState::Cancelled),
            Self::Expired => Some(ClaimState::Expired),
            Self::Edited
            | Self::Renewed
            | Self::Moved
            | Self::Received
            | Self::Adjusted
            | Self::Added
            | Self::Changed
            | Self::Retired => None,
        }
    }

    /// The kind that the word names.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        word.parse().ok()
    }
}

/// One change: who, what, when, from and to, why, and the request that asked for it (R25).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its number; newer events have larger ones, roughly.
    pub id: i64,
    /// When, by the database's clock.
    pub at: DateTime<Utc>,
    /// What happened.
    pub kind: EventKind,
    /// To what.
    pub subject: EventSubject,
    /// The name of the room, the item or the site concerned.
    pub subject_name: String,
    /// The guest of the claim concerned; empty if none. For screens, never for logs (R27).
    pub guest: String,
    /// Units concerned, for stock; signed for an adjustment.
    pub quantity: Option<i32>,
    /// The state before, if there was one.
    pub from: Option<ClaimState>,
    /// The state after, if there is one.
    pub to: Option<ClaimState>,
    /// Who did it.
    pub desk: Desk,
    /// Why; empty if nobody said.
    pub reason: String,
    /// The request that asked for it; none for the sweep.
    pub request: Option<RequestId>,
}
