//! How one desk's commands reach the site, and what is written down of them on the way.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;

use crate::console::run::session::{self, Executor};
use crate::demo::desks::{Report, Which};
use crate::demo::diary::Diary;
use crate::demo::transcript::Shared;
use crate::demo::volley::{Shot, Verdict, Volley};
use crate::demo::words;
use crate::domain::{Answer, Request};
use crate::store::stepping::Ending;
use crate::store::{Progress, SiteStore, StepLimits, StepPlace, Stepwise, StoreError};

/// A desk's way to the site.
pub(super) struct Switch {
    which: Which,
    site_store: SiteStore,
    shared: Arc<Shared>,
    reports: UnboundedSender<Report>,
    armed: Mutex<Option<Arc<Volley>>>,
    stepping: Mutex<Option<StepLimits>>,
    stepped: Mutex<Option<Stepwise>>,
}

impl Switch {
    pub(super) fn new(
        which: Which,
        site_store: SiteStore,
        shared: Arc<Shared>,
        reports: UnboundedSender<Report>,
    ) -> Self {
        Self {
            which,
            site_store,
            shared,
            reports,
            armed: Mutex::default(),
            stepping: Mutex::default(),
            stepped: Mutex::default(),
        }
    }

    /// The site through the connections of this desk's commands.
    pub(super) fn site_store(&self) -> &SiteStore {
        &self.site_store
    }

    /// Commands from now on wait for the volley; none lets them through.
    pub(super) fn arm(&self, volley: Option<Arc<Volley>>) {
        *self.armed.lock().unwrap_or_else(PoisonError::into_inner) = volley;
    }

    /// Commands from now on stop between the protocol's steps; without limits they go through.
    pub(super) fn step(&self, limits: Option<StepLimits>) {
        *self.stepping.lock().unwrap_or_else(PoisonError::into_inner) = limits;
    }

    /// The last command that stopped.
    pub(super) fn stepped(&self) -> Option<Stepwise> {
        let stepped = self.stepped.lock().unwrap_or_else(PoisonError::into_inner);
        stepped.clone()
    }

    /// From now on this is the command that stopped, whoever sent it. The task writes down what it does, to its end.
    pub(super) fn show(&self, steps: Stepwise) -> JoinHandle<()> {
        let diary = self.follow(&steps);
        *self.stepped.lock().unwrap_or_else(PoisonError::into_inner) = Some(steps);
        diary
    }

    /// What a station calls.
    pub(super) fn executor(self: &Arc<Self>) -> Executor {
        let switch = self.clone();
        Arc::new(move |request, report| {
            let switch = switch.clone();
            let armed = switch.armed.lock().unwrap_or_else(PoisonError::into_inner);
            let volley = armed.clone();
            drop(armed);
            if let Some(volley) = &volley {
                volley.enlist(&switch.site_store, &request);
            }
            switch.shared.asked(switch.which, &request);
            let limits = *switch
                .stepping
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            Box::pin(async move { switch.bring(request, report, volley, limits).await })
        })
    }

    /// Brings a command to the site and its answer back.
    async fn bring(
        &self,
        request: Request,
        report: session::Report,
        volley: Option<Arc<Volley>>,
        limits: Option<StepLimits>,
    ) -> Result<Answer, StoreError> {
        if let Some(volley) = &volley {
            volley.wait().await;
        }
        let id = request.id;
        let (shared, which) = (self.shared.clone(), self.which);
        let report = move |progress| {
            shared.progress(which, id, progress);
            report(progress);
        };
        let sent = Instant::now();
        self.shared.sent(which, id, volley.is_some());
        let answer = match limits {
            None => self.site_store.execute_reporting(request, report).await,
            Some(limits) => self.go_through(request, limits, report).await,
        };
        let arrived = Instant::now();
        self.shared.answered(which, id, &answer, arrived - sent);
        if let Some(volley) = volley {
            let shot = Shot {
                which,
                request: id,
                sent: self.shared.since_opening(sent),
                arrived: self.shared.since_opening(arrived),
                decided_at: None,
                outcome: self.shared.words.outcome(&answer),
                in_short: words::in_short(&answer),
            };
            if let Some(shots) = volley.answered(shot) {
                self.judge(shots);
            }
        }
        answer
    }

    /// Sends a command that somebody takes through its steps. If its line is cut with the COMMIT under way, the same
    /// request id is asked again, as always (R24).
    async fn go_through(
        &self,
        request: Request,
        limits: StepLimits,
        report: impl Fn(Progress) + Send + 'static,
    ) -> Result<Answer, StoreError> {
        let steps = self
            .site_store
            .step_through(request.clone(), limits)
            .await?;
        let diary = self.show(steps.clone());
        let place = steps.until(|_| false).await.place;
        // What it did stands in the transcript before what came of it.
        let _ = diary.await;
        match place {
            StepPlace::Done(answer) => Ok(*answer),
            StepPlace::Ended(Ending::CommitUnknown) => {
                report(Progress::Checking);
                self.site_store.execute_reporting(request, report).await
            }
            StepPlace::Ended(Ending::Failed(error)) => Err(error),
            StepPlace::Ended(Ending::RolledBack(rollback)) => Err(StoreError::RolledBack(rollback)),
            // The controller is gone with its runtime.
            _ => Err(StoreError::Unknown {
                request_id: request.id,
            }),
        }
    }

    /// Writes down what a transaction in step mode does, and reports that it moves.
    fn follow(&self, steps: &Stepwise) -> JoinHandle<()> {
        let mut changes = steps.changes();
        let (which, shared, reports) = (self.which, self.shared.clone(), self.reports.clone());
        tokio::spawn(async move {
            let mut diary = Diary::new(shared.words.site().calendar);
            loop {
                let view = changes.borrow_and_update().clone();
                for lines in diary.news(&view) {
                    shared.write(Some(which), lines);
                }
                let heard = reports.send(Report::Steps(which));
                if view.is_over() || heard.is_err() || changes.changed().await.is_err() {
                    break;
                }
            }
        })
    }

    /// Asks the database what it wrote down, and says in which order it decided.
    fn judge(&self, mut shots: [Shot; 2]) {
        let (site_store, shared, reports) = (
            self.site_store.clone(),
            self.shared.clone(),
            self.reports.clone(),
        );
        tokio::spawn(async move {
            match site_store
                .records(&[shots[0].request, shots[1].request])
                .await
            {
                Ok(recorded) => {
                    for shot in &mut shots {
                        let record = recorded
                            .iter()
                            .find(|record| record.request == shot.request);
                        shot.decided_at = record.map(|record| record.decided_at);
                    }
                }
                Err(error) => tracing::warn!(%error, "the order of two commands is not known"),
            }
            let zero = shots[0].sent.min(shots[1].sent);
            for shot in &mut shots {
                shot.sent -= zero;
                shot.arrived -= zero;
            }
            let verdict = Verdict::new(shots);
            shared.verdict(&verdict);
            // Nobody hears it any more only when the demo is over.
            let _ = reports.send(Report::Verdict(Box::new(verdict)));
        });
    }
}
