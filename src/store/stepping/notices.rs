//! What a stepping session tells while its statement runs, caught on the way to the log.
//!
//! The gates report with RAISE INFO, the only thing that a running statement sends at once. sqlx hands such notices to
//! `tracing` and to nobody else, so the statement runs with a subscriber of its own ([`NoticeReader`]), which keeps the reports
//! of its run and passes everything else on. They never get as far as the log, whatever it is set to (R27), and nobody
//! has to install anything.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tracing::dispatcher::{self, Dispatch};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};

/// Where sqlx puts notices.
const NOTICES: &str = "sqlx::postgres::notice";

/// What a gate told (`migrations/protocol/15_step_mode.sql`).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "report", rename_all = "lowercase")]
pub(super) enum StepReport {
    /// The session stands before a step.
    Reached {
        gate: i32,
        step: String,
        call: String,
        arguments: Value,
        kept: String,
        at: DateTime<Utc>,
    },
    /// A step has returned.
    Returned {
        gate: i32,
        result: Value,
        kept: String,
        began: DateTime<Utc>,
        at: DateTime<Utc>,
    },
}

/// Hears the reports of one run; passes on whatever else the statement has to say.
pub(super) struct NoticeReader {
    run: i32,
    reports: UnboundedSender<StepReport>,
    others: Dispatch,
}

impl NoticeReader {
    /// For one run. What is not for it goes to whoever listens here and now.
    pub(super) fn new(run: i32, reports: UnboundedSender<StepReport>) -> Self {
        Self {
            run,
            reports,
            others: dispatcher::get_default(Clone::clone),
        }
    }

    /// The report in a notice, if it is one of this run.
    fn report(&self, event: &Event<'_>) -> Option<StepReport> {
        if event.metadata().target() != NOTICES {
            return None;
        }
        let mut message = Message(None);
        event.record(&mut message);
        let value: Value = serde_json::from_str(&message.0?).ok()?;
        if value.get("stepwise")?.as_i64()? != i64::from(self.run) {
            return None;
        }
        StepReport::deserialize(value).ok()
    }
}

impl Subscriber for NoticeReader {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        // The others' answer may change with every call.
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == NOTICES || self.others.enabled(metadata)
    }

    fn event(&self, event: &Event<'_>) {
        if let Some(report) = self.report(event) {
            // Nobody listens any more: the run is over.
            let _ = self.reports.send(report);
        } else if self.others.enabled(event.metadata()) {
            self.others.event(event);
        }
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.others.new_span(span)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        self.others.record(span, values);
    }

    fn record_follows_from(&self, span: &Id, follows: &Id) {
        self.others.record_follows_from(span, follows);
    }

    fn enter(&self, span: &Id) {
        self.others.enter(span);
    }

    fn exit(&self, span: &Id) {
        self.others.exit(span);
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.others.clone_span(id)
    }

    fn try_close(&self, id: Id) -> bool {
        self.others.try_close(id)
    }
}

/// The text of an event.
struct Message(Option<String>);

impl Visit for Message {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.0 = Some(value.to_owned());
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0 = Some(format!("{value:?}"));
        }
    }
}
