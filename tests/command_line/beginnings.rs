//! How the program begins: mistakes in its arguments, a database that is away or empty, a server of its own.

use super::{Run, keyrack, keyrack_json, program};
use crate::support::Database;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::json;
use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use uuid::Uuid;

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
