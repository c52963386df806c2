//! Keeps one console's snapshot of a site fresh: correct by polling the change log, fast by notice.
//!
//! Runs as a task of its own and sends [`WatchEvent`]s; it also sweeps, so that a hold that runs out is written as
//! expired within a second while any console is open (R11).

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use crate::domain::{Desk, Period};
use crate::store::connection::error::StoreError;
use crate::store::handle::SiteStore;
use crate::store::live::hint;
use crate::store::read::Snapshot;

/// How often the change log is asked.
const POLL: Duration = Duration::from_millis(500);

/// How often everything is read again, for changes that went around the functions.
const FULL_READ: Duration = Duration::from_secs(4);

/// How long to wait between two tries to reach a server that is away, at first and at most.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(3));

/// Called when the server is away, so that an embedded one can be brought back.
pub type Revive = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// What a console hears.
#[derive(Debug, Clone)]
pub enum WatchEvent {
    /// The database answered: its clock, and how long the round trip took. About twice a second.
    Alive {
        /// The database's clock at the answer.
        now: DateTime<Utc>,
        /// The round trip.
        latency: Duration,
    },
    /// A new snapshot, because something changed or another window was asked for.
    Snapshot(Arc<Snapshot>),
    /// The database is away. The last snapshot stays; the watch goes on trying, and says `Alive` and `Snapshot` when it
    /// is back.
    Lost {
        /// A full sentence for the person: what happened and what is being done.
        sentence: String,
    },
}

/// A handle on the task; dropping it ends the task.
#[derive(Debug)]
pub struct Watch {
    window: watch::Sender<Period>,
    look: Arc<Notify>,
    tasks: [JoinHandle<()>; 2],
}

impl Watch {
    /// Looks at another window; its snapshot follows.
    pub(crate) fn look_at(&self, window: Period) {
        self.window.send_replace(window);
        self.look.notify_one();
    }

    /// Reads everything again, now.
    pub(crate) fn refresh(&self) {
        self.window.send_modify(|_| ());
        self.look.notify_one();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl SiteStore {
    /// Watches the site through a window, for the desk that sweeps meanwhile.
    pub fn watch(
        &self,
        desk: Desk,
        window: Period,
        events: UnboundedSender<WatchEvent>,
        revive: Option<Revive>,
    ) -> Watch {
        let (window, window_seen) = watch::channel(window);
        let look = Arc::new(Notify::new());
        let watcher = Watcher {
            site_store: self.clone(),
            desk,
            window: window_seen,
            look: look.clone(),
            events,
            revive,
            seen: None,
            shown: None,
            read_at: None,
        };
        let listener = listen(self.clone(), look.clone());
        Watch {
            window,
            look,
            tasks: [tokio::spawn(watcher.run()), tokio::spawn(listener)],
        }
    }
}

struct Watcher {
    site_store: SiteStore,
    desk: Desk,
    window: watch::Receiver<Period>,
    look: Arc<Notify>,
    events: UnboundedSender<WatchEvent>,
    revive: Option<Revive>,
    /// The snapshot up to which changes are known; none after a connection was lost.
    seen: Option<String>,
    shown: Option<Arc<Snapshot>>,
    read_at: Option<Instant>,
}

impl Watcher {
    async fn run(mut self) {
        let mut pause = BACKOFF.0;
        while !self.events.is_closed() {
            match self.turn().await {
                Ok(()) => {
                    pause = BACKOFF.0;
                    // A hint, a key or the clock, whichever comes first.
                    let _ = tokio::time::timeout(POLL, self.look.notified()).await;
                }
                Err(error) => {
                    self.seen = None;
                    self.send(WatchEvent::Lost {
                        sentence: error.sentence_while_trying_again(),
                    });
                    if let Some(revive) = &self.revive {
                        revive().await;
                    }
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(BACKOFF.1);
                }
            }
        }
    }

    /// Once around: what changed, what is due, and a new snapshot if there is a reason for one.
    async fn turn(&mut self) -> Result<(), StoreError> {
        let fresh = self.seen.is_none();
        if fresh {
            self.site_store.store.check_schema().await?;
        }
        let asked_at = Instant::now();
        let changes = self.site_store.changes_since(self.seen.as_deref()).await?;
        self.send(WatchEvent::Alive {
            now: changes.now,
            latency: asked_at.elapsed(),
        });
        self.seen = Some(changes.seen);

        let swept = self.sweep().await?;
        let asked_for = self.window.has_changed().unwrap_or(false);
        let overdue = self
            .read_at
            .is_none_or(|read_at| read_at.elapsed() >= FULL_READ);
        if fresh || swept || asked_for || overdue || changes.count > 0 {
            let window = *self.window.borrow_and_update();
            let snapshot = self.site_store.snapshot(window).await?;
            self.read_at = Some(Instant::now());
            let same = self
                .shown
                .as_ref()
                .is_some_and(|shown| shown.shows_the_same_as(&snapshot));
            if fresh || asked_for || !same {
                let snapshot = Arc::new(snapshot);
                self.shown = Some(snapshot.clone());
                self.send(WatchEvent::Snapshot(snapshot));
            }
        }
        Ok(())
    }

    /// Takes a turn at sweeping until nothing is due. A fault in one room's figures does not stop the watch.
    async fn sweep(&self) -> Result<bool, StoreError> {
        let mut swept = false;
        loop {
            match self.site_store.sweep_turn(&self.desk).await {
                Ok(0) => return Ok(swept),
                Ok(_) => swept = true,
                Err(
                    error @ (StoreError::OutOfReach { .. }
                    | StoreError::SchemaTooNew { .. }
                    | StoreError::SchemaTooOld),
                ) => return Err(error),
                Err(error) => {
                    tracing::error!(%error, "the sweep failed");
                    return Ok(swept);
                }
            }
        }
    }

    fn send(&self, event: WatchEvent) {
        // Nobody listens any more: the loop ends at its next turn.
        let _ = self.events.send(event);
    }
}

/// Listens for hints, as long as the watch lives. Losing the connection loses hints and nothing else.
async fn listen(site_store: SiteStore, look: Arc<Notify>) {
    let payload = site_store.site.id.to_string();
    loop {
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .connect_lazy_with(site_store.store.connections.options().clone());
        if let Ok(mut listener) = PgListener::connect_with(&pool).await
            && listener.listen(hint::CHANNEL).await.is_ok()
        {
            // None: it was lost, and something may have been missed meanwhile; look, and start anew.
            while let Ok(Some(notice)) = listener.try_recv().await {
                if notice.payload() == payload {
                    look.notify_one();
                }
            }
            look.notify_one();
        }
        tokio::time::sleep(BACKOFF.1).await;
    }
}

struct Changes {
    seen: String,
    now: DateTime<Utc>,
    count: i64,
}

impl SiteStore {
    async fn changes_since(&self, seen: Option<&str>) -> Result<Changes, StoreError> {
        self.store
            .ask_row(|| {
                sqlx::query_as!(
                    Changes,
                    r#"
                    SELECT seen AS "seen!", now AS "now!", changes AS "count!"
                    FROM changes_since($1, $2)
                    "#,
                    self.site.id.0,
                    seen
                )
            })
            .await
    }
}
