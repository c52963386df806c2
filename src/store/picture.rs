//! What a console paints: everything of a site that touches a window of time, read in one go.

use chrono::{DateTime, Utc};

use crate::domain::{Event, Item, Period, Room, Site, SlotHold, StockHold};

/// Everything of a site that touches a window of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// The house, with its settings.
    pub site: Site,
    /// The window that was asked for.
    pub window: Period,
    /// Rooms in the house's order; retired ones only while a claim in the window is left on them.
    pub rooms: Vec<Room>,
    /// Active claims that touch the window, by room and start; a hold that is due is still `held` until it is swept.
    pub claims: Vec<SlotHold>,
    /// Items in the house's order, without retired ones that have nothing left held.
    pub items: Vec<Item>,
    /// Held stock, oldest deadline first, and the latest confirmed sales.
    pub stock_claims: Vec<StockHold>,
    /// The newest events of the house, newest first.
    pub events: Vec<Event>,
    /// The database's clock at the reading.
    pub read_at: DateTime<Utc>,
}
