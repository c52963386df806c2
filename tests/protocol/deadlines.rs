//! When a hold has run out: the database's clock, read after the lock (R10), and what is due is in nobody's way (R11).

use chrono::TimeDelta;
use serde_json::Value;

use crate::support::{TestHouse, hours};
use crate::{
    BRIEF, Sent, ask, call_on, guard, hold_slot_call, open_transaction, run, state, try_run,
    until_due, value,
};

#[tokio::test]
async fn r11_a_due_hold_neither_blocks_nor_can_be_confirmed() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let second = BRIEF;
    let blue = test.hold(test.blue, hours(0, 2), second).await;
    let garden = test.hold(test.garden, hours(0, 2), second).await;
    until_due(&mut desk, "slot_hold", blue.id.0).await;
    until_due(&mut desk, "slot_hold", garden.id.0).await;
    // Nobody has swept.
    assert_eq!(state(&mut desk, "slot_hold", blue.id.0).await, "held");

    let winner = ask(
        &mut desk,
        &hold_slot_call(&test, "bert", test.blue.0, 1, 3, "10m"),
    )
    .await;
    assert_eq!(winner["refusal"], Value::Null);
    assert_eq!(state(&mut desk, "slot_hold", blue.id.0).await, "expired");

    // The other one is confirmed too late, without anybody having swept.
    assert_eq!(state(&mut desk, "slot_hold", garden.id.0).await, "held");
    let late = ask(&mut desk, &call_on(&test, "confirm_slot", garden.id.0)).await;
    assert_eq!(late["refusal"], "hold_expired");
    assert_eq!(late["state"], "expired");
    assert!(late["details"]["late_seconds"].as_f64().unwrap() >= 0.0);
    assert_eq!(late["details"]["still_free"], true);
    // R12: the first one is not free any more.
    let late = ask(&mut desk, &call_on(&test, "confirm_slot", blue.id.0)).await;
    assert_eq!(late["refusal"], "hold_expired");
    assert_eq!(late["details"]["still_free"], false);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r11_raw_sql_can_not_confirm_a_due_hold_whatever_it_says_about_the_time() {
    let test = TestHouse::new().await;
    let mut stray = test.database.connect().await;
    let hold = test.hold(test.blue, hours(0, 2), BRIEF).await.id;
    let live = test.hold(test.garden, hours(0, 2), None).await.id;
    until_due(&mut stray, "slot_hold", hold.0).await;
    for when in [
        "",
        ", changed_at = '2020-01-01'",
        ", changed_at = expires_at - interval '1 second'",
    ] {
        let confirm =
            format!("UPDATE slot_hold SET state = 'confirmed'{when} WHERE hold_id = {hold}");
        assert_eq!(
            guard(try_run(&mut stray, &confirm).await),
            "slot_hold_in_time",
            "{when}"
        );
    }
    for when in [
        "",
        ", changed_at = '2999-01-01'",
        ", changed_at = expires_at",
    ] {
        let expire = format!("UPDATE slot_hold SET state = 'expired'{when} WHERE hold_id = {live}");
        assert_eq!(
            guard(try_run(&mut stray, &expire).await),
            "slot_hold_in_time",
            "{when}"
        );
    }
}

#[tokio::test]
async fn r10_at_the_deadline_itself_the_hold_has_expired() {
    let test = TestHouse::new().await;
    let hold = test
        .hold(test.blue, hours(0, 2), Some(TimeDelta::seconds(1)))
        .await
        .id;
    // A transaction from before the deadline, so that every reading of the clock since is believable.
    let (mut desk, _) = open_transaction(&test, "SELECT now()").await;
    until_due(&mut desk, "slot_hold", hold.0).await;
    let mut outcomes = Vec::new();
    for (state, when) in [
        ("confirmed", "expires_at"),
        ("expired", "expires_at - interval '1 microsecond'"),
        ("expired", "expires_at"),
        ("confirmed", "expires_at - interval '1 microsecond'"),
    ] {
        run(&mut desk, "SAVEPOINT before").await;
        let update = format!(
            "UPDATE slot_hold SET state = '{state}', changed_at = {when} WHERE hold_id = {hold}"
        );
        outcomes.push(
            try_run(&mut desk, &update)
                .await
                .map_err(|error| guard::<()>(Err(error))),
        );
        run(&mut desk, "ROLLBACK TO before").await;
    }
    let late = Err("slot_hold_in_time".to_owned());
    assert_eq!(outcomes, [late.clone(), late, Ok(1), Ok(1)]);
}

#[tokio::test]
async fn r10_r12_a_confirm_that_waited_past_its_deadline_fails_and_says_how_late() {
    let test = TestHouse::new().await;
    let mut observer = test.database.connect().await;
    let hold = test
        .hold(test.blue, hours(0, 2), Some(TimeDelta::seconds(1)))
        .await
        .id
        .0;
    let (mut holder, holder_backend) = open_transaction(
        &test,
        &format!("SELECT lock_room({}, {})", test.site(), test.blue),
    )
    .await;
    // Sent in time.
    let confirm = Sent::blocked(
        &test,
        call_on(&test, "confirm_slot", hold),
        &[holder_backend],
    )
    .await;
    assert!(
        value::<bool>(
            &mut observer,
            &format!("SELECT expires_at > clock_timestamp() FROM slot_hold WHERE hold_id = {hold}")
        )
        .await,
        "the machine was too slow for this test: the confirm was not sent in time"
    );
    until_due(&mut observer, "slot_hold", hold).await;
    run(&mut holder, "COMMIT").await;
    let answer = confirm.answer().await;
    assert_eq!(answer["refusal"], "hold_expired");
    let late = answer["details"]["late_seconds"].as_f64().unwrap();
    assert!((0.0..10.0).contains(&late), "{late}");
    assert_eq!(answer["state"], "expired");
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r10_a_confirm_that_waited_for_the_row_alone_is_late_too() {
    let test = TestHouse::new().await;
    let mut observer = test.database.connect().await;
    let hold = test
        .hold(test.blue, hours(0, 2), Some(TimeDelta::seconds(1)))
        .await
        .id
        .0;
    // A writer around the protocol has the claim's row and not its room.
    let (mut stray, stray_backend) = open_transaction(
        &test,
        &format!("UPDATE slot_hold SET note = 'mine' WHERE hold_id = {hold}"),
    )
    .await;
    let confirm = Sent::blocked(
        &test,
        call_on(&test, "confirm_slot", hold),
        &[stray_backend],
    )
    .await;
    until_due(&mut observer, "slot_hold", hold).await;
    run(&mut stray, "ROLLBACK").await;
    assert_eq!(confirm.answer().await["refusal"], "hold_expired");
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r10_a_deadline_counts_from_when_the_lock_was_had() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let (mut holder, holder_backend) = open_transaction(
        &test,
        &format!("SELECT lock_room({}, {})", test.site(), test.blue),
    )
    .await;
    let call = hold_slot_call(&test, "bert", test.blue.0, 0, 2, "5s");
    let waiting = Sent::blocked(&test, call, &[holder_backend]).await;
    let released: chrono::DateTime<chrono::Utc> =
        value(&mut desk, "SELECT clock_timestamp()").await;
    run(&mut holder, "COMMIT").await;
    let answer = waiting.answer().await;
    let expires_at: chrono::DateTime<chrono::Utc> =
        serde_json::from_value(answer["expires_at"].clone()).unwrap();
    assert!(expires_at >= released + TimeDelta::seconds(5), "{answer}");
}

#[tokio::test]
async fn r11_confirmed_before_the_deadline_and_swept_after_it_stays_confirmed() {
    let test = TestHouse::new().await;
    let mut sweeper = test.database.connect().await;
    let hold = test
        .hold(test.blue, hours(0, 2), Some(TimeDelta::seconds(1)))
        .await
        .id
        .0;
    let (mut first, first_backend) = open_transaction(
        &test,
        &format!("SELECT * FROM {}", call_on(&test, "confirm_slot", hold)),
    )
    .await;
    until_due(&mut sweeper, "slot_hold", hold).await;
    // The sweep walks past, a claim waits.
    let swept: i32 = value(
        &mut sweeper,
        &format!("SELECT expire_slots({})", test.site()),
    )
    .await;
    assert_eq!(swept, 0);
    let claim = Sent::blocked(
        &test,
        hold_slot_call(&test, "cleo", test.blue.0, 1, 3, "10m"),
        &[first_backend],
    )
    .await;
    run(&mut first, "COMMIT").await;
    let claim = claim.answer().await;
    assert_eq!(claim["refusal"], "slot_taken");
    assert_eq!(claim["details"]["state"], "confirmed");
    let swept: i32 = value(
        &mut sweeper,
        &format!("SELECT expire_slots({})", test.site()),
    )
    .await;
    assert_eq!(swept, 0);
    assert_eq!(state(&mut sweeper, "slot_hold", hold).await, "confirmed");
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r11_expired_first_and_confirmed_after_it_stays_expired() {
    let test = TestHouse::new().await;
    let mut observer = test.database.connect().await;
    let hold = test.hold(test.blue, hours(0, 2), BRIEF).await.id.0;
    until_due(&mut observer, "slot_hold", hold).await;
    let (mut sweeper, sweeper_backend) =
        open_transaction(&test, &format!("SELECT expire_slots({})", test.site())).await;
    let confirm = Sent::blocked(
        &test,
        call_on(&test, "confirm_slot", hold),
        &[sweeper_backend],
    )
    .await;
    let cancel = Sent::blocked(
        &test,
        call_on(&test, "cancel_slot", hold),
        &[sweeper_backend, confirm.backend],
    )
    .await;
    run(&mut sweeper, "COMMIT").await;
    assert_eq!(confirm.answer().await["refusal"], "hold_expired");
    assert_eq!(cancel.answer().await["refusal"], "hold_expired");
    let events: i64 = value(
        &mut observer,
        &format!(
            "SELECT count(*) FROM hold_event WHERE slot_hold_id = {hold} AND what = 'expired'"
        ),
    )
    .await;
    assert_eq!(events, 1);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r11_what_was_due_stays_expired_when_the_claim_that_expired_it_is_refused() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let due = test
        .hold(test.blue, hours(0, 1), Some(TimeDelta::seconds(1)))
        .await
        .id
        .0;
    test.hold(test.blue, hours(1, 2), None).await;
    until_due(&mut desk, "slot_hold", due).await;
    let refused = ask(
        &mut desk,
        &hold_slot_call(&test, "bert", test.blue.0, 0, 2, "10m"),
    )
    .await;
    assert_eq!(refused["refusal"], "slot_taken");
    assert_eq!(state(&mut desk, "slot_hold", due).await, "expired");
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r10_how_long_a_hold_lasts_is_asked_for_within_the_houses_limits() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    for ttl in [
        "0",
        "-1 second",
        "24 hours 1 second",
        "25 hours",
        "2 days",
        "1 month",
        "170000000 years",
    ] {
        let answer = ask(
            &mut desk,
            &hold_slot_call(&test, "anna", test.blue.0, 0, 1, ttl),
        )
        .await;
        assert_eq!(answer["refusal"], "period_invalid", "{ttl}");
        assert_eq!(answer["details"]["problem"], "hold_length", "{ttl}");
        assert_eq!(answer["details"]["longest_seconds"], 86_400, "{ttl}");
        let answer = ask(&mut desk, &hold_stock_call_for(&test, ttl)).await;
        assert_eq!(answer["refusal"], "period_invalid", "{ttl}");
    }
    for (room, ttl) in [
        (test.blue, "24 hours"),
        (test.garden, "1 day"),
        (test.studio, "00:00:00.5"),
    ] {
        let answer = ask(&mut desk, &hold_slot_call(&test, "anna", room.0, 0, 1, ttl)).await;
        assert_eq!(answer["refusal"], Value::Null, "{ttl}");
    }
}

fn hold_stock_call_for(test: &TestHouse, ttl: &str) -> String {
    crate::hold_stock_call(test, "anna", test.breakfast.0, 1, ttl)
}
