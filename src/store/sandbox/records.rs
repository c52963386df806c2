//! What two desks of a demo need beyond commands: connections that are ready at once, and the database's own record of
//! what it answered when.

use chrono::{DateTime, Utc};
use sqlx::Executor;

use crate::domain::{Request, RequestId};
use crate::store::command::statements::send;
use crate::store::connection::error::StoreError;
use crate::store::connection::faults::fault;
use crate::store::handle::SiteStore;

/// What the database wrote down about a request.
#[derive(Debug)]
pub(crate) struct RequestRecord {
    pub(crate) request: RequestId,
    /// When it was decided, by the database's clock: read while the locks of the command were held, so that of two
    /// commands that wanted the same thing the earlier one was first.
    pub(crate) decided_at: DateTime<Utc>,
}

impl SiteStore {
    /// Makes ready for a command: an idle connection that has its statement prepared.
    ///
    /// The statement is sent in a transaction that may not write, which ends it at its first step: whatever the
    /// command is, nothing is done and nothing is waited for.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`].
    pub async fn make_ready(&self, request: &Request) -> Result<(), StoreError> {
        self.store.hints.settle().await;
        let connections = &self.store.connections;
        let mut connection = connections.take().await.map_err(|error| fault(&error))?;
        let prepared = async {
            connection.execute("BEGIN READ ONLY").await?;
            // It fails as it must; what matters is that it has been there.
            let _ = send(&mut connection, self.site.id, request).await;
            connection.execute("ROLLBACK").await
        };
        match prepared.await {
            Ok(_) => {
                connections.give_back(connection);
                Ok(())
            }
            // A connection that is of no use any more is found out by the command itself.
            Err(error) => {
                connections.forget_idle();
                Err(fault(&error))
            }
        }
    }

    /// What the database wrote down about requests, in the order in which it decided them.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub(crate) async fn records(
        &self,
        requests: &[RequestId],
    ) -> Result<Vec<RequestRecord>, StoreError> {
        let ids: Vec<uuid::Uuid> = requests.iter().map(|request| request.0).collect();
        let rows = self
            .store
            .ask_rows(|| {
                sqlx::query!(
                    "
                    SELECT request_id, at
                    FROM request
                    WHERE site_id = $1 AND request_id = ANY ($2)
                    ORDER BY at
                    ",
                    self.site.id.0,
                    &ids
                )
            })
            .await?;
        Ok(rows
            .into_iter()
            .map(|row| RequestRecord {
                request: RequestId(row.request_id),
                decided_at: row.at,
            })
            .collect())
    }
}
