//! A period: half-open `[start, end)`, bounded and never empty (R2).

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

/// A half-open span of instants that can't be empty, reversed or unbounded (R2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Bounds", into = "Bounds")]
pub struct Period {
    start: DateTime<Utc>,
    end: DateTime<Utc>,
}

/// Why two instants are no period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PeriodError {
    /// Start and end are the same instant.
    #[error("the period has no length: it ends when it starts")]
    Empty,
    /// The end lies before the start.
    #[error("the period ends before it starts")]
    Reversed,
}

impl Period {
    /// The period from `start` up to, and without, `end`.
    pub fn new(start: DateTime<Utc>, end: DateTime<Utc>) -> Result<Self, PeriodError> {
        match start.cmp(&end) {
            std::cmp::Ordering::Less => Ok(Self { start, end }),
            std::cmp::Ordering::Equal => Err(PeriodError::Empty),
            std::cmp::Ordering::Greater => Err(PeriodError::Reversed),
        }
    }

    /// The first instant inside.
    pub fn start(&self) -> DateTime<Utc> {
        self.start
    }

    /// The first instant no longer inside.
    pub fn end(&self) -> DateTime<Utc> {
        self.end
    }

    /// Elapsed time, not wall-clock difference (R5).
    pub(crate) fn length(&self) -> TimeDelta {
        self.end - self.start
    }

    /// Whether the two share an instant. Back-to-back periods don't (R3).
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    pub(crate) fn contains(&self, instant: DateTime<Utc>) -> bool {
        self.start <= instant && instant < self.end
    }
}

#[derive(Serialize, Deserialize)]
struct Bounds {
    from: DateTime<Utc>,
    to: DateTime<Utc>,
}

impl TryFrom<Bounds> for Period {
    type Error = PeriodError;

    fn try_from(bounds: Bounds) -> Result<Self, PeriodError> {
        Self::new(bounds.from, bounds.to)
    }
}

impl From<Period> for Bounds {
    fn from(period: Period) -> Self {
        Self {
            from: period.start,
            to: period.end,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn at(hour: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000 + hour * 3600, 0).unwrap()
    }

    #[test]
    fn r2_a_period_is_never_empty_or_reversed() {
        assert_eq!(Period::new(at(1), at(1)), Err(PeriodError::Empty));
        assert_eq!(Period::new(at(2), at(1)), Err(PeriodError::Reversed));
        assert!(Period::new(at(1), at(2)).is_ok());
    }

    #[test]
    fn r3_back_to_back_periods_do_not_overlap() {
        let first = Period::new(at(1), at(2)).unwrap();
        let second = Period::new(at(2), at(3)).unwrap();
        assert!(!first.overlaps(&second));
        assert!(!second.overlaps(&first));
        assert!(first.overlaps(&first));
    }

    #[test]
    fn half_open_contains_its_start_and_not_its_end() {
        let period = Period::new(at(1), at(2)).unwrap();
        assert!(period.contains(at(1)));
        assert!(!period.contains(at(2)));
    }
}
