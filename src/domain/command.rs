//! Commands: what a desk can ask the house to do, and what comes back.

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    Claim, Desk, Item, ItemId, Period, Refusal, RequestId, RoomId, SlotHold, SlotHoldId, StockHold,
    StockHoldId, Version,
};

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
        /// The guest, may be empty.
        guest: String,
        /// A note, may be empty.
        note: String,
        /// How many people.
        party: Option<i32>,
    },
    /// Claim a room for the house itself.
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
        /// The guest, may be empty.
        guest: String,
        /// A note, may be empty.
        note: String,
        /// How many people.
        party: Option<i32>,
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
    /// Change guest, note or party of a claim on a room; what is none stays.
    EditSlot {
        /// The claim.
        hold: SlotHoldId,
        /// The version that the desk saw (R22).
        expect_version: Option<Version>,
        /// The new guest.
        guest: Option<String>,
        /// The new note.
        note: Option<String>,
        /// The new party.
        party: Option<i32>,
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
}

/// What came back: the house did it, or its rules said no.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Done or refused.
    pub outcome: Result<Done, Refusal>,
    /// The claim as it is now, when there is one; on a refusal that concerns an existing claim too.
    pub claim: Option<Claim>,
    /// Whether this request had been answered before (R21).
    pub repeated: bool,
    /// The database's clock when it answered (R10).
    pub now: DateTime<Utc>,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// A claim on a room, as it is now.
    Slot(SlotHold),
    /// A claim on stock, as it is now.
    Stock(StockHold),
    /// An item, as it is now.
    Item(Item),
}
