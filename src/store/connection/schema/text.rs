//! The text of the protocol: what this program was built with, and how it takes the place of another one while desks go on
//! working. Must not know how tables are made.

use std::collections::HashSet;
use std::sync::LazyLock;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection, Executor};

use crate::domain::sentences::session::DatabaseSession;
use crate::store::connection::clock::clock;
use crate::store::connection::connections::database_session;
use crate::store::connection::error::StoreError;
use crate::store::connection::faults::{Kind, fault, kind};
use crate::store::connection::schema::set_up::{find_unqualified, set_up_failed};
use crate::store::handle::Store;

/// The files of the protocol's text, in reading order.
const TEXT: [&str; 16] = [
    include_str!("../../../../migrations/protocol/01_words.sql"),
    include_str!("../../../../migrations/protocol/02_guards.sql"),
    include_str!("../../../../migrations/protocol/03_reading.sql"),
    include_str!("../../../../migrations/protocol/04_requests.sql"),
    include_str!("../../../../migrations/protocol/05_steps.sql"),
    include_str!("../../../../migrations/protocol/06_free.sql"),
    include_str!("../../../../migrations/protocol/07_slots.sql"),
    include_str!("../../../../migrations/protocol/08_stock.sql"),
    include_str!("../../../../migrations/protocol/09_groups.sql"),
    include_str!("../../../../migrations/protocol/10_catalogue.sql"),
    include_str!("../../../../migrations/protocol/11_sweep.sql"),
    include_str!("../../../../migrations/protocol/12_check.sql"),
    include_str!("../../../../migrations/protocol/13_demo.sql"),
    include_str!("../../../../migrations/protocol/14_triggers.sql"),
    include_str!("../../../../migrations/protocol/15_step_mode.sql"),
    include_str!("../../../../migrations/protocol/16_rights.sql"),
];

/// The number of the text, and its checksum as it was when it got that number. The number is what tells an older text
/// from a newer one; a test holds the two together, so that no change of the text goes without a new number.
const REVISION: &str = include_str!("../../../../migrations/protocol/revision.txt");

/// The text that this program was built with.
static OURS: LazyLock<ProtocolText> =
    LazyLock::new(|| ProtocolText::new(revision(), TEXT.concat()));

/// How long the tables are waited for at a time, and how often. In between commands go on.
const LOCK_PATIENCE: &str = "2s";
const LOCK_TRIES: usize = 15;
const LOCK_PAUSE: Duration = Duration::from_millis(200);

/// The tables that every command writes to, in an order in which commands and the sweep take them.
const LOCK_TABLES: &str = "LOCK TABLE request, room, inventory, slot_hold, stock_hold, hold_event IN SHARE ROW EXCLUSIVE MODE";

/// A text of the protocol.
#[derive(Debug, Clone)]
pub struct ProtocolText {
    revision: i64,
    checksum: [u8; 32],
    sql: String,
}

impl ProtocolText {
    /// One with a number.
    pub fn new(revision: i64, sql: String) -> Self {
        Self {
            revision,
            checksum: Sha256::digest(&sql).into(),
            sql,
        }
    }

    /// The one that this program was built with.
    pub fn ours() -> &'static Self {
        &OURS
    }

    /// Its statements.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// Its number.
    pub fn revision(&self) -> i64 {
        self.revision
    }

    pub(super) fn is(&self, in_force: &TextInForce) -> bool {
        self.revision == in_force.revision && self.checksum_in_hex() == in_force.checksum
    }

    pub(super) fn checksum_in_hex(&self) -> String {
        self.checksum
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

fn revision() -> i64 {
    // A test holds the file to its form.
    REVISION
        .split_whitespace()
        .next()
        .and_then(|number| number.parse().ok())
        .unwrap_or_default()
}

/// When the text is not replaced.
#[derive(Clone, Copy, PartialEq)]
enum Unless {
    /// If the database says that this one is in force.
    ItIsThere,
    Never,
}

/// The text that a database says is in force.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(in crate::store) struct TextInForce {
    pub(super) revision: i64,
    /// In hexadecimal.
    pub(super) checksum: String,
}

impl Store {
    /// Puts a text in force, in one transaction and behind one lock, while commands go on before and after it.
    ///
    /// # Errors
    /// [`StoreError::SchemaTooNew`] if a newer one is in force, and faults; then the text is the one that was there.
    pub async fn put_in_force(
        &self,
        text: &ProtocolText,
        tell: &(impl Fn(String) + Sync),
    ) -> Result<(), StoreError> {
        self.replace_text(text, Unless::ItIsThere, tell).await
    }

    /// The same though the database says that it is there: parts of it may have been changed or dropped by hand.
    pub(super) async fn put_in_force_again(
        &self,
        tell: &(impl Fn(String) + Sync),
    ) -> Result<(), StoreError> {
        self.replace_text(ProtocolText::ours(), Unless::Never, tell)
            .await
    }

    async fn replace_text(
        &self,
        text: &ProtocolText,
        unless: Unless,
        tell: &(impl Fn(String) + Sync),
    ) -> Result<(), StoreError> {
        let mut connection = self
            .connections
            .open()
            .await
            .map_err(|error| fault(&error))?;
        let mut told = HashSet::new();
        for attempt in 1.. {
            let tried_at = clock(&mut connection)
                .await
                .map_err(|error| fault(&error))?;
            let error = match try_to_replace(&mut connection, text, unless).await {
                Ok(state) => {
                    find_unqualified(&mut connection).await;
                    // Nobody waits for the goodbye.
                    let _ = connection.close().await;
                    return state;
                }
                Err(error) if kind(&error) == Kind::Contended && attempt < LOCK_TRIES => error,
                Err(error) => return Err(set_up_failed(&error)),
            };
            tracing::info!(%error, "the text of the protocol waits for its tables");
            // Somebody may have let go meanwhile; then there is nobody to name.
            let holders = holders(&mut connection, tried_at).await;
            for holder in holders.unwrap_or_default() {
                if told.insert(holder.clone()) {
                    tell(holder.sentence_of_a_long_wait());
                }
            }
            // Whoever has waited behind this try goes first.
            tokio::time::sleep(LOCK_PAUSE).await;
        }
        unreachable!("the loop ends by returning")
    }
}

/// One try: the text under the lock, or nothing of it.
async fn try_to_replace(
    connection: &mut PgConnection,
    text: &ProtocolText,
    unless: Unless,
) -> Result<Result<(), StoreError>, sqlx::Error> {
    let mut transaction = connection.begin().await?;
    transaction
        .execute(AssertSqlSafe(format!(
            "SET LOCAL lock_timeout = '{LOCK_PATIENCE}'; SET LOCAL statement_timeout = 0;
             SET LOCAL client_min_messages = warning; SET LOCAL search_path = keyrack;
             SELECT pg_advisory_xact_lock(hashtextextended('keyrack text', 0))"
        )))
        .await?;
    let in_force = sqlx::query_as!(
        TextInForce,
        r#"SELECT revision, encode(checksum, 'hex') AS "checksum!" FROM keyrack.protocol_text"#
    )
    .fetch_optional(&mut *transaction)
    .await?;
    if let Some(in_force) = in_force {
        if in_force.revision > text.revision {
            return Ok(Err(StoreError::SchemaTooNew {
                found: in_force.revision,
                known: text.revision,
            }));
        }
        if unless == Unless::ItIsThere && text.is(&in_force) {
            return Ok(Ok(()));
        }
    }
    transaction.execute(LOCK_TABLES).await?;
    transaction
        .execute(sqlx::raw_sql(AssertSqlSafe(text.sql.clone())))
        .await?;
    sqlx::query!(
        "
        INSERT INTO keyrack.protocol_text (revision, checksum) VALUES ($1, $2)
        ON CONFLICT ON CONSTRAINT protocol_text_pkey DO UPDATE
        SET revision = excluded.revision, checksum = excluded.checksum, applied_at = excluded.applied_at
        ",
        text.revision,
        &text.checksum
    )
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(Ok(()))
}
/// Who has kept the text from its tables since then: those who write there, else those who read.
async fn holders(
    connection: &mut PgConnection,
    tried_at: DateTime<Utc>,
) -> Result<Vec<DatabaseSession>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        SELECT
            a.application_name AS "name!",
            a.pid AS "pid!",
            bool_or(l.mode NOT IN ('AccessShareLock', 'RowShareLock')) AS "writes!"
        FROM pg_locks AS l
        JOIN pg_stat_activity AS a ON a.pid = l.pid
        WHERE l.granted
            AND l.pid <> pg_backend_pid()
            AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND l.relation IN (SELECT oid FROM pg_class WHERE relnamespace = 'keyrack'::regnamespace)
            AND a.xact_start < $1
        GROUP BY a.pid, a.application_name
        ORDER BY a.pid
        "#,
        tried_at
    )
    .fetch_all(connection)
    .await?;
    let some_write = rows.iter().any(|row| row.writes);
    Ok(rows
        .into_iter()
        .filter(|row| row.writes || !some_write)
        .map(|row| database_session(row.pid, row.name))
        .collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn every_file_of_the_text_is_in_it_in_reading_order() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/protocol");
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|end| end == "sql"))
            .collect();
        files.sort();
        let read: Vec<String> = files
            .iter()
            .map(|path| std::fs::read_to_string(path).unwrap())
            .collect();
        assert_eq!(read, TEXT);
    }

    #[test]
    fn a_changed_text_has_a_new_number() {
        let ours = ProtocolText::ours();
        let said = format!("{} {}\n", ours.revision, ours.checksum_in_hex());
        assert_eq!(
            REVISION, said,
            "The text of the protocol has changed. Write this into migrations/protocol/revision.txt, with the next number \
             if the one there has landed on main."
        );
        assert!(ours.revision > 0);
    }
}
