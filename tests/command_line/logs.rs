//! What the log says of all that: rooms, ids and periods, never guests (R27).

use std::fs;

use sqlx::Executor;

use crate::support::TestHouse;
use crate::{Run, at, program};

#[tokio::test(flavor = "multi_thread")]
async fn r27_the_log_never_names_a_guest() {
    const GUEST: &str = "Unmistakable Guest";
    let test = TestHouse::new().await;
    let state = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| -> Run {
        let mut command = program(arguments);
        command
            .env("DATABASE_URL", test.database.url())
            .env("XDG_STATE_HOME", state.path())
            // Everything that this program and its libraries have to say.
            .env("KEYRACK_LOG", "trace");
        command.output().unwrap().into()
    };
    let (from, to) = (at("10:00"), at("12:00"));
    let hold = ["room", "hold", "Blue room", &from, &to, "--guest", GUEST];
    assert_eq!(run(&hold).code, 0);
    assert_eq!(run(&hold).code, 3);
    assert_eq!(run(&["room", "holds", "--guest", GUEST]).code, 0);
    // And when the database breaks in the middle of it.
    test.database
        .connect()
        .await
        .execute("DROP FUNCTION place_slot CASCADE")
        .await
        .unwrap();
    let later = at("13:00");
    let broken = run(&["room", "hold", "Blue room", &to, &later, "--guest", GUEST]);
    assert_eq!(broken.code, 1, "{broken:?}");

    let mut log = String::new();
    for entry in fs::read_dir(state.path().join("keyrack")).unwrap() {
        log.push_str(&fs::read_to_string(entry.unwrap().path()).unwrap());
    }
    assert!(
        log.contains("the text of the protocol is not whole"),
        "{log}"
    );
    assert!(!log.contains(GUEST), "{log}");
}
