//! What the calendar promises, in zones that make it hard.
#![allow(clippy::unwrap_used)]

use chrono::Offset;
use proptest::prelude::*;

use super::*;

fn calendar(zone: &str) -> SiteCalendar {
    SiteCalendar::new(zone.parse().unwrap())
}

fn date(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn local(text: &str) -> NaiveDateTime {
    text.parse().unwrap()
}

fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn hours(zone: &str, day: &str) -> f64 {
    let length = calendar(zone).day(date(day)).unwrap().length();
    length.num_minutes() as f64 / 60.0
}

fn nights(check_in: &str, check_out: &str) -> NightTimes {
    NightTimes {
        check_in: check_in.parse().unwrap(),
        check_out: check_out.parse().unwrap(),
    }
}

#[test]
fn r5_a_day_has_as_many_hours_as_the_house_lives_through() {
    assert_eq!(hours("Europe/London", "2027-01-15"), 24.0);
    assert_eq!(hours("Europe/London", "2027-03-28"), 23.0);
    assert_eq!(hours("Europe/London", "2027-10-31"), 25.0);
    assert_eq!(hours("Australia/Lord_Howe", "2026-10-04"), 23.5);
    assert_eq!(hours("Australia/Lord_Howe", "2027-04-04"), 24.5);
}

#[test]
fn r5_a_day_that_does_not_begin_at_midnight_begins_at_its_first_instant() {
    for (zone, day, first) in [
        ("America/Sao_Paulo", "2018-11-04", "2018-11-04T01:00:00"),
        ("Africa/Cairo", "2024-04-26", "2024-04-26T01:00:00"),
        ("Asia/Beirut", "2024-03-31", "2024-03-31T01:00:00"),
    ] {
        let calendar = calendar(zone);
        let period = calendar.day(date(day)).unwrap();
        assert_eq!(
            calendar.local(period.start()).naive_local(),
            local(first),
            "{zone}"
        );
        assert_eq!(period.length(), TimeDelta::hours(23), "{zone}");
    }
}

#[test]
fn r5_a_day_whose_last_hour_is_repeated_has_it_twice() {
    assert_eq!(hours("Africa/Cairo", "2024-10-31"), 25.0);
    assert_eq!(hours("Asia/Beirut", "2024-10-26"), 25.0);
    assert_eq!(hours("America/Sao_Paulo", "2018-02-17"), 25.0);
    // In Havana it is the first hour: 01:00 becomes 00:00 on the same date.
    assert_eq!(hours("America/Havana", "2024-11-03"), 25.0);
}

#[test]
fn r5_a_skipped_date_is_no_day_and_its_neighbours_touch() {
    let apia = calendar("Pacific/Apia");
    assert_eq!(apia.day(date("2011-12-30")), None);
    let (before, after) = (
        apia.day(date("2011-12-29")).unwrap(),
        apia.day(date("2011-12-31")).unwrap(),
    );
    assert_eq!(before.end(), after.start());
    assert_eq!(apia.next_date(date("2011-12-29")), date("2011-12-31"));
    assert_eq!(apia.previous_date(date("2011-12-31")), date("2011-12-29"));
    assert_eq!(
        apia.instant(local("2011-12-30T12:00:00")),
        Err(LocalTimeError::Gap {
            at: utc("2011-12-30T10:00:00Z"),
            from: local("2011-12-30T00:00:00"),
            to: local("2011-12-31T00:00:00"),
        })
    );
}

#[test]
fn r5_a_spring_gap_is_named() {
    assert_eq!(
        calendar("Europe/London").instant(local("2027-03-28T01:30:00")),
        Err(LocalTimeError::Gap {
            at: utc("2027-03-28T01:00:00Z"),
            from: local("2027-03-28T01:00:00"),
            to: local("2027-03-28T02:00:00"),
        })
    );
    assert_eq!(
        calendar("Australia/Lord_Howe").instant(local("2026-10-04T02:00:00")),
        Err(LocalTimeError::Gap {
            at: utc("2026-10-03T15:30:00Z"),
            from: local("2026-10-04T02:00:00"),
            to: local("2026-10-04T02:30:00"),
        })
    );
}

#[test]
fn r5_both_halves_of_a_repeated_hour_are_told_apart() {
    let london = calendar("Europe/London");
    let Err(LocalTimeError::Ambiguous { earlier, later }) =
        london.instant(local("2027-10-31T01:30:00"))
    else {
        panic!("01:30 is shown twice");
    };
    assert_eq!(earlier.to_rfc3339(), "2027-10-31T01:30:00+01:00");
    assert_eq!(later.to_rfc3339(), "2027-10-31T01:30:00+00:00");
    assert_eq!(
        london.date_and_time(earlier.to_utc()),
        "Sun 31 Oct 2027 01:30 BST"
    );
    assert_eq!(
        london.date_and_time(later.to_utc()),
        "Sun 31 Oct 2027 01:30 GMT"
    );

    let day = london.day(date("2027-10-31")).unwrap();
    let labels: Vec<String> = london
        .ticks(day, TimeDelta::hours(1))
        .map(|tick| tick.label())
        .collect();
    assert_eq!(labels.len(), 25);
    assert_eq!(labels[..5], ["00:00", "01:00a", "01:00b", "02:00", "03:00"]);
}

#[test]
fn r6_midnight_is_the_end_of_the_day_before() {
    let london = calendar("Europe/London");
    let evening = Period::new(utc("2027-01-01T22:00:00Z"), utc("2027-01-02T00:00:00Z")).unwrap();
    assert_eq!(london.span(&evening), "22:00–24:00 on Fri 1 Jan 2027");
    let night = Period::new(utc("2027-01-01T22:00:00Z"), utc("2027-01-02T01:00:00Z")).unwrap();
    assert_eq!(
        london.span(&night),
        "from Fri 1 Jan 2027 22:00 to Sat 2 Jan 2027 01:00"
    );
}

#[test]
fn r7_a_stay_runs_from_check_in_to_check_out_in_dates() {
    let london = calendar("Europe/London");
    let stay = london
        .stay(
            date("2027-03-27"),
            date("2027-03-29"),
            nights("15:00", "11:00"),
        )
        .unwrap();
    assert_eq!(stay.start(), utc("2027-03-27T15:00:00Z"));
    assert_eq!(stay.end(), utc("2027-03-29T10:00:00Z"));
    assert_eq!(
        london.stay(
            date("2027-03-27"),
            date("2027-03-27"),
            nights("15:00", "11:00")
        ),
        None
    );
    assert_eq!(
        london.stay(
            date("2027-03-28"),
            date("2027-03-27"),
            nights("15:00", "11:00")
        ),
        None
    );
}

/// `SELECT timestamp '2027-03-28 01:30' AT TIME ZONE 'Europe/London'` gives 01:30Z, and of 2027-10-31 01:30 too.
#[test]
fn r7_a_skipped_or_repeated_check_in_is_chosen_as_postgresql_does() {
    let london = calendar("Europe/London");
    let skipped = london
        .stay(
            date("2027-03-28"),
            date("2027-03-29"),
            nights("01:30", "11:00"),
        )
        .unwrap();
    assert_eq!(skipped.start(), utc("2027-03-28T01:30:00Z"));
    let repeated = london
        .stay(
            date("2027-10-31"),
            date("2027-11-01"),
            nights("01:30", "11:00"),
        )
        .unwrap();
    assert_eq!(repeated.start(), utc("2027-10-31T01:30:00Z"));
}

#[test]
fn ticks_end_and_need_a_step() {
    let london = calendar("Europe/London");
    let day = london.day(date("2027-01-01")).unwrap();
    assert_eq!(london.ticks(day, TimeDelta::zero()).count(), 0);
    assert_eq!(london.ticks(day, TimeDelta::minutes(-5)).count(), 0);
    assert_eq!(london.ticks(day, TimeDelta::minutes(30)).count(), 48);
}

fn any_zone() -> impl Strategy<Value = SiteCalendar> {
    // Zones with awkward histories come up often, every other zone now and then.
    prop_oneof![
        proptest::sample::select(vec![
            Tz::Europe__London,
            Tz::Australia__Lord_Howe,
            Tz::America__Sao_Paulo,
            Tz::Africa__Cairo,
            Tz::Asia__Beirut,
            Tz::Pacific__Apia,
            Tz::America__St_Johns,
            Tz::Africa__Casablanca,
            Tz::Antarctica__Troll,
            Tz::Pacific__Kwajalein,
            Tz::America__Nuuk,
            Tz::UTC,
        ]),
        proptest::sample::select(chrono_tz::TZ_VARIANTS.to_vec()),
    ]
    .prop_map(SiteCalendar::new)
}

fn any_second() -> impl Strategy<Value = DateTime<Utc>> {
    // 1900 to 2100.
    (-2_208_988_800_i64..4_102_444_800)
        .prop_map(|seconds| DateTime::from_timestamp(seconds, 0).unwrap())
}

fn any_date() -> impl Strategy<Value = NaiveDate> {
    any_second().prop_map(|instant| instant.date_naive())
}

/// An instant within an hour and a half of a change of the clocks, if the zone has one in the year that follows.
fn near_a_change(calendar: SiteCalendar, from: DateTime<Utc>, minutes: i64) -> DateTime<Utc> {
    let offset = |at: DateTime<Utc>| calendar.local(at).offset().fix();
    (0..370)
        .map(|day| from + TimeDelta::days(day))
        .find(|at| offset(*at) != offset(*at + TimeDelta::days(1)))
        .map_or(from, |mut before| {
            let mut after = before + TimeDelta::days(1);
            while after - before > TimeDelta::seconds(1) {
                let middle = before + TimeDelta::seconds((after - before).num_seconds() / 2);
                if offset(middle) == offset(before) {
                    before = middle;
                } else {
                    after = middle;
                }
            }
            after
        })
        + TimeDelta::minutes(minutes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r5_every_instant_comes_back_from_what_the_clocks_show(
        calendar in any_zone(), from in any_second(), minutes in -90_i64..90,
    ) {
        for instant in [from, near_a_change(calendar, from, minutes)] {
            let written = calendar.rfc3339(instant);
            // Offsets with seconds (before standard time) can't be written in RFC 3339.
            if calendar.local(instant).offset().fix().local_minus_utc() % 60 == 0 {
                prop_assert_eq!(DateTime::parse_from_rfc3339(&written).unwrap().to_utc(), instant);
            }
            let local = calendar.local(instant).naive_local();
            match calendar.instant(local) {
                Ok(back) => prop_assert_eq!(back, instant),
                Err(LocalTimeError::Ambiguous { earlier, later }) => {
                    prop_assert!(earlier < later);
                    prop_assert_eq!(earlier.naive_local(), local);
                    prop_assert_eq!(later.naive_local(), local);
                    prop_assert!(earlier == instant || later == instant);
                    let second = calendar.tick(instant).showing == Showing::Second;
                    prop_assert_eq!(second, later == instant);
                }
                Err(LocalTimeError::Gap { .. }) => prop_assert!(false, "the clocks show {} at {}", local, instant),
            }
        }
    }

    #[test]
    fn r5_a_gap_is_named_by_the_jump_that_skips_it(
        calendar in any_zone(), from in any_second(), minutes in -90_i64..90,
    ) {
        let near = near_a_change(calendar, from, minutes);
        // What the clocks would show if they had not changed, and what if they had changed before.
        for offset in [near - TimeDelta::days(1), near + TimeDelta::days(1)] {
            let local = near.naive_utc() + calendar.local(offset).offset().fix();
            if let Err(LocalTimeError::Gap { at, from, to }) = calendar.instant(local) {
                prop_assert!(from <= local && local < to);
                prop_assert_eq!(calendar.local(at).naive_local(), to);
                prop_assert_eq!(
                    calendar.local(at - TimeDelta::seconds(1)).naive_local() + TimeDelta::seconds(1),
                    from
                );
            }
        }
    }

    #[test]
    fn r5_days_tile_time(calendar in any_zone(), start in any_date()) {
        let mut date = start;
        let mut reached = calendar.first_instant(start);
        for _ in 0..10 {
            if let Some(day) = calendar.day(date) {
                prop_assert_eq!(day.start(), reached, "{} in {}", date, calendar.zone());
                prop_assert!(day.length() >= TimeDelta::hours(19), "{} in {}", date, calendar.zone());
                prop_assert!(day.length() <= TimeDelta::hours(50), "{} in {}", date, calendar.zone());
                reached = day.end();
            }
            date = date.succ_opt().unwrap();
        }
        prop_assert_eq!(calendar.first_instant(date), reached);
    }

    #[test]
    fn r5_before_the_day_begins_the_house_writes_an_earlier_date(calendar in any_zone(), date in any_date()) {
        if let Some(day) = calendar.day(date) {
            prop_assert_eq!(calendar.date(day.start()), date);
            prop_assert!(calendar.date(day.start() - TimeDelta::seconds(1)) < date);
        }
    }

    #[test]
    fn r7_nights_are_dates_and_neighbours_never_overlap(
        calendar in any_zone(), arrival in any_date(), first in 1_u64..30, second in 1_u64..30,
    ) {
        let times = nights("15:00", "11:00");
        let changeover = arrival + Days::new(first);
        let departure = changeover + Days::new(second);
        // Where a date is skipped, a stay can vanish; both are there anywhere else.
        if let (Some(stay), Some(next)) = (
            calendar.stay(arrival, changeover, times),
            calendar.stay(changeover, departure, times),
        ) {
            prop_assert!(!stay.overlaps(&next));
        }
    }

    #[test]
    fn nothing_panics_at_the_ends_of_time(calendar in any_zone(), days in 0_u64..20) {
        let times = nights("15:00", "11:00");
        for date in [NaiveDate::MIN + Days::new(days), NaiveDate::MAX - Days::new(days)] {
            let _ = calendar.day(date);
            let _ = calendar.stay(date, date.succ_opt().unwrap_or(date), times);
            let _ = calendar.instant(date.and_time(NaiveTime::MIN));
            let _ = (calendar.next_date(date), calendar.previous_date(date));
        }
        for instant in [DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC] {
            let _ = (calendar.date(instant), calendar.clock_time(instant), calendar.date_and_time(instant));
            let _ = (calendar.rfc3339(instant), calendar.tick(instant));
        }
    }
}
