//! What the list says about midnight and days of other lengths.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::cli::fixtures::{site, slot_hold, utc};
use crate::domain::{ClaimState, RoomId, SlotHoldId, examples};

fn date(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn room(id: i64, name: &str) -> Room {
    Room {
        id: RoomId(id),
        name: name.into(),
        ..examples::room()
    }
}

fn claim(id: i64, from: &str, to: &str) -> SlotHold {
    SlotHold {
        id: SlotHoldId(id),
        period: Period::new(utc(from), utc(to)).unwrap(),
        occupied_until: utc(to),
        state: ClaimState::Confirmed,
        expires_at: None,
        ..slot_hold()
    }
}

fn listed(claims: Vec<SlotHold>, day: &str, week: bool) -> Output {
    let calendar = SiteCalendar::new(chrono_tz::Europe::London);
    let days = days(&calendar, date(day), week);
    let snapshot = Snapshot {
        site: site(),
        window: Period::new(days[0].1.start(), days.last().unwrap().1.end()).unwrap(),
        rooms: vec![room(1, "Blue room"), room(2, "Attic")],
        claims,
        items: vec![],
        stock_claims: vec![],
        events: vec![],
        read_at: utc("2027-01-01T10:24:00Z"),
    };
    show(&snapshot, &days)
}

#[test]
fn r6_a_claim_over_midnight_is_on_every_day_that_it_touches() {
    let claims = vec![claim(7, "2027-01-01T22:00:00Z", "2027-01-02T02:00:00Z")];
    let first = listed(claims.clone(), "2027-01-01", false);
    assert!(
        first.text.contains("22:00–Sat 2 Jan 02:00"),
        "{}",
        first.text
    );
    let second = listed(claims.clone(), "2027-01-02", false);
    assert!(
        second.text.contains("Fri 1 Jan 22:00–02:00"),
        "{}",
        second.text
    );
    let third = listed(claims, "2027-01-03", false);
    assert!(!third.text.contains("Müller"), "{}", third.text);
}

#[test]
fn r6_a_claim_until_midnight_is_on_one_day() {
    let claims = vec![claim(7, "2027-01-01T22:00:00Z", "2027-01-02T00:00:00Z")];
    assert!(
        listed(claims.clone(), "2027-01-01", false)
            .text
            .contains("22:00–24:00")
    );
    assert!(!listed(claims, "2027-01-02", false).text.contains("Müller"));
}

#[test]
fn r5_a_day_of_another_length_says_so_and_its_repeated_hour_is_told_apart() {
    let claims = vec![
        claim(7, "2027-10-31T00:30:00Z", "2027-10-31T01:00:00Z"),
        claim(8, "2027-10-31T01:30:00Z", "2027-10-31T02:00:00Z"),
    ];
    let output = listed(claims, "2027-10-31", false);
    assert!(
        output
            .text
            .contains("Sunday 31 October 2027 (1 day 1 hour long: the clocks change)")
    );
    assert!(output.text.contains("01:30a–01:00b"), "{}", output.text);
    assert!(output.text.contains("01:30b–02:00"), "{}", output.text);
}

#[test]
fn a_week_runs_from_monday_to_sunday() {
    let output = listed(vec![], "2027-01-01", true);
    let json: serde_json::Value = serde_json::from_str(&output.json).unwrap();
    let days = json["days"].as_array().unwrap();
    assert_eq!(days.len(), 7);
    assert_eq!(days[0]["date"], "2026-12-28");
    assert_eq!(days[6]["to"], "2027-01-04T00:00:00+00:00");
    assert_eq!(days[0]["rooms"][1]["room"], "Attic");
    assert_eq!(days[0]["rooms"][1]["claims"], serde_json::json!([]));
}
