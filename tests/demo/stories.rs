//! The compiled demo in a real terminal: what a spectator does, what is seen, and what is left in the database.

use chrono::{TimeDelta, Utc};
use chrono_tz::Europe::London;
use rustix::process::Signal;
use sqlx::postgres::PgConnection;

use crate::support::{Database, TestHouse};
use crate::terminal::{Program, Terminal};

fn demo(database: &Database, arguments: &[&str]) -> Program {
    let arguments = [&["demo"], arguments].concat();
    Program::keyrack(&arguments).env("DATABASE_URL", &database.url())
}

fn started(program: Program) -> Terminal {
    let terminal = program.start();
    terminal.shows("anna  has the keys");
    terminal.until("both desks", |frame| {
        frame.flowing().matches("live").count() >= 2
    });
    terminal
}

/// Both desks look at the day after tomorrow, on which nothing is booked, and have read it.
fn turn_to_an_empty_day(terminal: &Terminal) {
    terminal.type_text(LEADER);
    terminal.type_text("b");
    terminal.shows("keys go to both desks");
    terminal.type_text("nn");
    let day = Utc::now().with_timezone(&London) + TimeDelta::days(2);
    let day = day.format("%a %-d %b %Y").to_string();
    terminal.until("an empty day at both desks", |frame| {
        let text = frame.flowing();
        text.matches(&day).count() >= 2 && text.matches("Enter holds").count() >= 2
    });
    terminal.type_text(LEADER);
    terminal.type_text("b");
    terminal.hides("keys go to both desks");
}

async fn demo_sites(connection: &mut PgConnection) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM site WHERE demo_lock IS NOT NULL")
        .fetch_one(connection)
        .await
        .unwrap()
}

/// Keys as a terminal sends them.
const LEADER: &str = "\x07";
const F2: &str = "\x1bOQ";
const F4: &str = "\x1bOS";
const F6: &str = "\x1b[17~";
const F7: &str = "\x1b[18~";
const F8: &str = "\x1b[19~";
const F9: &str = "\x1b[20~";

#[tokio::test(flavor = "multi_thread")]
async fn both_fire_one_is_first_and_nothing_is_left() {
    let test = TestHouse::new().await;
    let mut look = test.database.connect().await;
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("transcript.txt");
    let terminal = started(demo(
        &test.database,
        &["--transcript", path.to_str().unwrap()],
    ));
    assert_eq!(demo_sites(&mut look).await, 1);
    turn_to_an_empty_day(&terminal);
    terminal.type_text(F4);
    terminal.shows(" was first by ");
    let claims: Vec<(String, String)> = sqlx::query_as(
        "SELECT desk, state FROM slot_hold WHERE site_id = (SELECT site_id FROM site WHERE demo_lock IS NOT NULL)
         AND period && tstzrange(now() + interval '1 hour', NULL) AND state = 'held' AND note = '' AND guest = ''",
    )
    .fetch_all(&mut look)
    .await
    .unwrap();
    assert_eq!(claims.len(), 1, "{claims:?}");
    terminal.shows(&format!("{} was first by ", claims[0].0));
    terminal.type_text("q");
    terminal.ends_well();
    assert_eq!(demo_sites(&mut look).await, 0);
    test.assert_all_is_well().await;
    let transcript = std::fs::read_to_string(&path).unwrap();
    for words in [" was first by ", "refused (slot_taken)", "guests' names"] {
        assert!(transcript.contains(words), "{words}: {transcript}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_stands_with_the_room_s_lock_and_the_other_waits_for_it() {
    let test = TestHouse::new().await;
    let mut look = test.database.connect().await;
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("transcript.txt");
    let arguments = ["--transcript", path.to_str().unwrap()];
    let terminal = started(demo(&test.database, &arguments).size(200, 60));
    turn_to_an_empty_day(&terminal);
    // anna's transaction takes the lock, and stands.
    terminal.type_text(F6);
    terminal.shows("step mode");
    terminal.press(&["Enter"]);
    terminal.shows("1. begin_request");
    terminal.type_text(F7);
    terminal.shows("2. lock_room");
    terminal.type_text(F7);
    terminal.shows("3. expire_room");
    // bert's waits for it, and says for whom.
    terminal.type_text(F2);
    terminal.shows("bert  has the keys");
    terminal.type_text(F6);
    terminal.press(&["Enter"]);
    terminal.shows("1. begin_request");
    terminal.type_text(F7);
    terminal.shows("2. lock_room");
    terminal.type_text(F7);
    terminal.until("bert's wait for anna", |frame| {
        frame.flowing().contains("waits") && frame.flowing().contains("keeps out")
    });
    // anna commits; bert goes on and is refused.
    terminal.type_text(F2);
    terminal.shows("anna  has the keys");
    terminal.type_text(F8);
    terminal.shows("COMMIT is the next step");
    terminal.type_text(F9);
    terminal.shows("Held: Blue room");
    terminal.type_text(F2);
    terminal.shows("bert  has the keys");
    terminal.type_text(F8);
    terminal.shows("It is refused (slot_taken)");
    terminal.type_text(F9);
    terminal.shows("Blue room is taken");
    terminal.type_text("q");
    terminal.ends_well();
    assert_eq!(demo_sites(&mut look).await, 0);
    let transcript = std::fs::read_to_string(&path).unwrap();
    // In order: the step that took the lock, who waited for it, and what came of both.
    for story in [
        [
            "anna  step 2: SELECT lock_room(",
            "bert  waits for desk anna",
            "anna  COMMIT",
            "anna  done: claim ",
        ],
        [
            "bert  waits for desk anna",
            "bert  step 2: SELECT lock_room(",
            "bert  COMMIT",
            "bert  refused (slot_taken): ",
        ],
    ] {
        let mut rest = transcript.as_str();
        for words in story {
            let found = rest.find(words);
            rest = &rest[found.unwrap_or_else(|| panic!("{words}:\n{transcript}"))..];
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ended_from_outside_with_a_transaction_open_it_leaves_nothing() {
    let test = TestHouse::new().await;
    let mut look = test.database.connect().await;
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut terminal = started(demo(&test.database, &[]));
        turn_to_an_empty_day(&terminal);
        terminal.type_text(F6);
        terminal.press(&["Enter"]);
        terminal.shows("1. begin_request");
        terminal.type_text(F7);
        terminal.shows("2. lock_room");
        assert_eq!(demo_sites(&mut look).await, 1);
        terminal.signal(signal);
        terminal.ends();
        assert_eq!(demo_sites(&mut look).await, 0, "{signal:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transcript_that_can_not_be_written_is_a_sentence() {
    let test = TestHouse::new().await;
    let mut look = test.database.connect().await;
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("transcript.txt");
    let arguments = ["--transcript", path.to_str().unwrap()];
    let mut terminal = started(demo(&test.database, &arguments));
    // The directory goes while the demo runs.
    drop(place);
    terminal.type_text("\x14");
    terminal.says("The transcript could not be written to");
    terminal.says("there is no such directory.");
    terminal.type_text("q");
    assert_eq!(terminal.ends(), 1);
    assert_eq!(demo_sites(&mut look).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transcript_that_could_not_be_written_is_refused_at_the_start() {
    let test = TestHouse::new().await;
    let mut look = test.database.connect().await;
    let mut terminal = demo(&test.database, &["--transcript", "/nowhere/here.txt"]).start();
    terminal.says(
        "The transcript could not be written to /nowhere/here.txt: there is no such directory.",
    );
    assert_eq!(terminal.ends(), 2);
    assert_eq!(demo_sites(&mut look).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_that_becomes_small_and_large_again_shows_both_desks() {
    let test = TestHouse::new().await;
    let terminal = started(demo(&test.database, &[]).light());
    terminal.resize(80, 24);
    terminal.until("one above the other", |frame| {
        frame.size() == (80, 24)
            && frame
                .line_with("bert")
                .is_some_and(|line| line.trim() == "bert")
    });
    terminal.resize(30, 8);
    terminal.shows("Too small for two desks.");
    terminal.resize(200, 60);
    terminal.until("side by side", |frame| {
        frame
            .line_with("anna  has the keys")
            .is_some_and(|line| line.contains("bert"))
    });
    terminal.type_text("q");
    terminal.ends_well();
}

#[test]
fn what_a_demo_would_ignore_is_refused_unless_it_is_set_for_every_command() {
    let told = |arguments: &[&str], site: &str| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_keyrack"))
            .arg("demo")
            .args(arguments)
            .env("DATABASE_URL", "postgres://nobody@localhost:1/nowhere")
            .env("KEYRACK_SITE", site)
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    for site in ["", "Riverside House"] {
        let other = told(&["--site", "Nope"], site);
        assert!(other.contains("a house of its own"), "{other}");
    }
    let desk = told(&["the-same-slot", "--desk", "carla"], "");
    assert!(desk.contains("leave --desk out"), "{desk}");
    let transcript = told(&["the-same-slot", "--headless", "--transcript", "x"], "");
    assert!(transcript.contains("--transcript"), "{transcript}");
    let usual = told(&[], "Riverside House");
    assert!(usual.contains("The demo needs a terminal"), "{usual}");
}

#[tokio::test]
async fn without_a_terminal_it_says_so_and_makes_no_house() {
    let test = TestHouse::new().await;
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_keyrack"))
        .arg("demo")
        .env("DATABASE_URL", test.database.url())
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("The demo needs a terminal"), "{told}");
    let mut look = test.database.connect().await;
    assert_eq!(demo_sites(&mut look).await, 0);
}
