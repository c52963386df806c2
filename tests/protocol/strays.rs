//! Desks beside writers that go around the protocol (R23).

use keyrack::domain::{Answer, Request};
use serde_json::Value;

use crate::rooms::{insert, range};
use crate::support::{TestHouse, hold_slot, hours};
use crate::{Sent, hold_slot_call, open_transaction, run, try_run, value};

#[tokio::test]
async fn r23_a_writer_around_the_protocol_is_answered_with_slot_taken() {
    let test = TestHouse::new().await;
    let (mut stray, stray_backend) =
        open_transaction(&test, &insert(&test, test.blue.0, &range(0, 2))).await;
    let claim = Sent::blocked(
        &test,
        hold_slot_call(&test, "bert", test.blue.0, 1, 3, "10m"),
        &[stray_backend],
    )
    .await;
    run(&mut stray, "COMMIT").await;
    let answer = claim.answer().await;
    assert_eq!(answer["refusal"], "slot_taken");
    let hold: i64 = value(&mut stray, "SELECT hold_id FROM slot_hold").await;
    assert_eq!(answer["details"]["hold_id"], hold);

    // One that changes its mind leaves the room to the desk.
    let (mut stray, stray_backend) =
        open_transaction(&test, &insert(&test, test.garden.0, &range(0, 2))).await;
    let claim = Sent::blocked(
        &test,
        hold_slot_call(&test, "bert", test.garden.0, 1, 3, "10m"),
        &[stray_backend],
    )
    .await;
    run(&mut stray, "ROLLBACK").await;
    assert_eq!(claim.answer().await["refusal"], Value::Null);
}

#[tokio::test]
async fn r11_a_due_hold_written_around_the_protocol_at_that_very_moment_does_not_block_either() {
    let test = TestHouse::new().await;
    let due_at_once =
        insert(&test, test.blue.0, &range(0, 2)).replace("now() + interval '10 minutes'", "now()");
    let (mut stray, stray_backend) = open_transaction(&test, &due_at_once).await;
    let claim = Sent::blocked(
        &test,
        hold_slot_call(&test, "bert", test.blue.0, 1, 3, "10m"),
        &[stray_backend],
    )
    .await;
    run(&mut stray, "COMMIT").await;
    let answer = claim.answer().await;
    assert_eq!(answer["refusal"], Value::Null, "{answer}");
}

#[tokio::test]
async fn r23_a_deadlock_with_a_writer_around_the_protocol_is_an_answer_and_not_an_error() {
    let test = TestHouse::new().await;
    let (mut stray, stray_backend) =
        open_transaction(&test, &insert(&test, test.blue.0, &range(0, 2))).await;
    let (house, desk) = (test.another_desk().await, test.desk.clone());
    let command = hold_slot(test.blue, hours(1, 3), None);
    let claim = tokio::spawn(async move { house.execute(Request::fresh(desk, command)).await });
    let mut observer = test.database.connect().await;
    let waiting = crate::connections::waiting_backend(&mut observer).await;
    crate::support::until_blocked(&mut observer, waiting, &[stray_backend]).await;
    // Now the stray writer wants the room that the desk has: a circle.
    let stray_outcome = try_run(
        &mut stray,
        &format!("SELECT lock_room({}, {})", test.site(), test.blue),
    )
    .await;
    run(&mut stray, "COMMIT").await;
    let answer: Answer = claim.await.unwrap().unwrap();
    match answer.outcome {
        // Whom PostgreSQL chooses is its own business.
        Ok(_) => assert!(stray_outcome.is_err()),
        Err(refused) => assert_eq!(refused.refusal.code(), "slot_taken"),
    }
}
