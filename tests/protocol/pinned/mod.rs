//! Whatever the caller's search_path, temporary tables, operators and settings, functions and guards do what they were
//! written to do (R33).

mod attacks;
mod callers;
mod catalogue;
mod hostile;
mod story;
mod telling;

use sqlx::Connection;
use sqlx::postgres::PgConnection;

use crate::run;
use crate::support::TestHouse;

/// Somebody who may log in, and nothing else.
const STRANGER: &str = "keyrack_stranger";

/// Makes the stranger, who may then write to tables directly: past the protocol, into the guards.
async fn let_the_stranger_write(test: &TestHouse) {
    let mut superuser = test.database.connect_as_superuser().await;
    // Roles are the server's; another test may make this one at the same moment.
    run(
        &mut superuser,
        &format!(
            "DO $$ BEGIN
                 CREATE ROLE {STRANGER} LOGIN;
             EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
             END $$"
        ),
    )
    .await;
    for rights in [
        "SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES",
        "USAGE ON ALL SEQUENCES",
    ] {
        run(
            &mut superuser,
            &format!("GRANT {rights} IN SCHEMA keyrack TO {STRANGER}"),
        )
        .await;
    }
}

/// A session of the stranger's.
async fn stranger(test: &TestHouse) -> PgConnection {
    PgConnection::connect_with(&test.database.options().username(STRANGER))
        .await
        .unwrap()
}
