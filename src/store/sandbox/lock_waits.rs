//! Who waits for whom among sessions that have a name.

use crate::domain::Desk;
use crate::store::connection::connections::desk_of_session;
use crate::store::connection::error::StoreError;
use crate::store::handle::Store;

/// A session that waits for another's lock.
#[derive(Debug)]
pub(crate) struct LockWait {
    pub(crate) who: Desk,
    pub(crate) whom: Desk,
}

impl Store {
    /// Who waits for whom, of the sessions that say whose they are.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub(crate) async fn lock_waits(&self) -> Result<Vec<LockWait>, StoreError> {
        let rows = self
            .ask_rows(|| {
                sqlx::query!(
                    r#"
                    SELECT waiter.application_name AS "who!", holder.application_name AS "whom!"
                    FROM pg_stat_activity AS waiter
                    CROSS JOIN LATERAL unnest(CASE
                        WHEN waiter.wait_event_type = 'Lock' THEN pg_blocking_pids(waiter.pid)
                    END) AS blocking (pid)
                    JOIN pg_stat_activity AS holder ON holder.pid = blocking.pid
                    WHERE waiter.datname = current_database()
                    ORDER BY waiter.pid, holder.pid
                    "#
                )
            })
            .await?;
        let named = rows.into_iter().filter_map(|row| {
            Some(LockWait {
                who: desk_of_session(&row.who)?,
                whom: desk_of_session(&row.whom)?,
            })
        });
        Ok(named.collect())
    }
}
