//! The controller: a task with a connection of its own that opens the gates, looks at the session from outside, carries
//! out what the person wants, and ends the transaction when its time is up.

use std::time::{Duration, Instant};

use sqlx::Connection;
use sqlx::postgres::PgConnection;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{sleep_until, timeout};

use crate::domain::Request;
use crate::domain::sentences::fault::Rollback;
use crate::store::command::statements::SendError;
use crate::store::connection::faults::{Kind, fault, kind};
use crate::store::handle::SiteStore;
use crate::store::stepping::inspection;
use crate::store::stepping::notices::StepReport;
use crate::store::stepping::session::{CommandOutcome, Session};
use crate::store::stepping::trace::Trace;
use crate::store::stepping::view::{Ending, ListedLock, StepPlace, StepView, StepWarning, Wait};

/// How soon to look why a session has neither come to a gate nor answered.
const LOOK_SOON: Duration = Duration::from_millis(15);

/// How often to look at one that stands or waits.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// How long a session may take to obey.
const PATIENCE: Duration = Duration::from_secs(5);

/// The longest time by which the controller is earlier than the database.
const LONGEST_HEAD_START: Duration = Duration::from_secs(2);

/// What a person can want of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Move {
    /// Take the next step; after the answer that is COMMIT.
    Step,
    /// Open the gates as they are reached.
    RunOn(Gates),
    Commit,
    /// Commit, and cut the connection before the answer.
    CommitUnheard,
    RollBack,
    Cut,
    Kill,
}

/// Which gates open by themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Gates {
    Shut,
    OpenTo(String),
    Open,
}

/// A move, and whom to tell when it is under way.
pub(super) struct Order {
    pub(super) what: Move,
    pub(super) taken: oneshot::Sender<()>,
}

pub(super) struct Controller {
    pub(super) site_store: SiteStore,
    pub(super) request: Request,
    /// The number of the run, which makes its gates its own.
    pub(super) run: i32,
    pub(super) connection: PgConnection,
    pub(super) session: Session,
    pub(super) reports: mpsc::UnboundedReceiver<StepReport>,
    /// The answer to the statement, while it is under way.
    pub(super) outcome: Option<oneshot::Receiver<CommandOutcome>>,
    pub(super) orders: mpsc::UnboundedReceiver<Order>,
    pub(super) view: watch::Sender<StepView>,
    /// What the next view will be.
    pub(super) next: StepView,
    pub(super) trace: Trace,
    pub(super) gates: Gates,
    /// The locks that PostgreSQL lists; looked up when the session stands.
    pub(super) listed: Vec<ListedLock>,
    pub(super) look_at: Instant,
}

/// The controller's own connection is gone, and with it the gates.
pub(super) struct ConnectionLost;

impl From<sqlx::Error> for ConnectionLost {
    fn from(error: sqlx::Error) -> Self {
        tracing::warn!(error = %fault(&error), "a step-mode controller lost its connection");
        Self
    }
}

impl Controller {
    /// Goes on until the transaction is over.
    pub(super) async fn control(mut self) {
        while !self.next.is_over() {
            if self.turn().await.is_err() {
                // Without gates the session runs on to its answer, and no further: nobody sends COMMIT.
                self.session.cut().await;
                self.next.place = StepPlace::Ended(Ending::RolledBack(Rollback::Lost));
            }
            self.publish();
        }
        self.session.close().await;
        // The server may be gone; then there is nobody to say goodbye to.
        let _ = timeout(PATIENCE, self.connection.close()).await;
    }
    async fn turn(&mut self) -> Result<(), ConnectionLost> {
        let time_is_up = self.time_is_up();
        tokio::select! {
            // What was told comes before what was answered.
            biased;
            Some(report) = self.reports.recv() => self.hear(report).await,
            outcome = next_answer(&mut self.outcome) => {
                self.outcome = None;
                self.answered(outcome).await
            }
            () = sleep_until(time_is_up.into()) => self.roll_back(Ending::RolledBack(Rollback::TimeUp)).await,
            order = self.orders.recv() => match order {
                Some(order) => self.obey(order).await,
                // Nobody is interested any more.
                None => self.roll_back(Ending::RolledBack(Rollback::Wanted)).await,
            },
            () = sleep_until(self.look_at.into()) => self.look().await,
        }
    }

    /// Somewhat before the database's own limit, so that the end is a polite one.
    fn time_is_up(&self) -> Instant {
        let total = self.next.limits.total;
        self.next.began + (total - (total / 10).min(LONGEST_HEAD_START))
    }

    async fn hear(&mut self, report: StepReport) -> Result<(), ConnectionLost> {
        let Some(step) = self.trace.hear(report) else {
            return Ok(());
        };
        if self.gates == Gates::OpenTo(step.name.clone()) {
            self.gates = Gates::Shut;
        }
        self.next.place = StepPlace::AtGate(step);
        match self.gates {
            Gates::Shut => self.look_closely().await,
            Gates::OpenTo(_) | Gates::Open => self.pass_gate().await,
        }
    }

    /// Lets the session pass the gate at which it stands.
    async fn pass_gate(&mut self) -> Result<(), ConnectionLost> {
        if let StepPlace::AtGate(step) = &self.next.place {
            let step = step.clone();
            inspection::open_gate(&mut self.connection, self.run, step.gate).await?;
            self.next.place = StepPlace::Running(Some(step));
            self.look_at = Instant::now() + LOOK_SOON;
        }
        Ok(())
    }

    /// The statement has come to its end.
    async fn answered(&mut self, outcome: Option<CommandOutcome>) -> Result<(), ConnectionLost> {
        match outcome {
            Some(Ok(answer)) => {
                self.next.place = StepPlace::Answered(Box::new(answer));
                self.look_closely().await?;
            }
            Some(Err(SendError::Sql(error))) => {
                let newer = match kind(&error) {
                    Kind::Schema => self.site_store.store.newer_text().await,
                    _ => None,
                };
                self.end(newer.map_or_else(|| ending(&error), Ending::Failed))
                    .await;
            }
            Some(Err(SendError::Unreadable(error))) => self.end(Ending::Failed(error)).await,
            None => self.end(Ending::RolledBack(Rollback::Lost)).await,
        }
        Ok(())
    }

    async fn obey(&mut self, order: Order) -> Result<(), ConnectionLost> {
        let answered = matches!(self.next.place, StepPlace::Answered(_));
        let outcome = match order.what {
            Move::Step if !answered => self.pass_gate().await,
            Move::RunOn(gates) if !answered => {
                self.gates = gates;
                self.pass_gate().await
            }
            Move::Step | Move::Commit if answered => {
                self.commit().await;
                Ok(())
            }
            Move::CommitUnheard if answered => {
                self.session.commit_unheard().await;
                self.end_when_noticed(Ending::CommitUnknown).await
            }
            Move::RunOn(_) | Move::Step | Move::Commit | Move::CommitUnheard => Ok(()),
            Move::RollBack => self.roll_back(Ending::RolledBack(Rollback::Wanted)).await,
            Move::Cut => {
                self.session.cut().await;
                self.end_when_noticed(Ending::RolledBack(Rollback::Cut))
                    .await
            }
            Move::Kill => {
                inspection::terminate(&mut self.connection, self.session.backend).await?;
                self.end_when_noticed(Ending::RolledBack(Rollback::Killed))
                    .await
            }
        };
        if outcome.is_ok() {
            self.publish();
            // Who gave the order may have gone.
            let _ = order.taken.send(());
        }
        outcome
    }

    async fn commit(&mut self) {
        let StepPlace::Answered(answer) = self.next.place.clone() else {
            return;
        };
        self.next.place = match timeout(PATIENCE, self.session.commit()).await {
            Ok(Ok(Ok(()))) => {
                self.site_store.hint();
                StepPlace::Done(answer)
            }
            Ok(Ok(Err(error))) if kind(&error) == Kind::Lost => {
                StepPlace::Ended(match ending(&error) {
                    Ending::RolledBack(Rollback::TimeUp) => Ending::RolledBack(Rollback::TimeUp),
                    _ => Ending::CommitUnknown,
                })
            }
            Ok(Ok(Err(error))) => StepPlace::Ended(ending(&error)),
            Ok(Err(_)) | Err(_) => {
                self.session.cut().await;
                StepPlace::Ended(Ending::CommitUnknown)
            }
        };
    }

    /// Stops the statement if one is under way, and rolls back.
    async fn roll_back(&mut self, ending: Ending) -> Result<(), ConnectionLost> {
        if let Some(outcome) = self.outcome.take() {
            inspection::cancel(&mut self.connection, self.session.backend).await?;
            // Whatever it says: it is not committed.
            let _ = timeout(PATIENCE, outcome).await;
        }
        self.end(ending).await;
        Ok(())
    }

    /// Rolls back what nothing is being done in.
    async fn end(&mut self, ending: Ending) {
        if timeout(PATIENCE, self.session.roll_back()).await.is_err() {
            self.session.cut().await;
        }
        self.next.place = StepPlace::Ended(ending);
    }

    /// The end of a session whose connection or backend was taken away: when the server has seen it. The gates stay
    /// shut until then.
    async fn end_when_noticed(&mut self, ending: Ending) -> Result<(), ConnectionLost> {
        let started = Instant::now();
        while inspection::is_alive(&mut self.connection, self.session.backend).await? {
            if started.elapsed() > PATIENCE {
                inspection::terminate(&mut self.connection, self.session.backend).await?;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        self.session.cut().await;
        self.next.place = StepPlace::Ended(ending);
        Ok(())
    }

    /// Looks where the session is among the others.
    async fn look(&mut self) -> Result<(), ConnectionLost> {
        let (site, backend) = (self.site_store.site().id, self.session.backend);
        let situation = inspection::situation(&mut self.connection, backend, self.run).await?;
        self.next.clock = situation.now;
        self.next.seen = Instant::now();
        self.next.blocked = situation.blocked;
        self.next.deadline =
            match inspection::deadline(&mut self.connection, site, &self.request.command).await? {
                Some(deadline) => Some(deadline),
                None => self.trace.deadline(&self.next.place),
            };
        let since = match &self.next.place {
            StepPlace::Waiting(wait) => wait.since,
            _ => situation.now,
        };
        let between = matches!(
            self.next.place,
            StepPlace::Running(_) | StepPlace::Waiting(_)
        );
        if between && situation.whom.is_empty() {
            self.next.place = StepPlace::Running(self.trace.current());
        } else if between {
            self.next.place = StepPlace::Waiting(Wait {
                step: self.trace.current(),
                lock_kind: situation.awaits.unwrap_or_default(),
                whom: situation.whom,
                since: situation.since.unwrap_or(since),
            });
        } else if !situation.alive {
            self.session.cut().await;
            self.next.place = StepPlace::Ended(Ending::RolledBack(Rollback::Killed));
        }
        self.look_at = Instant::now()
            + match self.next.place {
                StepPlace::Running(_) => LOOK_SOON,
                _ => LOOK_AGAIN,
            };
        Ok(())
    }

    /// The same, and at its locks, which change only when it has moved.
    async fn look_closely(&mut self) -> Result<(), ConnectionLost> {
        self.listed = inspection::listed_locks(&mut self.connection, self.session.backend).await?;
        self.look().await
    }

    /// Shows how things stand now. Whoever watches is woken when something but the clock has changed.
    pub(super) fn publish(&mut self) {
        let over = self.next.is_over();
        self.next.trace = self.trace.steps().cloned().collect();
        if over {
            self.next.listed_locks = Vec::new();
            self.next.blocked = Vec::new();
        } else {
            self.next.listed_locks = self.listed.clone();
        }
        let left = self.next.left_at(Instant::now());
        self.next.warning = (!over && left <= self.next.limits.total / 2).then(|| StepWarning {
            seconds_left: left.as_secs(),
            blocks: self.next.blocked.clone(),
        });
        let next = self.next.clone();
        self.view.send_if_modified(|shown| {
            let news = StepView {
                clock: shown.clock,
                seen: shown.seen,
                ..next.clone()
            } != *shown;
            *shown = next;
            news
        });
    }
}

/// The answer to the statement under way; never, if there is none.
async fn next_answer(
    outcome: &mut Option<oneshot::Receiver<CommandOutcome>>,
) -> Option<CommandOutcome> {
    match outcome {
        Some(outcome) => outcome.await.ok(),
        None => std::future::pending().await,
    }
}

/// What an error of the session means for its transaction, which is gone.
fn ending(error: &sqlx::Error) -> Ending {
    let code = error
        .as_database_error()
        .and_then(sqlx::error::DatabaseError::code);
    match code.as_deref() {
        // The statement's limit, the idle transaction's, the transaction's.
        Some("57014" | "25P03" | "25P04") => Ending::RolledBack(Rollback::TimeUp),
        Some("40P01") => Ending::RolledBack(Rollback::Deadlock),
        Some("57P01") => Ending::RolledBack(Rollback::Killed),
        _ if kind(error) == Kind::Lost => Ending::RolledBack(Rollback::Lost),
        _ => Ending::Failed(fault(error)),
    }
}
