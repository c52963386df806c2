//! Hints: after a change, a notice outside the booking transaction, so that consoles look at once instead of at their
//! next poll. Coalesced, and nothing depends on it: a NOTIFY inside the transaction would serialise commits (design
//! section 6).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;

use super::connections::Connections;
use crate::domain::SiteId;

/// The channel that consoles listen on; the payload is the site's number.
pub(super) const CHANNEL: &str = "keyrack";

/// Changes within this time share one notice.
const COALESCED: Duration = Duration::from_millis(10);

#[derive(Debug, Clone)]
pub(super) struct Hints {
    connections: Connections,
    under_way: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl Hints {
    pub(super) fn new(connections: Connections) -> Self {
        Self {
            connections,
            under_way: Arc::default(),
        }
    }

    /// Gives a hint soon, unless one is about to be given.
    pub(super) fn hint(&self, site: SiteId) {
        let mut under_way = self
            .under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if under_way.as_ref().is_some_and(|task| !task.is_finished()) {
            return;
        }
        let hints = self.clone();
        *under_way = Some(tokio::spawn(async move {
            tokio::time::sleep(COALESCED).await;
            hints.clear();
            hints.notify(site).await;
        }));
    }

    /// From here on a change needs a hint of its own: the one under way may be sent before it commits.
    fn clear(&self) {
        let mut under_way = self
            .under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *under_way = None;
    }

    async fn notify(&self, site: SiteId) {
        let Ok(mut connection) = self.connections.take().await else {
            return;
        };
        // A hint need not survive a crash, so its commit does not wait for the disk, nor does a command behind it.
        let sent = sqlx::query!(
            "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)",
            CHANNEL,
            site.0.to_string()
        )
        .fetch_one(&mut connection)
        .await;
        if sent.is_ok() {
            self.connections.give_back(connection);
        }
    }

    /// Waits for the hint that is under way.
    pub(super) async fn finish(&self) {
        let task = self
            .under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(task) = task {
            // It can only have been cancelled with the runtime, which ends everything.
            let _ = task.await;
        }
    }
}
