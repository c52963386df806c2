//! What can be seen of a transaction that stops between its steps: plain values, and nothing said of them. They name
//! guests, so none of it belongs into a log (R27). Calls are harmless; arguments and results are as the database has them,
//! and whoever shows them makes them harmless (R26).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use crate::domain::sentences::fault::Rollback;
use crate::domain::sentences::session::DatabaseSession;
use crate::domain::{Answer, ClaimId, Desk, RequestId};
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
    /// The steps so far, in the order in which they were reached.
    pub trace: Vec<TracedStep>,
    /// Its locks, as far as PostgreSQL lists them: rows carry theirs themselves, and the trace tells which. None when it
    /// is over.
    pub listed_locks: Vec<ListedLock>,
    /// Who waits for it.
    pub blocked: Vec<DatabaseSession>,
    /// The deadline of the claim concerned, to hold against [`StepView::clock`].
    pub deadline: Option<Deadline>,
    /// What the numbers of rooms and items in it stand for.
    pub names: Arc<Names>,
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
    pub(crate) fn clock_at(&self, moment: Instant) -> DateTime<Utc> {
        let since = moment.saturating_duration_since(self.seen);
        self.clock + TimeDelta::from_std(since).unwrap_or_default()
    }

    /// How much of the time is left at a moment.
    pub(crate) fn left_at(&self, moment: Instant) -> Duration {
        self.limits
            .total
            .saturating_sub(moment.saturating_duration_since(self.began))
    }

    /// Whether the transaction is over, one way or another.
    pub fn is_over(&self) -> bool {
        matches!(self.place, StepPlace::Done(_) | StepPlace::Ended(_))
    }

    /// The steps that have returned, with what they returned.
    pub fn passed(&self) -> impl Iterator<Item = (&TracedStep, &Return)> {
        self.trace
            .iter()
            .filter_map(|step| Some((step, step.returned.as_ref()?)))
    }

    /// The steps whose effects stand, in order.
    pub fn standing(&self) -> impl Iterator<Item = &TracedStep> {
        self.trace.iter().filter(|step| step.stands())
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

/// A step that was reached, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedStep {
    /// The step.
    pub step: Step,
    /// Its arguments, by name.
    pub arguments: Value,
    /// What it returned, once it has.
    pub returned: Option<Return>,
    /// Whether the protocol itself has taken it back since, as a group does whose line failed (R20).
    pub undone: bool,
}

/// What a step returned.
#[derive(Debug, Clone, PartialEq)]
pub struct Return {
    /// The value or the row, without nulls; a row of nulls is null.
    pub result: Value,
    /// When, by the database's clock.
    pub at: DateTime<Utc>,
    /// How long it took, without what was spent at gates.
    pub took: Duration,
}

impl TracedStep {
    /// An argument; null if there is none of that name.
    pub(crate) fn argument(&self, name: &str) -> &Value {
        self.arguments.get(name).unwrap_or(&Value::Null)
    }

    /// What it returned; null as long as it has not.
    pub(crate) fn result(&self) -> &Value {
        self.returned
            .as_ref()
            .map_or(&Value::Null, |returned| &returned.result)
    }

    /// Whether its effects stand: it has returned and was not taken back, or it only records what was done before it.
    pub(crate) fn stands(&self) -> bool {
        match self.returned {
            Some(_) => !self.undone,
            None => self.step.name.starts_with("record_"),
        }
    }
}

/// The names of a site's rooms and items, by number.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Of rooms.
    pub rooms: HashMap<i64, String>,
    /// Of items.
    pub items: HashMap<i64, String>,
}

/// A lock from `pg_locks`, with its modes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListedLock {
    /// A transaction's on itself, for which waits whoever wants a row that it has locked or written.
    Transaction {
        /// Its number.
        id: String,
        /// As PostgreSQL names them.
        modes: String,
    },
    /// On a table.
    Table {
        /// Its name.
        name: String,
        /// As PostgreSQL names them.
        modes: String,
    },
}

/// What a transaction waits for.
#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    /// The step that waits.
    pub step: Option<Step>,
    /// The kind of the lock that it wants, as `pg_locks` has it; empty if it is not listed.
    pub lock_kind: String,
    /// For whom.
    pub whom: Vec<DatabaseSession>,
    /// Since when, by the database's clock.
    pub since: DateTime<Utc>,
}

/// The deadline of the claim that the command is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadline {
    /// Whose it is.
    pub claim: ClaimId,
    /// When it runs out; at that moment it has.
    pub at: DateTime<Utc>,
}

/// Somebody may be waiting too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepWarning {
    /// How long until the transaction is ended, in whole seconds.
    pub seconds_left: u64,
    /// Who waits for it.
    pub blocks: Vec<DatabaseSession>,
}

/// How a transaction ended that was not seen to commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// It was rolled back.
    RolledBack(Rollback),
    /// The connection was cut during the COMMIT: it may have been done or not (R24).
    CommitUnknown,
    /// The statement failed, and its transaction with it.
    Failed(StoreError),
}
