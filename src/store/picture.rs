//! What a console paints: everything of a site that touches a window of time, read in one go.

use chrono::{DateTime, Utc};
use sqlx::postgres::PgConnection;

use super::rows::{EventRow, SlotRow, StockRow};
use super::{House, StoreError};
use crate::domain::{Event, Item, Period, Room, Site, SiteId, SlotHold, StockHold};

/// How many sales the stock panel can look back on.
const SALES: i32 = 50;

/// How many events the feed holds.
const EVENTS: i32 = 200;

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

impl Picture {
    /// Whether both show the same, whenever they were read.
    pub fn shows_the_same_as(&self, other: &Self) -> bool {
        self.site == other.site
            && self.window == other.window
            && self.rooms == other.rooms
            && self.claims == other.claims
            && self.items == other.items
            && self.stock_claims == other.stock_claims
            && self.events == other.events
    }
}

pub(super) async fn claims(
    connection: &mut PgConnection,
    site: SiteId,
    window: Period,
) -> Result<Vec<SlotRow>, sqlx::Error> {
    sqlx::query_as!(
        SlotRow,
        "
        SELECT
            hold_id, group_id, room_id, room, starts_at, ends_at, occupied_until, nights, purpose, state, guest, note,
            party, expires_at, version, desk, request_id, created_at, changed_at
        FROM claims_in_window($1, $2, $3)
        ",
        site.0,
        window.start(),
        window.end()
    )
    .fetch_all(connection)
    .await
}

async fn stock_claims(
    connection: &mut PgConnection,
    site: SiteId,
) -> Result<Vec<StockRow>, sqlx::Error> {
    sqlx::query_as!(
        StockRow,
        "
        SELECT
            hold_id, group_id, item_id, item, quantity, state, guest, note, expires_at, version, desk, request_id,
            created_at, changed_at
        FROM current_stock_claims($1, $2)
        ",
        site.0,
        SALES
    )
    .fetch_all(connection)
    .await
}

async fn events(connection: &mut PgConnection, site: SiteId) -> Result<Vec<EventRow>, sqlx::Error> {
    sqlx::query_as!(
        EventRow,
        "
        SELECT
            event_id, at, what, slot_hold_id, stock_hold_id, room_id, item_id, subject, guest, quantity, from_state,
            to_state, desk, reason, request_id
        FROM recent_events($1, $2)
        ",
        site.0,
        EVENTS
    )
    .fetch_all(connection)
    .await
}

impl House {
    /// Everything that touches a window.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub async fn picture(&self, window: Period) -> Result<Picture, StoreError> {
        let read_at = self.now().await?;
        let site = self
            .store
            .all_sites()
            .await?
            .into_iter()
            .find(|site| site.id == self.site.id)
            .ok_or_else(|| StoreError::Site("This house is no longer in the database.".into()))?;
        let claims = self.claims_in(window).await?;
        let mut rooms = self.rooms().await?;
        rooms.retain(|room| {
            room.retired_at.is_none() || claims.iter().any(|claim| claim.room == room.id)
        });
        let mut items = self.items().await?;
        items.retain(|item| item.retired_at.is_none() || item.held > 0);
        let stock_claims = self
            .store
            .ask(async |mut connection| {
                let rows = stock_claims(&mut connection, self.site.id).await;
                (connection, rows)
            })
            .await?
            .into_iter()
            .map(StockHold::try_from)
            .collect::<Result<_, _>>()?;
        let events = self
            .store
            .ask(async |mut connection| {
                let rows = events(&mut connection, self.site.id).await;
                (connection, rows)
            })
            .await?
            .into_iter()
            .map(Event::try_from)
            .collect::<Result<_, _>>()?;
        Ok(Picture {
            site,
            window,
            rooms,
            claims,
            items,
            stock_claims,
            events,
            read_at,
        })
    }
}
