//! The command line as a script sees it: the compiled program, real databases, exit codes and JSON (design section 9).
#![allow(clippy::unwrap_used)]

#[path = "command_line/changes.rs"]
mod changes;
#[path = "command_line/logs.rs"]
mod logs;
mod support;

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use chrono::{Days, NaiveDate, Utc};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::{Value, json};
use sqlx::Executor;
use support::{Database, TestHouse};
use uuid::Uuid;

/// What one run of the program left behind.
#[derive(Debug)]
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Run {
    /// The one JSON value on standard output, with nothing around it.
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Done, and this is what it said.
    fn done(&self) -> Value {
        assert_eq!(self.code, 0, "{self:?}");
        self.json()
    }

    /// Refused with this code, as exit code 3 and one object.
    fn refused(&self, code: &str) -> Value {
        assert_eq!(self.code, 3, "{self:?}");
        let refusal = self.json();
        assert_eq!(refusal["refusal"], code, "{self:?}");
        assert!(
            refusal["message"]
                .as_str()
                .is_some_and(|message| message.ends_with('.'))
        );
        assert!(refusal["retryable"].is_boolean() && refusal["details"].is_object());
        refusal
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

fn program<Argument: AsRef<OsStr>>(arguments: &[Argument]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyrack"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .env_remove("DATABASE_URL")
        .env_remove("KEYRACK_SITE")
        .env_remove("KEYRACK_DATA_DIR")
        .env("KEYRACK_DESK", "anna")
        .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}

/// Runs the program on a database that the user named.
fn keyrack(database: &Database, arguments: &[&str]) -> Run {
    let mut command = program(arguments);
    command.env("DATABASE_URL", database.url());
    command.output().unwrap().into()
}

/// The same with `--json`.
fn keyrack_json(database: &Database, arguments: &[&str]) -> Run {
    let mut with_json = arguments.to_vec();
    with_json.push("--json");
    keyrack(database, &with_json)
}

/// A date that is ahead and within the horizon.
fn soon() -> NaiveDate {
    Utc::now().date_naive() + Days::new(30)
}

fn at(clock: &str) -> String {
    format!("{}T{clock}", soon())
}

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
    fs::write(&file, support::HOUSE).unwrap();

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
        format!(
            "{}\n[[room]]\nname = \"Attic\"\nwindows = 2\n",
            support::HOUSE
        ),
    )
    .unwrap();
    let mistaken = keyrack(&database, &["site", "apply", path]);
    assert_eq!(mistaken.code, 2);
    let line = support::HOUSE.lines().count() + 4;
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
    let said = keyrack(&test.database, &["check"]);
    assert_eq!(said.code, 1);
    assert!(said.stdout.contains("Breakfast"), "{said:?}");
}

#[test]
fn mistakes_and_an_unreachable_database_have_their_own_exit_codes() {
    for arguments in [
        vec![],
        vec!["--json"],
        vec!["nonsense"],
        vec!["room", "hold"],
        vec![
            "room",
            "hold",
            "Blue room",
            "2030-01-01T10:00",
            "2030-01-01T11:00",
            "--ttl",
            "soon",
        ],
        vec!["room", "confirm", "one"],
        vec!["room", "edit", "1"],
        vec!["room", "holds", "--state", "lost"],
        vec!["history", "--room-hold", "1", "--stock-hold", "1"],
        vec!["--database-url", "nonsense", "list"],
        vec!["--database-url", "mysql://anna@localhost/house", "list"],
        vec!["--database-url", "postgres:///x", "db", "reset", "--yes"],
    ] {
        let run: Run = program(&arguments).output().unwrap().into();
        assert_eq!(
            (run.code, run.stdout.as_str()),
            (2, ""),
            "{arguments:?}: {run:?}"
        );
    }
    let nobody = "postgres://anna:secret@127.0.0.1:1/house";
    for arguments in [vec!["list"], vec!["list", "--json"]] {
        let run: Run = program(&arguments)
            .env("DATABASE_URL", nobody)
            .output()
            .unwrap()
            .into();
        assert_eq!((run.code, run.stdout.as_str()), (4, ""), "{run:?}");
        assert!(
            run.stderr.contains("out of reach") && !run.stderr.contains("secret"),
            "{run:?}"
        );
    }
}

/// Runs the program in a terminal, and types an answer when it asks.
fn keyrack_asked(database: &Database, arguments: &[&str], answer: &str) -> (u32, String) {
    let terminal = native_pty_system().openpty(PtySize::default()).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_keyrack"));
    command.args(arguments);
    command.env("DATABASE_URL", database.url());
    command.env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
    let mut child = terminal.slave.spawn_command(command).unwrap();
    drop(terminal.slave);
    let mut reader = terminal.master.try_clone_reader().unwrap();
    let mut writer = terminal.master.take_writer().unwrap();
    let mut shown = Vec::new();
    let mut buffer = [0; 1024];
    let mut answered = false;
    // Reading ends with an error, or with nothing, when the program closes its end.
    while let Ok(count @ 1..) = reader.read(&mut buffer) {
        shown.extend_from_slice(&buffer[..count]);
        if !answered && String::from_utf8_lossy(&shown).contains("[y/N]") {
            writeln!(writer, "{answer}").unwrap();
            answered = true;
        }
    }
    let code = child.wait().unwrap().exit_code();
    (code, String::from_utf8_lossy(&shown).into_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_the_user_named_is_set_up_on_a_yes() {
    let database = Database::empty().await;
    let (code, shown) = keyrack_asked(&database, &["site", "list"], "n");
    assert_eq!(code, 1, "{shown}");
    assert!(shown.contains("Set it up now?"), "{shown}");
    assert_eq!(keyrack(&database, &["site", "list"]).code, 1);
    let (code, shown) = keyrack_asked(&database, &["site", "list"], "y");
    assert_eq!(code, 0, "{shown}");
    assert_eq!(keyrack_json(&database, &["site", "list"]).done(), json!([]));
    // The console has nothing to show yet, and says how to change that.
    let (code, shown) = keyrack_asked(&database, &[], "");
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("keyrack site apply FILE.toml"), "{shown}");
}

/// A server of Keyrack's own in a directory that only this test uses.
struct OwnServer(PathBuf);

impl OwnServer {
    fn new() -> Self {
        // Not below target/: root's tests need a place that the server's user can enter.
        let directory =
            std::env::temp_dir().join(format!("keyrack-{:08x}", Uuid::new_v4().as_fields().0));
        Self(directory)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program(arguments);
        command.env("KEYRACK_DATA_DIR", &self.0);
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        self.command(arguments).output().unwrap().into()
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        self.run(&["db", "stop"]);
        self.run(&["db", "reset", "--yes"]);
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_fresh_database_of_its_own_gets_one_set_of_samples() {
    let own = OwnServer::new();
    // Two at once, as when two terminals are opened on a new machine.
    let children: Vec<_> = (0..2)
        .map(|_| {
            own.command(&["list", "--json"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let run: Run = child.wait_with_output().unwrap().into();
        assert_eq!(run.done()["site"], "Riverside House", "{run:?}");
    }
    let url = own.run(&["db", "url"]).stdout;
    assert!(url.starts_with("postgresql://"), "{url}");
    let status = own.run(&["db", "status", "--json"]).done();
    assert_eq!(
        (&status["running"], &status["kept"]),
        (&json!(true), &json!(true))
    );
    let sold = own.run(&["stock", "list", "--json"]).done();
    assert_eq!(
        (&sold[0]["item"], &sold[0]["sold"]),
        (&json!("Breakfast"), &json!(14))
    );
    let claims = own.run(&["room", "holds", "--json"]).done();
    let claims = claims.as_array().unwrap();
    assert!(claims.len() > 10, "{claims:?}");
    assert!(
        claims.iter().any(|claim| claim["purpose"] == "block"),
        "{claims:?}"
    );
    assert_eq!(own.run(&["check"]).code, 0);
    assert_eq!(
        own.run(&["db", "stop", "--json"]).done(),
        json!({"stopped": true})
    );
    assert_eq!(
        own.run(&["db", "status", "--json"]).done()["running"],
        false
    );
    // What was there is still there.
    assert_eq!(
        own.run(&["room", "holds", "--json"])
            .done()
            .as_array()
            .unwrap()
            .len(),
        claims.len()
    );
}
