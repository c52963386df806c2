//! A command that is under way in step mode, for whoever leads it.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{mpsc, oneshot, watch};

use crate::domain::{Answer, Request};
use crate::store::connection::clock::clock;
use crate::store::connection::error::StoreError;
use crate::store::connection::faults::{Kind, fault, kind};
use crate::store::handle::SiteStore;
use crate::store::stepping::controller::{Controller, Gates, Move, Order};
use crate::store::stepping::inspection;
use crate::store::stepping::session::Session;
use crate::store::stepping::trace::Trace;
use crate::store::stepping::view::{Ending, StepLimits, StepPlace, StepView};

/// A command that is under way in step mode. Cheap to clone. When the last one is dropped, a transaction that is still
/// open is rolled back.
///
/// Every move may be abandoned while it is waited for: it happens all the same.
#[derive(Debug, Clone)]
pub struct Stepwise {
    request: Request,
    view: watch::Receiver<StepView>,
    orders: mpsc::UnboundedSender<Order>,
}

impl SiteStore {
    /// Sends a command in a transaction that stops at the gate of every step, first of all before the first one. The
    /// same statement as [`SiteStore::execute`] sends, and the same answer.
    ///
    /// It is sent once and never asked again: contention ends it and says so. A session that is not in step mode and
    /// waits for this one gives up as always, after some seconds, with the answer `busy`.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults; nothing was sent.
    pub async fn step_through(
        &self,
        request: Request,
        limits: StepLimits,
    ) -> Result<Stepwise, StoreError> {
        match self.begin_steps(request, limits).await {
            Ok(stepwise) => Ok(stepwise),
            Err(error) if kind(&error) == Kind::Schema => {
                let newer = self.store.newer_text().await;
                Err(newer.unwrap_or_else(|| fault(&error)))
            }
            Err(error) => Err(fault(&error)),
        }
    }

    async fn begin_steps(
        &self,
        request: Request,
        limits: StepLimits,
    ) -> Result<Stepwise, sqlx::Error> {
        let connections = &self.store.connections;
        let site = self.site.id;
        let options = connections
            .options()
            .clone()
            .application_name("keyrack conductor");
        let mut connection = connections.open_with(&options).await?;
        let run = inspection::claim_run(&mut connection).await?;
        let trace = Trace::new(inspection::texts(&mut connection).await?);
        let names = Arc::new(inspection::names(&mut connection, site).await?);
        let clock = clock(&mut connection).await?;
        let session = Session::open(connections, site, &request, run, limits).await?;
        let now = Instant::now();
        let next = StepView {
            desk: request.desk.clone(),
            request: request.id,
            command: request.command.function(),
            backend: session.backend,
            place: StepPlace::Running(None),
            trace: Vec::new(),
            listed_locks: Vec::new(),
            blocked: Vec::new(),
            deadline: None,
            names,
            warning: None,
            limits,
            began: now,
            clock,
            seen: now,
        };
        let (view, seen) = watch::channel(next.clone());
        let (orders, inbox) = mpsc::unbounded_channel();
        let (reporter, reports) = mpsc::unbounded_channel();
        let outcome = session.play(request.clone(), run, reporter);
        let controller = Controller {
            site_store: self.clone(),
            request: request.clone(),
            run,
            connection,
            session,
            reports,
            outcome: Some(outcome),
            orders: inbox,
            view,
            next,
            trace,
            gates: Gates::Shut,
            listed: Vec::new(),
            look_at: now,
        };
        tokio::spawn(controller.control());
        Ok(Stepwise {
            request,
            view: seen,
            orders,
        })
    }
}

impl Stepwise {
    /// What was asked.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// How it stood when it was last looked at.
    pub fn look(&self) -> StepView {
        self.view.borrow().clone()
    }

    /// Every change of the view from now on, for whoever shows it. The clock alone is no change.
    pub fn changes(&self) -> watch::Receiver<StepView> {
        self.view.clone()
    }

    /// Waits until it stands at a gate, waits for another session, has answered or is over.
    pub async fn settled(&self) -> StepView {
        self.until(|view| !matches!(view.place, StepPlace::Running(_)))
            .await
    }

    /// Waits until the view is as wanted, or until the transaction is over.
    pub async fn until(&self, wanted: impl Fn(&StepView) -> bool) -> StepView {
        let mut view = self.view.clone();
        match view.wait_for(|view| view.is_over() || wanted(view)).await {
            Ok(view) => view.clone(),
            // The controller is gone, with the runtime that it ran on.
            Err(_) => self.look(),
        }
    }

    /// Takes the next step, and goes as far as the gate after it; where it has answered, the next step is COMMIT.
    /// Nothing happens while it waits for another session.
    pub async fn step(&self) -> StepView {
        self.order(Move::Step).await
    }

    /// Opens every gate, up to the answer. Comes back as soon as it waits for another session; the gates stay open.
    pub async fn run_on(&self) -> StepView {
        self.order(Move::RunOn(Gates::Open)).await
    }

    /// Opens every gate up to the next one before this step, which it stops at.
    pub async fn run_on_to(&self, step: &str) -> StepView {
        self.order(Move::RunOn(Gates::OpenTo(step.to_owned())))
            .await
    }

    /// Shuts the gates again that [`Stepwise::run_on`] opened.
    pub async fn pause(&self) -> StepView {
        self.order(Move::RunOn(Gates::Shut)).await
    }

    /// Commits what the command has answered.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if the connection broke meanwhile, so that the request id must be asked again (R24);
    /// [`StoreError::NotAnsweredYet`] if there is nothing to commit, [`StoreError::RolledBack`] if the transaction has
    /// ended another way.
    pub async fn commit(&self) -> Result<Answer, StoreError> {
        self.outcome(self.order(Move::Commit).await)
    }

    /// Sends COMMIT and cuts the connection before the server's answer can come, as a broken network would.
    ///
    /// # Errors
    /// Always, as [`Stepwise::commit`]: [`StoreError::Unknown`] if there was an answer to commit.
    pub async fn commit_and_cut(&self) -> Result<Answer, StoreError> {
        self.outcome(self.order(Move::CommitUnheard).await)
    }

    /// Rolls back, wherever it is: a statement under way is cancelled before.
    pub async fn roll_back(&self) -> StepView {
        self.order(Move::RollBack).await
    }

    /// Cuts the connection, as a broken network would, and waits until the server has noticed.
    pub async fn cut(&self) -> StepView {
        self.order(Move::Cut).await
    }

    /// Kills the session's backend.
    pub async fn kill(&self) -> StepView {
        self.order(Move::Kill).await
    }

    async fn order(&self, what: Move) -> StepView {
        let (taken, under_way) = oneshot::channel();
        // Where the transaction is over, nobody takes orders any more, and the view says how it ended.
        if self.orders.send(Order { what, taken }).is_ok() {
            let _ = under_way.await;
        }
        self.settled().await
    }

    fn outcome(&self, view: StepView) -> Result<Answer, StoreError> {
        match view.place {
            StepPlace::Done(answer) => Ok(*answer),
            StepPlace::Ended(Ending::CommitUnknown) => Err(StoreError::Unknown {
                request_id: self.request.id,
            }),
            StepPlace::Ended(Ending::Failed(error)) => Err(error),
            StepPlace::Ended(Ending::RolledBack(rollback)) => Err(StoreError::RolledBack(rollback)),
            _ => Err(StoreError::NotAnsweredYet),
        }
    }
}
