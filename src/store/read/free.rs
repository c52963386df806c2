//! What is free.

use chrono::TimeDelta;

use crate::domain::{Alternative, Period};
use crate::store::connection::error::StoreError;
use crate::store::handle::SiteStore;
use crate::store::read::decode::read;

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

impl SiteStore {
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
        let found = self
            .store
            .ask_value(|| {
                sqlx::query_scalar!(
                    "SELECT find_free($1, $2, $3, $4, $5, $6)",
                    self.site.id.0,
                    search.window.start(),
                    search.window.end(),
                    search.length as _,
                    search.party,
                    &search.features
                )
            })
            .await?;
        read(found, "free rooms")
    }
}
