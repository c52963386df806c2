//! The text of the protocol, put in force while desks work: whole or not at all, in the same form from wherever it comes,
//! and said clearly to whoever has another one.
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod aside;
mod asked;
mod cascade;
mod load;
mod newer;
mod waiting;
mod whole;

use keyrack::store::ProtocolText;
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Connection};
use support::Database;

/// A text like ours that differs in this, so many numbers later.
pub fn text_like_ours(later: i64, change: impl FnOnce(&str) -> String) -> ProtocolText {
    let ours = ProtocolText::ours();
    let sql = change(ours.sql());
    assert_ne!(sql, ours.sql(), "the change changes nothing");
    ProtocolText::new(ours.revision() + later, sql)
}

/// The text with something after the first BEGIN of a function.
pub fn with_step(sql: &str, function: &str, statement: &str) -> String {
    let start = sql.find(&format!("FUNCTION {function}(")).unwrap();
    let begin = start + sql[start..].find("\nBEGIN\n").unwrap() + "\nBEGIN\n".len();
    format!("{}    {statement}\n{}", &sql[..begin], &sql[begin..])
}

/// One value.
pub async fn value<T>(connection: &mut PgConnection, sql: &str) -> T
where
    T: for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres> + Send + Unpin,
    (T,): for<'r> sqlx::FromRow<'r, PgRow>,
{
    sqlx::query_scalar(AssertSqlSafe(sql.to_owned()))
        .fetch_one(connection)
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// A connection that may do everything, and finds everything unqualified.
pub async fn superuser(database: &Database) -> PgConnection {
    let options = database
        .options()
        .username("postgres")
        .options([("search_path", "keyrack, public")]);
    PgConnection::connect_with(&options).await.unwrap()
}
