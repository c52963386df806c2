//! Reads: claims, history, the proof of the rules, the clock, and the sweep.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::rows::{EventRow, GroupAnswerRow, SlotRow, StockRow};
use super::{House, Store, StoreError};
use crate::domain::{
    ClaimState, Desk, Event, Group, GroupId, ItemId, Period, RequestId, RoomId, SlotHold,
    SlotHoldId, StockHold, StockHoldId,
};

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
    /// Everything of the house.
    House,
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

impl House {
    /// One claim on a room.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub async fn slot_hold(&self, hold: SlotHoldId) -> Result<Option<SlotHold>, StoreError> {
        self.store
            .ask(async |mut connection| {
                let row = sqlx::query_as!(
                    SlotRow,
                    "
                    SELECT
                        hold_id, group_id, room_id, room, starts_at, ends_at, occupied_until, nights, purpose, state,
                        guest, note, party, expires_at, version, desk, request_id, created_at, changed_at
                    FROM slot_claim
                    WHERE site_id = $1 AND hold_id = $2
                    ",
                    self.site.id.0,
                    hold.0
                )
                .fetch_optional(&mut connection)
                .await;
                (connection, row)
            })
            .await?
            .map(SlotHold::try_from)
            .transpose()
    }

    /// One claim on stock.
    ///
    /// # Errors
    /// As [`House::slot_hold`].
    pub async fn stock_hold(&self, hold: StockHoldId) -> Result<Option<StockHold>, StoreError> {
        self.store
            .ask(async |mut connection| {
                let row = sqlx::query_as!(
                    StockRow,
                    "
                    SELECT
                        hold_id, group_id, item_id, item, quantity, state, guest, note, expires_at, version, desk,
                        request_id, created_at, changed_at
                    FROM stock_claim
                    WHERE site_id = $1 AND hold_id = $2
                    ",
                    self.site.id.0,
                    hold.0
                )
                .fetch_optional(&mut connection)
                .await;
                (connection, row)
            })
            .await?
            .map(StockHold::try_from)
            .transpose()
    }

    /// Several claims that were made as one (R20).
    ///
    /// # Errors
    /// As [`House::slot_hold`].
    pub async fn group(&self, group: GroupId) -> Result<Option<Group>, StoreError> {
        let row = self
            .store
            .ask(async |mut connection| {
                let row = sqlx::query_as!(
                    GroupAnswerRow,
                    "
                    SELECT answer.*
                    FROM claim_group AS g
                    CROSS JOIN LATERAL answer_group(g.site_id, g.group_id, NULL, NULL, false) AS answer
                    WHERE g.site_id = $1 AND g.group_id = $2
                    ",
                    self.site.id.0,
                    group.0
                )
                .fetch_optional(&mut connection)
                .await;
                (connection, row)
            })
            .await?;
        match row {
            Some(row) => Ok(row.split()?.1),
            None => Ok(None),
        }
    }

    /// Claims on rooms, oldest first.
    ///
    /// # Errors
    /// As [`House::slot_hold`].
    pub async fn slot_holds(&self, filter: &SlotFilter) -> Result<Vec<SlotHold>, StoreError> {
        self.store
            .ask(async |mut connection| {
                let rows = sqlx::query_as!(
                    SlotRow,
                    "
                    SELECT
                        hold_id, group_id, room_id, room, starts_at, ends_at, occupied_until, nights, purpose, state,
                        guest, note, party, expires_at, version, desk, request_id, created_at, changed_at
                    FROM slot_claim
                    WHERE site_id = $1
                        AND ($2::bigint IS NULL OR room_id = $2)
                        AND ($3::timestamptz IS NULL OR ends_at > $3)
                        AND ($4::timestamptz IS NULL OR starts_at < $4)
                        AND ($5::text IS NULL OR state = $5)
                        AND ($6::text IS NULL OR strpos(lower(guest), lower($6)) > 0)
                    ORDER BY hold_id
                    ",
                    self.site.id.0,
                    filter.room.map(|room| room.0),
                    filter.from,
                    filter.to,
                    filter.state.map(ClaimState::word),
                    filter.guest.as_deref()
                )
                .fetch_all(&mut connection)
                .await;
                (connection, rows)
            })
            .await?
            .into_iter()
            .map(SlotHold::try_from)
            .collect()
    }

    /// Claims on stock, oldest first.
    ///
    /// # Errors
    /// As [`House::slot_hold`].
    pub async fn stock_holds(&self, filter: &StockFilter) -> Result<Vec<StockHold>, StoreError> {
        self.store
            .ask(async |mut connection| {
                let rows = sqlx::query_as!(
                    StockRow,
                    "
                    SELECT
                        hold_id, group_id, item_id, item, quantity, state, guest, note, expires_at, version, desk,
                        request_id, created_at, changed_at
                    FROM stock_claim
                    WHERE site_id = $1
                        AND ($2::bigint IS NULL OR item_id = $2)
                        AND ($3::text IS NULL OR state = $3)
                        AND ($4::text IS NULL OR strpos(lower(guest), lower($4)) > 0)
                    ORDER BY hold_id
                    ",
                    self.site.id.0,
                    filter.item.map(|item| item.0),
                    filter.state.map(ClaimState::word),
                    filter.guest.as_deref()
                )
                .fetch_all(&mut connection)
                .await;
                (connection, rows)
            })
            .await?
            .into_iter()
            .map(StockHold::try_from)
            .collect()
    }

    /// The active claims that touch a window, by room and start (R6).
    ///
    /// # Errors
    /// As [`House::slot_hold`].
    pub async fn claims_in(&self, window: Period) -> Result<Vec<SlotHold>, StoreError> {
        self.store
            .ask(async |mut connection| {
                let rows = super::picture::claims(&mut connection, self.site.id, window).await;
                (connection, rows)
            })
            .await?
            .into_iter()
            .map(SlotHold::try_from)
            .collect()
    }

    /// What happened, oldest first.
    ///
    /// # Errors
    /// As [`House::slot_hold`].
    pub async fn history(&self, of: HistoryOf) -> Result<Vec<Event>, StoreError> {
        let (slot, stock, request) = match of {
            HistoryOf::House => (None, None, None),
            HistoryOf::SlotHold(hold) => (Some(hold.0), None, None),
            HistoryOf::StockHold(hold) => (None, Some(hold.0), None),
            HistoryOf::Request(request) => (None, None, Some(request.0)),
        };
        self.store
            .ask(async |mut connection| {
                let rows = sqlx::query_as!(
                    EventRow,
                    "
                    SELECT
                        event_id, at, what, slot_hold_id, stock_hold_id, room_id, item_id, subject, guest, quantity,
                        from_state, to_state, desk, reason, request_id
                    FROM event_line
                    WHERE site_id = $1
                        AND ($2::bigint IS NULL OR slot_hold_id = $2)
                        AND ($3::bigint IS NULL OR stock_hold_id = $3)
                        AND ($4::uuid IS NULL OR request_id = $4)
                    ORDER BY event_id
                    ",
                    self.site.id.0,
                    slot,
                    stock,
                    request
                )
                .fetch_all(&mut connection)
                .await;
                (connection, rows)
            })
            .await?
            .into_iter()
            .map(Event::try_from)
            .collect()
    }

    /// Writes `expired` over every hold that is due and that nobody is working on, a room or an item at a time (R11).
    /// Says how many claims expired.
    ///
    /// # Errors
    /// As [`House::slot_hold`].
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
    /// As [`House::slot_hold`].
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
    /// As [`House::slot_hold`].
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
