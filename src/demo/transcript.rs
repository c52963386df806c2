//! What happened at both desks, with times by the database's clock, as text for a bug report.

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};

use crate::demo::desks::Which;
use crate::demo::volley::Verdict;
use crate::demo::words::{Words, micros};
use crate::domain::text::harmless;
use crate::domain::{Answer, Desk, Request, RequestId, Site};
use crate::store::{Progress, StoreError};

/// What both desks write down together.
pub(super) struct Shared {
    pub(super) names: [Desk; 2],
    pub(super) words: Words,
    opened: Instant,
    opened_at: DateTime<Utc>,
    entries: Mutex<Vec<Entry>>,
    asked: AtomicUsize,
    answers: Mutex<HashMap<RequestId, Result<Answer, String>>>,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When, by the database's clock as it was carried on here.
    pub at: DateTime<Utc>,
    /// At which desk; none if it concerns both or neither.
    pub desk: Option<Which>,
    /// What, in words, one line each.
    pub lines: Vec<String>,
}

/// What has happened, in the order in which it was noticed.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    site: Site,
    names: [Desk; 2],
    opened_at: DateTime<Utc>,
    entries: Vec<Entry>,
}

impl Shared {
    pub(super) fn new(names: [Desk; 2], words: Words, now: DateTime<Utc>) -> Self {
        Self {
            names,
            words,
            opened: Instant::now(),
            opened_at: now,
            entries: Mutex::default(),
            asked: AtomicUsize::new(0),
            answers: Mutex::default(),
        }
    }

    /// How long the demo had been open.
    pub(super) fn since_opening(&self, at: Instant) -> Duration {
        at.saturating_duration_since(self.opened)
    }

    /// The database's clock, carried on from the opening by this program's monotonic one.
    fn now(&self) -> DateTime<Utc> {
        self.opened_at + TimeDelta::from_std(self.opened.elapsed()).unwrap_or_default()
    }

    pub(super) fn write(&self, desk: Option<Which>, lines: Vec<String>) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock, so that times are in order.
        let at = self.now();
        entries.push(Entry { at, desk, lines });
    }

    pub(super) fn asked(&self, which: Which, request: &Request) {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let lines = vec![
            format!("asks: {}", self.words.command(&request.command)),
            format!("request {}", request.id),
        ];
        self.write(Some(which), lines);
    }

    /// How many commands were asked.
    pub(super) fn asked_so_far(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    pub(super) fn sent(&self, which: Which, id: RequestId, together: bool) {
        let how = if together {
            " together with the other desk's"
        } else {
            ""
        };
        self.write(Some(which), vec![format!("sends {}{how}", short(id))]);
    }

    pub(super) fn progress(&self, which: Which, id: RequestId, progress: Progress) {
        let what = match progress {
            Progress::Retrying => "met contention, was rolled back and is asked again",
            Progress::Checking => "the connection broke; the request id is asked what became of it",
        };
        self.write(Some(which), vec![format!("{}: {what}", short(id))]);
    }

    pub(super) fn answered(
        &self,
        which: Which,
        id: RequestId,
        answer: &Result<Answer, StoreError>,
        took: Duration,
    ) {
        let heard = answer.clone().map_err(|error| error.to_string());
        self.answers().insert(id, heard);
        let mut lines = self.words.answer(answer);
        let mut told = format!("{} answered after {}", short(id), micros(took));
        if let Ok(answer) = answer {
            let now = self.words.site().calendar.local(answer.now);
            let _ = write!(
                told,
                ", when the database's clock said {}",
                now.format("%H:%M:%S%.6f")
            );
        }
        lines.push(told);
        self.write(Some(which), lines);
    }

    /// What a request was answered.
    pub(super) fn answer(&self, id: RequestId) -> Option<Result<Answer, String>> {
        self.answers().get(&id).cloned()
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<RequestId, Result<Answer, String>>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn verdict(&self, verdict: &Verdict) {
        self.write(None, self.verdict_lines(verdict));
    }

    /// Who was first, and both times.
    pub(super) fn verdict_lines(&self, verdict: &Verdict) -> Vec<String> {
        let mut lines = vec![verdict.sentence(&self.names)];
        for shot in &verdict.shots {
            let decided = match shot.decided_at {
                Some(at) => self
                    .words
                    .site()
                    .calendar
                    .local(at)
                    .format("decided at %H:%M:%S%.6f by the database's clock")
                    .to_string(),
                None => "nothing written down by the database".to_owned(),
            };
            let sent = match shot.sent.as_micros() {
                0 => "sent first".to_owned(),
                _ => format!("sent {} later", micros(shot.sent)),
            };
            lines.push(format!(
                "{}: {sent}, {decided}, answer here after {}",
                harmless(&self.names[shot.which.index()].0),
                micros(shot.arrived),
            ));
        }
        lines
    }

    pub(super) fn note(&self, text: &str) {
        self.write(None, text.lines().map(harmless).collect());
    }

    pub(super) fn transcript(&self) -> Transcript {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        Transcript {
            site: self.words.site().clone(),
            names: self.names.clone(),
            opened_at: self.opened_at,
            entries: entries.clone(),
        }
    }
}

impl Verdict {
    /// Who was first, by how much, and what the other was told.
    pub fn sentence(&self, names: &[Desk; 2]) -> String {
        let name = |which: Which| harmless(&names[which.index()].0);
        let (first, second) = (self.first(), self.second());
        let lead = match self.lead() {
            Some(lead) => format!(" by {}", lead_of(lead)),
            None => String::new(),
        };
        let mut text = format!("{} was first{lead}", name(first.which));
        match (&first.outcome, &second.outcome) {
            (Ok(_), Ok(_)) => text.push_str("; both got what they asked for."),
            (Ok(_), Err(told)) => {
                let _ = write!(text, "; {} was told: {told}", name(second.which));
            }
            (Err(told), Ok(_)) => {
                let _ = write!(text, " and was told: {told}");
            }
            (Err(told), Err(also)) if told == also => {
                let _ = write!(text, "; both were told: {told}");
            }
            (Err(told), Err(also)) => {
                let _ = write!(
                    text,
                    " and was told: {told} {} was told: {also}",
                    name(second.which)
                );
            }
        }
        text
    }

    /// The same in few words, and in fewer.
    pub fn in_short(&self, names: &[Desk; 2]) -> Vec<String> {
        let name = |which: Which| harmless(&names[which.index()].0);
        let (first, second) = (self.first(), self.second());
        let lead = match self.lead() {
            Some(lead) => format!(" by {}", lead_of(lead)),
            None => String::new(),
        };
        let first_by = format!("{} was first{lead}", name(first.which));
        let more = match (&first.in_short, &second.in_short) {
            (None, None) => "; both got it.".to_owned(),
            (None, Some(why)) => format!("; {}: {why}.", name(second.which)),
            (Some(why), None) => format!(": {why}; {} got it.", name(second.which)),
            (Some(why), Some(also)) if why == also => format!("; both: {why}."),
            (Some(why), Some(also)) => format!(": {why}; {}: {also}.", name(second.which)),
        };
        vec![format!("{first_by}{more}"), format!("{first_by}.")]
    }
}

impl Transcript {
    /// What happened, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calendar = &self.site.calendar;
        let [first, second] = self.names.each_ref().map(|desk| harmless(&desk.0));
        writeln!(
            f,
            "Keyrack {}: {first} and {second} at {}",
            env!("CARGO_PKG_VERSION"),
            harmless(&self.site.name)
        )?;
        writeln!(
            f,
            "Opened {} {}, by the database's clock.",
            calendar
                .local(self.opened_at)
                .format("%A %-d %B %Y %H:%M:%S"),
            calendar.zone().name()
        )?;
        writeln!(
            f,
            "This file has guests' names in it, if any were typed: look before you pass it on."
        )?;
        let width = first.chars().count().max(second.chars().count());
        for entry in &self.entries {
            let who = match entry.desk {
                Some(Which::First) => first.as_str(),
                Some(Which::Second) => second.as_str(),
                None => "",
            };
            let mut lines = entry.lines.iter();
            let at = calendar.local(entry.at).format("%H:%M:%S%.6f");
            writeln!(
                f,
                "\n{at}  {who:width$}  {}",
                lines.next().map_or("", String::as_str)
            )?;
            for line in lines {
                writeln!(f, "{:15}  {:width$}  {line}", "", "")?;
            }
        }
        Ok(())
    }
}

/// The first digits of a request's id, enough to find it again.
fn short(id: RequestId) -> String {
    let text = id.to_string();
    text.get(text.len().saturating_sub(12)..)
        .unwrap_or(&text)
        .to_owned()
}

/// Milliseconds with two digits after the point; seconds, where it is many.
fn lead_of(length: TimeDelta) -> String {
    let micros = length.num_microseconds().unwrap_or(i64::MAX);
    if micros < 1_000_000 {
        format!("{:.2} ms", micros as f64 / 1e3)
    } else {
        format!("{:.2} s", micros as f64 / 1e6)
    }
}
