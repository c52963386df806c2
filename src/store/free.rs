//! Reads: what is free.

use chrono::{DateTime, TimeDelta, Utc};

use super::{House, StoreError};
use crate::domain::{Alternative, Period, RoomId};

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreeSearch {
    /// When it may begin at the earliest and must end at the latest.
    pub window: Period,
    /// How long; for a room by the night, rounded up to nights.
    pub length: TimeDelta,
    /// For how many people.
    pub party: Option<i32>,
    /// What the room must have, all of it.
    pub features: Vec<String>,
}

struct FreeRow {
    room_id: i64,
    room: String,
    capacity: i32,
    starts_at: DateTime<Utc>,
    ends_at: DateTime<Utc>,
    nights: Option<i32>,
}

impl House {
    /// The first free period of a length in each room that will do, soonest first.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub async fn find_free(&self, search: &FreeSearch) -> Result<Vec<Alternative>, StoreError> {
        // A stay of some nights is up to a day shorter than as many days. What is longer fits nowhere, and may be longer
        // than the database can add to a time.
        if search.length - TimeDelta::days(1) > search.window.length() {
            return Ok(Vec::new());
        }
        self.store
            .ask(async |mut connection| {
                let rows = sqlx::query_as!(
                    FreeRow,
                    r#"
                    SELECT
                        room_id AS "room_id!", room AS "room!", capacity AS "capacity!", starts_at AS "starts_at!",
                        ends_at AS "ends_at!", nights
                    FROM find_free($1, $2, $3, $4, $5, $6)
                    "#,
                    self.site.id.0,
                    search.window.start(),
                    search.window.end(),
                    search.length as _,
                    search.party,
                    &search.features
                )
                .fetch_all(&mut connection)
                .await;
                (connection, rows)
            })
            .await?
            .into_iter()
            .map(Alternative::try_from)
            .collect()
    }
}

impl TryFrom<FreeRow> for Alternative {
    type Error = StoreError;

    fn try_from(row: FreeRow) -> Result<Self, StoreError> {
        let period = Period::new(row.starts_at, row.ends_at)
            .map_err(|_| super::rows::unreadable("find_free"))?;
        Ok(Self {
            room: RoomId(row.room_id),
            room_name: row.room,
            capacity: Some(row.capacity),
            period,
            nights: row.nights,
        })
    }
}
