//! The database's clock, carried on between its answers, and whether it answers.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// The database's clock: what it showed at the last answer, and when that was on the console's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    answered: DateTime<Utc>,
    at: Duration,
    now: DateTime<Utc>,
}

impl Clock {
    /// A clock that was read just now.
    pub(crate) fn new(answered: DateTime<Utc>, at: Duration) -> Self {
        Self {
            answered,
            at,
            now: answered,
        }
    }

    /// The database's clock, carried on from its last answer by the console's monotonic clock.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.now
    }

    /// What it showed at the last answer.
    pub(crate) fn answered(&self) -> DateTime<Utc> {
        self.answered
    }

    /// Time has passed.
    pub fn tick(&mut self, uptime: Duration) {
        let since = TimeDelta::from_std(uptime.saturating_sub(self.at)).unwrap_or_default();
        self.now = self.answered + since;
    }
}

/// Whether the database answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    /// It does.
    Live {
        /// The last round trip, if there was one.
        latency: Option<Duration>,
    },
    /// It does not; the last snapshot stays.
    Lost {
        /// The last answer, by its own clock.
        since: DateTime<Utc>,
        /// What happened and what is being done.
        sentence: String,
    },
}
