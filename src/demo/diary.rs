//! What a transaction in step mode did, for the transcript: each step with its SQL, what it returned and when, whom it
//! waited for, and how it ended.

use crate::store::{StepPlace, StepView};

/// How far it has been told.
#[derive(Debug, Default)]
pub(super) struct Diary {
    passed: usize,
    waiting: Option<Vec<i32>>,
    over: bool,
    answered: bool,
}

impl Diary {
    /// What is new, an entry each.
    pub(super) fn news(&mut self, view: &StepView) -> Vec<Vec<String>> {
        let mut news = Vec::new();
        for passed in view.passed.iter().skip(self.passed) {
            let mut lines = vec![
                format!("step {}: SELECT {}", passed.step.gate, passed.step.call),
                format!("returned {}", passed.returned),
                format!(
                    "at {} UTC by the database's clock, after {} µs",
                    passed.at.format("%H:%M:%S%.6f"),
                    passed.took.as_micros()
                ),
            ];
            if passed.undone {
                lines.push("taken back by the protocol itself".into());
            }
            news.push(lines);
        }
        self.passed = self.passed.max(view.passed.len());
        match &view.place {
            StepPlace::Waiting(wait) => {
                let whom: Vec<i32> = wait.whom.iter().map(|other| other.backend).collect();
                if self.waiting.as_ref() != Some(&whom) {
                    let names: Vec<&str> = wait.whom.iter().map(|other| &*other.words).collect();
                    news.push(vec![format!(
                        "waits for {}: {}, since {} UTC",
                        names.join(" and "),
                        wait.what,
                        wait.since.format("%H:%M:%S%.6f")
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
                news.push(vec![ending.words()]);
            }
            _ => {}
        }
        if !matches!(view.place, StepPlace::Waiting(_)) && self.waiting.take().is_some() {
            news.push(vec!["waits no longer".into()]);
        }
        news
    }
}
