//! Requests: each is answered once, remembered, and checked in one order.

use keyrack::domain::{Command, Refusal, Request};
use serde_json::Value;
use uuid::Uuid;

use crate::support::{TestHouse, hold_slot, hours, refusal};
use crate::{Sent, ask, at, call_on, hold_slot_call, open_transaction, run, value};

#[tokio::test]
async fn r21_twins_sent_at_once_are_done_once_and_the_second_waits() {
    let test = TestHouse::new().await;
    let (mut gate, gate_backend) = open_transaction(
        &test,
        &format!("SELECT lock_room({}, {})", test.site(), test.blue),
    )
    .await;
    let call = hold_slot_call(&test, "anna", test.blue.0, 0, 2, "10m")
        .replace("gen_random_uuid()", &format!("'{}'", Uuid::new_v4()));
    let first = Sent::blocked(&test, call.clone(), &[gate_backend]).await;
    // The twin waits for the first, and not for the room.
    let twin = Sent::blocked(&test, call, &[first.backend]).await;
    run(&mut gate, "COMMIT").await;
    let (first, twin) = (first.answer().await, twin.answer().await);
    assert_eq!(first["repeated"], false);
    assert_eq!(twin["repeated"], true);
    assert_eq!(first["refusal"], Value::Null);
    assert_eq!(twin["refusal"], Value::Null);
    assert_eq!(first["hold_id"], twin["hold_id"]);
    let claims: i64 = value(&mut gate, "SELECT count(*) FROM slot_hold").await;
    assert_eq!(claims, 1);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r21_a_twin_of_one_that_failed_is_the_first() {
    let test = TestHouse::new().await;
    let call = hold_slot_call(&test, "anna", test.blue.0, 0, 2, "10m")
        .replace("gen_random_uuid()", &format!("'{}'", Uuid::new_v4()));
    let (mut first, first_backend) =
        open_transaction(&test, &format!("SELECT * FROM {call}")).await;
    let twin = Sent::blocked(&test, call, &[first_backend]).await;
    run(&mut first, "ROLLBACK").await;
    let twin = twin.answer().await;
    assert_eq!(twin["repeated"], false);
    assert_eq!(twin["refusal"], Value::Null);
}

#[tokio::test]
async fn r21_a_refusal_is_remembered_though_the_slot_is_free_by_now() {
    let test = TestHouse::new().await;
    let holder = test.hold(test.blue, hours(0, 2), None).await;
    let request = Request::fresh(test.desk.clone(), hold_slot(test.blue, hours(1, 3), None));
    let first = test.house.execute(request.clone()).await.unwrap();
    assert!(!first.repeated);
    let Refusal::SlotTaken(taken) = refusal(first) else {
        panic!()
    };
    test.ask(Command::CancelSlot {
        hold: holder.id,
        expect_version: None,
        reason: String::new(),
    })
    .await
    .outcome
    .unwrap();
    let again = test.house.execute(request.clone()).await.unwrap();
    assert!(again.repeated);
    let Refusal::SlotTaken(remembered) = refusal(again) else {
        panic!()
    };
    assert_eq!(taken, remembered);
    // A fresh question takes a new id.
    let fresh = Request::fresh(test.desk.clone(), request.command);
    assert!(test.house.execute(fresh).await.unwrap().outcome.is_ok());
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r21_a_repeated_request_answers_with_the_claim_as_it_is_now() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let (id, call) = with_id(&hold_slot_call(&test, "anna", test.blue.0, 0, 2, "10m"));
    let held = ask(&mut desk, &call).await;
    let hold = held["hold_id"].as_i64().unwrap();
    ask(&mut desk, &call_on(&test, "confirm_slot", hold)).await;
    let again = ask(&mut desk, &call).await;
    assert_eq!(again["refusal"], Value::Null);
    assert_eq!(again["repeated"], true);
    assert_eq!(again["state"], "confirmed");
    assert_eq!(again["version"], 2);
    assert_eq!(again["request_id"], id.to_string());
    // Also a confirm that was done is not refused as already_confirmed when it is asked again.
    let (_, confirm) = with_id(&call_on(&test, "cancel_slot", hold));
    for repeated in [false, true] {
        let answer = ask(&mut desk, &confirm).await;
        assert_eq!(answer["refusal"], Value::Null);
        assert_eq!(answer["repeated"], repeated);
    }
}

#[tokio::test]
async fn r21_every_command_is_remembered_with_its_body() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let site = test.site();
    let hold = test.hold(test.garden, hours(0, 1), None).await.id;
    let stock = test.hold_stock(test.breakfast, 1, None).await.id;
    let (blue, ticket, breakfast) = (test.blue, test.ticket, test.breakfast);
    let (zero, one, two) = (at(0), at(1), at(2));
    // What is asked, and the same with one thing changed.
    for (call, other) in [
        (
            format!(
                "hold_slot({site}, ID, 'anna', {blue}, {zero}, {one}, '10m', 'Müller', 'note', 2)"
            ),
            vec![
                format!(
                    "hold_slot({site}, ID, 'anna', {}, {zero}, {one}, '10m', 'Müller', 'note', 2)",
                    test.studio
                ),
                format!(
                    "hold_slot({site}, ID, 'anna', {blue}, {zero}, {two}, '10m', 'Müller', 'note', 2)"
                ),
                format!(
                    "hold_slot({site}, ID, 'anna', {blue}, {zero}, {one}, '11m', 'Müller', 'note', 2)"
                ),
                format!(
                    "hold_slot({site}, ID, 'anna', {blue}, {zero}, {one}, '10m', 'Muller', 'note', 2)"
                ),
                format!(
                    "hold_slot({site}, ID, 'anna', {blue}, {zero}, {one}, '10m', 'Müller', '', 2)"
                ),
                format!(
                    "hold_slot({site}, ID, 'anna', {blue}, {zero}, {one}, '10m', 'Müller', 'note', 3)"
                ),
                // Another command altogether.
                format!("cancel_slot({site}, ID, 'anna', {hold})"),
                format!("hold_stock({site}, ID, 'anna', {ticket}, 1)"),
            ],
        ),
        (
            format!("block_slot({site}, ID, 'anna', {blue}, {one}, {two}, 'paint')"),
            vec![format!(
                "block_slot({site}, ID, 'anna', {blue}, {one}, {two}, 'paints')"
            )],
        ),
        (
            format!("edit_slot({site}, ID, 'anna', {hold}, 'Okafor')"),
            vec![format!(
                "edit_slot({site}, ID, 'anna', {hold}, 'Okafor', '')"
            )],
        ),
        (
            format!("confirm_slot({site}, ID, 'anna', {hold}, 2)"),
            vec![
                format!("confirm_slot({site}, ID, 'anna', {hold})"),
                format!("cancel_slot({site}, ID, 'anna', {hold}, '', 2)"),
            ],
        ),
        (
            format!("hold_stock({site}, ID, 'anna', {ticket}, 1)"),
            vec![
                format!("hold_stock({site}, ID, 'anna', {ticket}, 2)"),
                format!("hold_stock({site}, ID, 'anna', {breakfast}, 1)"),
            ],
        ),
        (
            format!("confirm_stock({site}, ID, 'anna', {stock})"),
            vec![format!("cancel_stock({site}, ID, 'anna', {stock})")],
        ),
        (
            format!("receive_stock({site}, ID, 'anna', {ticket}, 2, 'delivery')"),
            vec![
                format!("receive_stock({site}, ID, 'anna', {ticket}, 3, 'delivery')"),
                format!("adjust_stock({site}, ID, 'anna', {ticket}, 2, 'delivery')"),
            ],
        ),
        (
            format!("add_room({site}, ID, 'anna', 'Attic', 6, 'hour', '15 minutes')"),
            vec![format!(
                "add_room({site}, ID, 'anna', 'Attic', 6, 'hour', '16 minutes')"
            )],
        ),
        (
            format!("add_item({site}, ID, 'anna', 'Parking day', 6)"),
            vec![format!("add_item({site}, ID, 'anna', 'Parking day', 7)")],
        ),
        (
            format!("retire_room({site}, ID, 'anna', {})", test.studio),
            vec![format!("retire_room({site}, ID, 'anna', {})", test.loft)],
        ),
        (
            format!("retire_item({site}, ID, 'anna', {ticket})"),
            vec![format!("retire_item({site}, ID, 'anna', {breakfast})")],
        ),
    ] {
        let id = format!("'{}'", Uuid::new_v4());
        let first = ask(&mut desk, &call.replace("ID", &id)).await;
        assert_eq!(first["refusal"], Value::Null, "{call}: {first}");
        assert_eq!(first["repeated"], false, "{call}");
        let before: i64 = value(&mut desk, "SELECT count(*) FROM hold_event").await;
        let again = ask(&mut desk, &call.replace("ID", &id)).await;
        assert_eq!(again["refusal"], Value::Null, "{call}");
        assert_eq!(again["repeated"], true, "{call}");
        for other in other {
            let reused = ask(&mut desk, &other.replace("ID", &id)).await;
            assert_eq!(reused["refusal"], "request_reused", "{other}");
            assert_eq!(reused["repeated"], false, "{other}");
            let command = call.split('(').next().unwrap();
            assert_eq!(reused["details"]["command"], command, "{other}");
        }
        let after: i64 = value(&mut desk, "SELECT count(*) FROM hold_event").await;
        assert_eq!(before, after, "{call}: nothing changes");
    }
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r21_adding_a_site_twice_is_one_site_and_another_body_is_refused() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let id = Uuid::new_v4();
    let call = |id: Uuid, zone: &str| format!("add_site('{id}', 'anna', 'Annex', '{zone}')");
    let first = ask(&mut desk, &call(id, "Europe/Paris")).await;
    let again = ask(&mut desk, &call(id, "Europe/Paris")).await;
    assert_eq!(
        (&first["repeated"], &again["repeated"]),
        (&false.into(), &true.into())
    );
    assert_eq!(again["site_id"], first["site_id"]);
    // The id stands for itself, also before there is a site: another zone or another name is another question.
    for other in [
        call(id, "Europe/Rome"),
        format!("add_site('{id}', 'anna', 'Shed', 'Europe/Paris')"),
    ] {
        assert_eq!(ask(&mut desk, &other).await["refusal"], "request_reused");
    }
    let taken = crate::try_ask(&mut desk, &call(Uuid::new_v4(), "Europe/Paris")).await;
    assert_eq!(crate::guard(taken), "site_name_unique");
}

/// The call with one id for every time that it is sent.
fn with_id(call: &str) -> (Uuid, String) {
    let id = Uuid::new_v4();
    (id, call.replace("gen_random_uuid()", &format!("'{id}'")))
}

#[tokio::test]
async fn r21_the_outcome_is_written_in_the_transaction_of_the_change() {
    let test = TestHouse::new().await;
    let mut observer = test.database.connect().await;
    let (id, call) = with_id(&hold_slot_call(&test, "anna", test.blue.0, 0, 2, "10m"));
    let (mut desk, _) = open_transaction(&test, &format!("SELECT * FROM {call}")).await;
    let seen = format!(
        "SELECT (SELECT count(*) FROM request WHERE request_id = '{id}')
            + (SELECT count(*) FROM slot_hold) + (SELECT count(*) FROM hold_event WHERE request_id = '{id}')"
    );
    assert_eq!(value::<i64>(&mut observer, &seen).await, 0);
    assert_eq!(value::<i64>(&mut desk, &seen).await, 3);
    run(&mut desk, "ROLLBACK").await;
    assert_eq!(value::<i64>(&mut observer, &seen).await, 0);
}

#[tokio::test]
async fn r5_the_callers_session_changes_neither_the_outcome_nor_the_fingerprint() {
    let test = TestHouse::new().await;
    let mut sessions = Vec::new();
    for (zone, dates, intervals) in [
        ("UTC", "ISO, MDY", "postgres"),
        ("Asia/Tokyo", "SQL, DMY", "sql_standard"),
        ("America/St_Johns", "German, DMY", "iso_8601"),
        ("Australia/Lord_Howe", "Postgres, YMD", "postgres_verbose"),
    ] {
        let mut session = test.database.connect().await;
        run(&mut session, &format!("SET TimeZone = '{zone}'")).await;
        run(&mut session, &format!("SET DateStyle = '{dates}'")).await;
        run(&mut session, &format!("SET IntervalStyle = '{intervals}'")).await;
        run(&mut session, "SET extra_float_digits = 0").await;
        sessions.push(session);
    }
    let site = test.site();
    test.hold(test.garden, hours(0, 2), None).await;
    let far = "'9000-01-01 00:00+00'";
    for call in [
        format!(
            "hold_slot({site}, ID, 'anna', {}, {}, {}, '1 day', 'Müller')",
            test.blue,
            at(0),
            at(2)
        ),
        format!(
            "hold_slot({site}, ID, 'anna', {}, {}, {})",
            test.garden,
            at(1),
            at(3)
        ),
        format!(
            "hold_slot({site}, ID, 'anna', {}, '2020-02-01 10:00+02', '2020-02-01 12:30:00.25+02')",
            test.blue
        ),
        format!(
            "hold_slot({site}, ID, 'anna', {}, {}, {far})",
            test.blue,
            at(9)
        ),
        format!(
            "hold_slot({site}, ID, 'anna', {}, {}, 'infinity')",
            test.blue,
            at(9)
        ),
        format!(
            "hold_stock({site}, ID, 'anna', {}, 2, '00:07:00.5')",
            test.ticket
        ),
        format!(
            "add_room({site}, ID, 'anna', 'Attic', 6, 'night', '15 minutes', '{{a,b}}', '14:30', '10:15')"
        ),
    ] {
        let call = call.replace("ID", &format!("'{}'", Uuid::new_v4()));
        let mut answers = Vec::new();
        for session in &mut sessions {
            let mut answer = ask(session, &call).await;
            answer["now"].take();
            answer["repeated"].take();
            // The form of a timestamp in JSON has the session's offset; the instant must be one.
            for field in [
                "starts_at",
                "ends_at",
                "occupied_until",
                "expires_at",
                "created_at",
                "changed_at",
            ] {
                if let Some(text) = answer[field].as_str() {
                    let instant: chrono::DateTime<chrono::Utc> = text.parse().unwrap();
                    answer[field] = instant.to_rfc3339().into();
                }
            }
            answers.push(answer);
        }
        for answer in &answers[1..] {
            assert_eq!(answer, &answers[0], "{call}");
            assert_ne!(answer["refusal"], "request_reused", "{call}");
        }
    }
    // What the details say is in the site's zone, whoever asks.
    let call = format!(
        "hold_slot({site}, gen_random_uuid(), 'anna', {}, '2020-07-01 10:00+00', '2020-07-01 12:00+00')",
        test.blue
    );
    let past = ask(&mut sessions[1], &call).await;
    assert_eq!(past["details"]["to"], "2020-07-01T13:00:00+01:00");
}
