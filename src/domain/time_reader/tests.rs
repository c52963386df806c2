//! Times as people type them: every form, and what is refused.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;
use crate::domain::examples;

fn room(booked_by: BookedBy) -> Room {
    Room {
        booked_by,
        ..examples::room()
    }
}

fn london() -> SiteCalendar {
    SiteCalendar::new(chrono_tz::Europe::London)
}

fn hours(from: &str, to: &str) -> Result<Period, TimeTextError> {
    TimeReader::without_clock(&london()).period(&room(BookedBy::Hour), from, to)
}

fn nights(from: &str, to: &str) -> Result<Period, TimeTextError> {
    TimeReader::without_clock(&london()).period(&room(BookedBy::Night), from, to)
}

fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn period(from: &str, to: &str) -> Period {
    Period::new(utc(from), utc(to)).unwrap()
}

fn problem(result: Result<Period, TimeTextError>) -> PeriodProblem {
    match result {
        Err(TimeTextError::Refused(Refusal::PeriodInvalid { problem, .. })) => problem,
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
    let Err(TimeTextError::Unreadable(sentence)) = hours("2027-01-01T24:00", "2027-01-02T02:00")
    else {
        panic!("24:00 starts nothing");
    };
    assert!(sentence.contains("2027-01-02T00:00"), "{sentence}");
}

#[test]
fn r6_twenty_four_hundred_is_there_where_the_next_day_does_not_begin_at_midnight() {
    let calendar = SiteCalendar::new(chrono_tz::Africa::Cairo);
    let evening = TimeReader::without_clock(&calendar).period(
        &room(BookedBy::Hour),
        "2024-04-25T22:00",
        "2024-04-25T24:00",
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
        Err(TimeTextError::Refused(Refusal::LocalTimeDoesNotExist {
            typed: "2027-03-28T01:30".into(),
            gap_at: utc("2027-03-28T01:00:00Z"),
            gap_from: "2027-03-28T01:00".into(),
            gap_to: "2027-03-28T02:00".into(),
        }))
    );
}

#[test]
fn r5_a_repeated_time_is_refused_with_both_instants_and_each_can_be_booked() {
    let Err(TimeTextError::Refused(Refusal::LocalTimeIsAmbiguous { choices, .. })) =
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
                Err(TimeTextError::Unreadable(_))
            ),
            "{typed}"
        );
    }
    // A time alone starts nothing.
    assert!(matches!(
        hours("10:00", "11:00"),
        Err(TimeTextError::Unreadable(_))
    ));
}

#[test]
fn a_window_can_begin_and_end_with_a_date() {
    let calendar = london();
    let reader = TimeReader::without_clock(&calendar);
    assert_eq!(
        reader.instant("2027-07-01"),
        Ok(utc("2027-06-30T23:00:00Z"))
    );
    assert_eq!(
        reader.instant("2027-07-01T24:00"),
        Ok(utc("2027-07-01T23:00:00Z"))
    );
    assert_eq!(
        reader.window_end("2027-07-01"),
        Ok(utc("2027-07-01T23:00:00Z"))
    );
    assert_eq!(reader.date("2027-07-01").unwrap().to_string(), "2027-07-01");
    assert!(reader.date("2027-07-01T10:00").is_err());
}

/// A Thursday in summer: 10:24 on the house's clocks.
const NOW: &str = "2027-07-01T09:24:07Z";

#[test]
fn r5_words_count_from_now_on_the_sites_clocks() {
    let calendar = london();
    let reader = TimeReader::at(&calendar, utc(NOW));
    for (typed, meant) in [
        ("now", "2027-07-01T09:24:00Z"),
        ("NOW", "2027-07-01T09:24:00Z"),
        (" tonight ", "2027-07-01T17:00:00Z"),
        ("tonight 19:30", "2027-07-01T18:30:00Z"),
        ("tomorrow 10:00", "2027-07-02T09:00:00Z"),
        ("TomorrowT10:00", "2027-07-02T09:00:00Z"),
        ("yesterday 9:05", "2027-06-30T08:05:00Z"),
        ("today 24:00", "2027-07-01T23:00:00Z"),
        ("thu 15:00", "2027-07-08T14:00:00Z"),
        ("Friday 15:00:30", "2027-07-02T14:00:30Z"),
        ("3 dec 10:00", "2027-12-03T10:00:00Z"),
        ("dec 24 2028  10:00", "2028-12-24T10:00:00Z"),
        ("3.12. 10:00", "2027-12-03T10:00:00Z"),
        ("3.12.T10:00", "2027-12-03T10:00:00Z"),
        ("+7 9:30", "2027-07-08T08:30:00Z"),
        ("-1T9:30", "2027-06-30T08:30:00Z"),
        ("tomorrow 10:00+02:00", "2027-07-02T08:00:00Z"),
        // Of a date, its first instant.
        ("tomorrow", "2027-07-01T23:00:00Z"),
    ] {
        assert_eq!(reader.instant(typed), Ok(utc(meant)), "{typed}");
    }
    for typed in [
        "soon 10:00",
        "tomorrow 10",
        "tomorrow10:00",
        "31.2. 10:00",
        "thu T",
    ] {
        assert!(
            matches!(reader.instant(typed), Err(TimeTextError::Unreadable(_))),
            "{typed}"
        );
    }
}

#[test]
fn r7_where_a_date_is_wanted_now_and_tonight_are_today() {
    let calendar = london();
    // After midnight in the house, before it in UTC.
    let reader = TimeReader::at(&calendar, utc("2027-06-30T23:30:00Z"));
    for (typed, meant) in [
        ("now", "2027-07-01"),
        ("tonight", "2027-07-01"),
        ("today", "2027-07-01"),
        ("thu", "2027-07-08"),
        ("+7", "2027-07-08"),
        ("3 Dec", "2027-12-03"),
    ] {
        assert_eq!(reader.date(typed).unwrap().to_string(), meant, "{typed}");
        let stay = reader.period(&room(BookedBy::Night), typed, "24 dec");
        assert_eq!(
            calendar.date(stay.unwrap().start()).to_string(),
            meant,
            "{typed}"
        );
    }
    for typed in ["now", "tonight", "tonight 19:00"] {
        assert!(reader.period(&room(BookedBy::Hour), typed, "24:00").is_ok());
    }
    let bare = reader.period(&room(BookedBy::Hour), "tomorrow", "tomorrow 10:00");
    assert_eq!(problem(bare), PeriodProblem::NotHours);
    let timed = reader.period(&room(BookedBy::Night), "tomorrow 10:00", "+3");
    assert_eq!(problem(timed), PeriodProblem::NotNights);
}

#[test]
fn r5_gaps_and_repeated_hours_are_refused_in_words_too() {
    let calendar = london();
    let reader = TimeReader::at(&calendar, utc("2027-03-27T12:00:00Z"));
    let gap = reader.instant("tomorrow 01:30");
    assert!(matches!(
        gap,
        Err(TimeTextError::Refused(Refusal::LocalTimeDoesNotExist { typed, .. })) if typed == "tomorrow 01:30"
    ));
    let twice = reader.instant("31 oct 01:30");
    assert!(matches!(
        twice,
        Err(TimeTextError::Refused(Refusal::LocalTimeIsAmbiguous { .. }))
    ));
}

#[test]
fn only_words_need_the_clock() {
    let calendar = london();
    let reader = TimeReader::without_clock(&calendar);
    for typed in [
        "now",
        "tonight",
        "tomorrow 10:00",
        "thu",
        "+7",
        "3 dec",
        "3.12. 10:00",
    ] {
        assert_eq!(
            reader.instant(typed),
            Err(TimeTextError::NeedsNow),
            "{typed}"
        );
    }
    for typed in [
        "2027-07-01",
        "1 jul 2027",
        "1.7.2027 10:00",
        "2027-07-01T10:00Z",
    ] {
        assert!(reader.instant(typed).is_ok(), "{typed}");
    }
    assert_eq!(reader.date("thu"), Err(TimeTextError::NeedsNow));
}

proptest! {
    #[test]
    fn r5_what_the_house_writes_can_be_typed(seconds in 0_i64..4_000_000_000) {
        let instant = DateTime::from_timestamp(seconds, 0).unwrap();
        let calendar = london();
        let reader = TimeReader::without_clock(&calendar);
        prop_assert_eq!(reader.instant(&calendar.rfc3339(instant)), Ok(instant));
    }

    /// However a date is written, before whatever time, it is read as the same instant as its ISO form.
    #[test]
    fn r5_a_date_in_words_is_the_date_in_figures(
        now in 0_i64..4_000_000_000,
        ahead in 0_u64..365,
        minutes in 0_u32..1440,
    ) {
        let calendar = london();
        let now = DateTime::from_timestamp(now, 0).unwrap();
        let reader = TimeReader::at(&calendar, now);
        let date = calendar.date(now) + chrono::Days::new(ahead);
        let clock = format!("{}:{:02}", minutes / 60, minutes % 60);
        let iso = reader.instant(&format!("{date}T{clock}"));
        for written in [
            format!("+{ahead}"),
            date.format("%-d %b").to_string(),
            date.format("%b %-d").to_string(),
            date.format("%-d.%-m.").to_string(),
            date.format("%d %B %Y").to_string().to_uppercase(),
        ] {
            prop_assert_eq!(reader.date(&written), Ok(date), "{}", written);
            match (reader.instant(&format!("{written} {clock}")), &iso) {
                // Each quotes what was typed.
                (Err(TimeTextError::Refused(one)), Err(TimeTextError::Refused(other))) => {
                    prop_assert_eq!(one.code(), other.code());
                }
                (read, iso) => prop_assert_eq!(&read, iso, "{} {}", written, clock),
            }
        }
        if (1..=7).contains(&ahead) {
            prop_assert_eq!(reader.date(&date.format("%a").to_string()), Ok(date));
        }
    }

    #[test]
    fn no_text_panics(
        typed in "\\PC{0,30}",
        almost in "[0-9T:+. Zz-]{0,30}",
        words in "(now|tonight|tomorrow|thu|dec|[0-9]{1,20}|[ .:T+-]){0,6}",
        now in -9_000_000_000_000_i64..9_000_000_000_000,
    ) {
        let _ = hours(&typed, &almost);
        let _ = nights(&almost, &typed);
        let calendar = london();
        let now = DateTime::from_timestamp(now, 0).unwrap_or_default();
        let reader = TimeReader::at(&calendar, now);
        for text in [&typed, &almost, &words] {
            let _ = reader.instant(text);
            let _ = reader.window_end(text);
            let _ = reader.date(text);
        }
    }
}
