//! The schema's version: migrations go forward only, and every program says clearly when it is the wrong one.

use sqlx::migrate::{MigrateError, Migrator};

use super::faults::fault;
use super::{Store, StoreError};

static MIGRATOR: Migrator = sqlx::migrate!();

/// What a database has, next to what this program knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaState {
    /// Nothing of Keyrack.
    Absent,
    /// An earlier schema; `keyrack db migrate` brings it up.
    Older,
    /// The one that this program was built with.
    Current,
    /// A later one.
    Newer {
        /// Its version.
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
}

impl Store {
    /// Which schema the database has.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`], and faults; a schema with a step that is not this program's is one.
    pub async fn schema_state(&self) -> Result<SchemaState, StoreError> {
        let known = MIGRATOR
            .iter()
            .map(|migration| migration.version)
            .max()
            .unwrap_or(0);
        let table = self
            .ask(async |mut connection| {
                let found = sqlx::query_scalar!(
                    r#"SELECT to_regclass('_sqlx_migrations') IS NOT NULL AS "found!""#
                )
                .fetch_one(&mut connection)
                .await;
                (connection, found)
            })
            .await?;
        if !table {
            return Ok(SchemaState::Absent);
        }
        // Not checked at compile time: the table is sqlx's own, and not there when the queries are prepared.
        let applied: Vec<(i64, Vec<u8>)> = self
            .ask(async |mut connection| {
                let applied = sqlx::query_as(
                    "SELECT version, checksum FROM _sqlx_migrations WHERE success ORDER BY version",
                )
                .fetch_all(&mut connection)
                .await;
                (connection, applied)
            })
            .await?;
        for (version, checksum) in &applied {
            let ours = MIGRATOR
                .iter()
                .find(|migration| migration.version == *version);
            if ours.is_some_and(|migration| *migration.checksum != **checksum) {
                return Err(other_build(*version));
            }
        }
        let found = applied.last().map(|(version, _)| *version);
        Ok(match found {
            None => SchemaState::Absent,
            Some(found) if found < known => SchemaState::Older,
            Some(found) if found == known => SchemaState::Current,
            Some(found) => SchemaState::Newer { found, known },
        })
    }

    /// Goes on only with the right schema.
    ///
    /// # Errors
    /// [`StoreError::SchemaTooOld`], [`StoreError::SchemaTooNew`], and what asking can give.
    pub async fn check_schema(&self) -> Result<(), StoreError> {
        match self.schema_state().await? {
            SchemaState::Current => Ok(()),
            SchemaState::Absent | SchemaState::Older => Err(StoreError::SchemaTooOld),
            SchemaState::Newer { found, known } => Err(StoreError::SchemaTooNew { found, known }),
        }
    }

    /// Brings the schema up to this program's. Safe to call by several programs at once.
    ///
    /// # Errors
    /// [`StoreError::SchemaTooNew`] if a newer program was there before, and faults.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        if let SchemaState::Newer { found, known } = self.schema_state().await? {
            return Err(StoreError::SchemaTooNew { found, known });
        }
        let mut connection = self
            .connections
            .open()
            .await
            .map_err(|error| fault(&error))?;
        // A twin waits here for the first; neither lock nor statement has a limit while a schema changes.
        sqlx::query("SELECT set_config('lock_timeout', '0', false), set_config('statement_timeout', '0', false)")
            .execute(&mut connection)
            .await
            .map_err(|error| fault(&error))?;
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
        })
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
                    "This user may not set the database up (tables, a schema beside them and the btree_gist extension). \
                     Ask its owner to run `keyrack db migrate`."
                        .into(),
                );
            }
            _ => {}
        }
    }
    fault(error)
}
