//! A person at a desk: a console in a terminal, opened on a house, and the rows that the person's keys leave behind.

use std::ops::Deref;
use std::process::{Command, Stdio};

use chrono::{Timelike, Utc};
use serde_json::Value;
use sqlx::FromRow;

use crate::support::{Database, HOUSE, TestHouse};
use crate::terminal::Program;
pub use crate::terminal::Terminal;

/// A console that a person works at.
pub struct Desk(pub Terminal);

impl Deref for Desk {
    type Target = Terminal;

    fn deref(&self) -> &Terminal {
        &self.0
    }
}

impl Desk {
    /// Sits down at a house; the console shows today.
    pub fn at(test: &TestHouse, name: &str) -> Self {
        Self::with(program(&test.database, name))
    }

    /// The same in an environment of its own.
    pub fn with(program: Program) -> Self {
        let desk = Self(program.start());
        desk.shows("● live");
        desk.until("a house", |frame| frame.has("│") && !frame.has("Reading"));
        desk
    }

    /// Turns to tomorrow at this time of day, where nothing is over yet.
    pub fn turn_to_tomorrow(&self) {
        self.press(&["n"]);
        self.until("tomorrow", |frame| !frame.lines()[0].contains("today"));
        self.hides("reading the day");
    }

    /// Holds what is under the cursor.
    pub fn hold(&self) {
        self.shows("Enter hold");
        self.press(&["Enter"]);
        self.shows("Held: ");
    }

    /// Leaves with `q`.
    pub fn leave(self) {
        self.press(&["q"]);
        self.0.ends_well();
    }

    /// The minutes and seconds that the claim under the cursor has left.
    pub fn countdown(&self) -> String {
        self.read("a countdown", |frame| {
            let line = frame.line_with(" left, until ")?;
            let (before, _) = line.split_once(" left, until ")?;
            before.split_whitespace().last().map(str::to_owned)
        })
    }
}

/// A house in whose zone it is about noon, so that some hours can be stretched over whenever the tests run.
pub async fn house_at_noon() -> TestHouse {
    let ahead = 12 - i32::try_from(Utc::now().hour()).unwrap();
    // The sign is POSIX's: Etc/GMT-5 is five hours ahead.
    let zone = format!("Etc/GMT{:+}", -ahead);
    TestHouse::described(&HOUSE.replace("Europe/London", &zone)).await
}

/// The console on a test's database, for a desk with a name.
pub fn program(database: &Database, desk: &str) -> Program {
    Program::keyrack(&[])
        .env("DATABASE_URL", &database.url())
        .env("KEYRACK_DESK", desk)
}

/// Runs a command line on a test's database; returns its exit code and its JSON.
pub fn keyrack(database: &Database, arguments: &[&str]) -> (i32, Value) {
    keyrack_in(&[("DATABASE_URL", &database.url())], arguments)
}

/// The same in an environment.
pub fn keyrack_in(environment: &[(&str, &str)], arguments: &[&str]) -> (i32, Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_keyrack"))
        .args(arguments)
        .arg("--json")
        .stdin(Stdio::null())
        .env_remove("DATABASE_URL")
        .env_remove("KEYRACK_SITE")
        .env_remove("KEYRACK_DATA_DIR")
        .env("KEYRACK_DESK", "script")
        .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let json = serde_json::from_str(&printed)
        .unwrap_or_else(|error| panic!("{error}: {printed} {:?}", output.stderr));
    (output.status.code().unwrap(), json)
}

/// What the table says about a claim on a room.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct Claim {
    pub state: String,
    pub guest: String,
    pub note: String,
    pub desk: String,
    pub version: i64,
}

/// All claims on rooms, the oldest first.
pub async fn claims(database: &Database) -> Vec<Claim> {
    sqlx::query_as(
        "SELECT state::text, guest, note, desk, version::bigint FROM slot_hold ORDER BY hold_id",
    )
    .fetch_all(&mut database.connect().await)
    .await
    .unwrap()
}

/// The states of all claims on rooms, the oldest first.
pub async fn states(database: &Database) -> Vec<String> {
    let claims = claims(database).await;
    claims.into_iter().map(|claim| claim.state).collect()
}

/// How often a command was asked of the house, whatever came of it.
pub async fn requests(database: &Database, command: &str) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM request WHERE command = $1")
        .bind(command)
        .fetch_one(&mut database.connect().await)
        .await
        .unwrap()
}
