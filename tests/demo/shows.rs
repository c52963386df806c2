//! Scenarios in a real terminal: watched, taken over by a person, and on the command line as a test.

use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use sqlx::postgres::PgConnection;

use crate::support::{Database, TestHouse};
use crate::terminal::Program;

async fn sites(connection: &mut PgConnection) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM site WHERE demo_lock IS NOT NULL")
        .fetch_one(connection)
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spectator_reads_pauses_and_goes_on_and_other_keys_disturb_nothing() {
    let test = TestHouse::new().await;
    let mut look = test.database.connect().await;
    let terminal = Program::keyrack(&["demo", "back-to-back"])
        .env("DATABASE_URL", &test.database.url())
        .size(120, 40)
        .start();
    terminal.shows("Anna wants the Blue room from ten to eleven");
    assert_eq!(sites(&mut look).await, 1);
    terminal.shows("Space pause");
    terminal.type_text(" ");
    terminal.shows("Space go on");
    // What would disturb the desks does nothing: `n` would show another day, `x` would open a dialog.
    terminal.type_text("nxb");
    terminal.press(&["Enter"]);
    terminal.shows("Space pause");
    let mut over = false;
    while !over {
        terminal.press(&["Enter"]);
        over = terminal.read("the next frame", |frame| {
            Some(frame.has("Both desks are yours now"))
        });
        assert!(
            !terminal
                .lines()
                .join("\n")
                .contains("This was not to be expected")
        );
        std::thread::yield_now();
    }
    terminal.shows("F6 step mode");
    let held: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM slot_hold WHERE state = 'held'
             AND site_id = (SELECT site_id FROM site WHERE demo_lock IS NOT NULL)",
    )
    .fetch_one(&mut look)
    .await
    .unwrap();
    assert_eq!(held, 6);
    terminal.type_text("q");
    terminal.ends_well();
    assert_eq!(sites(&mut look).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn in_the_sandbox_it_is_set_up_and_then_a_person_drives() {
    const F4: &str = "\x1bOS";
    let test = TestHouse::new().await;
    let terminal = Program::keyrack(&["demo", "containment", "--sandbox"])
        .env("DATABASE_URL", &test.database.url())
        .size(120, 40)
        .start();
    terminal.shows("Your turn. One period lies inside the other.");
    terminal.shows("09:00–13:00");
    terminal.shows("11:00–12:00");
    terminal.type_text(F4);
    terminal.shows(" was first by ");
    terminal.type_text("q");
    terminal.ends_well();
}

fn program(database: &Database, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyrack"));
    command
        .args(arguments)
        .env("DATABASE_URL", database.url())
        .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}

fn keyrack(database: &Database, arguments: &[&str]) -> Output {
    program(database, arguments).output().unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn on_the_command_line_a_scenario_is_a_test_with_an_exit_code() {
    let database = Database::migrated().await;
    let held = keyrack(
        &database,
        &["demo", "the-last-units", "--headless", "--json"],
    );
    assert_eq!(held.status.code(), Some(0));
    assert_eq!(json(&held)["ok"], true);

    let place = tempfile::tempdir().unwrap();
    let own = place.path().join("own.toml");
    let text = "title = \"T\"\nshows = \"S.\"\n[[room]]\nname = \"Blue room\"\n[[rows]]\nroom = \"Blue room\"\nheld = 1\n";
    std::fs::write(&own, text).unwrap();
    let own = own.to_str().unwrap();
    let failed = keyrack(&database, &["demo", own, "--headless", "--json"]);
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(json(&failed)["problems"][0]["line"], 5);
    let failed = keyrack(&database, &["demo", own, "--headless"]);
    assert!(
        String::from_utf8_lossy(&failed.stdout).contains("Line 5: Blue room should have 1 held")
    );

    std::fs::write(own, text.replace("held", "hold")).unwrap();
    let unreadable = keyrack(&database, &["demo", own, "--headless"]);
    assert_eq!(unreadable.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unreadable.stderr).contains("line 7: unknown field `hold`"));
    let unknown = keyrack(&database, &["demo", "nothing", "--headless"]);
    assert_eq!(unknown.status.code(), Some(2));

    let told = keyrack(&database, &["demo", "--list", "--json"]);
    let told = json(&told);
    assert_eq!(told.as_array().unwrap().len(), 13);
    assert!(told[0]["shows"].as_str().unwrap().contains("one gets it"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_play_without_a_screen_that_is_stopped_leaves_no_house() {
    let database = Database::migrated().await;
    let mut look = database.connect().await;
    // It waits for deadlines, so it is under way for some seconds.
    let mut playing = program(&database, &["demo", "confirm-against-expiry", "--headless"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while sites(&mut look).await == 0 {
        assert!(playing.try_wait().unwrap().is_none());
        tokio::task::yield_now().await;
    }
    let id = i32::try_from(playing.id()).unwrap();
    kill_process(Pid::from_raw(id).unwrap(), Signal::INT).unwrap();
    let ended = playing.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    assert!(String::from_utf8_lossy(&ended.stderr).contains("stopped before its end"));
    assert_eq!(sites(&mut look).await, 0);
}
