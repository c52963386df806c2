//! The site's calendar: instants as the house's clocks show them, and back (R5, R6, R7).
//!
//! Every time on a screen or a command line goes through here, in the site's zone, whatever the TZ of the terminal.

use chrono::{
    DateTime, Datelike, FixedOffset, MappedLocalTime, NaiveDate, NaiveDateTime, NaiveTime, Offset,
    TimeDelta, TimeZone, Utc,
};
use chrono_tz::Tz;

use super::{NightTimes, Period};

/// One IANA zone and the arithmetic that goes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SiteCalendar {
    zone: Tz,
}

/// Why a local time is no single instant (R5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalTimeError {
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

impl SiteCalendar {
    /// The calendar of a zone.
    pub fn new(zone: Tz) -> Self {
        Self { zone }
    }

    /// The zone.
    pub fn zone(&self) -> Tz {
        self.zone
    }

    /// The instant, as the house's clocks show it.
    pub fn local(&self, instant: DateTime<Utc>) -> DateTime<Tz> {
        instant.with_timezone(&self.zone)
    }

    /// The date that the house writes at that instant.
    pub fn date(&self, instant: DateTime<Utc>) -> NaiveDate {
        self.local(instant).date_naive()
    }

    /// RFC 3339 with the site's offset.
    pub fn rfc3339(&self, instant: DateTime<Utc>) -> String {
        self.local(instant).fixed_offset().to_rfc3339()
    }

    /// `10:24`, for people.
    pub fn clock_time(&self, instant: DateTime<Utc>) -> String {
        self.local(instant).format("%H:%M:%S").to_string()
    }

    /// `Thu 3 Dec 2026 10:24`, for people.
    pub fn date_and_time(&self, instant: DateTime<Utc>) -> String {
        self.local(instant).format("%a %-d %b %Y %H:%M").to_string()
    }

    /// A period for people: `10:00–11:30 on Thu 3 Dec`, or with both dates when it crosses midnight.
    pub fn span(&self, period: &Period) -> String {
        let (start, end) = (self.local(period.start()), self.local(period.end()));
        if start.date_naive() == end.date_naive() {
            format!(
                "{}–{} on {}",
                start.format("%H:%M"),
                end.format("%H:%M"),
                start.format("%a %-d %b")
            )
        } else {
            format!(
                "from {} to {}",
                start.format("%a %-d %b %H:%M"),
                end.format("%a %-d %b %H:%M")
            )
        }
    }

    /// The one instant of a local time, or why there isn't one.
    pub fn instant(&self, local: NaiveDateTime) -> Result<DateTime<Utc>, LocalTimeError> {
        match self.zone.from_local_datetime(&local) {
            MappedLocalTime::Single(instant) => Ok(instant.to_utc()),
            MappedLocalTime::Ambiguous(earlier, later) => Err(LocalTimeError::Ambiguous {
                earlier: earlier.fixed_offset(),
                later: later.fixed_offset(),
            }),
            MappedLocalTime::None => Err(self.gap(local)),
        }
    }

    /// The day: from its first instant to the next day's first instant; 23, 24 or 25 hours in most zones (R5).
    pub fn day(&self, date: NaiveDate) -> Period {
        let _ = date;
        unimplemented!("the calendar helper builds this")
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
        let _ = (arrival, departure, times);
        unimplemented!("the calendar helper builds this")
    }

    fn gap(&self, local: NaiveDateTime) -> LocalTimeError {
        let _ = local;
        unimplemented!("the calendar helper builds this")
    }
}

#[allow(unused)]
fn imports(_: NaiveTime, _: TimeDelta, o: FixedOffset, d: NaiveDate) -> (i32, FixedOffset) {
    (d.day() as i32, o.fix())
}
