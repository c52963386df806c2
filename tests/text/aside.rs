//! Keyrack's own database of an earlier build is put aside and never deleted; a named one is left alone. And what psql finds
//! in the database that there is now.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{Connection, Executor};
use tempfile::TempDir;

use crate::support::Database;
use crate::value;

/// What an earlier build had, as far as this one looks.
const EARLIER_BUILD: &str = "
    DROP SCHEMA IF EXISTS keyrack_step, keyrack CASCADE;
    CREATE TABLE public._sqlx_migrations (version bigint);
    CREATE TABLE public.slot_hold (hold_id bigint, guest text);
    INSERT INTO public.slot_hold VALUES (17, 'Okafor')";

struct Run {
    code: i32,
    stdout: String,
    stderr: String,
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

/// The program with a server of its own in a directory that the server's user can enter when root runs the tests.
struct Own(TempDir);

impl Own {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), Permissions::from_mode(0o711)).unwrap();
        Self(directory)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program(arguments);
        command.arg("--data-dir").arg(self.0.path().join("keyrack"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        self.command(arguments).output().unwrap().into()
    }

    /// What it says, where it works.
    fn says(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
        run.stdout
    }

    fn options(&self) -> PgConnectOptions {
        self.says(&["db", "url"]).trim().parse().unwrap()
    }

    /// A running server whose database is of an earlier build.
    async fn of_an_earlier_build() -> (Self, PgConnectOptions) {
        let own = Self::new();
        own.says(&["db", "start"]);
        let options = own.options();
        let mut owner = PgConnection::connect_with(&options).await.unwrap();
        owner.execute(EARLIER_BUILD).await.unwrap();
        owner.close().await.unwrap();
        (own, options)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.run(&["db", "stop"]);
        self.run(&["db", "reset", "--yes"]);
    }
}

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyrack"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .env_remove("DATABASE_URL")
        .env_remove("KEYRACK_SITE")
        .env_remove("KEYRACK_DATA_DIR")
        .env_remove("PGOPTIONS")
        .env("KEYRACK_DESK", "anna")
        .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}

async fn databases(options: &PgConnectOptions) -> Vec<String> {
    let mut connection = PgConnection::connect_with(&options.clone().database("postgres"))
        .await
        .unwrap();
    let names = value(
        &mut connection,
        "SELECT array_agg(datname::text ORDER BY datname) FROM pg_database WHERE datname LIKE 'keyrack%'",
    )
    .await;
    connection.close().await.unwrap();
    names
}

/// The row of the earlier build is there to be read.
async fn assert_kept(options: &PgConnectOptions, database: &str) {
    let mut connection = PgConnection::connect_with(&options.clone().database(database))
        .await
        .unwrap();
    let guest: String = value(
        &mut connection,
        "SELECT guest FROM public.slot_hold WHERE hold_id = 17",
    )
    .await;
    assert_eq!(guest, "Okafor");
    connection.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn its_own_database_of_an_earlier_build_is_put_aside_and_says_where() {
    let (own, options) = Own::of_an_earlier_build().await;

    // Not from under somebody's feet.
    let console = PgConnection::connect_with(&options).await.unwrap();
    let run = own.run(&["list"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{}", run.stderr);
    assert!(
        run.stderr
            .contains("Nothing was done; close the other consoles"),
        "{}",
        run.stderr
    );
    assert_eq!(databases(&options).await, ["keyrack"]);
    assert_kept(&options, "keyrack").await;
    console.close().await.unwrap();

    let run = own.run(&["list"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("Riverside House"), "{}", run.stdout);
    let [_, aside] = &databases(&options).await[..] else {
        panic!("{:?}", databases(&options).await)
    };
    assert!(aside.starts_with("keyrack_until_"), "{aside}");
    assert!(
        run.stderr
            .contains(&format!("put aside as {aside}; nothing of it is deleted")),
        "{}",
        run.stderr
    );
    assert_kept(&options, aside).await;

    // Once, and then it is as if nothing had been.
    let run = own.run(&["list"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(own.run(&["check"]).code, 0);
    assert_eq!(databases(&options).await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_programs_that_meet_an_earlier_build_at_once_both_work_and_one_puts_it_aside() {
    let (own, options) = Own::of_an_earlier_build().await;
    for round in 1..=4 {
        let children: Vec<_> = (0..2)
            .map(|_| {
                own.command(&["list"])
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .unwrap()
            })
            .collect();
        let mut told = 0;
        for child in children {
            let run: Run = child.wait_with_output().unwrap().into();
            assert_eq!(run.code, 0, "{round}: {}", run.stderr);
            assert!(
                run.stdout.contains("Riverside House"),
                "{round}: {}",
                run.stdout
            );
            told += run.stderr.matches("put aside as").count();
        }
        assert_eq!(told, 1, "{round}");
        let there = databases(&options).await;
        assert_eq!(there.len(), round + 1, "{there:?}");
        for aside in &there[1..] {
            assert_kept(&options, aside).await;
        }
        let mut owner = PgConnection::connect_with(&options).await.unwrap();
        let sites: i64 = value(&mut owner, "SELECT count(*) FROM keyrack.site").await;
        assert_eq!(sites, 1);
        owner.execute(EARLIER_BUILD).await.unwrap();
        owner.close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_named_database_of_an_earlier_build_is_left_alone_with_a_sentence() {
    let database = Database::empty().await;
    let mut owner = database.connect().await;
    owner.execute(EARLIER_BUILD).await.unwrap();
    for arguments in [&["list"][..], &["db", "migrate"], &["room", "list"]] {
        let output = program(arguments)
            .args(["--database-url", &database.url()])
            .output()
            .unwrap();
        let run = Run::from(output);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{}", run.stderr);
        assert!(
            run.stderr.contains("an earlier build of Keyrack"),
            "{}",
            run.stderr
        );
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
    let here: Vec<String> = value(
        &mut owner,
        "SELECT array_agg(nspname || '.' || relname ORDER BY relname) FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
         WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'",
    )
    .await;
    assert_eq!(here, ["public._sqlx_migrations", "public.slot_hold"]);
    let guest: String = value(&mut owner, "SELECT guest FROM public.slot_hold").await;
    assert_eq!(guest, "Okafor");
}

#[test]
fn a_psql_prompt_finds_everything_unqualified() {
    const QUESTIONS: &str = "SELECT look_up(1, 'site', NULL) ->> 'name';
        SELECT hold_slot(1, gen_random_uuid(), 'psql', room_id, now() + interval 'DAYS days', now() + interval 'DAYS days 2 hours')
            ->> 'refusal' IS NULL FROM room WHERE booked_by = 'hour' LIMIT 1;
        SELECT desk FROM slot_claim ORDER BY hold_id DESC LIMIT 1;";
    let own = Own::new();
    own.says(&["db", "start"]);
    let url = own.says(&["db", "url"]);
    let prompts = [
        {
            let mut psql = Command::new("psql");
            psql.arg(url.trim()).env_remove("PGOPTIONS");
            psql
        },
        own.command(&["db", "psql"]),
        {
            let mut named = program(&["db", "psql", "--database-url"]);
            named.arg(url.trim());
            named
        },
    ];
    for (mut prompt, days) in prompts.into_iter().zip(300..) {
        let questions = QUESTIONS.replace("DAYS", &days.to_string());
        let mut psql = prompt
            .env("PSQLRC", "/dev/null")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("this test needs PostgreSQL's psql on PATH");
        let mut stdin = psql.stdin.take().unwrap();
        stdin.write_all(questions.as_bytes()).unwrap();
        drop(stdin);
        let run = Run::from(psql.wait_with_output().unwrap());
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{prompt:?}");
        let said: Vec<&str> = run.stdout.lines().map(str::trim).collect();
        for answer in ["Riverside House", "t", "psql"] {
            assert!(said.contains(&answer), "{prompt:?}: {}", run.stdout);
        }
    }
}
