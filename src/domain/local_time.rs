//! Times as people type them: RFC 3339 with an offset, or the site's own clocks (R5); dates for nights (R7).
//!
//! What can be read but names no instant, or no period that the room takes, is a [`Refusal`]. What can't be read is a
//! mistake of the typist, and a sentence says how to write it.

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc};

use super::refusal::PeriodProblem;
use super::{BookedBy, LocalTimeError, Period, Refusal, Room, SiteCalendar};

/// A time as it was typed, before the site's calendar says which instant it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypedTime {
    /// With an offset: an instant already.
    Instant(DateTime<Utc>),
    /// What the site's clocks show.
    Local(NaiveDateTime),
    /// `24:00` of a date: where it ends (R6).
    EndOf(NaiveDate),
    /// A date alone.
    Date(NaiveDate),
    /// A time alone; as an end, on the date on which the period starts. None is `24:00`.
    Clock(Option<NaiveTime>),
}

/// Why two texts are no period.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PeriodTextError {
    /// They can be read, and the site says no.
    #[error("the house refuses these times")]
    Refused(Refusal),
    /// They can't be read; a sentence that says how to write them. It quotes what was typed, so make it harmless.
    #[error("{0}")]
    Unreadable(String),
}

impl From<Refusal> for PeriodTextError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<PeriodProblem> for PeriodTextError {
    fn from(problem: PeriodProblem) -> Self {
        Self::Refused(problem.into())
    }
}

/// The period that a room would be claimed for, from what was typed as its start and end.
///
/// For a room booked by the night both are dates, arrival and departure (R7); for a room by the hour neither is.
pub fn period_for(
    room: &Room,
    from: &str,
    to: &str,
    calendar: &SiteCalendar,
) -> Result<Period, PeriodTextError> {
    let (start, end) = (TypedTime::parse(from)?, TypedTime::parse(to)?);
    match room.booked_by {
        BookedBy::Night => {
            let (TypedTime::Date(arrival), TypedTime::Date(departure)) = (start, end) else {
                return Err(PeriodProblem::NotNights.into());
            };
            calendar
                .stay(arrival, departure, room.night_times)
                .ok_or_else(|| PeriodProblem::NoNights.into())
        }
        BookedBy::Hour => {
            let bare_date = |typed| matches!(typed, TypedTime::Date(_));
            if bare_date(start) || bare_date(end) {
                return Err(PeriodProblem::NotHours.into());
            }
            let start = start.as_start(from, calendar)?;
            let end = end.as_end(to, start, calendar)?;
            Ok(Period::new(start, end).map_err(Refusal::from)?)
        }
    }
}

/// The instant that a text names where a window of time begins or ends; of a date, its first instant.
pub fn instant_for(typed: &str, calendar: &SiteCalendar) -> Result<DateTime<Utc>, PeriodTextError> {
    match TypedTime::parse(typed)? {
        TypedTime::Date(date) => Ok(calendar.first_instant(date)),
        TypedTime::EndOf(date) => Ok(end_of(date, calendar)),
        time => time.as_start(typed, calendar),
    }
}

/// The same, where a window ends: of a date, its end.
pub fn window_end_for(
    typed: &str,
    calendar: &SiteCalendar,
) -> Result<DateTime<Utc>, PeriodTextError> {
    match TypedTime::parse(typed)? {
        TypedTime::Date(date) => Ok(end_of(date, calendar)),
        _ => instant_for(typed, calendar),
    }
}

/// What to type for a period of such a room, so that [`period_for`] reads it back.
pub fn typed_period(
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
    match instant_for(&local, calendar) {
        Ok(read) if read == instant => local,
        _ => calendar.rfc3339(instant),
    }
}

/// A date alone.
pub fn date_for(typed: &str) -> Result<NaiveDate, PeriodTextError> {
    match TypedTime::parse(typed) {
        Ok(TypedTime::Date(date)) => Ok(date),
        _ => Err(PeriodTextError::Unreadable(format!(
            "“{typed}” is not a date; write it like 2027-01-01."
        ))),
    }
}

impl TypedTime {
    /// Reads `2027-01-01T10:00+01:00`, `2027-01-01T10:00`, `2027-01-01 10:00:30`, `2027-01-01T24:00`, `2027-01-01`, `10:00`.
    pub fn parse(typed: &str) -> Result<Self, PeriodTextError> {
        read(typed.trim()).ok_or_else(|| {
            PeriodTextError::Unreadable(format!(
                "“{typed}” is not a time that can be read; write it like 2027-01-01T10:00 (the house's own time), \
                 2027-01-01T10:00+01:00, or 2027-01-01 for a room booked by the night."
            ))
        })
    }

    fn as_start(
        self,
        typed: &str,
        calendar: &SiteCalendar,
    ) -> Result<DateTime<Utc>, PeriodTextError> {
        match self {
            Self::Instant(instant) => Ok(instant),
            Self::Local(local) => Ok(single_instant(local, typed, calendar)?),
            Self::Date(_) => Err(PeriodProblem::NotHours.into()),
            Self::EndOf(date) => Err(PeriodTextError::Unreadable(format!(
                "24:00 can only end a period; to start there, write {}T00:00.",
                calendar.next_date(date)
            ))),
            Self::Clock(_) => Err(PeriodTextError::Unreadable(format!(
                "“{typed}” needs a date; write it like 2027-01-01T10:00."
            ))),
        }
    }

    fn as_end(
        self,
        typed: &str,
        start: DateTime<Utc>,
        calendar: &SiteCalendar,
    ) -> Result<DateTime<Utc>, PeriodTextError> {
        match self {
            Self::EndOf(date) => Ok(end_of(date, calendar)),
            Self::Clock(None) => Ok(end_of(calendar.date(start), calendar)),
            Self::Clock(Some(time)) => {
                let local = calendar.date(start).and_time(time);
                Ok(single_instant(local, typed, calendar)?)
            }
            Self::Instant(_) | Self::Local(_) | Self::Date(_) => self.as_start(typed, calendar),
        }
    }
}

fn end_of(date: NaiveDate, calendar: &SiteCalendar) -> DateTime<Utc> {
    calendar.first_instant(date.succ_opt().unwrap_or(date))
}

fn single_instant(
    local: NaiveDateTime,
    typed: &str,
    calendar: &SiteCalendar,
) -> Result<DateTime<Utc>, Refusal> {
    calendar.instant(local).map_err(|error| match error {
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

fn read(text: &str) -> Option<TypedTime> {
    if !text.is_ascii() {
        return None;
    }
    if text.len() < 10 {
        return Some(TypedTime::Clock(read_clock(text)?));
    }
    let (date, rest) = text.split_at(10);
    let date = read_date(date)?;
    let Some(separator) = rest.chars().next() else {
        return Some(TypedTime::Date(date));
    };
    if !matches!(separator, 'T' | 't' | ' ') {
        return None;
    }
    let (clock, offset) = read_offset(&rest[1..])?;
    match (read_clock(clock)?, offset) {
        (Some(time), None) => Some(TypedTime::Local(date.and_time(time))),
        (None, None) => Some(TypedTime::EndOf(date)),
        (time, Some(offset)) => {
            let local = match time {
                Some(time) => date.and_time(time),
                None => date.succ_opt()?.and_time(NaiveTime::MIN),
            };
            let instant = local.and_local_timezone(offset).single()?;
            Some(TypedTime::Instant(instant.to_utc()))
        }
    }
}

/// Four digits, two and two: what everybody else's programs read too.
fn read_date(text: &str) -> Option<NaiveDate> {
    let mut parts = text.split('-');
    let (year, month, day) = (
        number(parts.next()?, 4)?,
        number(parts.next()?, 2)?,
        number(parts.next()?, 2)?,
    );
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
    (parts.next().is_none() && year > 0).then_some(date)
}

/// `9:00`, `10:00`, `10:00:30`, `10:00:30.5`; none inside for `24:00`. Finer than a microsecond is not kept.
fn read_clock(text: &str) -> Option<Option<NaiveTime>> {
    let mut parts = text.split(':');
    let hour = parts.next()?;
    let hour = number(hour, 1).or_else(|| number(hour, 2))?;
    let minute = number(parts.next()?, 2)?;
    let seconds = parts.next().unwrap_or("00");
    if parts.next().is_some() {
        return None;
    }
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let second = number(whole, 2)?;
    let microsecond = format!(
        "{:0<6}",
        number_text(fraction)?.get(..6).unwrap_or(fraction)
    )
    .parse()
    .ok()?;
    if (hour, minute, second, microsecond) == (24, 0, 0, 0) {
        return Some(None);
    }
    NaiveTime::from_hms_micro_opt(hour, minute, second, microsecond).map(Some)
}

/// The clock and the offset that follows it, if one does: `Z`, `+01:00`, `-03:30`.
fn read_offset(text: &str) -> Option<(&str, Option<FixedOffset>)> {
    if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        return Some((clock, FixedOffset::east_opt(0)));
    }
    let Some(sign) = text.find(['+', '-']) else {
        return Some((text, None));
    };
    let (clock, offset) = text.split_at(sign);
    let (hours, minutes) = offset[1..].split_once(':')?;
    let (hours, minutes) = (number(hours, 2)?, number(minutes, 2)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let east = TimeDelta::minutes(i64::from(hours * 60 + minutes)).num_seconds() as i32;
    let offset = FixedOffset::east_opt(if offset.starts_with('-') { -east } else { east })?;
    Some((clock, Some(offset)))
}

fn number(text: &str, digits: usize) -> Option<u32> {
    (text.len() == digits)
        .then(|| number_text(text))?
        .and_then(|text| text.parse().ok())
}

fn number_text(text: &str) -> Option<&str> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then_some(text)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::{NightTimes, RoomId};

    fn room(booked_by: BookedBy) -> Room {
        Room {
            id: RoomId(1),
            name: "Blue room".into(),
            capacity: 8,
            booked_by,
            night_times: NightTimes::default(),
            turnaround: TimeDelta::zero(),
            features: vec![],
            retired_at: None,
        }
    }

    fn london() -> SiteCalendar {
        SiteCalendar::new(chrono_tz::Europe::London)
    }

    fn hours(from: &str, to: &str) -> Result<Period, PeriodTextError> {
        period_for(&room(BookedBy::Hour), from, to, &london())
    }

    fn nights(from: &str, to: &str) -> Result<Period, PeriodTextError> {
        period_for(&room(BookedBy::Night), from, to, &london())
    }

    fn utc(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn period(from: &str, to: &str) -> Period {
        Period::new(utc(from), utc(to)).unwrap()
    }

    fn problem(result: Result<Period, PeriodTextError>) -> PeriodProblem {
        match result {
            Err(PeriodTextError::Refused(Refusal::PeriodInvalid { problem, .. })) => problem,
            other => panic!("expected period_invalid, got {other:?}"),
        }
    }

    #[test]
    fn r5_the_same_instant_can_be_written_in_many_ways() {
        let expected = period("2027-07-01T09:00:00Z", "2027-07-01T10:30:00Z");
        for (from, to) in [
            ("2027-07-01T10:00", "2027-07-01T11:30"),
            ("2027-07-01 10:00:00", "2027-07-01 11:30"),
            ("2027-07-01T09:00:00Z", "2027-07-01t10:30:00z"),
            ("2027-07-01T18:00+09:00", "2027-07-01T05:30:00-05:00"),
            (" 2027-07-01T10:00 ", "11:30"),
            (
                "2027-07-01T10:00:00.000",
                "2027-07-01T10:30:00.000000+00:00",
            ),
        ] {
            assert_eq!(hours(from, to), Ok(expected), "{from} {to}");
        }
    }

    #[test]
    fn r6_twenty_four_hundred_ends_a_day_and_starts_none() {
        let evening = period("2027-01-01T22:00:00Z", "2027-01-02T00:00:00Z");
        assert_eq!(hours("2027-01-01T22:00", "2027-01-01T24:00"), Ok(evening));
        assert_eq!(
            hours("2027-01-01T22:00", "2027-01-01 24:00:00"),
            Ok(evening)
        );
        assert_eq!(hours("2027-01-01T22:00", "24:00"), Ok(evening));
        let Err(PeriodTextError::Unreadable(sentence)) =
            hours("2027-01-01T24:00", "2027-01-02T02:00")
        else {
            panic!("24:00 starts nothing");
        };
        assert!(sentence.contains("2027-01-02T00:00"), "{sentence}");
    }

    #[test]
    fn r6_twenty_four_hundred_is_there_where_the_next_day_does_not_begin_at_midnight() {
        let calendar = SiteCalendar::new(chrono_tz::Africa::Cairo);
        let evening = period_for(
            &room(BookedBy::Hour),
            "2024-04-25T22:00",
            "2024-04-25T24:00",
            &calendar,
        );
        assert_eq!(
            evening,
            Ok(period("2024-04-25T20:00:00Z", "2024-04-25T22:00:00Z"))
        );
    }

    #[test]
    fn r2_a_period_without_length_or_backwards_is_refused() {
        let ten = "2027-01-01T10:00";
        assert_eq!(problem(hours(ten, ten)), PeriodProblem::Empty);
        assert_eq!(
            problem(hours(ten, "2027-01-01T09:00")),
            PeriodProblem::Reversed
        );
        assert_eq!(problem(hours(ten, "09:00")), PeriodProblem::Reversed);
    }

    #[test]
    fn r5_a_time_in_the_spring_gap_is_refused_and_the_gap_is_named() {
        assert_eq!(
            hours("2027-03-28T01:30", "2027-03-28T03:00"),
            Err(PeriodTextError::Refused(Refusal::LocalTimeDoesNotExist {
                typed: "2027-03-28T01:30".into(),
                gap_at: utc("2027-03-28T01:00:00Z"),
                gap_from: "2027-03-28T01:00".into(),
                gap_to: "2027-03-28T02:00".into(),
            }))
        );
    }

    #[test]
    fn r5_a_repeated_time_is_refused_with_both_instants_and_each_can_be_booked() {
        let Err(PeriodTextError::Refused(Refusal::LocalTimeIsAmbiguous { choices, .. })) =
            hours("2027-10-31T01:30", "2027-10-31T03:00")
        else {
            panic!("01:30 is shown twice");
        };
        assert_eq!(
            choices,
            ["2027-10-31T01:30:00+01:00", "2027-10-31T01:30:00+00:00"]
        );
        let first = hours(&choices[0], "2027-10-31T01:00Z").unwrap();
        let second = hours(&choices[1], "2027-10-31T02:00").unwrap();
        assert_eq!(first.length(), TimeDelta::minutes(30));
        assert_eq!(second.length(), TimeDelta::minutes(30));
        assert!(!first.overlaps(&second));
    }

    #[test]
    fn r7_nights_take_dates_and_hours_take_times() {
        assert_eq!(
            nights("2027-07-01", "2027-07-03"),
            Ok(period("2027-07-01T14:00:00Z", "2027-07-03T10:00:00Z"))
        );
        for (from, to) in [
            ("2027-07-01T15:00", "2027-07-03T11:00"),
            ("2027-07-01", "2027-07-03T11:00"),
            ("2027-07-01", "24:00"),
        ] {
            assert_eq!(problem(nights(from, to)), PeriodProblem::NotNights);
        }
        assert_eq!(
            problem(nights("2027-07-01", "2027-07-01")),
            PeriodProblem::NoNights
        );
        assert_eq!(
            problem(nights("2027-07-02", "2027-07-01")),
            PeriodProblem::NoNights
        );
        assert_eq!(
            problem(hours("2027-07-01", "2027-07-03")),
            PeriodProblem::NotHours
        );
        assert_eq!(
            problem(hours("2027-07-01T10:00", "2027-07-03")),
            PeriodProblem::NotHours
        );
    }

    #[test]
    fn what_cannot_be_read_is_said_so() {
        for typed in [
            "",
            "soon",
            "2027",
            "2027-13-01",
            "2027-02-30",
            "27-01-01",
            "0000-01-01",
            "2027-01-01T25:00",
            "2027-01-01T24:30",
            "2027-01-01T10",
            "2027-01-01T10:00:60",
            "2027-01-01X10:00",
            "2027-01-01T10:00+1",
            "2027-01-01T10:00+99:00",
            "2027-01-01T10:00+01:00Z",
            "infinity",
            "2027-01-01T10:00:00.",
            "+2027-01-01",
            "２０２７-01-01",
            "10:00:00:00",
            "99999-01-01",
        ] {
            assert!(
                matches!(
                    hours(typed, "2027-01-01T10:00"),
                    Err(PeriodTextError::Unreadable(_))
                ),
                "{typed}"
            );
        }
        // A time alone starts nothing.
        assert!(matches!(
            hours("10:00", "11:00"),
            Err(PeriodTextError::Unreadable(_))
        ));
    }

    #[test]
    fn a_window_can_begin_and_end_with_a_date() {
        let calendar = london();
        assert_eq!(
            instant_for("2027-07-01", &calendar),
            Ok(utc("2027-06-30T23:00:00Z"))
        );
        assert_eq!(
            instant_for("2027-07-01T24:00", &calendar),
            Ok(utc("2027-07-01T23:00:00Z"))
        );
        assert_eq!(date_for("2027-07-01").unwrap().to_string(), "2027-07-01");
        assert!(date_for("2027-07-01T10:00").is_err());
    }

    proptest! {
        #[test]
        fn r5_what_the_house_writes_can_be_typed(seconds in 0_i64..4_000_000_000) {
            let instant = DateTime::from_timestamp(seconds, 0).unwrap();
            let calendar = london();
            prop_assert_eq!(instant_for(&calendar.rfc3339(instant), &calendar), Ok(instant));
        }

        #[test]
        fn no_text_panics(typed in "\\PC{0,30}", almost in "[0-9T:+. Zz-]{0,30}") {
            let _ = hours(&typed, &almost);
            let _ = nights(&almost, &typed);
            let _ = instant_for(&almost, &london());
        }
    }
}
