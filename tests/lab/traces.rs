//! A lab leaves nothing behind, however it ends, and touches nothing of others.

use std::future::pending;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use keyrack::demo::lab::{self, Length, Plan};
use keyrack::store::Store;
use keyrack::store::lab::strategy;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use sqlx::Executor;
use sqlx::postgres::PgConnection;

use crate::support::{Database, TestHouse, hours};

fn program(database: &Database, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyrack"));
    command
        .arg("lab")
        .args(arguments)
        .env_remove("KEYRACK_SITE")
        .env("DATABASE_URL", database.url())
        .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .env("XDG_CONFIG_HOME", env!("CARGO_TARGET_TMPDIR"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(database: &Database, arguments: &[&str]) -> Output {
    program(database, arguments).output().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// A program that does not outlive the test.
struct Running(Option<Child>);

impl Running {
    fn signal(&self, signal: Signal) {
        let id = self.0.as_ref().unwrap().id();
        let pid = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// What it left behind, when it has ended by itself.
    async fn end(mut self) -> Output {
        let started = Instant::now();
        while self.0.as_mut().unwrap().try_wait().unwrap().is_none() {
            assert!(
                started.elapsed() < Duration::from_secs(60),
                "it did not end"
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A lab that would go on for an hour, once it has begun.
async fn long_lab(database: &Database, observer: &mut PgConnection) -> (Running, String) {
    let child = program(database, &["--seconds", "3600", "--clients", "4", "--json"])
        .spawn()
        .unwrap();
    let racing = "SELECT string_agg(DISTINCT application_name, ' ') FROM pg_stat_activity
         WHERE datname = current_database() AND application_name LIKE 'keyrack\\_lab\\_%' AND query LIKE 'SELECT book(%'";
    let schema = until(observer, racing, |found: &Option<String>| found.is_some()).await;
    (Running(Some(child)), schema.unwrap())
}

/// Asks until the answer is as wanted.
async fn until<Answer>(
    observer: &mut PgConnection,
    question: &'static str,
    wanted: impl Fn(&Answer) -> bool,
) -> Answer
where
    Answer: for<'r> sqlx::Decode<'r, sqlx::Postgres>
        + sqlx::Type<sqlx::Postgres>
        + Send
        + Unpin
        + std::fmt::Debug,
{
    let started = Instant::now();
    loop {
        let answer: Answer = sqlx::query_scalar(question)
            .fetch_one(&mut *observer)
            .await
            .unwrap();
        if wanted(&answer) {
            return answer;
        }
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "{question}: {answer:?}"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn schemas(observer: &mut PgConnection) -> Vec<String> {
    sqlx::query_scalar(
        "SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'keyrack\\_lab\\_%' ORDER BY nspname",
    )
    .fetch_all(observer)
    .await
    .unwrap()
}

/// Everything in the database that is not PostgreSQL's own: every row of every table, and what tables and functions
/// there are.
async fn everything(observer: &mut PgConnection) -> Vec<String> {
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT oid::regclass::text FROM pg_class
         WHERE relkind = 'r' AND relnamespace::regnamespace::text NOT IN ('pg_catalog', 'information_schema')
         ORDER BY 1",
    )
    .fetch_all(&mut *observer)
    .await
    .unwrap();
    let mut everything = tables.clone();
    for table in tables {
        let rows: Vec<String> = sqlx::query_scalar(sqlx::AssertSqlSafe(format!(
            "SELECT t::text FROM {table} AS t ORDER BY 1"
        )))
        .fetch_all(&mut *observer)
        .await
        .unwrap();
        everything.extend(rows);
    }
    let functions: Vec<String> = sqlx::query_scalar(
        "SELECT oid::regprocedure::text FROM pg_proc
         WHERE pronamespace::regnamespace::text NOT IN ('pg_catalog', 'information_schema') ORDER BY 1",
    )
    .fetch_all(&mut *observer)
    .await
    .unwrap();
    everything.extend(functions);
    everything
}

#[tokio::test(flavor = "multi_thread")]
async fn r29_a_lab_prints_one_json_value_and_leaves_every_house_as_it_was() {
    let test = TestHouse::new().await;
    test.hold(test.blue, hours(0, 2), None).await;
    test.hold_stock(test.breakfast, 2, None).await;
    let mut observer = test.database.connect().await;
    let before = everything(&mut observer).await;

    let output = run(
        &test.database,
        &[
            "--seconds",
            "1",
            "--clients",
            "3",
            "--think",
            "5ms",
            "--seed",
            "7",
            "--strategy",
            "conditional-decrement",
            "--strategy",
            "unique-start-time",
            "--json",
        ],
    );

    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let lab = json(&output);
    assert_eq!(
        (&lab["clients"], &lab["seconds"], &lab["seed"]),
        (&3.into(), &1.into(), &7.into())
    );
    assert_eq!(
        (&lab["think_ms"], &lab["stopped"]),
        (&5.0.into(), &false.into())
    );
    assert!(lab["postgresql"].is_string(), "{lab}");
    let [slots, stock] = lab["strategies"].as_array().unwrap().as_slice() else {
        panic!("{lab}");
    };
    assert_eq!(slots["strategy"], "unique-start-time");
    assert_eq!(
        (&slots["subject"], &slots["sound"], &slots["verdict"]),
        (&"slots".into(), &false.into(), &"double-books".into())
    );
    assert!(slots["double_bookings"].as_i64().unwrap() > 0, "{lab}");
    assert!(slots["oversold_units"].is_null(), "{lab}");
    assert_eq!(stock["strategy"], "conditional-decrement");
    assert_eq!(
        (&stock["subject"], &stock["sound"], &stock["verdict"]),
        (&"stock".into(), &true.into(), &"safe".into())
    );
    assert_eq!(stock["oversold_units"], 0);
    assert!(stock["double_bookings"].is_null(), "{lab}");
    for measured in [slots, stock] {
        for figure in [
            "rounds",
            "done",
            "refused",
            "gave_up",
            "deadlocks",
            "retries",
            "answers_per_second",
            "median_ms",
            "p99_ms",
        ] {
            assert!(measured[figure].is_number(), "{figure}: {lab}");
        }
    }

    assert_eq!(everything(&mut observer).await, before);
    assert!(schemas(&mut observer).await.is_empty());
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_ends_a_lab_with_what_it_has_and_nothing_left() {
    let database = Database::migrated().await;
    let mut observer = database.connect().await;
    let (child, schema) = long_lab(&database, &mut observer).await;
    assert_eq!(schemas(&mut observer).await, [schema]);
    child.signal(Signal::INT);
    let output = child.end().await;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(json(&output)["stopped"], true);
    assert!(schemas(&mut observer).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lab_that_loses_a_client_says_so_and_leaves_nothing() {
    let database = Database::migrated().await;
    let mut observer = database.connect().await;
    let (child, _) = long_lab(&database, &mut observer).await;
    // Between two rounds no client asks for anything: until one does.
    let ended = "SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name LIKE 'keyrack\\_lab\\_%' AND query LIKE 'SELECT book(%'";
    until(&mut observer, ended, |ended: &i64| *ended > 0).await;
    let output = child.end().await;
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    assert!(schemas(&mut observer).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_lab_left_is_removed_by_the_next_and_one_that_runs_is_not() {
    let database = Database::migrated().await;
    let mut observer = database.connect().await;
    // Somebody else's schema, which only looks like one.
    let lookalike = format!("keyrack_lab_{:032x}", 0);
    let making = format!("CREATE SCHEMA {lookalike}; CREATE TABLE {lookalike}.theirs ()");
    observer.execute(sqlx::AssertSqlSafe(making)).await.unwrap();
    let store = Store::connect(database.options()).await.unwrap();
    let running = store.open_lab().await.unwrap();
    let (child, left) = long_lab(&database, &mut observer).await;
    child.signal(Signal::KILL);
    child.end().await;
    // The server takes a moment to see that its client is gone; only then the schema counts as left behind.
    let locks = "SELECT count(*) FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
         WHERE l.locktype = 'advisory' AND d.datname = current_database()";
    until(&mut observer, locks, |count: &i64| *count == 1).await;
    assert!(schemas(&mut observer).await.contains(&left));

    let output = run(
        &database,
        &[
            "--seconds",
            "1",
            "--clients",
            "2",
            "--strategy",
            "advisory-lock",
            "--json",
        ],
    );

    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let mut expected = vec![lookalike, running.schema().to_owned()];
    expected.sort();
    assert_eq!(schemas(&mut observer).await, expected);
    running.close().await.unwrap();
    assert_eq!(schemas(&mut observer).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_labs_at_once_do_not_meet() {
    let database = Database::migrated().await;
    let plan = Plan {
        strategies: vec![
            strategy("row-lock-then-check").unwrap(),
            strategy("skip-locked-units").unwrap(),
        ],
        clients: 4,
        length: Length::Rounds(5),
        think: Duration::from_millis(2),
        seed: 1,
    };
    let lab = async || {
        let store = Store::connect(database.options()).await.unwrap();
        let report = lab::run(&store, &plan, pending(), |_| ()).await.unwrap();
        store.close().await;
        report
    };
    let (one, other) = tokio::join!(lab(), lab());
    for measured in one.measured.iter().chain(&other.measured) {
        // Both labs' items have the same numbers: in one schema the second would have failed.
        assert_eq!((measured.wrong, measured.rounds), (0, 5), "{measured:?}");
    }
    let mut observer = database.connect().await;
    assert!(schemas(&mut observer).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn more_clients_than_the_server_takes_are_told_so() {
    let database = Database::migrated().await;
    let mut observer = database.connect().await;
    let limit = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I CONNECTION LIMIT 8', current_database()); END $$";
    observer.execute(limit).await.unwrap();
    let output = run(&database, &["--clients", "20", "--seconds", "1"]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("let fewer run with --clients"), "{said}");
    assert!(schemas(&mut observer).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn more_clients_than_the_server_has_room_for_are_refused_before_anything_starts() {
    let database = Database::migrated().await;
    let mut observer = database.connect().await;
    let room: i64 = sqlx::query_scalar("SELECT current_setting('max_connections')::bigint")
        .fetch_one(&mut observer)
        .await
        .unwrap();
    let clients = room.to_string();
    let output = run(&database, &["--clients", &clients, "--seconds", "1"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("at the moment; let fewer run with --clients"),
        "{said}"
    );
    assert!(output.stdout.is_empty() && schemas(&mut observer).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_create_a_schema_is_told_so() {
    let database = Database::migrated().await;
    let mut observer = database.connect().await;
    let revoke = "DO $$ BEGIN EXECUTE format('REVOKE CREATE ON DATABASE %I FROM %I', current_database(), current_user); END $$";
    observer.execute(revoke).await.unwrap();
    let output = run(&database, &["--seconds", "1"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("GRANT CREATE ON DATABASE"), "{said}");
    assert!(output.stdout.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_needs_no_database_and_mistakes_are_usage() {
    let keyrack = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_keyrack"))
            .arg("lab")
            .args(arguments)
            .env("DATABASE_URL", "postgres://nobody@localhost:1/nowhere")
            .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .stdin(Stdio::null())
            .output()
            .unwrap()
    };
    let list = keyrack(&["--list", "--json"]);
    assert_eq!(list.status.code(), Some(0), "{list:?}");
    let list = json(&list);
    let strategies = list.as_array().unwrap();
    assert_eq!(strategies.len(), 15);
    for strategy in strategies {
        assert!(strategy["strategy"].is_string() && strategy["about"].is_string());
        assert!(strategy["subject"].is_string() && strategy["sound"].is_boolean());
    }
    let text =
        String::from_utf8(keyrack(&["--list", "--strategy", "advisory-lock"]).stdout).unwrap();
    assert!(text.starts_with("advisory-lock (right)\n"), "{text}");
    for mistake in [
        ["--strategy", "hope"],
        ["--clients", "1"],
        ["--seconds", "0"],
        ["--think", "2s"],
        ["--think", "soon"],
    ] {
        assert_eq!(keyrack(&mistake).status.code(), Some(2), "{mistake:?}");
    }
}
