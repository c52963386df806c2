//! What a transaction in step mode did, for the transcript: each step with its SQL, what it returned and when, whom it
//! waited for, and how it ended.

use chrono::{DateTime, Utc};

use crate::demo::steps;
use crate::demo::words::micros;
use crate::domain::SiteCalendar;
use crate::store::{StepPlace, StepView};

/// How far it has been told.
#[derive(Debug)]
pub(super) struct Diary {
    calendar: SiteCalendar,
    passed: usize,
    waiting: Option<Vec<i32>>,
    over: bool,
    answered: bool,
}

impl Diary {
    pub(super) fn new(calendar: SiteCalendar) -> Self {
        Self {
            calendar,
            passed: 0,
            waiting: None,
            over: false,
            answered: false,
        }
    }

    fn time(&self, at: DateTime<Utc>) -> String {
        self.calendar.local(at).format("%H:%M:%S%.6f").to_string()
    }

    /// What is new, an entry each.
    pub(super) fn news(&mut self, view: &StepView) -> Vec<Vec<String>> {
        let mut news = Vec::new();
        for (passed, returned) in view.passed().skip(self.passed) {
            let mut lines = vec![
                format!("step {}: SELECT {}", passed.step.gate, passed.step.call),
                format!("returned {}", steps::returned(&returned.result)),
                format!(
                    "at {} by the database's clock, after {}",
                    self.time(returned.at),
                    micros(returned.took)
                ),
            ];
            if passed.undone {
                lines.push("taken back by the protocol itself".into());
            }
            news.push(lines);
        }
        self.passed = self.passed.max(view.passed().count());
        match &view.place {
            StepPlace::Waiting(wait) => {
                let whom: Vec<i32> = wait.whom.iter().map(|other| other.backend).collect();
                if self.waiting.as_ref() != Some(&whom) {
                    let names: Vec<String> = wait.whom.iter().map(ToString::to_string).collect();
                    news.push(vec![format!(
                        "waits for {}: {}, since {}",
                        names.join(" and "),
                        steps::awaited(view, wait),
                        self.time(wait.since)
                    )]);
                    self.waiting = Some(whom);
                }
            }
            StepPlace::Answered(_) if !self.answered => {
                self.answered = true;
                news.push(vec!["has its answer; the transaction is open".into()]);
            }
            StepPlace::Done(_) if !self.over => {
                self.over = true;
                news.push(vec!["COMMIT".into()]);
            }
            StepPlace::Ended(ending) if !self.over => {
                self.over = true;
                news.push(vec![steps::ending(ending)]);
            }
            _ => {}
        }
        if !matches!(view.place, StepPlace::Waiting(_)) && self.waiting.take().is_some() {
            news.push(vec!["waits no longer".into()]);
        }
        news
    }
}
