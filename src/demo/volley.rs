//! Two commands let go together, and in which order the database answered them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::watch;

use crate::demo::desks::Which;
use crate::domain::{Request, RequestId};
use crate::store::SiteStore;

/// Commands that wait to be let go.
pub(super) struct Volley {
    members: Mutex<Vec<Member>>,
    go: watch::Sender<bool>,
}

struct Member {
    site_store: SiteStore,
    request: Request,
    shot: Option<Shot>,
}

/// One of two commands that were let go together.
#[derive(Debug, Clone, PartialEq)]
pub struct Shot {
    /// Whose.
    pub which: Which,
    /// Which.
    pub request: RequestId,
    /// When it was sent, counted from the moment at which the first of the two was.
    pub sent: Duration,
    /// When its answer was here, counted from there too.
    pub arrived: Duration,
    /// When the database decided it, by its own clock, as it wrote down with the outcome; none if it wrote nothing.
    pub decided_at: Option<DateTime<Utc>>,
    /// Whether it was done; else what the desk was told.
    pub outcome: Result<String, String>,
    /// Why not, in few words; none if it was done.
    pub in_short: Option<String>,
}

/// What became of two commands that were let go together.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Both, in the order in which the database decided them; without its word, in the order of the answers.
    pub shots: [Shot; 2],
}

impl Verdict {
    /// Puts two shots in order.
    pub(super) fn new(mut shots: [Shot; 2]) -> Self {
        match (shots[0].decided_at, shots[1].decided_at) {
            (Some(_), Some(_)) => shots.sort_by_key(|shot| (shot.decided_at, shot.arrived)),
            _ => shots.sort_by_key(|shot| shot.arrived),
        }
        Self { shots }
    }

    /// The one that the database decided first.
    pub fn first(&self) -> &Shot {
        &self.shots[0]
    }

    /// The other.
    pub fn second(&self) -> &Shot {
        &self.shots[1]
    }

    /// By how much, by the database's clock; none without its word.
    pub fn lead(&self) -> Option<TimeDelta> {
        Some(self.second().decided_at? - self.first().decided_at?)
    }
}

impl Volley {
    pub(super) fn new() -> Self {
        Self {
            members: Mutex::default(),
            go: watch::channel(false).0,
        }
    }

    /// Takes part.
    pub(super) fn enlist(&self, site_store: &SiteStore, request: &Request) {
        self.members().push(Member {
            site_store: site_store.clone(),
            request: request.clone(),
            shot: None,
        });
    }

    /// Whether two take part.
    pub(super) fn is_full(&self) -> bool {
        self.members().len() == 2
    }

    /// Makes both connections ready, then lets both commands go.
    pub(super) async fn let_go(self: Arc<Self>) {
        let ready: Vec<_> = self
            .members()
            .iter()
            .map(|member| (member.site_store.clone(), member.request.clone()))
            .collect();
        futures_util::future::join_all(ready.iter().map(async |(site_store, request)| {
            if let Err(error) = site_store.make_ready(request).await {
                // The command will find out itself.
                tracing::warn!(%error, "a connection could not be made ready");
            }
        }))
        .await;
        self.go.send_replace(true);
    }

    /// Waits to be let go.
    pub(super) async fn wait(&self) {
        // The sender is here, so that it can't be gone.
        let _ = self.go.subscribe().wait_for(|go| *go).await;
    }

    /// Reports an answer; with the last one, both shots.
    pub(super) fn answered(&self, shot: Shot) -> Option<[Shot; 2]> {
        let mut members = self.members();
        let member = members
            .iter_mut()
            .find(|member| member.request.id == shot.request)?;
        member.shot = Some(shot);
        let shots: Vec<Shot> = members
            .iter()
            .filter_map(|member| member.shot.clone())
            .collect();
        shots.try_into().ok()
    }

    fn members(&self) -> std::sync::MutexGuard<'_, Vec<Member>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
