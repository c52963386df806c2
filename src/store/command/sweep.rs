//! The sweep, which may be asked twice: what has expired expires no more.

use crate::domain::Desk;
use crate::store::connection::error::StoreError;
use crate::store::handle::SiteStore;

impl SiteStore {
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
                .ask_value(|| {
                    sqlx::query_scalar!(
                        r#"SELECT expire_next($1, $2) AS "expired!""#,
                        self.site.id.0,
                        desk.0
                    )
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

    /// Takes a turn at the same, once, unless another console has just done so. Says how many claims expired.
    pub(crate) async fn sweep_turn(&self, desk: &Desk) -> Result<i32, StoreError> {
        self.store
            .ask_value(|| {
                sqlx::query_scalar!(
                    r#"SELECT sweep_turn($1, $2) AS "expired!""#,
                    self.site.id.0,
                    desk.0
                )
            })
            .await
    }
}
