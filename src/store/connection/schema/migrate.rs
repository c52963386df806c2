//! Brings a database up to this program's schema: first the tables, then the text.

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::{Connection, Executor};

use crate::store::connection::error::StoreError;
use crate::store::connection::faults::fault;
use crate::store::connection::schema::set_up::set_up_failed;
use crate::store::connection::schema::state::SchemaState;
use crate::store::connection::schema::text::ProtocolText;
use crate::store::handle::Store;

static MIGRATOR: Migrator = sqlx::migrate!();

impl Store {
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
            MigrateError::VersionMismatch(version) => StoreError::OtherBuild { step: version },
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
                set_up_failed(&error)
            }
            error => {
                tracing::error!(%error, "migration failed");
                StoreError::SetUpFailed
            }
        })?;
        // Nobody waits for the goodbye.
        let _ = connection.close().await;
        Ok(())
    }
}
