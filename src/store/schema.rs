//! What a database has of Keyrack: its tables, made by numbered migrations that go forward only, and the text of the
//! protocol, which is replaced whole when it is another one. Every program says clearly when it is the wrong one.

mod aside;
mod text;

pub use text::ProtocolText;
pub(super) use text::TextInForce;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::{PgConnection, PgDatabaseError};
use sqlx::{Connection, Executor};

use super::faults::{Kind, fault, kind};
use super::{Store, StoreError};
use crate::domain::text::harmless;

static MIGRATOR: Migrator = sqlx::migrate!();

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
            Some(text) if text.revision > ours.revision() => Self::Newer {
                found: text.revision,
                known: ours.revision(),
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
        self.prepare_tables().await?;
        self.put_in_force(ProtocolText::ours(), tell).await
    }

    /// The same for whoever asks for it in so many words: what was changed or dropped of the text by hand is there again.
    ///
    /// # Errors
    /// As [`Store::migrate`].
    pub async fn migrate_again(&self, tell: &(impl Fn(String) + Sync)) -> Result<(), StoreError> {
        self.prepare_tables().await?;
        self.put_in_force_again(tell).await
    }

    async fn prepare_tables(&self) -> Result<(), StoreError> {
        match self.schema_state().await? {
            SchemaState::Newer { found, known } => {
                return Err(StoreError::SchemaTooNew { found, known });
            }
            SchemaState::EarlierBuild => return Err(StoreError::EarlierBuild),
            SchemaState::Absent | SchemaState::Older | SchemaState::Current => {}
        }
        self.make_tables().await
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
