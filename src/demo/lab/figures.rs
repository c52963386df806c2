//! What a race came to, in figures.

use std::time::Duration;

use crate::store::lab::{Strategy, Subject};

/// What one client met with one wish.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    /// How it ended.
    pub end: End,
    /// From the start of the round to the answer, tries and all.
    pub waited: Duration,
    /// How often it was chosen to let go of a deadlock.
    pub deadlocks: u64,
    /// How often it asked again.
    pub retries: u64,
}

/// How a wish ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It was done.
    Done,
    /// It can't be had.
    Refused,
    /// It was tried as often as is allowed.
    GaveUp,
}

/// Every turn of a race.
#[derive(Debug, Default)]
pub(super) struct Tally {
    waits: Vec<Duration>,
    racing: Duration,
    rounds: u32,
    done: u64,
    refused: u64,
    gave_up: u64,
    deadlocks: u64,
    retries: u64,
}

impl Tally {
    /// Adds a round, which took this long.
    pub(super) fn add_round(&mut self, turns: &[Turn], took: Duration) {
        self.rounds += 1;
        self.racing += took;
        for turn in turns {
            self.waits.push(turn.waited);
            self.deadlocks += turn.deadlocks;
            self.retries += turn.retries;
            match turn.end {
                End::Done => self.done += 1,
                End::Refused => self.refused += 1,
                End::GaveUp => self.gave_up += 1,
            }
        }
    }

    /// The figures, next to what the rows say went wrong.
    pub(super) fn measured(mut self, strategy: &'static Strategy, wrong: i64) -> Measured {
        self.waits.sort_unstable();
        let answers = self.done + self.refused;
        let seconds = self.racing.as_secs_f64().max(f64::MIN_POSITIVE);
        Measured {
            strategy,
            wrong,
            rounds: self.rounds,
            done: self.done,
            refused: self.refused,
            gave_up: self.gave_up,
            deadlocks: self.deadlocks,
            retries: self.retries,
            answers_per_second: answers as f64 / seconds,
            median: percentile(&self.waits, 50),
            percentile_99: percentile(&self.waits, 99),
        }
    }
}

/// What so many of a hundred did not exceed, of waits in order.
fn percentile(waits: &[Duration], percent: usize) -> Duration {
    let rank = (waits.len() * percent).div_ceil(100).max(1);
    waits.get(rank - 1).copied().unwrap_or_default()
}

/// What a race against one strategy came to.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Which.
    pub strategy: &'static Strategy,
    /// Pairs of claims that overlap, or units sold that are not there; counted from the rows.
    pub wrong: i64,
    /// How often all asked at once.
    pub rounds: u32,
    /// Wishes that were done.
    pub done: u64,
    /// Wishes that were refused.
    pub refused: u64,
    /// Wishes that got no answer, however often they were tried.
    pub gave_up: u64,
    /// Attempts that ended in a deadlock.
    pub deadlocks: u64,
    /// Attempts beyond the first of each wish.
    pub retries: u64,
    /// Wishes done or refused in a second of racing.
    pub answers_per_second: f64,
    /// From asking to the answer: what half did not exceed.
    pub median: Duration,
    /// And what 99 of a hundred did not exceed.
    pub percentile_99: Duration,
}

/// What is to be said of a strategy, in a word or two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Claims of one room overlap.
    DoubleBooks,
    /// More was sold than there is.
    Oversells,
    /// It can go wrong, and did not this time.
    Lucky,
    /// Nothing went wrong, but some got no answer.
    GivesUp,
    /// Nothing went wrong, but clients waited for each other until the server ended one.
    Deadlocks,
    /// Nothing went wrong, but work was done in vain.
    Retries,
    /// Nothing went wrong.
    Safe,
}

impl Measured {
    /// What is to be said of it.
    pub fn verdict(&self) -> Verdict {
        match self.strategy.subject {
            Subject::Slots if self.wrong > 0 => Verdict::DoubleBooks,
            Subject::Stock if self.wrong > 0 => Verdict::Oversells,
            _ if !self.strategy.sound => Verdict::Lucky,
            _ if self.gave_up > 0 => Verdict::GivesUp,
            _ if self.deadlocks > 0 => Verdict::Deadlocks,
            _ if self.retries > 0 => Verdict::Retries,
            _ => Verdict::Safe,
        }
    }

    /// Whether what was seen is at odds with what is known of the strategy.
    pub fn is_surprising(&self) -> bool {
        self.strategy.sound && self.wrong > 0
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::store::lab::strategy;

    fn turn(end: End, milliseconds: u64) -> Turn {
        Turn {
            end,
            waited: Duration::from_millis(milliseconds),
            deadlocks: 0,
            retries: 0,
        }
    }

    #[test]
    fn percentiles_are_waits_that_were_seen() {
        let waits: Vec<Duration> = (1..=200).map(Duration::from_millis).collect();
        assert_eq!(percentile(&waits, 50), Duration::from_millis(100));
        assert_eq!(percentile(&waits, 99), Duration::from_millis(198));
        assert_eq!(percentile(&waits[..1], 99), Duration::from_millis(1));
        assert_eq!(percentile(&[], 50), Duration::ZERO);
    }

    #[test]
    fn rounds_add_up() {
        let mut tally = Tally::default();
        let turns = [
            turn(End::Done, 5),
            turn(End::Refused, 1),
            turn(End::GaveUp, 9),
        ];
        tally.add_round(&turns, Duration::from_millis(400));
        tally.add_round(&turns, Duration::from_millis(600));
        let measured = tally.measured(strategy("advisory-lock").unwrap(), 0);
        assert_eq!(measured.rounds, 2);
        assert_eq!(
            (measured.done, measured.refused, measured.gave_up),
            (2, 2, 2)
        );
        assert!((measured.answers_per_second - 4.0).abs() < 1e-9);
        assert_eq!(measured.median, Duration::from_millis(5));
        assert_eq!(measured.percentile_99, Duration::from_millis(9));
    }

    #[test]
    fn a_verdict_says_the_worst_that_was_seen() {
        let seen = |name, wrong, deadlocks| {
            let tally = Tally {
                deadlocks,
                retries: deadlocks,
                ..Tally::default()
            };
            tally.measured(strategy(name).unwrap(), wrong)
        };
        assert_eq!(
            seen("check-then-insert", 3, 0).verdict(),
            Verdict::DoubleBooks
        );
        assert_eq!(seen("check-then-insert", 0, 0).verdict(), Verdict::Lucky);
        assert_eq!(seen("read-then-write", 1, 0).verdict(), Verdict::Oversells);
        assert_eq!(seen("exclusion-alone", 0, 2).verdict(), Verdict::Deadlocks);
        assert_eq!(seen("advisory-lock", 0, 0).verdict(), Verdict::Safe);
        assert!(seen("advisory-lock", 1, 0).is_surprising());
        assert!(!seen("check-then-insert", 1, 0).is_surprising());
    }
}
