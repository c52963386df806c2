//! Groups where their lines meet each other or nothing (R20).

use serde_json::{Value, json};

use crate::support::TestHouse;
use crate::{ask, at, value};

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
