//! The site's calendar: instants as the site's clocks show them, and back (R5, R6, R7).
//!
//! Every time on a screen or a command line goes through here, in the site's zone, whatever the TZ of the terminal.
//! Nothing here panics, however far from today a date lies: instants and dates within a few days of the ends of what
//! chrono can count are moved inside.

use chrono::{
    DateTime, Days, FixedOffset, MappedLocalTime, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta,
    TimeZone, Utc,
};
use chrono_tz::Tz;

use crate::domain::night_times::NightTimes;
use crate::domain::period::Period;

/// One IANA zone and the arithmetic that goes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SiteCalendar {
    zone: Tz,
}

/// Why a local time is no single instant (R5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LocalTimeError {
    /// The clocks jump over it.
    Gap {
        /// The instant of the jump.
        at: DateTime<Utc>,
        /// What the clocks would have shown at that instant before the jump.
        from: NaiveDateTime,
        /// What they show at that instant after it.
        to: NaiveDateTime,
    },
    /// The clocks show it twice.
    Ambiguous {
        /// The earlier instant.
        earlier: DateTime<FixedOffset>,
        /// The later instant.
        later: DateTime<FixedOffset>,
    },
}

/// Whether the clocks show a local time once, or which of two times it is (R5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Showing {
    /// The only time.
    Once,
    /// The first of two.
    First,
    /// The second of two.
    Second,
}

/// One step of a grid's time axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tick {
    /// The instant.
    pub at: DateTime<Utc>,
    /// What the site's clocks show then.
    pub local: NaiveDateTime,
    /// Whether they show it again.
    pub showing: Showing,
}

impl Tick {
    /// `01:30`; in a repeated hour `01:30a` the first time and `01:30b` the second (R5).
    pub(crate) fn label(&self) -> String {
        let suffix = match self.showing {
            Showing::Once => "",
            Showing::First => "a",
            Showing::Second => "b",
        };
        format!("{}{suffix}", self.local.format("%H:%M"))
    }
}

impl SiteCalendar {
    /// The calendar of a zone.
    pub fn new(zone: Tz) -> Self {
        Self { zone }
    }

    pub(crate) fn zone(&self) -> Tz {
        self.zone
    }

    /// The instant, as the site's clocks show it.
    pub(crate) fn local(&self, instant: DateTime<Utc>) -> DateTime<Tz> {
        // No zone is two days off, so that the local time can be counted too.
        let margin = TimeDelta::days(2);
        instant
            .clamp(
                DateTime::<Utc>::MIN_UTC + margin,
                DateTime::<Utc>::MAX_UTC - margin,
            )
            .with_timezone(&self.zone)
    }

    /// The date that the site writes at that instant.
    pub(crate) fn date(&self, instant: DateTime<Utc>) -> NaiveDate {
        self.local(instant).date_naive()
    }

    /// RFC 3339 with the site's offset.
    pub(crate) fn rfc3339(&self, instant: DateTime<Utc>) -> String {
        self.local(instant).fixed_offset().to_rfc3339()
    }

    /// `10:24:07`, for people; in a repeated hour with the zone's short name, `01:30:00 BST` (R5).
    pub(crate) fn clock_time(&self, instant: DateTime<Utc>) -> String {
        self.people(instant, "%H:%M:%S")
    }

    /// `Thu 3 Dec 2026 10:24`, for people; in a repeated hour with the zone's short name (R5).
    pub(crate) fn date_and_time(&self, instant: DateTime<Utc>) -> String {
        self.people(instant, "%a %-d %b %Y %H:%M")
    }

    /// A period for people: `10:00–11:30 on Thu 3 Dec 2026`, or with both dates when it goes past midnight (R6).
    pub(crate) fn span(&self, period: &Period) -> String {
        let date = self.date(period.start());
        let from = self.people(period.start(), "%H:%M");
        let on = date.format("%a %-d %b %Y");
        if self.date(period.end()) == date {
            format!("{from}–{} on {on}", self.people(period.end(), "%H:%M"))
        } else if self.ends_day(date, period.end()) {
            format!("{from}–24:00 on {on}")
        } else {
            format!(
                "from {} to {}",
                self.people(period.start(), "%a %-d %b %Y %H:%M"),
                self.people(period.end(), "%a %-d %b %Y %H:%M")
            )
        }
    }

    /// Whether the instant is where the date ends: its `24:00` (R6).
    pub(crate) fn ends_day(&self, date: NaiveDate, instant: DateTime<Utc>) -> bool {
        self.day(date).is_some_and(|day| day.end() == instant)
    }

    /// The one instant of a local time, or why there isn't one.
    pub(crate) fn instant(&self, local: NaiveDateTime) -> Result<DateTime<Utc>, LocalTimeError> {
        let local = countable(local);
        match self.zone.from_local_datetime(&local) {
            MappedLocalTime::Single(instant) => Ok(instant.to_utc()),
            MappedLocalTime::Ambiguous(earlier, later) => Err(LocalTimeError::Ambiguous {
                earlier: earlier.fixed_offset(),
                later: later.fixed_offset(),
            }),
            MappedLocalTime::None => {
                let (at, from, to) = self.jump_over(local);
                Err(LocalTimeError::Gap { at, from, to })
            }
        }
    }

    /// The first instant of a date, which need not be 00:00; of a date that the site skips, the instant of the jump.
    pub(crate) fn first_instant(&self, date: NaiveDate) -> DateTime<Utc> {
        match self.instant(date.and_time(NaiveTime::MIN)) {
            Ok(instant) => instant,
            Err(LocalTimeError::Gap { at, .. }) => at,
            Err(LocalTimeError::Ambiguous { earlier, .. }) => earlier.to_utc(),
        }
    }

    /// The day: from its first instant to the next day's first instant; 23, 24 or 25 hours in most zones (R5).
    ///
    /// None for a date that the site skips altogether (30 December 2011 in Apia), and for the last dates that can be
    /// counted. Days tile time: each begins where the one before ended.
    pub(crate) fn day(&self, date: NaiveDate) -> Option<Period> {
        let next = date.succ_opt()?;
        Period::new(self.first_instant(date), self.first_instant(next)).ok()
    }

    /// The next date that the site has.
    pub(crate) fn next_date(&self, date: NaiveDate) -> NaiveDate {
        self.nearest_date(date, NaiveDate::checked_add_days)
    }

    /// The date before, of those that the site has.
    pub(crate) fn previous_date(&self, date: NaiveDate) -> NaiveDate {
        self.nearest_date(date, NaiveDate::checked_sub_days)
    }

    /// The period of a stay: check-in on the arrival date to check-out on the departure date (R7).
    ///
    /// None if departure is not after arrival. Where the clocks skip or repeat such a time, the answer is PostgreSQL's:
    /// a skipped time counts with the offset before the jump, a repeated one is the later.
    pub fn stay(
        &self,
        arrival: NaiveDate,
        departure: NaiveDate,
        times: NightTimes,
    ) -> Option<Period> {
        if departure <= arrival {
            return None;
        }
        let start = self.chosen_instant(arrival.and_time(times.check_in));
        let end = self.chosen_instant(departure.and_time(times.check_out));
        Period::new(start, end).ok()
    }

    /// The period in steps of elapsed time, for a grid's columns, each with what the clocks show then.
    ///
    /// The last step may be shorter. Nothing, if the step is not longer than nothing.
    pub(crate) fn ticks(
        &self,
        period: Period,
        step: TimeDelta,
    ) -> impl Iterator<Item = Tick> + use<> {
        let calendar = *self;
        let first = (step > TimeDelta::zero()).then_some(period.start());
        std::iter::successors(first, move |at| at.checked_add_signed(step))
            .take_while(move |at| *at < period.end())
            .map(move |at| calendar.tick(at))
    }

    /// What the clocks show at an instant, and whether they show it twice (R5).
    pub(crate) fn tick(&self, at: DateTime<Utc>) -> Tick {
        let local = self.local(at);
        let showing = match self.zone.from_local_datetime(&local.naive_local()) {
            MappedLocalTime::Ambiguous(earlier, _) if earlier == local => Showing::First,
            MappedLocalTime::Ambiguous(..) => Showing::Second,
            MappedLocalTime::Single(_) | MappedLocalTime::None => Showing::Once,
        };
        Tick {
            at,
            local: local.naive_local(),
            showing,
        }
    }

    fn people(&self, instant: DateTime<Utc>, format: &str) -> String {
        let local = self.local(instant);
        match self.tick(instant).showing {
            Showing::Once => local.format(format).to_string(),
            Showing::First | Showing::Second => local.format(&format!("{format} %Z")).to_string(),
        }
    }

    /// PostgreSQL's choice of an instant, for any local time.
    fn chosen_instant(&self, local: NaiveDateTime) -> DateTime<Utc> {
        match self.instant(local) {
            Ok(instant) => instant,
            Err(LocalTimeError::Gap { at, from, .. }) => at + (countable(local) - from),
            Err(LocalTimeError::Ambiguous { later, .. }) => later.to_utc(),
        }
    }

    /// The jump of the clocks that skips the local time: its instant, and what they show before and after.
    ///
    /// A day and more before, the clocks show less, and a day and more after, more; a local time that is never shown
    /// must be jumped over in between.
    fn jump_over(&self, local: NaiveDateTime) -> (DateTime<Utc>, NaiveDateTime, NaiveDateTime) {
        let shown = |seconds: i64| {
            let instant = DateTime::from_timestamp(seconds, 0).unwrap_or_default();
            (instant, self.local(instant).naive_local())
        };
        let around = local.and_utc().timestamp();
        let (mut before, mut after) = (around - 26 * 3600, around + 26 * 3600);
        while after - before > 1 {
            let middle = before + (after - before) / 2;
            if shown(middle).1 <= local {
                before = middle;
            } else {
                after = middle;
            }
        }
        let (at, to) = shown(after);
        (at, shown(before).1 + TimeDelta::seconds(1), to)
    }

    fn nearest_date(
        &self,
        date: NaiveDate,
        step: fn(NaiveDate, Days) -> Option<NaiveDate>,
    ) -> NaiveDate {
        std::iter::successors(step(date, Days::new(1)), |date| step(*date, Days::new(1)))
            .take(3)
            .find(|date| self.day(*date).is_some())
            .unwrap_or(date)
    }
}

/// The local time, moved inside what can be counted with any offset, and searched a day to either side.
fn countable(local: NaiveDateTime) -> NaiveDateTime {
    let margin = TimeDelta::days(8);
    local.clamp(NaiveDateTime::MIN + margin, NaiveDateTime::MAX - margin)
}

#[cfg(test)]
mod tests;
