//! Expiry in a crowd (R11): no command and no turn of the sweep writes more than a thousand at once.

use serde_json::Value;

use crate::support::TestHouse;
use crate::{ask, at, run, value};

/// More than two thousands of holds that are due, of one item and of one room.
const CROWD: i64 = 2_500;

/// A house in which so many holds of the breakfast and of the blue room have come due, the oldest first by number.
async fn crowded() -> TestHouse {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let (site, item, room, from) = (test.site(), test.breakfast, test.blue, at(0));
    for statement in [
        format!("SELECT receive_stock({site}, gen_random_uuid(), 'anna', {item}, {CROWD} - 10, 'delivery')"),
        // It depends on n, or it would be called once for all.
        format!(
            "SELECT hold_stock({site}, gen_random_uuid(), 'anna', {item} + 0 * n, 1, '1 hour')
             FROM generate_series(1, {CROWD}) AS n"
        ),
        format!(
            "SELECT hold_slot({site}, gen_random_uuid(), 'anna', {room}, {from} + n * interval '2 minutes',
                 {from} + n * interval '2 minutes' + interval '1 minute', '1 hour')
             FROM generate_series(1, {CROWD}) AS n"
        ),
    ] {
        run(&mut desk, &statement).await;
    }
    for table in ["stock_hold", "slot_hold"] {
        run(
            &mut desk,
            &format!(
                "ALTER TABLE {table} DISABLE TRIGGER USER;
                 UPDATE {table} SET expires_at = now() - interval '1 hour' + hold_id * interval '1 millisecond';
                 ALTER TABLE {table} ENABLE TRIGGER USER"
            ),
        )
        .await;
    }
    test
}

#[tokio::test]
async fn r11_a_thousand_at_a_time_and_the_oldest_first() {
    let test = crowded().await;
    let mut desk = test.database.connect().await;
    let (site, item, room) = (test.site(), test.breakfast, test.blue);
    let expired = |table: &str| format!("SELECT count(*) FROM {table} WHERE state = 'expired'");

    // A command whose own answer depends on none of them writes over the oldest thousand, and is done.
    let answer = ask(
        &mut desk,
        &format!(
            "hold_slot({site}, gen_random_uuid(), 'anna', {room}, {}, {})",
            at(200),
            at(201)
        ),
    )
    .await;
    assert_eq!(answer["refusal"], Value::Null);
    assert_eq!(value::<i64>(&mut desk, &expired("slot_hold")).await, 1000);
    let oldest: bool = value(
        &mut desk,
        "SELECT max(expires_at) FILTER (WHERE state = 'expired') < min(expires_at) FILTER (WHERE state = 'held')
         FROM slot_hold WHERE expires_at < now()",
    )
    .await;
    assert!(oldest);
    // One in the way that is due and not among them is written too, and it alone.
    let last: i64 = value(
        &mut desk,
        "SELECT max(hold_id) FROM slot_hold WHERE state = 'held' AND expires_at < now()",
    )
    .await;
    let answer = ask(
        &mut desk,
        &format!(
            "hold_slot({site}, gen_random_uuid(), 'anna', {room},
                 (SELECT lower(period) FROM slot_hold WHERE hold_id = {last}),
                 (SELECT upper(period) FROM slot_hold WHERE hold_id = {last}))"
        ),
    )
    .await;
    assert_eq!(answer["refusal"], Value::Null);
    assert_eq!(value::<i64>(&mut desk, &expired("slot_hold")).await, 2001);
    // So is the claim that a command is about.
    let mine: i64 = value(
        &mut desk,
        "SELECT max(hold_id) FROM slot_hold WHERE state = 'held' AND expires_at < now()",
    )
    .await;
    let answer = ask(
        &mut desk,
        &format!("confirm_slot({site}, gen_random_uuid(), 'anna', {mine})"),
    )
    .await;
    assert_eq!(answer["refusal"], "hold_expired");
    assert_eq!(value::<i64>(&mut desk, &expired("slot_hold")).await, 2002);

    // Stock: every unit is held by somebody whose time is over; one is wanted, and a thousand come back.
    let answer = ask(
        &mut desk,
        &format!("hold_stock({site}, gen_random_uuid(), 'anna', {item}, 1)"),
    )
    .await;
    assert_eq!(answer["refusal"], Value::Null);
    assert_eq!(value::<i64>(&mut desk, &expired("stock_hold")).await, 1000);
    // Two thousand are wanted: the command goes on as long as its answer depends on it.
    let answer = ask(
        &mut desk,
        &format!("hold_stock({site}, gen_random_uuid(), 'anna', {item}, 1999)"),
    )
    .await;
    assert_eq!(answer["refusal"], Value::Null);
    assert_eq!(value::<i64>(&mut desk, &expired("stock_hold")).await, 2000);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r11_the_sweep_commits_after_each_thousand() {
    let test = crowded().await;
    let mut desk = test.database.connect().await;
    let turn = format!("SELECT sweep_turn({}, 'sweep')", test.site());
    let mut turns = Vec::new();
    loop {
        match value::<i32>(&mut desk, &turn).await {
            0 => break,
            expired => turns.push(expired),
        }
    }
    assert_eq!(turns, [1000, 1000, 500, 1000, 1000, 500]);
    test.assert_all_is_well().await;
}
