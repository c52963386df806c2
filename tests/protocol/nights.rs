//! Rooms booked by the night (R7).

use crate::run;
use crate::support::{TestHouse, hold_slot, hour, refusal};
use chrono::{Days, NaiveDate, NaiveTime, TimeDelta};
use keyrack::domain::{Command, NightTimes, Period, Refusal, SlotHold, Success};

/// A date safely ahead, and so many days later.
fn date(days: u64) -> NaiveDate {
    hour(0).date_naive() + Days::new(30 + days)
}

fn nights(test: &TestHouse, arrival: u64, departure: u64) -> Period {
    test.house
        .site()
        .calendar
        .stay(date(arrival), date(departure), NightTimes::default())
        .unwrap()
}

async fn stay(test: &TestHouse, arrival: u64, departure: u64) -> Result<SlotHold, Refusal> {
    match test
        .ask(hold_slot(test.loft, nights(test, arrival, departure), None))
        .await
        .outcome
    {
        Ok(Success::Slot(hold)) => Ok(hold),
        Ok(other) => panic!("{other:?}"),
        Err(refused) => Err(refused.refusal),
    }
}

#[tokio::test]
async fn r7_a_guest_may_leave_on_the_morning_that_another_arrives() {
    let test = TestHouse::new().await;
    let middle = stay(&test, 2, 5).await.unwrap();
    assert_eq!(middle.nights, Some(3));
    assert_eq!(stay(&test, 5, 6).await.unwrap().nights, Some(1));
    assert_eq!(stay(&test, 0, 2).await.unwrap().nights, Some(2));
    for (arrival, departure) in [(1, 3), (4, 5), (0, 9), (3, 4), (2, 5)] {
        assert_eq!(
            stay(&test, arrival, departure).await.unwrap_err().code(),
            "slot_taken"
        );
    }
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r7_hours_are_refused_and_the_house_may_block_hours() {
    let test = TestHouse::new().await;
    let stay = nights(&test, 0, 1);
    let later = |start: i64, end: i64| {
        Period::new(
            stay.start() + TimeDelta::minutes(start),
            stay.end() + TimeDelta::minutes(end),
        )
        .unwrap()
    };
    for (start, end) in [(1, 0), (0, 1), (-60, 0), (0, 24 * 60 + 60)] {
        let refused = refusal(
            test.ask(hold_slot(test.loft, later(start, end), None))
                .await,
        );
        assert!(
            matches!(&refused, Refusal::PeriodInvalid { problem, .. } if format!("{problem:?}") == "NotNights"),
            "{refused:?}"
        );
    }
    // Within one day there is no night.
    let day = Period::new(stay.start(), stay.start() + TimeDelta::hours(3)).unwrap();
    let refused = refusal(test.ask(hold_slot(test.loft, day, None)).await);
    assert!(
        matches!(&refused, Refusal::PeriodInvalid { problem, .. } if format!("{problem:?}") == "NoNights")
    );
    let block = Command::BlockSlot {
        room: test.loft,
        period: day,
        reason: "paint".into(),
    };
    assert!(test.ask(block).await.outcome.is_ok());
}

#[tokio::test]
async fn r7_nights_are_counted_in_dates_when_the_clocks_change() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    // Spring and autumn of the year after next, in both hemispheres and where a day does not begin at 00:00.
    run(&mut desk, "UPDATE site SET horizon = '40000 hours'").await;
    let year: i32 = hour(0)
        .date_naive()
        .format("%Y")
        .to_string()
        .parse::<i32>()
        .unwrap()
        + 2;
    for zone in [
        "Europe/London",
        "Australia/Lord_Howe",
        "America/Santiago",
        "Africa/Cairo",
        "America/New_York",
    ] {
        run(&mut desk, &format!("UPDATE site SET time_zone = '{zone}'")).await;
        let site = test.store.site(None).await.unwrap();
        for (check_in, check_out) in [("15:00", "11:00"), ("00:30", "02:30")] {
            run(
                &mut desk,
                &format!("UPDATE room SET check_in = '{check_in}', check_out = '{check_out}' WHERE room_id = {}", test.loft),
            )
            .await;
            let times = NightTimes {
                check_in: check_in.parse::<NaiveTime>().unwrap(),
                check_out: check_out.parse::<NaiveTime>().unwrap(),
            };
            let first = NaiveDate::from_ymd_opt(year, 1, 1).unwrap();
            let stays: Vec<Period> = (0..365)
                .map(|day| first + Days::new(day))
                .map(|arrival| {
                    site.calendar
                        .stay(arrival, arrival + Days::new(2), times)
                        .unwrap()
                })
                .collect();
            let refused: Vec<String> = sqlx::query_scalar(
                "SELECT arrival || ' ' || (problem ->> 'refusal')
                 FROM (
                     SELECT arrival, period_problem(site, room, arrival, departure, clock_timestamp(), 'guest') AS problem
                     FROM site, room, unnest($1::timestamptz[], $2::timestamptz[]) AS stay (arrival, departure)
                     WHERE room.booked_by = 'night'
                 ) AS judged
                 WHERE problem IS NOT NULL",
            )
            .bind(stays.iter().map(Period::start).collect::<Vec<_>>())
            .bind(stays.iter().map(Period::end).collect::<Vec<_>>())
            .fetch_all(&mut desk)
            .await
            .unwrap();
            assert_eq!(refused, [""; 0], "{zone} {check_in}");
        }
    }
}
