//! What time it is at the database.

use chrono::{DateTime, Utc};

use crate::store::connection::clock::clock;
use crate::store::connection::error::StoreError;
use crate::store::handle::{SiteStore, Store};

impl SiteStore {
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
    pub(crate) async fn now(&self) -> Result<DateTime<Utc>, StoreError> {
        self.ask(async |mut connection| {
            let now = clock(&mut connection).await;
            (connection, now)
        })
        .await
    }
}
