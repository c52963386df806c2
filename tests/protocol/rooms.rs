//! Claims on rooms: who gets the period.

use chrono::TimeDelta;
use keyrack::domain::{Change, Command, Refusal, Request, SlotEdit};
use serde_json::Value;

use crate::support::{TestHouse, backend, hold_slot, hour, hours, refusal};
use crate::{Sent, ask, at, guard, hold_slot_call, open_transaction, run, try_run, value};

/// A claim written around the protocol.
pub fn insert(test: &TestHouse, room: i64, period: &str) -> String {
    format!(
        "INSERT INTO slot_hold (site_id, room_id, period, expires_at)
         VALUES ({}, {room}, {period}, now() + interval '10 minutes')",
        test.site()
    )
}

pub fn range(from: i64, to: i64) -> String {
    format!("tstzrange({}, {})", at(from), at(to))
}

#[tokio::test]
async fn r1_overlap_and_containment_are_refused_by_protocol_and_constraint() {
    let test = TestHouse::new().await;
    let other = test.another_desk().await;
    let mut stray = test.database.connect().await;
    let holder = test.hold(test.blue, hours(4, 8), None).await;
    for (from, to) in [
        (3, 5), // over its start
        (7, 9), // over its end
        (5, 7), // inside
        (3, 9), // around
        (4, 6), // inside, equal start
        (6, 8), // inside, equal end
        (4, 9), // around, equal start
        (3, 8), // around, equal end
        (4, 8), // identical
    ] {
        let command = hold_slot(test.blue, hours(from, to), None);
        let answer = other
            .execute(Request::fresh(test.desk.clone(), command))
            .await;
        let Refusal::SlotTaken(taken) = refusal(answer.unwrap()) else {
            panic!("{from} to {to} was not taken")
        };
        assert_eq!(taken.hold_id, Some(holder.id), "{from} to {to}");
        let around = try_run(&mut stray, &insert(&test, test.blue.0, &range(from, to))).await;
        assert_eq!(guard(around), "slot_hold_no_overlap", "{from} to {to}");
    }
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r1_a_change_of_period_or_room_around_the_protocol_is_guarded_too() {
    let test = TestHouse::new().await;
    let mut stray = test.database.connect().await;
    test.hold(test.blue, hours(0, 2), None).await;
    let beside = test.hold(test.blue, hours(2, 4), None).await.id;
    let elsewhere = test.hold(test.garden, hours(1, 3), None).await.id;
    for (hold, change) in [
        (beside, format!("period = {}", range(1, 4))),
        (elsewhere, format!("room_id = {}", test.blue)),
        (beside, "turnaround = '-1 hour'".into()),
    ] {
        let update = format!("UPDATE slot_hold SET {change} WHERE hold_id = {hold}");
        let expected = if change.starts_with("turnaround") {
            "slot_hold_turnaround"
        } else {
            "slot_hold_no_overlap"
        };
        assert_eq!(guard(try_run(&mut stray, &update).await), expected);
    }
}

#[tokio::test]
async fn r1_another_room_is_another_matter() {
    let test = TestHouse::new().await;
    let other = test.another_desk().await;
    test.hold(test.blue, hours(0, 2), None).await;
    let command = hold_slot(test.garden, hours(0, 2), None);
    let answer = other
        .execute(Request::fresh(test.desk.clone(), command))
        .await;
    assert!(answer.unwrap().outcome.is_ok());
}

#[tokio::test]
async fn r1_an_ended_claim_is_in_nobodys_way() {
    let test = TestHouse::new().await;
    let hold = test.hold(test.blue, hours(0, 2), None).await;
    test.ask(Command::CancelSlot {
        hold: hold.id,
        expect_version: None,
        reason: String::new(),
    })
    .await
    .outcome
    .unwrap();
    test.hold(test.blue, hours(0, 2), None).await;
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r1_ten_simultaneous_claims_make_one_winner_and_nine_slot_taken() {
    let test = TestHouse::new().await;
    let (mut gate, gate_backend) = open_transaction(
        &test,
        &format!("SELECT lock_room({}, {})", test.site(), test.blue),
    )
    .await;
    let mut desks: Vec<Sent> = Vec::new();
    for desk in 0..10 {
        // They overlap without being the same.
        let call = hold_slot_call(
            &test,
            &format!("desk {desk}"),
            test.blue.0,
            desk - 9,
            1 + desk,
            "10m",
        );
        desks.push(Sent::queued(&test, call, gate_backend, &desks).await);
    }
    run(&mut gate, "COMMIT").await;
    let mut answers = Vec::new();
    for desk in desks {
        answers.push(desk.answer().await);
    }
    let winners: Vec<&Value> = answers
        .iter()
        .filter(|answer| answer["refusal"].is_null())
        .collect();
    assert_eq!(winners.len(), 1, "{answers:#?}");
    for loser in answers.iter().filter(|answer| !answer["refusal"].is_null()) {
        assert_eq!(loser["refusal"], "slot_taken");
        assert_eq!(loser["details"]["hold_id"], winners[0]["hold_id"]);
    }
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r1_ten_desks_through_the_store_make_one_winner() {
    let test = TestHouse::new().await;
    let mut desks = Vec::new();
    for _ in 0..10 {
        let (house, desk) = (test.another_desk().await, test.desk.clone());
        let command = hold_slot(test.blue, hours(0, 2), None);
        desks.push(tokio::spawn(async move {
            house.execute(Request::fresh(desk, command)).await.unwrap()
        }));
    }
    let mut won = 0;
    for desk in desks {
        match desk.await.unwrap().outcome {
            Ok(_) => won += 1,
            Err(refused) => assert_eq!(refused.refusal.code(), "slot_taken"),
        }
    }
    assert_eq!(won, 1);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r1_the_same_instant_written_in_two_zones_conflicts() {
    let test = TestHouse::new().await;
    let mut tokyo = test.database.connect().await;
    let mut new_york = test.database.connect().await;
    run(&mut tokyo, "SET TimeZone = 'Asia/Tokyo'").await;
    run(&mut new_york, "SET TimeZone = 'America/New_York'").await;
    let day = (hour(0) + TimeDelta::days(30)).date_naive();
    let call = |from: &str, to: &str| {
        format!(
            "hold_slot({}, gen_random_uuid(), 'anna', {}, '{day} {from}', '{day} {to}')",
            test.site(),
            test.blue
        )
    };
    // 19:00 to 21:00 in Tokyo is 10:00 to 12:00 in UTC, and 15:30 to 17:30 in India.
    let first = ask(&mut tokyo, &call("19:00", "21:00")).await;
    assert_eq!(first["refusal"], Value::Null);
    let second = ask(&mut new_york, &call("15:30+05:30", "17:30+05:30")).await;
    assert_eq!(second["refusal"], "slot_taken");
    assert_eq!(second["details"]["hold_id"], first["hold_id"]);
    let beside = ask(&mut new_york, &call("12:00+00", "13:00+00")).await;
    assert_eq!(beside["refusal"], Value::Null);
}

#[tokio::test]
async fn r3_back_to_back_is_fine_in_either_order() {
    let test = TestHouse::new().await;
    let other = test.another_desk().await;
    let mut stray = test.database.connect().await;
    test.hold(test.blue, hours(4, 6), None).await;
    for (from, to) in [(6, 8), (2, 4)] {
        let command = hold_slot(test.blue, hours(from, to), None);
        let answer = other
            .execute(Request::fresh(test.desk.clone(), command))
            .await;
        assert!(answer.unwrap().outcome.is_ok(), "{from} to {to}");
    }
    run(&mut stray, &insert(&test, test.blue.0, &range(10, 12))).await;
    // Exactly between two.
    test.hold(test.blue, hours(8, 10), None).await;
}

#[tokio::test]
async fn r4_a_turnaround_guards_after_and_before() {
    let test = TestHouse::new().await;
    let mut stray = test.database.connect().await;
    let quarter = TimeDelta::minutes(15);
    let claim = |from, to| {
        hold_slot(
            test.studio,
            keyrack::domain::Period::new(from, to).unwrap(),
            None,
        )
    };
    let hold = test.hold(test.studio, hours(0, 2), None).await;
    assert_eq!(hold.period, hours(0, 2));
    assert_eq!(hold.occupied_until, hour(2) + quarter);

    // Right after it there is cleaning; right before it, its own cleaning would run into it.
    for (from, to) in [
        (hour(2), hour(3)),
        (hour(-2), hour(0)),
        (hour(2) + TimeDelta::minutes(14), hour(3)),
        (hour(-2), hour(0) - TimeDelta::minutes(14)),
    ] {
        assert_eq!(
            refusal(test.ask(claim(from, to)).await).code(),
            "slot_taken"
        );
    }
    for (from, to) in [(hour(2) + quarter, hour(3)), (hour(-2), hour(0) - quarter)] {
        assert!(test.ask(claim(from, to)).await.outcome.is_ok());
    }

    // The guests after it may be moved up to where the cleaning ends, and no further, by any writer.
    let stray_claim =
        insert(&test, test.studio.0, &range(-5, -3)).replace("period,", "turnaround, period,");
    let stray_claim = stray_claim.replace("tstzrange", "interval '61 minutes', tstzrange");
    assert_eq!(
        guard(try_run(&mut stray, &stray_claim).await),
        "slot_hold_no_overlap"
    );
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r4_what_a_claim_occupies_is_tied_to_its_period_and_its_own_turnaround() {
    let test = TestHouse::new().await;
    let mut stray = test.database.connect().await;
    let hold = test.hold(test.studio, hours(0, 2), None).await;
    // A later change of the room leaves the claim as it was made.
    run(
        &mut stray,
        &format!(
            "UPDATE room SET turnaround = '1 hour' WHERE room_id = {}",
            test.studio
        ),
    )
    .await;
    let later = test.hold(test.studio, hours(3, 4), None).await;
    assert_eq!(later.occupied_until, hour(5));
    let occupied = format!(
        "SELECT upper(occupied) FROM slot_hold WHERE hold_id = {}",
        hold.id
    );
    assert_eq!(
        value::<chrono::DateTime<chrono::Utc>>(&mut stray, &occupied).await,
        hour(2) + TimeDelta::minutes(15)
    );
    // Nobody can write another span: it is generated.
    let forged = format!(
        "UPDATE slot_hold SET occupied = period WHERE hold_id = {}",
        hold.id
    );
    assert_eq!(guard(try_run(&mut stray, &forged).await), "428C9");
    for turnaround in ["-1 second", "24 hours", "1 day", "1 month"] {
        let update = format!(
            "UPDATE slot_hold SET turnaround = '{turnaround}' WHERE hold_id = {}",
            hold.id
        );
        assert_eq!(
            guard(try_run(&mut stray, &update).await),
            "slot_hold_turnaround"
        );
    }
}

#[tokio::test]
async fn r2_what_is_no_period_is_refused_by_the_function_and_by_the_constraint() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let (zero, one) = (at(0), at(1));
    for (from, to, problem) in [
        (zero.as_str(), zero.as_str(), "empty"),
        (&one, &zero, "reversed"),
        ("NULL", &one, "missing"),
        (&zero, "NULL", "missing"),
        ("NULL", "NULL", "missing"),
        ("'-infinity'", &one, "infinite"),
        (&zero, "'infinity'", "infinite"),
        ("'-infinity'", "'infinity'", "infinite"),
        ("'infinity'", "'infinity'", "infinite"),
    ] {
        for function in ["hold_slot", "block_slot", "import_slot"] {
            let rest = if function == "block_slot" {
                ", 'why'"
            } else {
                ""
            };
            let call = format!(
                "{function}({}, gen_random_uuid(), 'anna', {}, {from}, {to}{rest})",
                test.site(),
                test.blue
            );
            let answer = ask(&mut desk, &call).await;
            assert_eq!(answer["refusal"], "period_invalid", "{call}");
            assert_eq!(answer["details"]["problem"], problem, "{call}");
        }
    }
    for (period, expected) in [
        ("'empty'".into(), "slot_hold_period"),
        (format!("tstzrange({zero}, {zero})"), "slot_hold_period"),
        (format!("tstzrange({zero}, NULL)"), "slot_hold_period"),
        (format!("tstzrange(NULL, {one})"), "slot_hold_period"),
        ("'(,)'".into(), "slot_hold_period"),
        (format!("tstzrange({zero}, 'infinity')"), "slot_hold_period"),
        (
            "tstzrange('4700-01-01 00:00+00 BC', '4699-01-01 00:00+00 BC')".into(),
            "slot_hold_period",
        ),
        (
            "tstzrange('20000-01-01 00:00+00', '20001-01-01 00:00+00')".into(),
            "slot_hold_period",
        ),
        (format!("tstzrange('-infinity', {one})"), "slot_hold_period"),
        (
            "tstzrange('-infinity', 'infinity')".into(),
            "slot_hold_period",
        ),
        (
            format!("tstzrange({zero}, {one}, '[]')"),
            "slot_hold_period",
        ),
        (
            format!("tstzrange({zero}, {one}, '(]')"),
            "slot_hold_period",
        ),
        (
            format!("tstzrange({zero}, {one}, '()')"),
            "slot_hold_period",
        ),
        (
            format!("tstzrange({zero}, {zero}, '[]')"),
            "slot_hold_period",
        ),
        // Types and NOT NULL refuse these before any CHECK is asked.
        (format!("tstzrange({one}, {zero})"), "22000"),
        ("NULL".into(), "23502"),
    ] {
        let outcome = try_run(&mut desk, &insert(&test, test.blue.0, &period)).await;
        assert_eq!(guard(outcome), expected, "{period}");
    }
    let rows: i64 = value(&mut desk, "SELECT count(*) FROM slot_hold").await;
    assert_eq!(rows, 0);
}

#[tokio::test]
async fn r1_a_desk_does_not_wait_for_readers_and_another_room() {
    let test = TestHouse::new().await;
    let (mut holder, _) = open_transaction(
        &test,
        &format!("SELECT lock_room({}, {})", test.site(), test.blue),
    )
    .await;
    let mut desk = test.database.connect().await;
    backend(&mut desk).await;
    run(&mut desk, "SET lock_timeout = '200ms'").await;
    let answer = ask(
        &mut desk,
        &hold_slot_call(&test, "bert", test.garden.0, 0, 1, "10m"),
    )
    .await;
    assert_eq!(answer["refusal"], Value::Null);
    run(
        &mut desk,
        &format!(
            "SELECT * FROM claims_in_window({}, {}, {})",
            test.site(),
            at(0),
            at(9)
        ),
    )
    .await;
    run(&mut holder, "ROLLBACK").await;
}

#[tokio::test]
async fn a_party_can_be_written_down_kept_and_cleared_and_a_hold_for_nobody_is_refused() {
    let test = TestHouse::new().await;
    let hold = test.hold(test.blue, hours(0, 2), None).await;
    let edit = |party, note: &str| Command::EditSlot {
        hold: hold.id,
        expect_version: None,
        edit: SlotEdit {
            note: Some(note.into()),
            party,
            ..SlotEdit::default()
        },
    };
    for (party, known) in [
        (Change::Set(8), Some(8)),
        (Change::Keep, Some(8)),
        (Change::Clear, None),
        (Change::Keep, None),
    ] {
        let answer = test.ask(edit(party, "phoned")).await;
        assert_eq!(answer.slot().unwrap().party, known, "{party:?}");
    }
    let below = refusal(test.ask(edit(Change::Set(-1), "")).await);
    assert!(
        matches!(below, Refusal::QuantityInvalid { .. }),
        "{below:?}"
    );
    let mut for_nobody = hold_slot(test.garden, hours(0, 2), None);
    if let Command::HoldSlot { details, .. } = &mut for_nobody {
        details.party = Some(0);
    }
    let nobody = refusal(test.ask(for_nobody).await);
    assert!(
        matches!(nobody, Refusal::QuantityInvalid { .. }),
        "{nobody:?}"
    );
    test.assert_all_is_well().await;
}
