//! Claims on rooms and stock from scripts: held, confirmed, changed, refused.

use super::{Run, at, keyrack, keyrack_json, program, soon};
use crate::support::{TestHouse, hours};
use chrono::{DateTime, Days, NaiveDate, Utc};
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::{Duration, Instant};
use uuid::Uuid;

#[tokio::test(flavor = "multi_thread")]
async fn a_room_is_held_confirmed_edited_and_cancelled() {
    let test = TestHouse::new().await;
    let database = &test.database;
    let (from, to) = (at("10:00"), at("12:00"));
    let held = keyrack_json(
        database,
        &[
            "room",
            "hold",
            "Blue room",
            &from,
            &to,
            "--guest",
            "Müller",
            "--party",
            "6",
            "--ttl",
            "5m",
        ],
    )
    .done();
    let hold = held["hold_id"].to_string();
    assert_eq!(held["site"], "Test House");
    assert_eq!(held["room"], "Blue room");
    assert_eq!(held["state"], "held");
    assert_eq!(held["guest"], "Müller");
    assert_eq!(held["party"], 6);
    assert_eq!(held["desk"], "anna");
    assert_eq!(held["repeated"], false);
    assert!(
        (295..=300).contains(&held["seconds_left"].as_i64().unwrap()),
        "{held}"
    );
    assert!(held["from"].as_str().unwrap().starts_with(&from), "{held}");

    let confirmed = keyrack_json(
        database,
        &["room", "confirm", &hold, "--expect-version", "1"],
    )
    .done();
    assert_eq!(confirmed["state"], "confirmed");
    assert_eq!(confirmed["expires_at"], Value::Null);
    assert_eq!(confirmed["version"], 2);
    keyrack_json(database, &["room", "confirm", &hold]).refused("already_confirmed");

    let edited = keyrack_json(database, &["room", "edit", &hold, "--note", "coffee at 11"]).done();
    assert_eq!(
        (&edited["guest"], &edited["note"]),
        (&json!("Müller"), &json!("coffee at 11"))
    );
    // R22: whoever saw version 2 must look again.
    let stale = keyrack_json(
        database,
        &["room", "cancel", &hold, "--expect-version", "2"],
    )
    .refused("stale");
    assert_eq!(stale["details"]["version"], 3);

    let cancelled = keyrack_json(
        database,
        &["room", "cancel", &hold, "--reason", "guest called"],
    )
    .done();
    assert_eq!(cancelled["state"], "cancelled");
    assert_eq!(
        keyrack_json(database, &["room", "show", &hold]).done()["version"],
        4
    );
    let history = keyrack_json(database, &["history", "--room-hold", &hold]).done();
    let events: Vec<&str> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    assert_eq!(events, ["held", "confirmed", "edited", "cancelled"]);
    assert_eq!(history[3]["reason"], "guest called");
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_a_sentence_for_people_and_an_object_for_programs() {
    let test = TestHouse::new().await;
    let database = &test.database;
    let (from, to) = (at("10:00"), at("12:00"));
    let hold = [
        "room",
        "hold",
        "Blue room",
        from.as_str(),
        to.as_str(),
        "--guest",
        "Müller",
    ];
    assert_eq!(keyrack(database, &hold).code, 0);
    let taken = keyrack_json(database, &hold).refused("slot_taken");
    assert_eq!(taken["details"]["guest"], "Müller");
    assert_eq!(taken["details"]["state"], "held");
    let said = keyrack(database, &hold);
    assert_eq!((said.code, said.stdout.as_str()), (3, ""));
    assert!(
        said.stderr
            .contains("Blue room is taken by Müller (desk anna) 10:00–12:00"),
        "{said:?}"
    );
    assert!(said.stderr.contains("held until"), "{said:?}");

    for (arguments, code) in [
        (vec!["room", "hold", "Nowhere", &from, &to], "no_such_room"),
        (vec!["room", "hold", "#99", &from, &to], "no_such_room"),
        (
            vec!["room", "hold", "Garden room", &from, &from],
            "period_invalid",
        ),
        (
            vec!["room", "hold", "Garden room", &to, &from],
            "period_invalid",
        ),
        (
            vec!["room", "hold", "Garden room", "2020-01-01T10:00", "11:00"],
            "in_the_past",
        ),
        (
            vec!["room", "hold", "Garden room", "2999-01-01T10:00", "11:00"],
            "beyond_horizon",
        ),
        (
            vec![
                "room",
                "hold",
                "Garden room",
                "2030-03-31T01:30",
                "2030-03-31T04:00",
            ],
            "local_time_does_not_exist",
        ),
        (
            vec![
                "room",
                "hold",
                "Garden room",
                "2030-10-27T01:30",
                "2030-10-27T04:00",
            ],
            "local_time_is_ambiguous",
        ),
        (
            vec!["room", "hold", "Garden room", &from, &to, "--party", "0"],
            "quantity_invalid",
        ),
        (
            vec!["room", "hold", "Garden room", &from, &to, "--ttl", "400d"],
            "period_invalid",
        ),
        (vec!["room", "hold", "Loft", &from, &to], "period_invalid"),
        (vec!["room", "confirm", "999"], "no_such_hold"),
        (vec!["room", "show", "999"], "no_such_hold"),
        (vec!["stock", "hold", "Nothing", "1"], "no_such_item"),
        (vec!["stock", "hold", "Breakfast", "0"], "quantity_invalid"),
        (vec!["stock", "hold", "Breakfast", "-3"], "quantity_invalid"),
        (
            vec!["stock", "hold", "Breakfast", "99999999999"],
            "quantity_invalid",
        ),
        (vec!["stock", "hold", "Breakfast", "11"], "sold_out"),
        (
            vec!["stock", "adjust", "Breakfast", "-11", "--reason", "spoilt"],
            "below_committed",
        ),
    ] {
        keyrack_json(database, &arguments).refused(code);
    }
    let long = "x".repeat(201);
    keyrack_json(
        database,
        &["stock", "hold", "Breakfast", "1", "--guest", &long],
    )
    .refused("text_too_long");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_of_another_kind_is_told_as_what_it_is() {
    let test = TestHouse::new().await;
    let database = &test.database;
    let room = test.hold(test.blue, hours(0, 1), None).await.id.to_string();
    let stock = test.hold_stock(test.ticket, 1, None).await.id.to_string();
    for (arguments, kind, words) in [
        (["room", "show", &stock], "stock", "a hold on stock"),
        (["room", "confirm", &stock], "stock", "a hold on stock"),
        (["stock", "show", &room], "room", "a hold on a room"),
        (["stock", "cancel", &room], "room", "a hold on a room"),
        (["group", "show", &room], "room", "a hold on a room"),
        (["group", "confirm", &stock], "stock", "a hold on stock"),
        (
            ["history", "--room-hold", &stock],
            "stock",
            "a hold on stock",
        ),
    ] {
        let refusal = keyrack_json(database, &arguments).refused("no_such_hold");
        assert_eq!(refusal["details"]["kind"], kind, "{arguments:?}");
        let said = keyrack(database, &arguments).stderr;
        assert!(
            said.contains(&format!("{} is {words}", arguments[2])),
            "{said}"
        );
    }
    let nothing = keyrack_json(database, &["room", "show", "999"]).refused("no_such_hold");
    assert_eq!(nothing["details"].get("kind"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn r21_the_same_request_id_is_done_once() {
    let test = TestHouse::new().await;
    let database = &test.database;
    let id = Uuid::new_v4().to_string();
    let ask = |quantity: &str| {
        keyrack_json(
            database,
            &["stock", "hold", "Breakfast", quantity, "--request-id", &id],
        )
    };
    let first = ask("2").done();
    let second = ask("2").done();
    assert_eq!(
        (&first["repeated"], &second["repeated"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(first["hold_id"], second["hold_id"]);
    assert_eq!(first["request_id"], json!(id));
    ask("3").refused("request_reused");
    assert_eq!(
        keyrack_json(database, &["stock", "list"]).done()[0]["available"],
        8
    );
    let history = keyrack_json(database, &["history", "--request", &id]).done();
    assert_eq!(history.as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn r16_r17_r18_r19_stock_adds_up() {
    let test = TestHouse::new().await;
    let database = &test.database;
    let held = keyrack_json(
        database,
        &["stock", "hold", "breakfast", "3", "--guest", "Okafor"],
    )
    .done();
    let hold = held["hold_id"].to_string();
    assert_eq!(
        (&held["item"], &held["quantity"]),
        (&json!("Breakfast"), &json!(3))
    );
    keyrack_json(database, &["stock", "confirm", &hold]).done();
    keyrack_json(database, &["stock", "cancel", &hold]).refused("sale_is_final");
    let other =
        keyrack_json(database, &["stock", "hold", "Breakfast", "2"]).done()["hold_id"].to_string();
    keyrack_json(
        database,
        &["stock", "cancel", &other, "--reason", "changed their mind"],
    )
    .done();
    keyrack_json(database, &["stock", "cancel", &other]).refused("already_cancelled");
    keyrack_json(
        database,
        &["stock", "receive", "Breakfast", "5", "--reason", "delivery"],
    )
    .done();
    let item = keyrack_json(
        database,
        &["stock", "adjust", "Breakfast", "-2", "--reason", "spoilt"],
    )
    .done();
    assert_eq!(
        item,
        json!({"item_id": item["item_id"], "item": "Breakfast", "total": 13, "available": 10, "held": 0, "sold": 3})
    );
    let confirmed = keyrack_json(
        database,
        &["stock", "holds", "--state", "confirmed", "--guest", "oka"],
    )
    .done();
    assert_eq!(confirmed.as_array().unwrap().len(), 1);
    let check = keyrack_json(database, &["check"]).done();
    assert_eq!(check, json!({"ok": true, "problems": []}));
}

#[tokio::test(flavor = "multi_thread")]
async fn r1_several_programs_that_want_one_slot_make_one_winner() {
    let test = TestHouse::new().await;
    let (from, to) = (at("10:00"), at("12:00"));
    let children: Vec<_> = (0..6)
        .map(|_| {
            program(&["room", "hold", "Blue room", &from, &to, "--json"])
                .env("DATABASE_URL", test.database.url())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let runs: Vec<Run> = children
        .into_iter()
        .map(|child| child.wait_with_output().unwrap().into())
        .collect();
    let winners = runs.iter().filter(|run| run.code == 0).count();
    assert_eq!(winners, 1, "{runs:?}");
    for loser in runs.iter().filter(|run| run.code != 0) {
        loser.refused("slot_taken");
    }
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r5_the_terminals_zone_changes_nothing() {
    let test = TestHouse::new().await;
    let in_zone = |zone: &str, arguments: &[&str]| -> Run {
        let mut command = program(arguments);
        command
            .env("DATABASE_URL", test.database.url())
            .env("TZ", zone);
        command.output().unwrap().into()
    };
    let (from, to) = (at("10:00"), at("12:00"));
    let held = in_zone(
        "Asia/Tokyo",
        &["room", "hold", "Blue room", &from, &to, "--json"],
    )
    .done();
    assert!(held["from"].as_str().unwrap().starts_with(&from), "{held}");
    let hold = held["hold_id"].to_string();
    let here = in_zone("UTC", &["room", "show", &hold, "--json"]).done();
    let there = in_zone("America/Los_Angeles", &["room", "show", &hold, "--json"]).done();
    assert_eq!((&here["from"], &here["to"]), (&there["from"], &there["to"]));
    assert_eq!(here["from"], held["from"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn r6_r7_midnight_and_nights_are_listed_where_they_belong() {
    let test = TestHouse::new().await;
    let database = &test.database;
    let (date, next) = (soon(), soon() + Days::new(1));
    let late = at("22:00");
    keyrack_json(database, &["room", "hold", "Blue room", &late, "24:00"]).done();
    let over = format!("{next}T02:00");
    keyrack_json(database, &["room", "hold", "Garden room", &late, &over]).done();
    let (arrival, departure) = (date.to_string(), (date + Days::new(2)).to_string());
    let stay = keyrack_json(database, &["room", "hold", "Loft", &arrival, &departure]).done();
    assert_eq!(stay["nights"], 2);
    // R7: the next guest arrives on the morning that this one leaves.
    let later = (date + Days::new(3)).to_string();
    keyrack_json(database, &["room", "hold", "Loft", &departure, &later]).done();

    let claims = |day: NaiveDate, room: usize| {
        let list = keyrack_json(database, &["list", "--date", &day.to_string()]).done();
        list["days"][0]["rooms"][room]["claims"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!((claims(date, 0), claims(next, 0)), (1, 0));
    assert_eq!((claims(date, 1), claims(next, 1)), (1, 1));
    assert_eq!(
        (
            claims(date, 3),
            claims(next, 3),
            claims(date + Days::new(2), 3)
        ),
        (1, 1, 2)
    );
    let week = keyrack_json(database, &["list", "--week"]).done();
    assert_eq!(week["days"].as_array().unwrap().len(), 7);
    let text = keyrack(database, &["list", "--date", &date.to_string()]);
    assert!(text.stdout.contains("22:00–24:00"), "{text:?}");
    assert!(text.stdout.contains("Museum ticket"), "{text:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn r11_a_hold_that_ran_out_is_expired_and_its_slot_can_be_held_again() {
    let test = TestHouse::new().await;
    let database = &test.database;
    let (from, to) = (at("10:00"), at("12:00"));
    let hold = [
        "room",
        "hold",
        "Blue room",
        from.as_str(),
        to.as_str(),
        "--ttl",
        "1s",
    ];
    let held = keyrack_json(database, &hold).done();
    let started = Instant::now();
    while keyrack_json(database, &["sweep", "--once"]).done()["expired"] == 0 {
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "it never ran out"
        );
    }
    let expired = keyrack_json(database, &["room", "holds", "--state", "expired"]).done();
    assert_eq!(expired[0]["hold_id"], held["hold_id"]);
    assert_eq!(expired[0]["seconds_left"], Value::Null);
    let late = keyrack_json(database, &["room", "confirm", &held["hold_id"].to_string()])
        .refused("hold_expired");
    assert_eq!(late["details"]["still_free"], true);
    keyrack_json(database, &hold).done();
}

#[tokio::test(flavor = "multi_thread")]
async fn r5_times_and_dates_are_read_in_words() {
    let test = TestHouse::new().await;
    let database = &test.database;
    // The dates that the words mean, on the house's clocks; asked again should midnight come between.
    let today = || {
        Utc::now()
            .with_timezone(&chrono_tz::Europe::London)
            .date_naive()
    };
    let on = |days: u64| (today() + Days::new(days)).to_string();
    let hold = |room, from, to| keyrack_json(database, &["room", "hold", room, from, to]).done();
    let (before, held) = (on(1), hold("Blue room", "Tomorrow 10:00", "11:30"));
    if before == on(1) {
        assert!(
            held["from"]
                .as_str()
                .unwrap()
                .starts_with(&format!("{before}T10:00:00")),
            "{held}"
        );
        assert!(
            held["to"]
                .as_str()
                .unwrap()
                .starts_with(&format!("{before}T11:30:00")),
            "{held}"
        );
    }
    let held = hold("Blue room", "+7T9:30", "+7 24:00");
    assert!(
        held["from"].as_str().unwrap().contains("T09:30:00"),
        "{held}"
    );
    let held = hold("Blue room", "now", "+1 9:00");
    let from: DateTime<Utc> = held["from"].as_str().unwrap().parse().unwrap();
    let age = Utc::now() - from;
    assert!((0..120).contains(&age.num_seconds()), "{held}");
    assert!(held["from"].as_str().unwrap().contains(":00+"), "{held}");

    let nights = hold("Loft", "tomorrow", "+3");
    assert_eq!(nights["nights"], 2);
    let tonight = hold("Loft", "Tonight", "tomorrow");
    assert_eq!(tonight["nights"], 1);

    let bare = ["room", "hold", "Blue room", "tomorrow", "+2"];
    let problem = &keyrack_json(database, &bare).refused("period_invalid")["details"]["problem"];
    assert_eq!(problem, "not_hours");
    let unreadable = keyrack(database, &["room", "hold", "Blue room", "soon", "11:30"]);
    assert_eq!(unreadable.code, 2, "{unreadable:?}");
    assert!(
        unreadable.stderr.contains("tomorrow 10:00"),
        "{unreadable:?}"
    );

    let held = |arguments: &[&str]| {
        let all = ["room", "holds", "--room", "Blue room"];
        let listed = keyrack_json(database, &[&all[..], arguments].concat()).done();
        listed.as_array().unwrap().len()
    };
    assert_eq!(held(&["--from", "-1", "--to", "+2"]), 2);
    assert_eq!(held(&["--from", "+5", "--to", "+9"]), 1);
    let listed = keyrack_json(database, &["list", "--date", "-1"]).done();
    assert_eq!(listed["days"].as_array().unwrap().len(), 1);
    let listed = keyrack_json(database, &["list", "--date", "3 DEC"]).done();
    assert!(
        listed["days"][0]["date"]
            .as_str()
            .unwrap()
            .ends_with("-12-03"),
        "{listed}"
    );
}
