//! Small things that a script or a person at a shell expects: numbers as they are shown, times as they are written,
//! reasons that say something, and an answer that is not lost silently.

use std::fs::File;

use super::{at, keyrack, keyrack_json, program, soon};
use crate::support::TestHouse;

#[tokio::test(flavor = "multi_thread")]
async fn numbers_and_times_are_read_as_people_write_them() {
    let test = TestHouse::new().await;
    let database = &test.database;
    let from = format!("{} 9:00", soon());
    let held = keyrack_json(database, &["room", "hold", "Blue room", &from, "9:30"]).done();
    assert!(
        held["from"].as_str().unwrap().contains("T09:00:00"),
        "{held}"
    );
    let number = format!("#{}", held["hold_id"]);
    let confirmed = keyrack_json(database, &["room", "confirm", &number]).done();
    assert_eq!(confirmed["state"], "confirmed");
    let history = keyrack_json(database, &["history", "--room-hold", &number]).done();
    assert_eq!(history.as_array().unwrap().len(), 2, "{history}");

    let mistyped = keyrack(database, &["room", "confirm", "seventeen"]);
    assert_eq!(mistyped.code, 2, "{mistyped:?}");
    assert!(mistyped.stderr.contains("like 17"), "{mistyped:?}");
    let mistyped = keyrack(database, &["room", "holds", "--state", "wat"]);
    assert_eq!(mistyped.code, 2, "{mistyped:?}");
    let states = "there are held, ";
    assert!(mistyped.stderr.contains(states), "{mistyped:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_exist_has_no_history_and_a_blank_reason_is_none() {
    let test = TestHouse::new().await;
    let database = &test.database;
    keyrack_json(database, &["history", "--room-hold", "999"]).refused("no_such_hold");
    keyrack_json(database, &["history", "--stock-hold", "999"]).refused("no_such_hold");
    let (from, to) = (at("10:00"), at("12:00"));
    for arguments in [
        vec!["room", "block", "Blue room", &from, &to, "--reason", " "],
        vec!["stock", "receive", "Breakfast", "2", "--reason", ""],
        vec!["stock", "adjust", "Breakfast", "-1", "--reason", ""],
    ] {
        let run = keyrack(database, &arguments);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains("say why"), "{run:?}");
    }
    let events = keyrack_json(database, &["history"]).done();
    let reasons = events.as_array().unwrap().iter();
    assert!(
        reasons.clone().all(|event| event["what"] != "blocked"),
        "{events}"
    );
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_can_not_be_written_is_a_fault_and_says_so() {
    let test = TestHouse::new().await;
    let mut command = program(&["room", "list"]);
    command.env("DATABASE_URL", test.database.url());
    command.stdout(File::options().write(true).open("/dev/full").unwrap());
    let run: super::Run = command.output().unwrap().into();
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("could not be written"), "{run:?}");
}
