//! Two claims exchange places (R14) under a constraint that the index itself holds (R1).

use serde_json::Value;

use crate::support::{TestHouse, hours};
use crate::{ask, at, guard, run, try_run, value};

#[tokio::test]
async fn r1_bulk_loads_replicas_and_subscribers_are_held_to_it_too() {
    let test = TestHouse::new().await;
    test.hold(test.blue, hours(0, 2), None).await;
    // Nobody else may switch the system's own triggers off.
    let mut stray = test.database.connect_as_superuser().await;
    let insert = format!(
        "INSERT INTO slot_hold (site_id, room_id, period, expires_at)
         VALUES ({}, {}, tstzrange({}, {}), now() + interval '1 hour')",
        test.site(),
        test.blue,
        at(1),
        at(3)
    );
    for switched_off in [
        "ALTER TABLE slot_hold DISABLE TRIGGER ALL",
        "ALTER TABLE slot_hold DISABLE TRIGGER ALL; ALTER TABLE slot_hold ENABLE TRIGGER USER",
        "SET LOCAL session_replication_role = replica",
        "SET CONSTRAINTS ALL DEFERRED",
    ] {
        run(&mut stray, "BEGIN").await;
        run(&mut stray, switched_off).await;
        let outcome = try_run(&mut stray, &insert).await;
        assert_eq!(guard(outcome), "slot_hold_no_overlap", "{switched_off}");
        run(&mut stray, "ROLLBACK").await;
    }
}

#[tokio::test]
async fn r14_an_exchange_is_one_version_and_one_event_for_each() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let site = test.site();
    // Within a room and between two, held and confirmed, with turnarounds that differ.
    for (first_room, second_room) in [(test.blue, test.blue), (test.garden, test.studio)] {
        let first = test.hold(first_room, hours(0, 1), None).await;
        let second = test.hold(second_room, hours(4, 5), None).await;
        ask(
            &mut desk,
            &format!(
                "confirm_slot({site}, gen_random_uuid(), 'anna', {})",
                second.id
            ),
        )
        .await;
        let answer = ask(
            &mut desk,
            &format!(
                "swap_slots({site}, gen_random_uuid(), 'anna', {}, {})",
                first.id, second.id
            ),
        )
        .await;
        assert_eq!(answer["refusal"], Value::Null);
        assert_eq!(answer["version"], 2);
        let first_now = test.house.slot_hold(first.id).await.unwrap().unwrap();
        let second_now = test.house.slot_hold(second.id).await.unwrap().unwrap();
        assert_eq!(
            (first_now.room, first_now.period),
            (second.room, second.period)
        );
        assert_eq!(
            (second_now.room, second_now.period),
            (first.room, first.period)
        );
        assert_eq!((first_now.version.0, second_now.version.0), (2, 3));
        let events: Vec<i64> = value(
            &mut desk,
            &format!(
                "SELECT array_agg(version ORDER BY slot_hold_id, version) FROM hold_event
                 WHERE slot_hold_id IN ({}, {})",
                first.id, second.id
            ),
        )
        .await;
        assert_eq!(events, [1, 2, 1, 2, 3]);
        test.assert_all_is_well().await;
    }
}

#[tokio::test]
async fn r14_nothing_is_committed_between_two_places() {
    let test = TestHouse::new().await;
    let mut stray = test.database.connect().await;
    let hold = test.hold(test.blue, hours(0, 2), None).await.id;
    let aside = "tstzrange('9000-01-01 00:00+00', '9000-01-01 00:01+00')";
    let go = format!("UPDATE slot_hold SET period = {aside} WHERE hold_id = {hold}");
    // By itself, and in a transaction with other things, whatever becomes of the claim besides.
    let outcome = try_run(&mut stray, &go).await;
    assert_eq!(guard(outcome), "slot_hold_between_places");
    run(&mut stray, "BEGIN").await;
    run(&mut stray, &go).await;
    let cancel = format!("UPDATE slot_hold SET state = 'cancelled' WHERE hold_id = {hold}");
    let outcome = try_run(&mut stray, &cancel).await;
    assert_eq!(guard(outcome), "slot_hold_between_places");
    run(&mut stray, "ROLLBACK").await;
    run(&mut stray, "BEGIN").await;
    run(&mut stray, &go).await;
    let outcome = try_run(&mut stray, "COMMIT").await;
    assert_eq!(guard(outcome), "slot_hold_between_places");
    // A claim does not begin there either.
    let insert = format!(
        "INSERT INTO slot_hold (site_id, room_id, period, expires_at)
         VALUES ({}, {}, {aside}, now() + interval '1 hour')",
        test.site(),
        test.blue
    );
    let outcome = try_run(&mut stray, &insert).await;
    assert_eq!(guard(outcome), "slot_hold_between_places");
    // What steps aside takes nothing else with it: no state, no room, no name.
    for change in ["state = 'confirmed'", "guest = 'Somebody'", "renewals = 7"] {
        let sneak =
            format!("UPDATE slot_hold SET period = {aside}, {change} WHERE hold_id = {hold}");
        let outcome = try_run(&mut stray, &sneak).await;
        assert_eq!(guard(outcome), "slot_hold_between_places", "{change}");
    }
    let version: i64 = value(
        &mut stray,
        &format!("SELECT version FROM slot_hold WHERE hold_id = {hold}"),
    )
    .await;
    assert_eq!(version, 1);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r8_however_long_the_horizon_is_it_ends_before_the_minute_of_exchanges() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    run(
        &mut desk,
        "UPDATE site SET horizon = interval '100000000 hours'",
    )
    .await;
    let answer = ask(
        &mut desk,
        &format!(
            "hold_slot({}, gen_random_uuid(), 'anna', {}, '9000-01-01 00:00+00', '9000-01-01 00:01+00')",
            test.site(),
            test.blue
        ),
    )
    .await;
    assert_eq!(answer["refusal"], "beyond_horizon");
}
