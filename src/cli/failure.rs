//! Why a command did not do what was asked, and the exit code that says so.

use std::process::ExitCode;

use color_eyre::eyre::Report;

use crate::domain::sentences::fault::FaultKind;
use crate::domain::text::harmless;
use crate::domain::{FailedLine, LineKind, Refusal, SiteCalendar, TimeTextError};
use crate::postgres::PostgresError;
use crate::store::{SiteStore, StoreError};

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The house rules said no.
    Refused(Box<RefusalText>),
    /// The command can't be meant like this; a sentence.
    Usage(String),
    /// The database can't be reached; a sentence.
    OutOfReach(String),
    /// Something broke.
    Fault(Report),
}

/// A refusal, and what it takes to say it.
#[derive(Debug)]
pub(crate) struct RefusalText {
    pub(crate) refusal: Refusal,
    /// The house's, for times.
    pub(crate) calendar: SiteCalendar,
    /// Which line of a group it is about (R20).
    pub(crate) line: Option<FailedLine>,
    /// Commands that ask for something that was free, to copy.
    pub(crate) alternatives: Vec<String>,
}

impl RefusalText {
    /// What happened, in a sentence or two.
    pub(crate) fn sentence(&self) -> String {
        let mut sentence = self.refusal.sentence(&self.calendar);
        if let Refusal::NoSuchHold {
            kind: Some(kind), ..
        } = self.refusal
        {
            sentence.push_str(&format!(" `keyrack {}` takes it.", kind.word()));
        }
        match self.line {
            None => sentence,
            Some(line) => {
                let kind = match line.kind {
                    LineKind::Room => "--room",
                    LineKind::Stock => "--stock",
                };
                format!(
                    "{kind} number {}: {sentence} Nothing of the group is held.",
                    line.number
                )
            }
        }
    }
}

impl Failure {
    pub(crate) fn refused(refusal: Refusal, calendar: &SiteCalendar) -> Self {
        Self::Refused(Box::new(RefusalText {
            refusal,
            calendar: *calendar,
            line: None,
            alternatives: Vec::new(),
        }))
    }

    /// Nothing that could be meant has this number; something else may have it.
    pub(crate) async fn no_such_hold(site_store: &SiteStore, hold_id: i64) -> Self {
        match site_store.kind_of(hold_id).await {
            Ok(kind) => Self::refused(
                Refusal::NoSuchHold { hold_id, kind },
                &site_store.site().calendar,
            ),
            Err(error) => error.into(),
        }
    }

    /// The same about a line of a group.
    pub(crate) fn in_line(mut self, line: Option<FailedLine>) -> Self {
        if let Self::Refused(refused) = &mut self {
            refused.line = line;
        }
        self
    }

    /// The same with commands to copy.
    pub(crate) fn with_alternatives(mut self, alternatives: Vec<String>) -> Self {
        if let Self::Refused(refused) = &mut self {
            refused.alternatives = alternatives;
        }
        self
    }

    /// What was typed is no time, no date or no period.
    pub(crate) fn times(error: TimeTextError, calendar: &SiteCalendar) -> Self {
        match error {
            TimeTextError::Refused(refusal) => Self::refused(refusal, calendar),
            TimeTextError::Unreadable(sentence) => Self::Usage(sentence),
            TimeTextError::NeedsNow => Self::Fault(error.into()),
        }
    }

    /// 1 a fault, 2 usage, 3 refused, 4 database out of reach.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Fault(_) => 1,
            Self::Usage(_) => 2,
            Self::Refused(_) => 3,
            Self::OutOfReach(_) => 4,
        })
    }

    /// What happened and what to do next, harmless (R26).
    pub(crate) fn sentence(&self) -> String {
        match self {
            // Its parts are made harmless one by one, and line ends in it are its own.
            Self::Refused(refused) => {
                let mut text = refused.sentence();
                if !refused.alternatives.is_empty() {
                    text.push_str("\nFree instead:");
                }
                for command in &refused.alternatives {
                    text.push_str("\n  ");
                    text.push_str(&harmless(command));
                }
                text
            }
            Self::Usage(sentence) | Self::OutOfReach(sentence) => harmless_lines(sentence),
            Self::Fault(report) => harmless_lines(&format!("{report:#}")),
        }
    }
}

fn harmless_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(harmless).collect();
    lines.join("\n")
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error.kind() {
            FaultKind::OutOfReach => Self::OutOfReach(error.sentence()),
            // A sentence without times; any calendar will do.
            FaultKind::Busy => Self::refused(Refusal::Busy {}, &SiteCalendar::new(chrono_tz::UTC)),
            FaultKind::Usage => Self::Usage(error.sentence()),
            FaultKind::Broken => Self::Fault(error.into()),
        }
    }
}

/// The embedded server can't be had: whatever the reason, the database is out of reach.
impl From<PostgresError> for Failure {
    fn from(error: PostgresError) -> Self {
        Self::OutOfReach(error.to_string())
    }
}

impl From<Report> for Failure {
    fn from(report: Report) -> Self {
        Self::Fault(report)
    }
}
