//! The wrong ways, measured: the same race against each strategy of [`crate::store::lab`].
//!
//! In each round all clients ask at the same moment for what they can't all have. What they ask is drawn from a seed,
//! the same for every strategy. What went wrong is counted afterwards from the rows, never by the clients. Everything
//! happens in a scratch schema, which is gone at the end, however it ends.

mod figures;
mod race;
mod wishes;

use std::future::Future;
use std::time::Duration;

use crate::domain::sentences::fault::Unreachable;
use crate::store::lab::{Lab, Server, Strategy};
use crate::store::{Store, StoreError};

pub use figures::{Measured, Verdict};

/// What to measure, and how.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Which, in this order.
    pub strategies: Vec<&'static Strategy>,
    /// How many ask at the same moment.
    pub clients: u16,
    /// How long each strategy is measured.
    pub length: Length,
    /// What passes between looking and writing, the same for every strategy.
    pub think: Duration,
    /// What the choices are drawn from.
    pub seed: u64,
}

/// How long a strategy is measured. A round that has begun is finished.
#[derive(Debug, Clone, Copy)]
pub enum Length {
    /// Rounds until so much time has passed.
    Time(Duration),
    /// So many rounds.
    Rounds(u32),
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Report {
    /// What it ran on.
    pub server: Server,
    /// A strategy each, in the order of the plan; fewer if it was stopped.
    pub measured: Vec<Measured>,
    /// Whether it was stopped before the end.
    pub stopped: bool,
}

/// Why a lab came to no end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LabError {
    /// There are more clients than connections left, so that none has begun.
    #[error("the server has room for {room} clients")]
    TooManyClients {
        /// For so many there is room.
        room: i64,
    },
    /// The server takes fewer connections than there are clients.
    #[error("not every client could connect: {reason}")]
    NotEveryClient {
        /// Why.
        reason: Unreachable,
    },
    /// Anything else.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Measures every strategy of the plan, unless it is stopped before. `began` is told of each as its turn comes.
///
/// # Errors
/// [`LabError`], after the scratch schema was removed if that could be done.
pub async fn run(
    store: &Store,
    plan: &Plan,
    stop: impl Future<Output = ()>,
    began: impl FnMut(&'static Strategy),
) -> Result<Report, LabError> {
    let lab = store.open_lab().await?;
    // One is the referee's.
    let room = lab.server().spare_connections - 1;
    if i64::from(plan.clients) > room {
        lab.close().await?;
        return Err(LabError::TooManyClients { room: room.max(0) });
    }
    let mut measured = Vec::new();
    let outcome = tokio::select! {
        outcome = measure(&lab, plan, &mut measured, began) => outcome.map(|()| false),
        () = stop => Ok(true),
    };
    let server = lab.server().clone();
    let closed = lab.close().await;
    let stopped = outcome?;
    closed?;
    Ok(Report {
        server,
        measured,
        stopped,
    })
}

async fn measure(
    lab: &Lab,
    plan: &Plan,
    measured: &mut Vec<Measured>,
    mut began: impl FnMut(&'static Strategy),
) -> Result<(), LabError> {
    let mut referee = lab.referee().await?;
    for strategy in &plan.strategies {
        began(strategy);
        measured.push(race::run(lab, &mut referee, strategy, plan).await?);
    }
    referee.leave().await;
    Ok(())
}
