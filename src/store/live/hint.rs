//! Hints: after a change, a notice outside the booking transaction, so that consoles look at once instead of at their
//! next poll. Coalesced, and nothing depends on it: a NOTIFY inside the transaction would serialise commits.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection, Executor};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use crate::domain::SiteId;
use crate::store::connection::connections::Connections;

/// The channel that consoles listen on; the payload is the site's number.
pub(crate) const CHANNEL: &str = "keyrack";

/// Changes within this time share one notice.
const COALESCED: Duration = Duration::from_millis(10);

#[derive(Debug, Clone)]
pub(crate) struct Hints {
    connections: Connections,
    under_way: Arc<Mutex<UnderWay>>,
    /// No other change is waited for any more.
    closing: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct UnderWay {
    /// Whom the next notice is about; nobody, if none is about to be given.
    sites: BTreeSet<SiteId>,
    tasks: Vec<Task>,
}

/// One notice on its way.
#[derive(Debug)]
struct Task {
    /// Hears when it has been sent.
    sent: oneshot::Receiver<()>,
    /// Ends when it has been answered.
    answered: JoinHandle<()>,
}

impl Hints {
    pub(crate) fn new(connections: Connections) -> Self {
        Self {
            connections,
            under_way: Arc::default(),
            closing: watch::Sender::new(false),
        }
    }

    /// Gives a hint soon, with the one that is about to be given if there is one.
    pub(crate) fn hint(&self, site: SiteId) {
        let mut under_way = self.under_way();
        let is_first = under_way.sites.is_empty();
        under_way.sites.insert(site);
        if is_first {
            under_way.tasks.retain(|task| !task.answered.is_finished());
            let (tell, sent) = oneshot::channel();
            let answered = tokio::spawn(self.clone().give(tell));
            under_way.tasks.push(Task { sent, answered });
        }
    }

    fn under_way(&self) -> MutexGuard<'_, UnderWay> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    async fn give(self, sent: oneshot::Sender<()>) {
        let mut closing = self.closing.subscribe();
        // The sender is here; or it is time.
        let _ = tokio::time::timeout(COALESCED, closing.wait_for(|closing| *closing)).await;
        // From here on a change needs a hint of its own: this one may be sent before it commits.
        let sites = std::mem::take(&mut self.under_way().sites);
        let Ok(mut connection) = self.connections.take().await else {
            return;
        };
        // One message, so that it is sent when it has been polled once; whether anybody hears the answer is the same to
        // the server. A hint need not survive a crash, so its commit does not wait for the disk, nor does a command
        // behind it.
        let notices: String = sites
            .iter()
            .map(|site| format!(", pg_notify('{CHANNEL}', '{}')", site.0))
            .collect();
        let statement = format!("SELECT set_config('synchronous_commit', 'off', true){notices}");
        let outcome = {
            let mut statement = pin!(connection.execute(sqlx::raw_sql(AssertSqlSafe(statement))));
            let first = poll_fn(|context| Poll::Ready(statement.as_mut().poll(context))).await;
            // Nobody may be waiting for that.
            let _ = sent.send(());
            match first {
                Poll::Ready(outcome) => outcome,
                Poll::Pending => statement.await,
            }
        };
        if outcome.is_err() {
            return;
        }
        if *self.closing.borrow() {
            // The server may be gone; then there is nobody to say goodbye to.
            let _ = connection.close().await;
        } else {
            self.connections.give_back(connection);
        }
    }

    /// Waits until nothing is under way any more.
    pub(crate) async fn settle(&self) {
        let tasks = std::mem::take(&mut self.under_way().tasks);
        for task in tasks {
            // It can only have been cancelled with the runtime, which ends everything.
            let _ = task.answered.await;
        }
    }

    /// Sends at once what is still to be hinted, and does not wait for the answer.
    pub(crate) async fn send_off(&self) {
        self.closing.send_replace(true);
        let tasks = std::mem::take(&mut self.under_way().tasks);
        for task in tasks {
            // Or there is no connection to send it on.
            let _ = task.sent.await;
        }
    }
}
