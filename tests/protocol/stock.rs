//! Stock: whole quantities or nothing, given back once, and figures that always add up.

use chrono::TimeDelta;
use serde_json::Value;
use sqlx::postgres::PgConnection;

use crate::support::TestHouse;
use crate::{
    BRIEF, Sent, ask, call_on, guard, hold_stock_call, open_transaction, run, state, try_run,
    until_due, value,
};

/// available, held, sold and total as the table has them.
async fn figures(connection: &mut PgConnection, item: i64) -> [i32; 4] {
    let figures: Vec<i32> = value(
        connection,
        &format!(
            "SELECT ARRAY[available, held, sold, total] FROM inventory WHERE item_id = {item}"
        ),
    )
    .await;
    figures.try_into().unwrap()
}

fn lock(test: &TestHouse) -> String {
    format!("SELECT lock_item({}, {})", test.site(), test.ticket)
}

fn sweep(test: &TestHouse) -> String {
    format!("SELECT expire_stock({})", test.site())
}

#[tokio::test]
async fn r16_three_units_asked_two_and_two_make_one_winner() {
    let test = TestHouse::new().await;
    let (mut gate, gate_backend) = open_transaction(&test, &lock(&test)).await;
    let mut desks: Vec<Sent> = Vec::new();
    for desk in ["anna", "bert"] {
        let call = hold_stock_call(&test, desk, test.ticket.0, 2, "10m");
        desks.push(Sent::queued(&test, call, gate_backend, &desks).await);
    }
    run(&mut gate, "COMMIT").await;
    let mut answers = Vec::new();
    for desk in desks {
        answers.push(desk.answer().await);
    }
    answers.sort_by_key(|answer| !answer["refusal"].is_null());
    assert_eq!(answers[0]["refusal"], Value::Null);
    assert_eq!(answers[1]["refusal"], "sold_out");
    assert_eq!(answers[1]["details"]["asked"], 2);
    assert_eq!(answers[1]["details"]["available"], 1);
    assert_eq!(figures(&mut gate, test.ticket.0).await, [1, 2, 0, 3]);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r15_ten_desks_for_three_units_never_sell_a_fourth() {
    let test = TestHouse::new().await;
    let (mut gate, gate_backend) = open_transaction(&test, &lock(&test)).await;
    let mut desks: Vec<Sent> = Vec::new();
    for _ in 0..10 {
        let call = hold_stock_call(&test, "anna", test.ticket.0, 1, "10m");
        desks.push(Sent::queued(&test, call, gate_backend, &desks).await);
    }
    run(&mut gate, "COMMIT").await;
    let mut won = 0;
    for desk in desks {
        let answer = desk.answer().await;
        if answer["refusal"].is_null() {
            won += 1;
        } else {
            assert_eq!(answer["refusal"], "sold_out");
        }
    }
    assert_eq!(won, 3);
    assert_eq!(figures(&mut gate, test.ticket.0).await, [0, 3, 0, 3]);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r15_the_counter_can_not_go_below_zero_by_any_writer() {
    let test = TestHouse::new().await;
    let mut stray = test.database.connect().await;
    for (change, expected) in [
        ("available = -1", "inventory_available_not_negative"),
        ("held = -1", "inventory_committed_not_negative"),
        ("sold = -1", "inventory_committed_not_negative"),
        ("total = 99", "428C9"),
    ] {
        let update = format!(
            "UPDATE inventory SET {change} WHERE item_id = {}",
            test.ticket
        );
        assert_eq!(guard(try_run(&mut stray, &update).await), expected);
    }
}

#[tokio::test]
async fn r15_available_counts_what_is_due_and_not_swept() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let hold = test
        .hold_stock(test.ticket, 2, Some(TimeDelta::seconds(1)))
        .await
        .id
        .0;
    let item = test
        .house
        .item_named("Museum ticket")
        .await
        .unwrap()
        .unwrap();
    assert_eq!((item.available, item.held, item.total), (1, 2, 3));
    until_due(&mut desk, "stock_hold", hold).await;
    assert_eq!(figures(&mut desk, test.ticket.0).await, [1, 2, 0, 3]);
    let item = test
        .house
        .item_named("Museum ticket")
        .await
        .unwrap()
        .unwrap();
    assert_eq!((item.available, item.held, item.total), (3, 0, 3));
    // And that is what a hold can get (R11).
    let all = ask(
        &mut desk,
        &hold_stock_call(&test, "bert", test.ticket.0, 3, "10m"),
    )
    .await;
    assert_eq!(all["refusal"], Value::Null);
    assert_eq!(state(&mut desk, "stock_hold", hold).await, "expired");
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r17_a_cancel_that_waited_past_the_deadline_gives_back_once() {
    let test = TestHouse::new().await;
    let mut observer = test.database.connect().await;
    let hold = test
        .hold_stock(test.ticket, 2, Some(TimeDelta::seconds(1)))
        .await
        .id
        .0;
    let (mut gate, gate_backend) = open_transaction(&test, &lock(&test)).await;
    let cancel = Sent::blocked(&test, call_on(&test, "cancel_stock", hold), &[gate_backend]).await;
    until_due(&mut observer, "stock_hold", hold).await;
    let swept: i32 = value(&mut observer, &sweep(&test)).await;
    assert_eq!(swept, 0, "the sweep walks past what is being worked on");
    run(&mut gate, "COMMIT").await;
    assert_eq!(cancel.answer().await["refusal"], "hold_expired");
    let swept: i32 = value(&mut observer, &sweep(&test)).await;
    assert_eq!(swept, 0);
    assert_eq!(figures(&mut observer, test.ticket.0).await, [3, 0, 0, 3]);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r17_a_cancel_under_way_and_the_sweep_give_back_once() {
    let test = TestHouse::new().await;
    let mut observer = test.database.connect().await;
    let hold = test
        .hold_stock(test.ticket, 2, Some(TimeDelta::seconds(1)))
        .await
        .id
        .0;
    let cancel = format!("SELECT * FROM {}", call_on(&test, "cancel_stock", hold));
    let (mut canceller, canceller_backend) = open_transaction(&test, &cancel).await;
    until_due(&mut observer, "stock_hold", hold).await;
    let swept: i32 = value(&mut observer, &sweep(&test)).await;
    assert_eq!(swept, 0);
    // The next claim would expire what is due; it waits, and finds nothing to expire.
    let claim = hold_stock_call(&test, "cleo", test.ticket.0, 3, "10m");
    let claim = Sent::blocked(&test, claim, &[canceller_backend]).await;
    run(&mut canceller, "COMMIT").await;
    assert_eq!(claim.answer().await["refusal"], Value::Null);
    assert_eq!(state(&mut observer, "stock_hold", hold).await, "cancelled");
    assert_eq!(figures(&mut observer, test.ticket.0).await, [0, 3, 0, 3]);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r17_a_sweep_under_way_and_a_cancel_give_back_once() {
    let test = TestHouse::new().await;
    let mut observer = test.database.connect().await;
    let hold = test.hold_stock(test.ticket, 2, BRIEF).await.id.0;
    until_due(&mut observer, "stock_hold", hold).await;
    let (mut sweeper, sweeper_backend) = open_transaction(&test, &sweep(&test)).await;
    let cancel = Sent::blocked(
        &test,
        call_on(&test, "cancel_stock", hold),
        &[sweeper_backend],
    )
    .await;
    let confirm = Sent::blocked(
        &test,
        call_on(&test, "confirm_stock", hold),
        &[sweeper_backend, cancel.backend],
    )
    .await;
    run(&mut sweeper, "COMMIT").await;
    assert_eq!(cancel.answer().await["refusal"], "hold_expired");
    assert_eq!(confirm.answer().await["refusal"], "hold_expired");
    assert_eq!(figures(&mut observer, test.ticket.0).await, [3, 0, 0, 3]);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r17_two_cancels_give_back_once_and_a_confirm_changes_nothing_available() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let hold = test.hold_stock(test.ticket, 2, None).await.id.0;
    let (mut gate, gate_backend) = open_transaction(&test, &lock(&test)).await;
    let first = Sent::blocked(&test, call_on(&test, "cancel_stock", hold), &[gate_backend]).await;
    let second = Sent::blocked(
        &test,
        call_on(&test, "cancel_stock", hold),
        &[gate_backend, first.backend],
    )
    .await;
    run(&mut gate, "COMMIT").await;
    let mut refusals = [
        first.answer().await["refusal"].clone(),
        second.answer().await["refusal"].clone(),
    ];
    refusals.sort_by_key(|refusal| !refusal.is_null());
    assert_eq!(refusals, [Value::Null, "already_cancelled".into()]);
    assert_eq!(figures(&mut desk, test.ticket.0).await, [3, 0, 0, 3]);

    let sale = test.hold_stock(test.ticket, 2, None).await.id.0;
    assert_eq!(figures(&mut desk, test.ticket.0).await, [1, 2, 0, 3]);
    let sold = ask(&mut desk, &call_on(&test, "confirm_stock", sale)).await;
    assert_eq!(sold["state"], "confirmed");
    assert_eq!(figures(&mut desk, test.ticket.0).await, [1, 0, 2, 3]);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r10_a_confirm_of_stock_that_waited_past_its_deadline_fails_and_says_how_late() {
    let test = TestHouse::new().await;
    let mut observer = test.database.connect().await;
    let hold = test
        .hold_stock(test.ticket, 2, Some(TimeDelta::seconds(1)))
        .await
        .id
        .0;
    let (mut gate, gate_backend) = open_transaction(&test, &lock(&test)).await;
    let confirm = Sent::blocked(
        &test,
        call_on(&test, "confirm_stock", hold),
        &[gate_backend],
    )
    .await;
    until_due(&mut observer, "stock_hold", hold).await;
    run(&mut gate, "COMMIT").await;
    let answer = confirm.answer().await;
    assert_eq!(answer["refusal"], "hold_expired");
    assert!(answer["details"]["late_seconds"].as_f64().unwrap() >= 0.0);
    assert_eq!(answer["details"]["still_free"], true);
    assert_eq!(figures(&mut observer, test.ticket.0).await, [3, 0, 0, 3]);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r18_a_confirmed_sale_is_final() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let hold = test.hold_stock(test.ticket, 1, None).await.id.0;
    assert_eq!(
        ask(&mut desk, &call_on(&test, "confirm_stock", hold)).await["refusal"],
        Value::Null
    );
    let cancel = ask(&mut desk, &call_on(&test, "cancel_stock", hold)).await;
    assert_eq!(cancel["refusal"], "sale_is_final");
    assert_eq!(cancel["state"], "confirmed");
    assert_eq!(
        ask(&mut desk, &call_on(&test, "confirm_stock", hold)).await["refusal"],
        "already_confirmed"
    );
    assert_eq!(figures(&mut desk, test.ticket.0).await, [2, 0, 1, 3]);
}

#[tokio::test]
async fn r16_what_is_no_quantity_is_refused() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    for quantity in ["0", "-1", "NULL", "-2147483648"] {
        let call = format!(
            "hold_stock({}, gen_random_uuid(), 'anna', {}, {quantity})",
            test.site(),
            test.ticket
        );
        assert_eq!(
            ask(&mut desk, &call).await["refusal"],
            "quantity_invalid",
            "{quantity}"
        );
    }
    let call = hold_stock_call(&test, "anna", test.ticket.0, i32::MAX, "10m");
    assert_eq!(ask(&mut desk, &call).await["refusal"], "sold_out");
    let stray = format!(
        "INSERT INTO stock_hold (site_id, item_id, quantity, expires_at) VALUES ({}, {}, 0, now())",
        test.site(),
        test.ticket
    );
    assert_eq!(
        guard(try_run(&mut desk, &stray).await),
        "stock_hold_quantity"
    );
    assert_eq!(figures(&mut desk, test.ticket.0).await, [3, 0, 0, 3]);
}

#[tokio::test]
async fn r19_receiving_and_adjusting_are_movements_that_add_up() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let call = |function: &str, quantity: &str| {
        format!(
            "{function}({}, gen_random_uuid(), 'anna', {}, {quantity}, 'stocktaking')",
            test.site(),
            test.ticket
        )
    };
    test.hold_stock(test.ticket, 1, None).await;
    let sale = test.hold_stock(test.ticket, 1, None).await.id.0;
    ask(&mut desk, &call_on(&test, "confirm_stock", sale)).await;
    for (function, quantity, figure) in [
        ("receive_stock", "4", [5, 1, 1, 7]),
        ("adjust_stock", "-2", [3, 1, 1, 5]),
        ("adjust_stock", "1", [4, 1, 1, 6]),
        // Down to exactly what is held and sold.
        ("adjust_stock", "-4", [0, 1, 1, 2]),
    ] {
        let answer = ask(&mut desk, &call(function, quantity)).await;
        assert_eq!(answer["refusal"], Value::Null, "{function} {quantity}");
        assert_eq!(figures(&mut desk, test.ticket.0).await, figure);
    }
    for below in ["-1", "-2147483648"] {
        let refused = ask(&mut desk, &call("adjust_stock", below)).await;
        assert_eq!(refused["refusal"], "below_committed");
        assert_eq!(refused["details"]["held"], 1);
        assert_eq!(refused["details"]["sold"], 1);
    }
    for (function, quantity) in [
        ("receive_stock", "0"),
        ("receive_stock", "-1"),
        ("receive_stock", "NULL"),
        ("receive_stock", "2147483647"),
        ("adjust_stock", "0"),
        ("adjust_stock", "NULL"),
        ("adjust_stock", "2147483647"),
    ] {
        let refused = ask(&mut desk, &call(function, quantity)).await;
        assert_eq!(
            refused["refusal"], "quantity_invalid",
            "{function} {quantity}"
        );
    }
    let moved: Vec<i32> = value(
        &mut desk,
        &format!(
            "SELECT array_agg(change ORDER BY movement_id) FROM stock_movement WHERE item_id = {}",
            test.ticket
        ),
    )
    .await;
    assert_eq!(moved, [3, 4, -2, 1, -4]);
    let reasons: i64 = value(
        &mut desk,
        "SELECT count(*) FROM stock_movement WHERE reason = 'stocktaking' AND desk = 'anna' AND request_id IS NOT NULL",
    )
    .await;
    assert_eq!(reasons, 4);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r19_adjusting_counts_what_is_due_as_free() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let hold = test.hold_stock(test.ticket, 3, BRIEF).await.id.0;
    until_due(&mut desk, "stock_hold", hold).await;
    let call = format!(
        "adjust_stock({}, gen_random_uuid(), 'anna', {}, -3, 'gone')",
        test.site(),
        test.ticket
    );
    assert_eq!(ask(&mut desk, &call).await["refusal"], Value::Null);
    assert_eq!(figures(&mut desk, test.ticket.0).await, [0, 0, 0, 0]);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r28_a_retired_item_takes_no_new_claims_and_keeps_those_it_has() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let hold = test.hold_stock(test.ticket, 1, None).await.id.0;
    let retire = format!(
        "retire_item({}, gen_random_uuid(), 'anna', {})",
        test.site(),
        test.ticket
    );
    assert_eq!(ask(&mut desk, &retire).await["refusal"], Value::Null);
    let refused = ask(
        &mut desk,
        &hold_stock_call(&test, "bert", test.ticket.0, 1, "10m"),
    )
    .await;
    assert_eq!(refused["refusal"], "retired");
    assert_eq!(
        ask(&mut desk, &call_on(&test, "confirm_stock", hold)).await["refusal"],
        Value::Null
    );
    test.assert_all_is_well().await;
}
