//! Commands: what a desk can ask the site to do, and what comes back.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::catalogue::{Item, NewItem, NewRoom, Room};
use crate::domain::claim::{Claim, Group, SlotDetails, SlotEdit, SlotHold, StockHold};
use crate::domain::ids::{
    ClaimId, Desk, GroupId, ItemId, RequestId, RoomId, SlotHoldId, StockHoldId, Version,
};
use crate::domain::period::Period;
use crate::domain::refusal::Refusal;

/// One press of a key (or one call of the command line), with the id that it was given before it was sent (R21).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Made before sending; the same id asks for the first outcome again.
    pub id: RequestId,
    /// Who asks (R25).
    pub desk: Desk,
    /// What is asked.
    pub command: Command,
}

impl Request {
    /// A fresh question.
    pub fn fresh(desk: Desk, command: Command) -> Self {
        Self {
            id: RequestId::fresh(),
            desk,
            command,
        }
    }
}

/// What a desk can ask. Each is one round trip to one function of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Claim a room for a period until a deadline.
    HoldSlot {
        /// The room.
        room: RoomId,
        /// The period.
        period: Period,
        /// How long the hold lasts; the site's default if none.
        ttl: Option<TimeDelta>,
        /// What is written on it.
        details: SlotDetails,
    },
    /// Claim a room for the site itself.
    BlockSlot {
        /// The room.
        room: RoomId,
        /// The period.
        period: Period,
        /// Why.
        reason: String,
    },
    /// Take over a booking from elsewhere: confirmed at once, and it may be over already (R9).
    ImportSlot {
        /// The room.
        room: RoomId,
        /// The period.
        period: Period,
        /// What is written on it.
        details: SlotDetails,
    },
    /// Make a held claim on a room last.
    ConfirmSlot {
        /// The claim.
        hold: SlotHoldId,
        /// The version that the desk saw (R22).
        expect_version: Option<Version>,
    },
    /// Give a room back.
    CancelSlot {
        /// The claim.
        hold: SlotHoldId,
        /// The version that the desk saw (R22).
        expect_version: Option<Version>,
        /// Why, may be empty.
        reason: String,
    },
    /// Change what is written on a claim on a room.
    EditSlot {
        /// The claim.
        hold: SlotHoldId,
        /// The version that the desk saw (R22).
        expect_version: Option<Version>,
        /// What becomes of it.
        edit: SlotEdit,
    },
    /// Give a hold on a room more time (R13).
    RenewSlot {
        /// The claim.
        hold: SlotHoldId,
        /// The version that the desk saw (R22).
        expect_version: Option<Version>,
        /// From now on; the site's default if none.
        ttl: Option<TimeDelta>,
    },
    /// Move or extend a claim on a room as one change; what is none stays (R14).
    MoveSlot {
        /// The claim.
        hold: SlotHoldId,
        /// The version that the desk saw (R22).
        expect_version: Option<Version>,
        /// The room to move to.
        to_room: Option<RoomId>,
        /// The new start.
        from: Option<DateTime<Utc>>,
        /// The new end.
        to: Option<DateTime<Utc>>,
    },
    /// Two claims exchange rooms and periods as one change (R14).
    SwapSlots {
        /// The one, whose version the desk saw.
        first: SlotHoldId,
        /// The other.
        second: SlotHoldId,
        /// The version of the first that the desk saw (R22).
        expect_version: Option<Version>,
    },
    /// Claim a quantity of an item until a deadline: all of it or nothing (R16).
    HoldStock {
        /// The item.
        item: ItemId,
        /// How many.
        quantity: i32,
        /// How long the hold lasts; the site's default if none.
        ttl: Option<TimeDelta>,
        /// The guest, may be empty.
        guest: String,
        /// A note, may be empty.
        note: String,
    },
    /// Give a hold on stock more time (R13).
    RenewStock {
        /// The claim.
        hold: StockHoldId,
        /// The version that the desk saw (R22).
        expect_version: Option<Version>,
        /// From now on; the site's default if none.
        ttl: Option<TimeDelta>,
    },
    /// Sell what is held. Final (R18).
    ConfirmStock {
        /// The claim.
        hold: StockHoldId,
        /// The version that the desk saw (R22).
        expect_version: Option<Version>,
    },
    /// Give held units back (R17).
    CancelStock {
        /// The claim.
        hold: StockHoldId,
        /// The version that the desk saw (R22).
        expect_version: Option<Version>,
        /// Why, may be empty.
        reason: String,
    },
    /// Claim several rooms and quantities as one: everything or nothing, with one deadline (R20).
    HoldGroup {
        /// The rooms and their periods.
        rooms: Vec<SlotLine>,
        /// The items and their quantities; lines of the same item count as one.
        stock: Vec<StockLine>,
        /// How long the hold lasts; the site's default if none.
        ttl: Option<TimeDelta>,
        /// What is written on it.
        details: SlotDetails,
    },
    /// Make every held member of a group last.
    ConfirmGroup {
        /// The group.
        group: GroupId,
    },
    /// Give every held member of a group more time (R13).
    RenewGroup {
        /// The group.
        group: GroupId,
        /// From now on; the site's default if none.
        ttl: Option<TimeDelta>,
    },
    /// Give everything of a group back; refused if stock of it is sold, unless only its rooms are meant (R18, R20).
    CancelGroup {
        /// The group.
        group: GroupId,
        /// Why, may be empty.
        reason: String,
        /// Only the rooms.
        rooms_only: bool,
    },
    /// New units have come (R19).
    ReceiveStock {
        /// The item.
        item: ItemId,
        /// How many; at least one.
        quantity: i32,
        /// Why.
        reason: String,
    },
    /// The count was wrong, up or down (R19).
    AdjustStock {
        /// The item.
        item: ItemId,
        /// The difference; not zero.
        change: i32,
        /// Why.
        reason: String,
    },
    /// Add a room.
    AddRoom {
        /// The room.
        room: NewRoom,
    },
    /// Take no new claims on a room from now on (R28).
    RetireRoom {
        /// The room.
        room: RoomId,
    },
    /// Add an item with its opening quantity.
    AddItem {
        /// The item.
        item: NewItem,
    },
    /// Take no new claims on an item from now on (R28).
    RetireItem {
        /// The item.
        item: ItemId,
    },
}

impl Command {
    /// The claim or the group that it changes; of two that are exchanged, the one whose version the desk saw. None for a
    /// command that makes a claim or is about none.
    pub(crate) fn claim(&self) -> Option<ClaimId> {
        match *self {
            Self::ConfirmSlot { hold, .. }
            | Self::CancelSlot { hold, .. }
            | Self::EditSlot { hold, .. }
            | Self::RenewSlot { hold, .. }
            | Self::MoveSlot { hold, .. }
            | Self::SwapSlots { first: hold, .. } => Some(ClaimId::Slot(hold)),
            Self::ConfirmStock { hold, .. }
            | Self::CancelStock { hold, .. }
            | Self::RenewStock { hold, .. } => Some(ClaimId::Stock(hold)),
            Self::ConfirmGroup { group }
            | Self::RenewGroup { group, .. }
            | Self::CancelGroup { group, .. } => Some(ClaimId::Group(group)),
            Self::HoldSlot { .. }
            | Self::BlockSlot { .. }
            | Self::ImportSlot { .. }
            | Self::HoldStock { .. }
            | Self::HoldGroup { .. }
            | Self::ReceiveStock { .. }
            | Self::AdjustStock { .. }
            | Self::AddRoom { .. }
            | Self::RetireRoom { .. }
            | Self::AddItem { .. }
            | Self::RetireItem { .. } => None,
        }
    }
}

/// A room of a group, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotLine {
    /// The room.
    pub room: RoomId,
    /// The period.
    pub period: Period,
}

/// An item of a group, and how many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StockLine {
    /// The item.
    pub item: ItemId,
    /// The quantity.
    pub quantity: i32,
}

/// What came back: the site did it, or its rules said no.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Done or refused.
    pub outcome: Result<Success, RefusalAnswer>,
    /// Whether this request had been answered before (R21).
    pub repeated: bool,
    /// The database's clock when it answered (R10).
    pub now: DateTime<Utc>,
}

impl Answer {
    /// Why the rules said no, if it did.
    pub fn refusal(&self) -> Option<&Refusal> {
        self.outcome.as_ref().err().map(|refused| &refused.refusal)
    }

    /// The claim on a room that the request was about, as it is now, whether it was done or refused.
    pub fn slot(&self) -> Option<&SlotHold> {
        match &self.outcome {
            Ok(Success::Slot(hold)) => Some(hold),
            Err(RefusalAnswer {
                claim: Some(Claim::Slot(hold)),
                ..
            }) => Some(hold),
            _ => None,
        }
    }

    /// The same for a claim on stock.
    pub(crate) fn stock(&self) -> Option<&StockHold> {
        match &self.outcome {
            Ok(Success::Stock(hold)) => Some(hold),
            Err(RefusalAnswer {
                claim: Some(Claim::Stock(hold)),
                ..
            }) => Some(hold),
            _ => None,
        }
    }
}

/// What comes with a refusal.
#[derive(Debug, Clone, PartialEq)]
pub struct RefusalAnswer {
    /// Why.
    pub refusal: Refusal,
    /// The claim as it is now, where the refusal concerns one.
    pub claim: Option<Claim>,
    /// The line of a group that was refused (R20).
    pub line: Option<FailedLine>,
}

impl From<Refusal> for RefusalAnswer {
    /// A refusal that concerns no claim and no line.
    fn from(refusal: Refusal) -> Self {
        Self {
            refusal,
            claim: None,
            line: None,
        }
    }
}

/// Which line of a group was refused (R20).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedLine {
    /// Of which kind.
    pub kind: LineKind,
    /// Which one of that kind, as they were given, from 1.
    pub number: i64,
}

/// The kinds of lines of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    /// A room and a period.
    Room,
    /// An item and a quantity.
    Stock,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Success {
    /// A claim on a room, as it is now.
    Slot(SlotHold),
    /// A claim on stock, as it is now.
    Stock(StockHold),
    /// A room, as it is now.
    Room(Room),
    /// An item, as it is now.
    Item(Item),
    /// A group, as it is now.
    Group(Group),
}
