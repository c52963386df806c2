//! Identities. A room's number can't be passed where an item's is meant.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }
    };
}

number!(
    /// A site. First column of every key (R29).
    SiteId
);
number!(
    /// A room of one site.
    RoomId
);
number!(
    /// An item (a pool of interchangeable units) of one site.
    ItemId
);
number!(
    /// A claim on a room. Unique within the site; what the command line calls HOLD.
    SlotHoldId
);
number!(
    /// A claim on a quantity of an item.
    StockHoldId
);
number!(
    /// Several claims made, confirmed and cancelled as one (R20).
    GroupId
);
number!(
    /// How often a claim has changed; the desk sends the version it saw (R22).
    Version
);

/// The id that the client gives a request before it sends it (R21).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(pub Uuid);

impl RequestId {
    /// A fresh id, for a fresh question.
    pub fn fresh() -> Self {
        Self(Uuid::now_v7())
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The name of a person at a terminal, as it is written into every event (R25).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Desk(pub String);

impl fmt::Display for Desk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A claim on a room or on stock, or several that were made as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimId {
    /// On a room.
    Slot(SlotHoldId),
    /// On stock.
    Stock(StockHoldId),
    /// Several.
    Group(GroupId),
}
