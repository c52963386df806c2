//! What a house does not take: periods out of reach (R8), and claims on what is retired (R28).

use keyrack::domain::{ClaimState, Command, Success};
use serde_json::Value;

use crate::support::{TestHouse, hour, hours};
use crate::{Sent, ask, at, call_on, hold_slot_call, open_transaction, run, try_run};

#[tokio::test]
async fn r8_past_and_too_distant_periods_are_refused() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let call = |from: &str, to: &str| {
        format!(
            "hold_slot({}, gen_random_uuid(), 'anna', {}, {from}, {to})",
            test.site(),
            test.blue
        )
    };
    let past = ask(
        &mut desk,
        &call("now() - interval '2 hours'", "now() - interval '1 second'"),
    )
    .await;
    assert_eq!(past["refusal"], "in_the_past");
    // It has begun and is not over: walk-in guests exist.
    let now = ask(
        &mut desk,
        &call("now() - interval '1 hour'", "now() + interval '1 hour'"),
    )
    .await;
    assert_eq!(now["refusal"], Value::Null);
    run(&mut desk, "UPDATE site SET horizon = '240 hours'").await;
    let far = ask(
        &mut desk,
        &call(
            "now() + interval '239 hours'",
            "now() + interval '241 hours'",
        ),
    )
    .await;
    assert_eq!(far["refusal"], "beyond_horizon");
    let horizon: chrono::DateTime<chrono::Utc> =
        serde_json::from_value(far["details"]["horizon"].clone()).unwrap();
    assert!((horizon - hour(0)).num_days().abs() <= 4, "{horizon}");
    let near = ask(
        &mut desk,
        &call(
            "now() + interval '238 hours'",
            "now() + interval '239 hours'",
        ),
    )
    .await;
    assert_eq!(near["refusal"], Value::Null);
    for extreme in ["'294276-12-31 00:00+00'", "'9999-12-31 00:00+00'"] {
        let answer = ask(&mut desk, &call(&at(0), extreme)).await;
        assert_eq!(answer["refusal"], "beyond_horizon", "{extreme}");
    }
    let old = ask(
        &mut desk,
        &call("'4000-01-01 00:00+00 BC'", "'3000-01-01 00:00+00 BC'"),
    )
    .await;
    assert_eq!(old["refusal"], "in_the_past");
}

#[tokio::test]
async fn r28_a_retired_room_takes_no_new_claims_and_keeps_those_it_has() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let kept = test.hold(test.blue, hours(0, 1), None).await;
    let given_back = test.hold(test.blue, hours(1, 2), None).await;
    let retired = format!(
        "retire_room({}, gen_random_uuid(), 'anna', {})",
        test.site(),
        test.blue
    );
    assert_eq!(ask(&mut desk, &retired).await["refusal"], Value::Null);
    assert_eq!(ask(&mut desk, &retired).await["refusal"], "retired");
    let refused = ask(
        &mut desk,
        &hold_slot_call(&test, "bert", test.blue.0, 4, 5, "10m"),
    )
    .await;
    assert_eq!(refused["refusal"], "retired");
    assert_eq!(refused["details"]["name"], "Blue room");
    let confirmed = test
        .ask(Command::ConfirmSlot {
            hold: kept.id,
            expect_version: None,
        })
        .await;
    assert!(
        matches!(confirmed.outcome, Ok(Success::Slot(hold)) if hold.state == ClaimState::Confirmed)
    );
    assert_eq!(
        ask(&mut desk, &call_on(&test, "cancel_slot", given_back.id.0)).await["refusal"],
        Value::Null
    );
    // What has history is not deleted.
    let delete = format!("DELETE FROM room WHERE room_id = {}", test.blue);
    assert!(try_run(&mut desk, &delete).await.is_err());
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r28_a_claim_that_waited_while_the_room_was_retired_is_refused() {
    let test = TestHouse::new().await;
    let (mut holder, holder_backend) = open_transaction(
        &test,
        &format!(
            "SELECT * FROM retire_room({}, gen_random_uuid(), 'anna', {})",
            test.site(),
            test.blue
        ),
    )
    .await;
    let claim = Sent::blocked(
        &test,
        hold_slot_call(&test, "bert", test.blue.0, 0, 1, "10m"),
        &[holder_backend],
    )
    .await;
    run(&mut holder, "COMMIT").await;
    assert_eq!(claim.answer().await["refusal"], "retired");
}

#[tokio::test]
async fn r28_an_exchange_brings_nothing_new_into_a_retired_room() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let site = test.site();
    let mut holds = Vec::new();
    for (room, from) in [(test.blue, 0), (test.blue, 3), (test.garden, 0)] {
        holds.push(test.hold(room, hours(from, from + 2), None).await.id.0);
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
