//! Groups where their lines meet each other or nothing (R20).

use serde_json::{Value, json};

use crate::support::TestHouse;
use crate::{ask, at, run, value};

fn hold_group_call(test: &TestHouse, rooms: &str, stock: &str) -> String {
    let site = test.site();
    format!("hold_group({site}, gen_random_uuid(), 'anna', {rooms}, {stock})")
}

fn lines(room: i64, periods: [(i64, i64); 2]) -> String {
    let lines = periods.map(|(from, to)| {
        let (from, to) = (at(from), at(to));
        format!("jsonb_build_object('room', {room}, 'from', {from}, 'to', {to})")
    });
    format!("jsonb_build_array({})", lines.join(", "))
}

#[tokio::test]
async fn r20_lines_of_one_group_that_are_in_each_others_way_are_told_so() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    // The studio wants a quarter of an hour between two bookings (R4).
    for (room, periods) in [
        (test.blue, [(0, 2), (1, 3)]),
        (test.blue, [(1, 3), (0, 2)]),
        (test.studio, [(0, 2), (2, 3)]),
    ] {
        let call = hold_group_call(&test, &lines(room.0, periods), "'[]'");
        let answer = ask(&mut desk, &call).await;
        assert_eq!(answer["refusal"], "period_invalid", "{answer}");
        let line = json!({"kind": "room", "number": 2});
        let details = json!({"problem": "own_lines_overlap", "line": line});
        assert_eq!(answer["details"], details);
    }
    // Back to back is fine (R3).
    let call = hold_group_call(&test, &lines(test.blue.0, [(2, 3), (0, 2)]), "'[]'");
    assert_eq!(ask(&mut desk, &call).await["refusal"], Value::Null);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r20_a_group_of_nothing_is_refused_however_it_is_written() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    for nothing in ["NULL", "'null'", "'[]'"] {
        let answer = ask(&mut desk, &hold_group_call(&test, nothing, nothing)).await;
        assert_eq!(answer["refusal"], "quantity_invalid", "{nothing}");
    }
    let groups: i64 = value(&mut desk, "SELECT count(*) FROM claim_group").await;
    assert_eq!(groups, 0);
}

#[tokio::test]
async fn r28_an_exchange_brings_nothing_new_into_a_retired_room() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let site = test.site();
    let mut holds = Vec::new();
    for (room, from) in [(test.blue, 0), (test.blue, 3), (test.garden, 0)] {
        holds.push(
            test.hold(room, crate::support::hours(from, from + 2), None)
                .await
                .id
                .0,
        );
    }
    let [first, second, elsewhere] = holds[..] else {
        unreachable!()
    };
    let blue = test.blue.0;
    run(
        &mut desk,
        &format!("SELECT retire_room({site}, gen_random_uuid(), 'anna', {blue})"),
    )
    .await;
    let swap = |one: i64, other: i64| {
        format!("swap_slots({site}, gen_random_uuid(), 'anna', {one}, {other})")
    };
    for (one, other) in [(first, elsewhere), (elsewhere, first)] {
        let answer = ask(&mut desk, &swap(one, other)).await;
        assert_eq!(answer["refusal"], "retired", "{answer}");
        assert_eq!(answer["details"]["name"], "Blue room");
    }
    // Those that it has may change places.
    assert_eq!(
        ask(&mut desk, &swap(first, second)).await["refusal"],
        Value::Null
    );
    test.assert_all_is_well().await;
}
