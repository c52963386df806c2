//! The one reader of dates and times as people type them, on the command line and in the console: RFC 3339 with an offset,
//! or the site's own clocks and dates (R5), in words too; dates for nights (R7).
//!
//! What can be read but names no instant, or no period that the room takes, is a [`Refusal`]. What can't be read is a
//! mistake of the typist, and a sentence says how to write it.

use chrono::{
    DateTime, DurationRound, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc,
};

use crate::domain::calendar::{LocalTimeError, SiteCalendar};
use crate::domain::catalogue::{BookedBy, Room};
use crate::domain::clock_text::{self, ClockText};
use crate::domain::dates::DateText;
use crate::domain::period::Period;
use crate::domain::refusal::{PeriodProblem, Refusal};

/// Reads what was typed in a site.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeReader<'a> {
    calendar: &'a SiteCalendar,
    now: Option<DateTime<Utc>>,
}

/// Why a text is no time, no date or no period.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum TimeTextError {
    /// It can be read, and the site says no.
    #[error("the house refuses these times")]
    Refused(Refusal),
    /// It can't be read; a sentence that says how to write it. It quotes what was typed, so make it harmless.
    #[error("{0}")]
    Unreadable(String),
    /// It counts from now, and the reader was not told what time it is.
    #[error("these times count from now")]
    NeedsNow,
}

impl From<Refusal> for TimeTextError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<PeriodProblem> for TimeTextError {
    fn from(problem: PeriodProblem) -> Self {
        Self::Refused(problem.into())
    }
}

/// What was typed, before it is known whether a date or a time is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimeForm {
    /// With an offset: an instant already.
    Instant(DateTime<Utc>),
    /// What the site's clocks show.
    Local(NaiveDateTime),
    /// `24:00` of a date: where it ends (R6).
    EndOf(NaiveDate),
    /// A date alone.
    Date(NaiveDate),
    /// A time alone; as an end, on the date on which the period starts.
    Clock(ClockText),
    /// This minute; where a date is wanted, today.
    Now(DateTime<Utc>),
    /// 18:00 of this date; where a date is wanted, the date.
    Tonight(NaiveDate),
}

impl<'a> TimeReader<'a> {
    /// Reads every form, words that count from now too.
    pub(crate) fn at(calendar: &'a SiteCalendar, now: DateTime<Utc>) -> Self {
        Self {
            calendar,
            now: Some(now),
        }
    }

    /// Reads what means the same whenever it is read; all else is [`TimeTextError::NeedsNow`].
    pub(crate) fn without_clock(calendar: &'a SiteCalendar) -> Self {
        Self {
            calendar,
            now: None,
        }
    }

    /// A date alone: `2027-01-01`, `3 dec`, `3.12.`, `thu`, `tomorrow`, `+7`.
    pub(crate) fn date(&self, typed: &str) -> Result<NaiveDate, TimeTextError> {
        match self.read(typed) {
            Err(TimeTextError::NeedsNow) => Err(TimeTextError::NeedsNow),
            read => read
                .ok()
                .and_then(|read| self.as_date(read))
                .ok_or_else(|| {
                    TimeTextError::Unreadable(format!(
                        "“{typed}” is not a date; write it like 2027-01-01, 3 Dec, thu, tomorrow or +7."
                    ))
                }),
        }
    }

    /// The period that a room would be claimed for, from what was typed as its start and end.
    ///
    /// For a room booked by the night both are dates, arrival and departure (R7); for a room by the hour neither is.
    pub(crate) fn period(
        &self,
        room: &Room,
        from: &str,
        to: &str,
    ) -> Result<Period, TimeTextError> {
        let (start, end) = (self.read(from)?, self.read(to)?);
        match room.booked_by {
            BookedBy::Night => {
                let dates = self.as_date(start).zip(self.as_date(end));
                let (arrival, departure) = dates.ok_or(PeriodProblem::NotNights)?;
                self.calendar
                    .stay(arrival, departure, room.night_times)
                    .ok_or_else(|| PeriodProblem::NoNights.into())
            }
            BookedBy::Hour => {
                let bare_date = |typed| matches!(typed, TimeForm::Date(_));
                if bare_date(start) || bare_date(end) {
                    return Err(PeriodProblem::NotHours.into());
                }
                let start = self.as_start(start, from)?;
                let end = self.as_end(end, to, start)?;
                Ok(Period::new(start, end).map_err(Refusal::from)?)
            }
        }
    }

    /// The instant at which a window of time begins, or begins to end; of a date, its first instant.
    pub(crate) fn instant(&self, typed: &str) -> Result<DateTime<Utc>, TimeTextError> {
        match self.read(typed)? {
            TimeForm::Date(date) => Ok(self.calendar.first_instant(date)),
            TimeForm::EndOf(date) => Ok(self.end_of(date)),
            time => self.as_start(time, typed),
        }
    }

    /// The same, where a window ends: of a date, its end.
    pub(crate) fn window_end(&self, typed: &str) -> Result<DateTime<Utc>, TimeTextError> {
        match self.read(typed)? {
            TimeForm::Date(date) => Ok(self.end_of(date)),
            _ => self.instant(typed),
        }
    }

    fn read(&self, typed: &str) -> Result<TimeForm, TimeTextError> {
        self.read_forms(typed.trim()).transpose().unwrap_or_else(|| {
            Err(TimeTextError::Unreadable(format!(
                "“{typed}” is not a time that can be read; write it like 2027-01-01T10:00, tomorrow 10:00 or now (the \
                 house's own time), 2027-01-01T10:00+01:00, or 2027-01-01 or thu for a room booked by the night."
            )))
        })
    }

    /// None if the text has none of the forms.
    fn read_forms(&self, text: &str) -> Result<Option<TimeForm>, TimeTextError> {
        let is = |word: &str| text.eq_ignore_ascii_case(word);
        if is("now") {
            let now = self.now.ok_or(TimeTextError::NeedsNow)?;
            let minute = now.duration_trunc(TimeDelta::minutes(1)).unwrap_or(now);
            return Ok(Some(TimeForm::Now(minute)));
        }
        if is("tonight") {
            return Ok(Some(TimeForm::Tonight(self.today()?)));
        }
        let Some((date, clock)) = split_clock(text) else {
            return Ok(self.which_date(text)?.map(TimeForm::Date));
        };
        let Some((clock, offset)) = clock_text::split_offset(clock) else {
            return Ok(None);
        };
        let Some(clock) = clock_text::read(clock) else {
            return Ok(None);
        };
        if date.is_empty() {
            return Ok(offset.is_none().then_some(TimeForm::Clock(clock)));
        }
        let date = match date.eq_ignore_ascii_case("tonight") {
            true => Some(self.today()?),
            false => self.which_date(date)?,
        };
        Ok(date.and_then(|date| on_a_date(date, clock, offset)))
    }

    fn which_date(&self, text: &str) -> Result<Option<NaiveDate>, TimeTextError> {
        let Some(read) = DateText::read(text) else {
            return Ok(None);
        };
        match read.exact() {
            Some(date) => Ok(Some(date)),
            None => Ok(read.on(self.today()?)),
        }
    }

    fn today(&self) -> Result<NaiveDate, TimeTextError> {
        let now = self.now.ok_or(TimeTextError::NeedsNow)?;
        Ok(self.calendar.date(now))
    }

    fn as_date(&self, typed: TimeForm) -> Option<NaiveDate> {
        match typed {
            TimeForm::Date(date) | TimeForm::Tonight(date) => Some(date),
            TimeForm::Now(now) => Some(self.calendar.date(now)),
            TimeForm::Instant(_) | TimeForm::Local(_) | TimeForm::EndOf(_) | TimeForm::Clock(_) => {
                None
            }
        }
    }

    fn as_start(&self, typed: TimeForm, text: &str) -> Result<DateTime<Utc>, TimeTextError> {
        match typed {
            TimeForm::Instant(instant) | TimeForm::Now(instant) => Ok(instant),
            TimeForm::Local(local) => Ok(self.single_instant(local, text)?),
            TimeForm::Tonight(date) => Ok(self.single_instant(date.and_time(EVENING), text)?),
            TimeForm::Date(_) => Err(PeriodProblem::NotHours.into()),
            TimeForm::EndOf(date) => Err(TimeTextError::Unreadable(format!(
                "24:00 can only end a period; to start there, write {}T00:00.",
                self.calendar.next_date(date)
            ))),
            TimeForm::Clock(_) => Err(TimeTextError::Unreadable(format!(
                "“{text}” needs a date; write it like 2027-01-01T10:00 or tomorrow 10:00."
            ))),
        }
    }

    fn as_end(
        &self,
        typed: TimeForm,
        text: &str,
        start: DateTime<Utc>,
    ) -> Result<DateTime<Utc>, TimeTextError> {
        match typed {
            TimeForm::EndOf(date) => Ok(self.end_of(date)),
            TimeForm::Clock(ClockText::EndOfDay) => Ok(self.end_of(self.calendar.date(start))),
            TimeForm::Clock(ClockText::Time(time)) => {
                let local = self.calendar.date(start).and_time(time);
                Ok(self.single_instant(local, text)?)
            }
            time => self.as_start(time, text),
        }
    }

    fn end_of(&self, date: NaiveDate) -> DateTime<Utc> {
        self.calendar.first_instant(date.succ_opt().unwrap_or(date))
    }

    fn single_instant(&self, local: NaiveDateTime, typed: &str) -> Result<DateTime<Utc>, Refusal> {
        self.calendar.instant(local).map_err(|error| match error {
            LocalTimeError::Gap { at, from, to } => Refusal::LocalTimeDoesNotExist {
                typed: typed.to_owned(),
                gap_at: at,
                gap_from: from.format("%Y-%m-%dT%H:%M").to_string(),
                gap_to: to.format("%Y-%m-%dT%H:%M").to_string(),
            },
            LocalTimeError::Ambiguous { earlier, later } => Refusal::LocalTimeIsAmbiguous {
                typed: typed.to_owned(),
                choices: [earlier.to_rfc3339(), later.to_rfc3339()],
            },
        })
    }
}

/// What to type for a period of such a room, so that [`TimeReader::period`] reads it back, whenever it does.
pub(crate) fn typed_period(
    booked_by: BookedBy,
    period: &Period,
    calendar: &SiteCalendar,
) -> (String, String) {
    let typed = |instant| match booked_by {
        BookedBy::Night => calendar.date(instant).to_string(),
        BookedBy::Hour => typed_time(instant, calendar),
    };
    (typed(period.start()), typed(period.end()))
}

/// The site's own time to the minute, and where that would not be the same instant, RFC 3339.
fn typed_time(instant: DateTime<Utc>, calendar: &SiteCalendar) -> String {
    let local = calendar.local(instant).format("%Y-%m-%dT%H:%M").to_string();
    match TimeReader::without_clock(calendar).instant(&local) {
        Ok(read) if read == instant => local,
        _ => calendar.rfc3339(instant),
    }
}

const EVENING: NaiveTime = match NaiveTime::from_hms_opt(18, 0, 0) {
    Some(time) => time,
    None => NaiveTime::MIN,
};

/// The date and the clock of a text that has one: around the blank or the T before the hour. The date may be empty.
fn split_clock(text: &str) -> Option<(&str, &str)> {
    let colon = text.find(':')?;
    let before = text[..colon].trim_end_matches(|sign: char| sign.is_ascii_digit());
    let clock = &text[before.len()..];
    let date = match before.strip_suffix(['T', 't']) {
        Some(date) => date,
        None if before.is_empty() || before.ends_with(char::is_whitespace) => before,
        None => return None,
    };
    Some((date.trim_end(), clock))
}

fn on_a_date(date: NaiveDate, clock: ClockText, offset: Option<FixedOffset>) -> Option<TimeForm> {
    let Some(offset) = offset else {
        return Some(match clock {
            ClockText::Time(time) => TimeForm::Local(date.and_time(time)),
            ClockText::EndOfDay => TimeForm::EndOf(date),
        });
    };
    let local = match clock {
        ClockText::Time(time) => date.and_time(time),
        ClockText::EndOfDay => date.succ_opt()?.and_time(NaiveTime::MIN),
    };
    let instant = local.and_local_timezone(offset).single()?;
    Some(TimeForm::Instant(instant.to_utc()))
}

#[cfg(test)]
mod tests;
