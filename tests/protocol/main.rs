//! The protocol over real connections: each test is named after the rule that it proves (docs/rules.md).
//!
//! One program with a module a topic, so that it is linked once. Where one desk must wait for another, the test sees
//! it wait ([`support::until_blocked`]); where a deadline must pass, the database's clock is asked ([`until_due`]).
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod changes;
mod check;
mod connections;
mod crowd;
mod deadlines;
mod exchange;
mod free;
mod groups;
mod guards;
mod isolation;
mod limits;
mod nights;
mod numbers;
mod order;
mod pinned;
mod plans;
mod reading;
mod records;
mod requests;
mod rooms;
mod sites;
mod statements;
mod stock;
mod strays;
mod sweep;
mod text;

use std::time::{Duration, Instant};

use chrono::TimeDelta;
use serde_json::Value;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Executor};
use support::{TestHouse, backend, hour};
use tokio::task::JoinHandle;

/// The length of a hold that is to run out before anything else happens.
pub const BRIEF: Option<TimeDelta> = Some(TimeDelta::milliseconds(100));

/// A function's answer, as any client hears it.
pub async fn ask(connection: &mut PgConnection, call: &str) -> Value {
    try_ask(connection, call).await.unwrap()
}

/// The same, where the database may raise.
pub async fn try_ask(connection: &mut PgConnection, call: &str) -> Result<Value, sqlx::Error> {
    let answer: Value = sqlx::query_scalar(AssertSqlSafe(format!(
        "SELECT to_jsonb(answer) FROM {call} AS answer"
    )))
    .fetch_one(connection)
    .await?;
    Ok(with_its_subject(answer))
}

/// An answer with the columns of what it is about beside it, so that a test says `answer["state"]`.
pub fn with_its_subject(mut answer: Value) -> Value {
    for subject in ["slot", "stock", "group", "item", "room", "site"] {
        let Some(fields) = answer.as_object_mut() else {
            return answer;
        };
        if let Some(Value::Object(columns)) = fields.remove(subject) {
            fields.extend(columns);
        }
    }
    answer
}

/// A statement that must work.
pub async fn run(connection: &mut PgConnection, sql: &str) {
    try_run(connection, sql)
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// A statement, with how many rows it touched.
pub async fn try_run(connection: &mut PgConnection, sql: &str) -> Result<u64, sqlx::Error> {
    let done = connection.execute(AssertSqlSafe(sql.to_owned())).await?;
    Ok(done.rows_affected())
}

/// One value.
pub async fn value<T>(connection: &mut PgConnection, sql: &str) -> T
where
    T: Send + Unpin + for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
{
    sqlx::query_scalar(AssertSqlSafe(sql.to_owned()))
        .fetch_one(connection)
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// The name of the guard that refused a statement, else its SQLSTATE.
pub fn guard<T: std::fmt::Debug>(outcome: Result<T, sqlx::Error>) -> String {
    let error = outcome.unwrap_err();
    let database = error
        .as_database_error()
        .unwrap_or_else(|| panic!("{error}"));
    match database.constraint() {
        Some(name) => name.to_owned(),
        None => database.code().unwrap().into_owned(),
    }
}

/// So many hours after [`support::hour`] zero, as SQL.
pub fn at(hours: i64) -> String {
    format!("timestamptz '{}'", hour(hours).to_rfc3339())
}

/// A call of `hold_slot` with a fresh request.
pub fn hold_slot_call(
    test: &TestHouse,
    desk: &str,
    room: i64,
    from: i64,
    to: i64,
    ttl: &str,
) -> String {
    let (site, from, to) = (test.site(), at(from), at(to));
    format!("hold_slot({site}, gen_random_uuid(), '{desk}', {room}, {from}, {to}, '{ttl}')")
}

/// A call of `hold_stock` with a fresh request.
pub fn hold_stock_call(
    test: &TestHouse,
    desk: &str,
    item: i64,
    quantity: i32,
    ttl: &str,
) -> String {
    let site = test.site();
    format!("hold_stock({site}, gen_random_uuid(), '{desk}', {item}, {quantity}, '{ttl}')")
}

/// A call of a command on an existing claim with a fresh request.
pub fn call_on(test: &TestHouse, command: &str, hold: i64) -> String {
    format!(
        "{command}({}, gen_random_uuid(), 'bert', {hold})",
        test.site()
    )
}

/// Waits until the database's clock has passed a claim's deadline, whatever its state.
pub async fn until_due(connection: &mut PgConnection, table: &str, hold: i64) {
    let started = Instant::now();
    while !value::<bool>(
        connection,
        &format!("SELECT expires_at <= clock_timestamp() FROM {table} WHERE hold_id = {hold}"),
    )
    .await
    {
        assert!(started.elapsed() < Duration::from_secs(10), "never due");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// What the table says, whether or not the claim is due.
pub async fn state(connection: &mut PgConnection, table: &str, hold: i64) -> String {
    value(
        connection,
        &format!("SELECT state FROM {table} WHERE hold_id = {hold}"),
    )
    .await
}

/// A desk that has sent its command and may be waiting.
pub struct Sent {
    /// Its backend.
    pub backend: i32,
    answer: JoinHandle<Result<Value, sqlx::Error>>,
}

impl Sent {
    /// Sends a command on a connection of its own.
    pub async fn new(test: &TestHouse, call: String) -> Self {
        let mut connection = test.database.connect().await;
        let backend = backend(&mut connection).await;
        Self {
            backend,
            answer: tokio::spawn(async move { try_ask(&mut connection, &call).await }),
        }
    }

    /// The same, and sees it wait for one of the others.
    pub async fn blocked(test: &TestHouse, call: String, by: &[i32]) -> Self {
        let sent = Self::new(test, call).await;
        let mut observer = test.database.connect().await;
        support::until_blocked(&mut observer, sent.backend, by).await;
        sent
    }

    /// The same, behind others that wait for the same holder: the first waits for the holder, the next for those.
    pub async fn queued(test: &TestHouse, call: String, holder: i32, before: &[Self]) -> Self {
        let mut by: Vec<i32> = before.iter().map(|sent| sent.backend).collect();
        by.push(holder);
        Self::blocked(test, call, &by).await
    }

    /// What it hears.
    pub async fn answer(self) -> Value {
        self.answer.await.unwrap().unwrap()
    }
}

/// A connection with an open transaction in which one statement has been run.
pub async fn open_transaction(test: &TestHouse, sql: &str) -> (PgConnection, i32) {
    let mut connection = test.database.connect().await;
    let backend = backend(&mut connection).await;
    run(&mut connection, "BEGIN").await;
    run(&mut connection, sql).await;
    (connection, backend)
}
