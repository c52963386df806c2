//! The database's clock, which is the only one that decides.

use chrono::{DateTime, Utc};

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
            let now = sqlx::query_scalar!(r#"SELECT clock_timestamp() AS "now!""#)
                .fetch_one(&mut connection)
                .await;
            (connection, now)
        })
        .await
    }
}
