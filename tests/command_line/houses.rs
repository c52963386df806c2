//! Houses from scripts: names, rooms and items, house files, and what `check` finds.

use super::{at, keyrack, keyrack_json, soon};
use crate::support::{Database, HOUSE, TestHouse};
use keyrack::domain::rule;
use serde_json::json;
use sqlx::Executor;
use std::fs;
use std::path::PathBuf;
use uuid::Uuid;

#[tokio::test(flavor = "multi_thread")]
async fn r26_names_are_stored_exactly_and_printed_harmlessly() {
    let test = TestHouse::new().await;
    let database = &test.database;
    let family = "👩‍❤️‍👨 محمد";
    let hostile = "\u{1b}[2J\u{202e}evil\r\n\u{7}";
    for (clock, guest) in [("10:00", family), ("12:00", hostile)] {
        let to = at(&clock.replace(":00", ":30"));
        let held = keyrack_json(
            database,
            &[
                "room",
                "hold",
                "Blue room",
                &at(clock),
                &to,
                "--guest",
                guest,
            ],
        )
        .done();
        assert_eq!(held["guest"], guest);
    }
    let date = soon().to_string();
    for arguments in [
        vec!["list", "--date", date.as_str()],
        vec!["room", "holds"],
        vec!["history"],
        vec!["room", "hold", "Blue room", &at("12:00"), &at("12:30")],
    ] {
        let run = keyrack(database, &arguments);
        let printed = format!("{}{}", run.stdout, run.stderr);
        assert!(printed.contains("evil"), "{printed}");
        let harmful = |character: char| {
            (character.is_control() && character != '\n') || character == '\u{202e}'
        };
        assert!(!printed.contains(harmful), "{printed:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rooms_and_items_come_and_go() {
    let test = TestHouse::new().await;
    let database = &test.database;
    let room = keyrack_json(
        database,
        &[
            "room",
            "add",
            "Cellar",
            "--capacity",
            "3",
            "--turnaround",
            "15m",
            "--feature",
            "cool",
            "--feature",
            "dark",
        ],
    )
    .done();
    assert_eq!(
        room,
        json!({
            "room_id": room["room_id"], "room": "Cellar", "capacity": 3, "booked_by": "hour", "turnaround": "15m",
            "features": ["cool", "dark"], "retired": false,
        })
    );
    assert_eq!(keyrack(database, &["room", "add", "Cellar"]).code, 2);
    let number = format!("#{}", room["room_id"]);
    assert_eq!(
        keyrack_json(database, &["room", "retire", &number]).done()["retired"],
        true
    );
    keyrack_json(
        database,
        &["room", "hold", "Cellar", &at("10:00"), &at("11:00")],
    )
    .refused("retired");
    let item = keyrack_json(database, &["stock", "add", "Boat", "4"]).done();
    assert_eq!((&item["total"], &item["available"]), (&json!(4), &json!(4)));
    keyrack_json(database, &["stock", "retire", "Boat"]).done();
    keyrack_json(database, &["stock", "hold", "Boat", "1"]).refused("retired");
    let block = keyrack_json(
        database,
        &[
            "room",
            "block",
            "Studio",
            &at("08:00"),
            &at("09:00"),
            "--reason",
            "painting",
        ],
    )
    .done();
    assert_eq!(
        (&block["purpose"], &block["state"]),
        (&json!("block"), &json!("confirmed"))
    );
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_house_is_applied_from_a_file_and_a_second_time_changes_nothing() {
    let database = Database::empty().await;
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.toml", Uuid::new_v4()));
    let path = file.to_str().unwrap();
    fs::write(&file, HOUSE).unwrap();

    let unprepared = keyrack(&database, &["list"]);
    assert_eq!(unprepared.code, 1);
    assert!(
        unprepared.stderr.contains("keyrack db migrate"),
        "{unprepared:?}"
    );
    assert_eq!(keyrack(&database, &["db", "migrate"]).code, 0);
    // A database that the user named never gets samples; it says how to describe a house.
    let empty = keyrack(&database, &["list"]);
    assert_eq!(empty.code, 2);
    assert!(empty.stderr.contains("keyrack site apply"), "{empty:?}");

    let applied = keyrack_json(&database, &["site", "apply", path]).done();
    assert_eq!(applied["site"], "Test House");
    assert_eq!(applied["changes"].as_array().unwrap().len(), 7);
    let again = keyrack_json(&database, &["site", "apply", path]).done();
    assert_eq!(again["changes"], json!([]));
    fs::write(
        &file,
        format!("{}\n[[room]]\nname = \"Attic\"\nwindows = 2\n", HOUSE),
    )
    .unwrap();
    let mistaken = keyrack(&database, &["site", "apply", path]);
    assert_eq!(mistaken.code, 2);
    let line = HOUSE.lines().count() + 4;
    assert!(
        mistaken.stderr.contains(&format!("line {line}")),
        "{mistaken:?}"
    );
    fs::remove_file(&file).unwrap();

    keyrack_json(&database, &["site", "add", "Annex", "Asia/Tokyo"]).done();
    let several = keyrack(&database, &["list"]);
    assert_eq!(several.code, 2, "{several:?}");
    assert_eq!(
        keyrack_json(&database, &["--site", "Annex", "room", "list"]).done(),
        json!([])
    );
    keyrack_json(&database, &["site", "default", "Annex"]).done();
    assert_eq!(keyrack_json(&database, &["list"]).done()["site"], "Annex");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_fails_on_rows_that_break_a_rule() {
    let test = TestHouse::new().await;
    let mut connection = test.database.connect().await;
    connection
        .execute("UPDATE inventory SET available = available + 1 WHERE name = 'Breakfast'")
        .await
        .unwrap();
    let check = keyrack_json(&test.database, &["check"]);
    assert_eq!(check.code, 1, "{check:?}");
    assert_eq!(check.json()["ok"], false);
    assert_eq!(check.json()["problems"][0]["rule"], "R19");
    let sentence = rule::sentence("R19").unwrap();
    assert_eq!(check.json()["problems"][0]["sentence"], sentence);
    let said = keyrack(&test.database, &["check"]);
    assert_eq!(said.code, 1);
    assert!(said.stdout.contains("Breakfast"), "{said:?}");
    assert!(
        said.stdout.contains(&format!("\nR19: {sentence}")),
        "{said:?}"
    );
}
