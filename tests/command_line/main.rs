//! The command line as a script sees it: the compiled program, real databases, exit codes and JSON (docs/json.md).
#![allow(clippy::unwrap_used)]

mod beginnings;
mod changes;
mod claims;
mod houses;
mod logs;
mod manners;
#[path = "../support/mod.rs"]
mod support;

use std::ffi::OsStr;
use std::process::{Command, Output, Stdio};

use chrono::{Days, NaiveDate, Utc};
use serde_json::Value;
use support::Database;

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
