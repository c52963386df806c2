//! What can be seen of a transaction that stops between its steps: plain values for a screen, a caption or a transcript.
//! Texts in it are harmless (R26); they name guests, so none of it belongs into a log (R27).

use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::{Answer, Desk, RequestId};
use crate::store::connection::error::StoreError;

/// How long a transaction may stop others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepLimits {
    /// From BEGIN to the end, however often it stops. The database itself holds to it: a program that hangs blocks
    /// nobody for longer. At half of it the view warns.
    pub total: Duration,
}

impl Default for StepLimits {
    fn default() -> Self {
        Self {
            total: Duration::from_secs(60),
        }
    }
}

/// A transaction in step mode, as it was when it was last looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct StepView {
    /// Who asked.
    pub desk: Desk,
    /// The id to ask again with (R21).
    pub request: RequestId,
    /// The function that was called.
    pub command: &'static str,
    /// The process id of the session's backend, as PostgreSQL names it.
    pub backend: i32,
    /// Where it is.
    pub place: StepPlace,
    /// The steps passed so far, in the order in which they were reached.
    pub passed: Vec<PassedStep>,
    /// What it keeps others from.
    pub locks: Vec<HeldLock>,
    /// Who waits for it.
    pub blocked: Vec<OtherSession>,
    /// The deadline of the claim concerned, to hold against [`StepView::clock`].
    pub deadline: Option<Deadline>,
    /// What a COMMIT would bring, a sentence each.
    pub on_commit: Vec<String>,
    /// What a ROLLBACK would bring, a sentence each.
    pub on_rollback: Vec<String>,
    /// From half of the time on.
    pub warning: Option<StepWarning>,
    /// How long it may last.
    pub limits: StepLimits,
    /// When it began.
    pub began: Instant,
    /// The database's clock when it was looked at.
    pub clock: DateTime<Utc>,
    /// The moment of that look.
    pub seen: Instant,
}

impl StepView {
    /// The database's clock at a moment: its clock, and monotonic time since.
    pub fn clock_at(&self, moment: Instant) -> DateTime<Utc> {
        let since = moment.saturating_duration_since(self.seen);
        self.clock + TimeDelta::from_std(since).unwrap_or_default()
    }

    /// How much of the time is left at a moment.
    pub fn left_at(&self, moment: Instant) -> Duration {
        self.limits
            .total
            .saturating_sub(moment.saturating_duration_since(self.began))
    }

    /// Whether the transaction is over, one way or another.
    pub fn is_over(&self) -> bool {
        matches!(self.place, StepPlace::Done(_) | StepPlace::Ended(_))
    }

    /// The step that it stands at, waits in, or is in.
    pub fn step(&self) -> Option<&Step> {
        match &self.place {
            StepPlace::AtGate(step) => Some(step),
            StepPlace::Waiting(wait) => wait.step.as_ref(),
            StepPlace::Running(step) => step.as_ref(),
            _ => None,
        }
    }
}

/// Where a transaction in step mode is.
#[derive(Debug, Clone, PartialEq)]
pub enum StepPlace {
    /// On its way, in this step if any.
    Running(Option<Step>),
    /// Before a step.
    AtGate(Step),
    /// Waiting for a lock that another session holds.
    Waiting(Wait),
    /// The command has answered; its transaction is open, and COMMIT is the next step.
    Answered(Box<Answer>),
    /// Committed.
    Done(Box<Answer>),
    /// Over without a COMMIT, or with one of which nothing is known.
    Ended(Ending),
}

/// A step of the protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The number of its gate, from 1.
    pub gate: i32,
    /// The function's name.
    pub name: String,
    /// What it does, in a sentence.
    pub words: Arc<str>,
    /// The call, with its arguments, as psql would take it after SELECT.
    pub call: String,
    /// The text of the function.
    pub source: Arc<str>,
    /// How many steps it is inside of.
    pub depth: usize,
}

impl Step {
    /// The text between BEGIN and END, with what it declares: [`Step::source`] without its head.
    pub fn body(&self) -> &str {
        let body = self.source.split("$function$").nth(1);
        body.unwrap_or(&self.source).trim_matches('\n')
    }
}

/// A step that has returned.
#[derive(Debug, Clone, PartialEq)]
pub struct PassedStep {
    /// Which.
    pub step: Step,
    /// What it returned.
    pub returned: String,
    /// When it returned, by the database's clock.
    pub at: DateTime<Utc>,
    /// How long it took, without what was spent at gates.
    pub took: Duration,
    /// Whether the protocol itself has taken it back since, as a group does whose line failed (R20).
    pub undone: bool,
}

/// A lock, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldLock {
    /// What is locked, and what that keeps others from.
    pub words: String,
    /// How it is known.
    pub known_from: KnownFrom,
}

/// How a lock is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownFrom {
    /// From the steps passed: rows carry their locks themselves, and PostgreSQL lists them nowhere.
    Steps,
    /// From `pg_locks`.
    PgLocks,
}

/// What a transaction waits for.
#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    /// The step that waits.
    pub step: Option<Step>,
    /// For what.
    pub what: String,
    /// For whom.
    pub whom: Vec<OtherSession>,
    /// Since when, by the database's clock.
    pub since: DateTime<Utc>,
}

/// Another session of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherSession {
    /// The process id of its backend.
    pub backend: i32,
    /// Whose it is, if it says so.
    pub desk: Option<Desk>,
    /// What to call it.
    pub words: String,
}

/// The deadline of the claim that the command is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadline {
    /// Whose.
    pub words: String,
    /// When it runs out; at that moment it has.
    pub at: DateTime<Utc>,
}

/// Somebody may be waiting too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepWarning {
    /// How long until the transaction is ended, in whole seconds.
    pub seconds_left: u64,
    /// Who waits for it.
    pub blocks: Vec<OtherSession>,
}

/// How a transaction ended that was not seen to commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// It was rolled back on request.
    RolledBack,
    /// Its connection was cut before the COMMIT.
    Cut,
    /// Its backend was killed before the COMMIT.
    Killed,
    /// Its time was up.
    TimeUp,
    /// PostgreSQL found sessions waiting for each other and chose this one to give way.
    Deadlock,
    /// The connection was lost, not on request.
    Lost,
    /// The connection was cut during the COMMIT: it may have been done or not (R24).
    CommitUnknown,
    /// The statement failed.
    Failed(StoreError),
}

impl Ending {
    /// What happened and what remains, in a sentence or two.
    pub fn words(&self) -> String {
        let what = match self {
            Self::RolledBack => "Rolled back.",
            Self::Cut => {
                "The connection was cut; the server noticed, and rolled the transaction back."
            }
            Self::Killed => "The backend was killed; PostgreSQL rolled the transaction back.",
            Self::TimeUp => {
                "The time was up, so that nobody waits any longer: the transaction was rolled back."
            }
            Self::Deadlock => {
                "Sessions were waiting for each other; PostgreSQL chose this one to give way and rolled it back."
            }
            Self::Lost => "The connection was lost; the server rolls the transaction back.",
            Self::CommitUnknown => {
                return "The connection was cut while the COMMIT was under way: it may have been done or not. Asking \
                        again with the same request id tells, and does it at most once."
                    .into();
            }
            Self::Failed(error) => return format!("{error} Nothing of it remains."),
        };
        format!("{what} Nothing of it remains.")
    }
}
