//! Where the keys act: by identity (a room and an instant, a claim, an item), never by a position on the screen, so that
//! a refresh can't put another claim under a key.

use chrono::{DateTime, Utc};

use crate::domain::{
    ClaimState, Item, ItemId, Period, Room, RoomId, SlotHold, SlotHoldId, StockHold, StockHoldId,
};

/// Which panel has the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Panel {
    /// The grid.
    Rooms,
    /// The stock.
    Stock,
    /// The events.
    Feed,
}

/// A way to look at the rooms, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewName(pub &'static str);

impl ViewName {
    /// One day, rooms by the hour.
    pub(crate) const DAY: Self = Self("day");
}

/// Where the keys act in the grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The room; none while the site has none.
    pub room: Option<RoomId>,
    /// An instant of the cell.
    pub at: DateTime<Utc>,
    /// An instant of the cell where a stretched period began.
    pub anchor: Option<DateTime<Utc>>,
    /// Whether moving stretches.
    pub stretching: bool,
    /// The claim that the person sees under the cursor.
    pub on: Option<SlotHoldId>,
    /// Whether another claim came under the cursor without the person's doing. Stays until the next key or move, so that
    /// no key that was meant for what was there before acts on it.
    pub surprised: bool,
}

impl Cursor {
    /// A cursor at an instant.
    pub(crate) fn new(at: DateTime<Utc>) -> Self {
        Self {
            room: None,
            at,
            anchor: None,
            stretching: false,
            on: None,
            surprised: false,
        }
    }

    /// Lets go of a stretched period.
    pub(crate) fn unstretch(&mut self) {
        self.anchor = None;
        self.stretching = false;
    }
}

/// Where they act in the stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StockCursor {
    /// An item.
    Item(ItemId),
    /// A claim on an item.
    Claim(StockHoldId, ItemId),
}

/// What the keys act on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target<'a> {
    /// Nothing at all.
    Nothing,
    /// A period of a room without a claim under the cursor, or a stretched one.
    Free(&'a Room, Period),
    /// A claim on a room.
    Claim(&'a SlotHold),
    /// An item.
    Item(&'a Item),
    /// A claim on an item.
    StockClaim(&'a StockHold),
}

/// What is scrolled into view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scroll {
    /// The first room shown, by its place in the order.
    pub first_room: usize,
    /// The first instant shown.
    pub first: DateTime<Utc>,
    /// The newest event shown, if not the newest of all.
    pub feed: Option<i64>,
}

/// The claim that was under the cursor until it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct EndedClaim {
    /// As it was last seen.
    pub claim: SlotHold,
    /// How it ended.
    pub state: ClaimState,
    /// When, by the site's clocks.
    pub at: String,
}
