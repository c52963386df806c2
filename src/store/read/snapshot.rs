//! What a console paints: everything of a site that touches a window of time, in one snapshot of the data.

use chrono::{DateTime, Utc};
use serde::Deserialize;

use crate::domain::{Event, Item, Period, Room, Site, SlotHold, StockHold};
use crate::store::connection::error::StoreError;
use crate::store::handle::SiteStore;
use crate::store::read::decode::{List, read_list};
use crate::store::read::rows::{EventRow, SiteRow};

/// How many sales the stock panel can look back on.
const SALES: i32 = 50;

/// How many events the feed holds.
const EVENTS: i32 = 200;

/// Everything of a site that touches a window of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// The site, with its settings.
    pub site: Site,
    /// The window that was asked for.
    pub window: Period,
    /// Rooms in the site's order; retired ones only while a claim in the window is left on them.
    pub rooms: Vec<Room>,
    /// Active claims that touch the window, by room and start; a hold that is due is still `held` until it is swept.
    pub claims: Vec<SlotHold>,
    /// Items in the site's order, without retired ones that have nothing left held.
    pub items: Vec<Item>,
    /// Held stock, oldest deadline first, and the latest confirmed sales.
    pub stock_claims: Vec<StockHold>,
    /// The newest events of the site, newest first.
    pub events: Vec<Event>,
    /// The database's clock at the reading.
    pub read_at: DateTime<Utc>,
}

impl Snapshot {
    /// Whether both show the same, whenever they were read.
    pub(crate) fn shows_the_same_as(&self, other: &Self) -> bool {
        self.site == other.site
            && self.window == other.window
            && self.rooms == other.rooms
            && self.claims == other.claims
            && self.items == other.items
            && self.stock_claims == other.stock_claims
            && self.events == other.events
    }
}

#[derive(Deserialize)]
struct SnapshotRow {
    now: DateTime<Utc>,
    site: Option<SiteRow>,
    rooms: Vec<Room>,
    claims: Vec<SlotHold>,
    items: Vec<Item>,
    held_stock: Vec<StockHold>,
    sold_stock: Vec<StockHold>,
    events: Vec<EventRow>,
}

impl SiteStore {
    /// Everything that touches a window, as it was at one moment.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub async fn snapshot(&self, window: Period) -> Result<Snapshot, StoreError> {
        let snapshot = self
            .store
            .ask_value(|| {
                sqlx::query_scalar!(
                    r#"SELECT snapshot($1, $2, $3, $4, $5) AS "snapshot: List""#,
                    self.site.id.0,
                    window.start(),
                    window.end(),
                    SALES,
                    EVENTS
                )
            })
            .await?;
        let row: SnapshotRow = read_list(snapshot, "snapshot")?;
        Ok(Snapshot {
            site: row.site.ok_or(StoreError::SiteGone)?.try_into()?,
            window,
            rooms: row.rooms,
            claims: row.claims,
            items: row.items,
            stock_claims: [row.held_stock, row.sold_stock].concat(),
            events: row
                .events
                .into_iter()
                .map(Event::try_from)
                .collect::<Result<_, _>>()?,
            read_at: row.now,
        })
    }
}
