//! Reads: claims, history, the proof of the rules, the clock, and the sweep.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::rows::{EventRow, List, read, read_list};
use super::{SiteStore, Store, StoreError};
use crate::domain::{
    ClaimState, Desk, Event, Group, GroupId, HoldKind, ItemId, Period, RequestId, RoomId, SlotHold,
    SlotHoldId, StockHold, StockHoldId,
};

/// How many claims or events are read at a time, so that no statement grows with the years (design section 6).
const PAGE: i32 = 1000;

/// Adds a page to what was found. Whether there may be another one.
fn add_page<T>(found: &mut Vec<T>, page: Vec<T>) -> bool {
    let full = page.len() == PAGE as usize;
    found.extend(page);
    full
}

/// Which claims on rooms are wanted; what is none does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlotFilter {
    /// On this room.
    pub room: Option<RoomId>,
    /// Ending after this.
    pub from: Option<DateTime<Utc>>,
    /// Beginning before this.
    pub to: Option<DateTime<Utc>>,
    /// In this state.
    pub state: Option<ClaimState>,
    /// Whose guest's name contains this, in whatever capitals.
    pub guest: Option<String>,
}

/// Which claims on stock are wanted; what is none does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StockFilter {
    /// On this item.
    pub item: Option<ItemId>,
    /// In this state.
    pub state: Option<ClaimState>,
    /// Whose guest's name contains this, in whatever capitals.
    pub guest: Option<String>,
}

/// Whose history is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryOf {
    /// Everything of the site.
    Site,
    /// One claim on a room.
    SlotHold(SlotHoldId),
    /// One claim on stock.
    StockHold(StockHoldId),
    /// One request.
    Request(RequestId),
}

/// A rule that the rows do not keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The rule of the design.
    pub rule: String,
    /// What is concerned.
    pub subject: String,
    /// What is wrong.
    pub problem: String,
}

impl SiteStore {
    /// One claim on a room.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub async fn slot_hold(&self, hold: SlotHoldId) -> Result<Option<SlotHold>, StoreError> {
        self.look_up("slot", hold.0).await
    }

    /// One claim on stock.
    ///
    /// # Errors
    /// As [`SiteStore::slot_hold`].
    pub async fn stock_hold(&self, hold: StockHoldId) -> Result<Option<StockHold>, StoreError> {
        self.look_up("stock", hold.0).await
    }

    /// Several claims that were made as one (R20).
    ///
    /// # Errors
    /// As [`SiteStore::slot_hold`].
    pub async fn group(&self, group: GroupId) -> Result<Option<Group>, StoreError> {
        self.look_up("group", group.0).await
    }

    async fn look_up<T: DeserializeOwned>(
        &self,
        subject: &'static str,
        id: i64,
    ) -> Result<Option<T>, StoreError> {
        let found = self
            .store
            .ask(async |mut connection| {
                let found =
                    sqlx::query_scalar!("SELECT look_up($1, $2, $3)", self.site.id.0, subject, id)
                        .fetch_one(&mut connection)
                        .await;
                (connection, found)
            })
            .await?;
        read(found, subject)
    }

    /// What a number stands for: numbers of claims and groups come from one sequence.
    ///
    /// # Errors
    /// As [`SiteStore::slot_hold`].
    pub async fn kind_of(&self, number: i64) -> Result<Option<HoldKind>, StoreError> {
        let kind = self
            .store
            .ask(async |mut connection| {
                let kind =
                    sqlx::query_scalar!("SELECT kind_of_claim($1, $2)", self.site.id.0, number)
                        .fetch_one(&mut connection)
                        .await;
                (connection, kind)
            })
            .await?;
        read(kind.map(Value::String), "kind")
    }

    /// Claims on rooms, oldest first.
    ///
    /// # Errors
    /// As [`SiteStore::slot_hold`].
    pub async fn slot_holds(&self, filter: &SlotFilter) -> Result<Vec<SlotHold>, StoreError> {
        let mut found: Vec<SlotHold> = Vec::new();
        loop {
            let after = found.last().map_or(0, |hold| hold.id.0);
            let page = self
                .store
                .ask(async |mut connection| {
                    let page = sqlx::query_scalar!(
                        r#"SELECT list_slots($1, $2, $3, $4, $5, $6, $7, $8) AS "page: List""#,
                        self.site.id.0,
                        filter.room.map(|room| room.0),
                        filter.from,
                        filter.to,
                        filter.state.map(ClaimState::word),
                        filter.guest.as_deref(),
                        after,
                        PAGE
                    )
                    .fetch_one(&mut connection)
                    .await;
                    (connection, page)
                })
                .await?;
            if !add_page(&mut found, read_list(page, "claims")?) {
                return Ok(found);
            }
        }
    }

    /// Claims on stock, oldest first.
    ///
    /// # Errors
    /// As [`SiteStore::slot_hold`].
    pub async fn stock_holds(&self, filter: &StockFilter) -> Result<Vec<StockHold>, StoreError> {
        let mut found: Vec<StockHold> = Vec::new();
        loop {
            let after = found.last().map_or(0, |hold| hold.id.0);
            let page = self
                .store
                .ask(async |mut connection| {
                    let page = sqlx::query_scalar!(
                        r#"SELECT list_stock_claims($1, $2, $3, $4, $5, $6) AS "page: List""#,
                        self.site.id.0,
                        filter.item.map(|item| item.0),
                        filter.state.map(ClaimState::word),
                        filter.guest.as_deref(),
                        after,
                        PAGE
                    )
                    .fetch_one(&mut connection)
                    .await;
                    (connection, page)
                })
                .await?;
            if !add_page(&mut found, read_list(page, "claims")?) {
                return Ok(found);
            }
        }
    }

    /// The active claims that touch a window, by room and start (R6).
    ///
    /// # Errors
    /// As [`SiteStore::slot_hold`].
    pub async fn claims_in(&self, window: Period) -> Result<Vec<SlotHold>, StoreError> {
        let claims = self
            .store
            .ask(async |mut connection| {
                let claims = sqlx::query_scalar!(
                    r#"
                    SELECT coalesce(json_agg(c), '[]') AS "claims: List"
                    FROM claims_in_window($1, $2, $3) AS c
                    "#,
                    self.site.id.0,
                    window.start(),
                    window.end()
                )
                .fetch_one(&mut connection)
                .await;
                (connection, claims)
            })
            .await?;
        read_list(claims, "claims")
    }

    /// What happened, oldest first; the life of one claim in the order of its versions.
    ///
    /// # Errors
    /// As [`SiteStore::slot_hold`].
    pub async fn history(&self, of: HistoryOf) -> Result<Vec<Event>, StoreError> {
        let (slot, stock, request) = match of {
            HistoryOf::Site => (None, None, None),
            HistoryOf::SlotHold(hold) => (Some(hold.0), None, None),
            HistoryOf::StockHold(hold) => (None, Some(hold.0), None),
            HistoryOf::Request(request) => (None, None, Some(request.0)),
        };
        let life_of_a_claim = slot.or(stock).is_some();
        let mut found: Vec<EventRow> = Vec::new();
        loop {
            let after = found.last().map_or(0, |event| event.place(life_of_a_claim));
            let page = self
                .store
                .ask(async |mut connection| {
                    let page = sqlx::query_scalar!(
                        r#"SELECT list_events($1, $2, $3, $4, $5, $6) AS "page: List""#,
                        self.site.id.0,
                        slot,
                        stock,
                        request,
                        after,
                        PAGE
                    )
                    .fetch_one(&mut connection)
                    .await;
                    (connection, page)
                })
                .await?;
            if !add_page(&mut found, read_list(page, "events")?) {
                return found.into_iter().map(Event::try_from).collect();
            }
        }
    }

    /// Writes `expired` over every hold that is due and that nobody is working on, a room or an item at a time (R11).
    /// Says how many claims expired.
    ///
    /// # Errors
    /// As [`SiteStore::slot_hold`].
    pub async fn sweep(&self, desk: &Desk) -> Result<i64, StoreError> {
        let mut expired = 0;
        loop {
            let now = self
                .store
                .ask(async |mut connection| {
                    let count = sqlx::query_scalar!(
                        r#"SELECT expire_next($1, $2) AS "expired!""#,
                        self.site.id.0,
                        desk.0
                    )
                    .fetch_one(&mut connection)
                    .await;
                    (connection, count)
                })
                .await?;
            if now == 0 {
                if expired > 0 {
                    self.hint();
                }
                return Ok(expired);
            }
            expired += i64::from(now);
        }
    }

    /// Proves the rules from the rows; nothing means that all is well.
    ///
    /// # Errors
    /// As [`SiteStore::slot_hold`].
    pub async fn check(&self) -> Result<Vec<Problem>, StoreError> {
        self.store
            .ask(async |mut connection| {
                let rows = sqlx::query_as!(
                    Problem,
                    r#"
                    SELECT rule AS "rule!", subject AS "subject!", problem AS "problem!"
                    FROM check_site($1)
                    "#,
                    self.site.id.0
                )
                .fetch_all(&mut connection)
                .await;
                (connection, rows)
            })
            .await
    }

    /// The database's clock (R10).
    ///
    /// # Errors
    /// As [`SiteStore::slot_hold`].
    pub async fn now(&self) -> Result<DateTime<Utc>, StoreError> {
        self.store.now().await
    }
}

impl Store {
    /// The database's clock (R10).
    pub(super) async fn now(&self) -> Result<DateTime<Utc>, StoreError> {
        self.ask(async |mut connection| {
            let now = sqlx::query_scalar!(r#"SELECT clock_timestamp() AS "now!""#)
                .fetch_one(&mut connection)
                .await;
            (connection, now)
        })
        .await
    }
}
