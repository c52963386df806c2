//! Claims and groups, as they are stored.

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::domain::{
    ClaimState, Group, GroupId, HoldKind, ItemId, Period, RoomId, SlotHold, SlotHoldId, StockHold,
    StockHoldId,
};
use crate::store::connection::error::StoreError;
use crate::store::handle::SiteStore;
use crate::store::read::decode::{List, PAGE, add_page, read, read_list};

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
            .ask_value(|| {
                sqlx::query_scalar!("SELECT look_up($1, $2, $3)", self.site.id.0, subject, id)
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
            .ask_value(|| {
                sqlx::query_scalar!("SELECT kind_of_claim($1, $2)", self.site.id.0, number)
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
                .ask_value(|| {
                    sqlx::query_scalar!(
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
                .ask_value(|| {
                    sqlx::query_scalar!(
                        r#"SELECT list_stock_claims($1, $2, $3, $4, $5, $6) AS "page: List""#,
                        self.site.id.0,
                        filter.item.map(|item| item.0),
                        filter.state.map(ClaimState::word),
                        filter.guest.as_deref(),
                        after,
                        PAGE
                    )
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
            .ask_value(|| {
                sqlx::query_scalar!(
                    r#"
                    SELECT coalesce(json_agg(c), '[]') AS "claims: List"
                    FROM claims_in_window($1, $2, $3) AS c
                    "#,
                    self.site.id.0,
                    window.start(),
                    window.end()
                )
            })
            .await?;
        read_list(claims, "claims")
    }
}
