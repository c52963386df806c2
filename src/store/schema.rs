//! What a database has of Keyrack: its tables, made by numbered migrations that go forward only, and the text of the
//! protocol, which is replaced whole when it is another one. Every program says clearly when it is the wrong one.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::{PgConnection, PgDatabaseError};
use sqlx::{AssertSqlSafe, Connection, Executor};

use super::connections::desk_of_session;
use super::faults::{Kind, fault, kind};
use super::{Store, StoreError};
use crate::domain::text::harmless;

static MIGRATOR: Migrator = sqlx::migrate!();

/// The files of the protocol's text, in reading order.
const TEXT: [&str; 16] = [
    include_str!("../../migrations/protocol/01_words.sql"),
    include_str!("../../migrations/protocol/02_guards.sql"),
    include_str!("../../migrations/protocol/03_reading.sql"),
    include_str!("../../migrations/protocol/04_requests.sql"),
    include_str!("../../migrations/protocol/05_steps.sql"),
    include_str!("../../migrations/protocol/06_free.sql"),
    include_str!("../../migrations/protocol/07_slots.sql"),
    include_str!("../../migrations/protocol/08_stock.sql"),
    include_str!("../../migrations/protocol/09_groups.sql"),
    include_str!("../../migrations/protocol/10_catalogue.sql"),
    include_str!("../../migrations/protocol/11_sweep.sql"),
    include_str!("../../migrations/protocol/12_check.sql"),
    include_str!("../../migrations/protocol/13_demo.sql"),
    include_str!("../../migrations/protocol/14_triggers.sql"),
    include_str!("../../migrations/protocol/15_step_mode.sql"),
    include_str!("../../migrations/protocol/16_rights.sql"),
];

/// The number of the text, and its checksum as it was when it got that number. The number is what tells an older text
/// from a newer one; a test holds the two together, so that no change of the text goes without a new number.
const REVISION: &str = include_str!("../../migrations/protocol/revision.txt");

/// The text that this program was built with.
static OURS: LazyLock<ProtocolText> =
    LazyLock::new(|| ProtocolText::new(revision(), TEXT.concat()));

/// How long the tables are waited for at a time, and how often. In between commands go on.
const LOCK_PATIENCE: &str = "2s";
const LOCK_TRIES: usize = 15;

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

    fn is(&self, in_force: &TextInForce) -> bool {
        self.revision == in_force.revision && self.checksum_in_hex() == in_force.checksum
    }

    fn checksum_in_hex(&self) -> String {
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

/// The text that a database says is in force.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct TextInForce {
    revision: i64,
    /// In hexadecimal.
    checksum: String,
}

/// What a database has, next to what this program knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaState {
    /// Nothing of Keyrack.
    Absent,
    /// Tables that were made before the numbering began anew; nothing leads from them to these.
    EarlierBuild,
    /// An earlier schema or text; `keyrack db migrate` brings it up.
    Older,
    /// The one that this program was built with.
    Current,
    /// A later one.
    Newer {
        /// The number of its text.
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
}

impl SchemaState {
    fn of(text: Option<&TextInForce>) -> Self {
        let ours = ProtocolText::ours();
        match text {
            None => Self::Older,
            Some(text) if text.revision > ours.revision => Self::Newer {
                found: text.revision,
                known: ours.revision,
            },
            Some(text) if ours.is(text) => Self::Current,
            Some(_) => Self::Older,
        }
    }

    fn require_current(self) -> Result<(), StoreError> {
        match self {
            Self::Current => Ok(()),
            Self::Absent | Self::Older => Err(StoreError::SchemaTooOld),
            Self::EarlierBuild => Err(StoreError::EarlierBuild),
            Self::Newer { found, known } => Err(StoreError::SchemaTooNew { found, known }),
        }
    }
}

/// Goes on only with the text that this program was built with.
pub(super) fn check_text(text: Option<&TextInForce>) -> Result<(), StoreError> {
    SchemaState::of(text).require_current()
}

impl Store {
    /// Which schema the database has. One statement where it is the right one.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`], and faults.
    pub async fn schema_state(&self) -> Result<SchemaState, StoreError> {
        let text = self
            .ask_patiently(&mut async |mut connection| {
                let text = sqlx::query_as!(
                    TextInForce,
                    r#"SELECT revision, encode(checksum, 'hex') AS "checksum!" FROM keyrack.protocol_text"#
                )
                .fetch_optional(&mut connection)
                .await;
                (connection, text)
            })
            .await;
        match text {
            Ok(text) => Ok(SchemaState::of(text.as_ref())),
            Err(error) if kind(&error) == Kind::Schema => self.state_without_text().await,
            Err(error) => Err(fault(&error)),
        }
    }

    async fn state_without_text(&self) -> Result<SchemaState, StoreError> {
        let found = self
            .ask_patiently(&mut async |mut connection| {
                let found = sqlx::query!(
                    r#"
                    SELECT
                        to_regclass('keyrack._sqlx_migrations') IS NOT NULL AS "begun!",
                        to_regclass('public._sqlx_migrations') IS NOT NULL
                            AND to_regclass('public.slot_hold') IS NOT NULL AS "earlier_build!"
                    "#
                )
                .fetch_one(&mut connection)
                .await;
                (connection, found)
            })
            .await
            .map_err(|error| fault(&error))?;
        Ok(if found.begun {
            SchemaState::Older
        } else if found.earlier_build {
            SchemaState::EarlierBuild
        } else {
            SchemaState::Absent
        })
    }

    /// Goes on only with the right schema.
    ///
    /// # Errors
    /// [`StoreError::SchemaTooOld`], [`StoreError::SchemaTooNew`], [`StoreError::EarlierBuild`], and what asking can give.
    pub async fn check_schema(&self) -> Result<(), StoreError> {
        self.schema_state().await?.require_current()
    }

    /// What to say to an error that speaks of things that are not in the database: mostly that the text is another one by
    /// now.
    pub(super) async fn explain_missing(&self, error: &sqlx::Error) -> StoreError {
        match self.check_schema().await {
            Err(other) => other,
            Ok(()) => {
                // What it has to say besides is for the log, which has the code.
                let _ = fault(error);
                tracing::error!(%error, "the text of the protocol is not whole");
                StoreError::Fault(
                    "Something of Keyrack is missing in this database. Run `keyrack db migrate`, then try again.".into(),
                )
            }
        }
    }

    /// What there is to say if a newer program has put its text in force meanwhile.
    pub(super) async fn newer_text(&self) -> Option<StoreError> {
        let newer = self.check_schema().await.err();
        newer.filter(|error| matches!(error, StoreError::SchemaTooNew { .. }))
    }

    /// Brings the schema up to this program's. Safe to call by several programs at once.
    ///
    /// # Errors
    /// [`StoreError::SchemaTooNew`] if a newer program was there before, [`StoreError::EarlierBuild`], and faults.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        self.migrate_telling(&|_| ()).await
    }

    /// The same, and tells what it waits for, in full sentences.
    ///
    /// # Errors
    /// As [`Store::migrate`].
    pub async fn migrate_telling(&self, tell: &(impl Fn(String) + Sync)) -> Result<(), StoreError> {
        match self.schema_state().await? {
            SchemaState::Newer { found, known } => {
                return Err(StoreError::SchemaTooNew { found, known });
            }
            SchemaState::EarlierBuild => return Err(StoreError::EarlierBuild),
            SchemaState::Absent | SchemaState::Older | SchemaState::Current => {}
        }
        self.make_tables().await?;
        self.put_in_force(ProtocolText::ours(), tell).await
    }

    async fn make_tables(&self) -> Result<(), StoreError> {
        let mut connection = self
            .connections
            .open()
            .await
            .map_err(|error| fault(&error))?;
        // A twin waits here for the first; neither lock nor statement has a limit while a schema changes. Everything lies
        // in one schema, the record of the migrations too. These are one transaction, and the lock goes with its end.
        let prepared = connection
            .execute(
                "SET lock_timeout = 0; SET statement_timeout = 0; SET client_min_messages = warning;
                 SELECT pg_advisory_xact_lock(hashtextextended('keyrack schema', 0));
                 CREATE SCHEMA IF NOT EXISTS keyrack;
                 SET search_path = keyrack",
            )
            .await;
        prepared.map_err(|error| set_up_failed(&error))?;
        let outcome = MIGRATOR.run(&mut connection).await;
        outcome.map_err(|error| match error {
            MigrateError::VersionMissing(found) => StoreError::SchemaTooNew {
                found,
                known: MIGRATOR
                    .iter()
                    .map(|migration| migration.version)
                    .max()
                    .unwrap_or(0),
            },
            MigrateError::VersionMismatch(version) => other_build(version),
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
                set_up_failed(&error)
            }
            error => {
                tracing::error!(%error, "migration failed");
                StoreError::Fault(
                    "The database could not be set up; the log file says more.".into(),
                )
            }
        })?;
        // Nobody waits for the goodbye.
        let _ = connection.close().await;
        Ok(())
    }

    /// Puts a text in force, in one transaction and behind one lock, while commands go on before and after it.
    ///
    /// # Errors
    /// [`StoreError::SchemaTooNew`] if a newer one is in force, and faults; then the text is the one that was there.
    pub async fn put_in_force(
        &self,
        text: &ProtocolText,
        tell: &(impl Fn(String) + Sync),
    ) -> Result<(), StoreError> {
        let mut connection = self
            .connections
            .open()
            .await
            .map_err(|error| fault(&error))?;
        let mut told = BTreeSet::new();
        for attempt in 1.. {
            let tried_at = clock(&mut connection)
                .await
                .map_err(|error| fault(&error))?;
            let error = match replace_text(&mut connection, text).await {
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
                    tell(format!(
                        "Waiting for {holder}, who has been working on the bookings for a while."
                    ));
                }
            }
        }
        unreachable!("the loop ends by returning")
    }

    /// Gives Keyrack's own database of an earlier build another name and makes a new one: nothing leads from its tables to
    /// these. Nothing of it is deleted. Says the name; none if somebody else has done it meanwhile. This store must not be
    /// used any more.
    ///
    /// # Errors
    /// [`StoreError::Fault`] if others are still using it, and what asking can give.
    pub async fn put_aside(&self) -> Result<Option<String>, StoreError> {
        self.close().await;
        let options = self.connections.options().clone();
        let name = options.get_database().unwrap_or("keyrack").to_owned();
        let admin = self
            .connections
            .with_options(|options| options.database("postgres"))
            .open()
            .await;
        let mut admin = admin.map_err(|error| fault(&error))?;
        // A twin waits here for the first; what follows takes as long as it takes.
        admin
            .execute(
                "SET lock_timeout = 0; SET statement_timeout = 0;
                 SELECT pg_advisory_lock(hashtextextended('keyrack put aside', 0))",
            )
            .await
            .map_err(|error| fault(&error))?;
        let old = Self::connect(options).await?;
        let state = old.schema_state().await;
        let now = old.now().await;
        old.close().await;
        if state? != SchemaState::EarlierBuild {
            return Ok(None);
        }
        let aside = format!("{name}_until_{}", now?.format("%Y_%m_%d_%H%M%S_%3f"));
        let replaced = replace_database(&mut admin, &name, &aside).await;
        replaced.map_err(|error| match kind(&error) {
            Kind::InUse => StoreError::Fault(
                "Keyrack's own database was made by an earlier build, and somebody still has it open. Nothing was done; \
                 close the other consoles, then start again."
                    .into(),
            ),
            _ => fault(&error),
        })?;
        // Nobody waits for the goodbye.
        let _ = admin.close().await;
        Ok(Some(aside))
    }
}

/// Puts an empty database in the place of one that gets another name, both at once: whatever fails, there is one of this
/// name. The server itself waits some seconds for sessions that are just going.
async fn replace_database(
    admin: &mut PgConnection,
    name: &str,
    aside: &str,
) -> Result<(), sqlx::Error> {
    let fresh = quoted(&format!("{name}_fresh"));
    let (name, aside) = (quoted(name), quoted(aside));
    // One that was left by somebody who got no further.
    for statement in [
        format!("DROP DATABASE IF EXISTS {fresh}"),
        format!("CREATE DATABASE {fresh}"),
    ] {
        admin.execute(AssertSqlSafe(statement)).await?;
    }
    let renamed = admin
        .execute(AssertSqlSafe(format!(
            "BEGIN; ALTER DATABASE {name} RENAME TO {aside}; ALTER DATABASE {fresh} RENAME TO {name}; COMMIT"
        )))
        .await;
    if renamed.is_err() {
        for statement in ["ROLLBACK".to_owned(), format!("DROP DATABASE {fresh}")] {
            if let Err(error) = admin.execute(AssertSqlSafe(statement)).await {
                tracing::warn!(%error, "an empty database stays behind");
            }
        }
    }
    renamed.map(drop)
}

fn quoted(identifier: &str) -> String {
    format!("\"{}\"", identifier.replace('"', "\"\""))
}

/// One try: the text under the lock, or nothing of it.
async fn replace_text(
    connection: &mut PgConnection,
    text: &ProtocolText,
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
        if text.is(&in_force) {
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

/// The server's clock.
async fn clock(connection: &mut PgConnection) -> Result<DateTime<Utc>, sqlx::Error> {
    sqlx::query_scalar!(r#"SELECT clock_timestamp() AS "now!""#)
        .fetch_one(connection)
        .await
}

/// Who has kept the text from its tables since then: those who write there, else those who read.
async fn holders(
    connection: &mut PgConnection,
    tried_at: DateTime<Utc>,
) -> Result<Vec<String>, sqlx::Error> {
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
        .map(|row| match desk_of_session(&row.name) {
            Some(desk) => format!("desk {} (backend {})", harmless(&desk.0), row.pid),
            None if row.name.is_empty() => format!("backend {}", row.pid),
            None => format!("{} (backend {})", harmless(&row.name), row.pid),
        })
        .collect())
}

/// Sees to it that a psql prompt finds everything unqualified, where this user may say so for the database. Behind
/// everything else, so that whatever else lives in this database finds what it found before.
async fn find_unqualified(connection: &mut PgConnection) {
    let outcome = connection
        .execute(
            r#"
            DO $$
            DECLARE
                v_path text;
            BEGIN
                SELECT coalesce(
                    (
                        SELECT split_part(setting, '=', 2)
                        FROM pg_db_role_setting AS s
                        CROSS JOIN unnest(s.setconfig) AS setting
                        WHERE s.setdatabase = d.oid AND s.setrole = 0 AND setting LIKE 'search\_path=%'
                    ),
                    '"$user", public'
                ) INTO v_path
                FROM pg_database AS d
                WHERE d.datname = current_database() AND pg_has_role(d.datdba, 'USAGE');
                IF v_path !~ '\mkeyrack\M' THEN
                    EXECUTE format('ALTER DATABASE %I SET search_path = %s, keyrack', current_database(), v_path);
                END IF;
            END
            $$
            "#,
        )
        .await;
    if let Err(error) = outcome {
        tracing::info!(%error, "the database's search_path stays as it is");
    }
}

/// A step of the set-up is not the one that this program has.
fn other_build(version: i64) -> StoreError {
    StoreError::Fault(format!(
        "Step {version} of this database's set-up is not the one that this program has; it was made by another build. \
         Use that build, or a new database."
    ))
}

/// A set-up step failed; the usual reason has a sentence of its own.
fn set_up_failed(error: &sqlx::Error) -> StoreError {
    if let sqlx::Error::Database(database) = error {
        match database.code().as_deref() {
            // The extension's files are not installed.
            Some("0A000" | "58P01") => {
                return StoreError::Fault(
                    "This PostgreSQL lacks the btree_gist extension, which keeps claims apart. Install its contrib \
                     package (on Debian it is part of postgresql-15), then try again."
                        .into(),
                );
            }
            Some("42501") => {
                return StoreError::Fault(
                    "This user may not set the database up (a schema with tables and the btree_gist extension). Ask its \
                     owner to run `keyrack db migrate`."
                        .into(),
                );
            }
            Some("2BP01") => {
                let what = database
                    .try_downcast_ref::<PgDatabaseError>()
                    .and_then(PgDatabaseError::detail)
                    .unwrap_or_else(|| database.message());
                return StoreError::Fault(format!(
                    "Something else in this database still uses a part of Keyrack that this version does not have any \
                     more ({}). Nothing was done; drop or change it, then try again.",
                    harmless(what)
                ));
            }
            Some("55P03" | "40P01") => {
                return StoreError::Fault(
                    "The bookings have been locked by somebody else all the time, so the database could not be brought up \
                     to date. Nothing was done; end that work, then try again."
                        .into(),
                );
            }
            _ => {}
        }
        tracing::error!(
            message = database.message(),
            "the database could not be set up"
        );
    }
    fault(error)
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

    #[test]
    fn a_text_with_a_larger_number_is_newer_and_any_other_one_is_older() {
        let ours = ProtocolText::ours();
        let of = |revision: i64, checksum: &str| {
            SchemaState::of(Some(&TextInForce {
                revision,
                checksum: checksum.into(),
            }))
        };
        let checksum = ours.checksum_in_hex();
        assert_eq!(of(ours.revision, &checksum), SchemaState::Current);
        assert_eq!(of(ours.revision, "00"), SchemaState::Older);
        assert_eq!(of(ours.revision - 1, &checksum), SchemaState::Older);
        assert!(matches!(
            of(ours.revision + 1, &checksum),
            SchemaState::Newer { .. }
        ));
        assert_eq!(SchemaState::of(None), SchemaState::Older);
    }
}
