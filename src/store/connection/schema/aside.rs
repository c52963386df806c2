//! What becomes of Keyrack's own database when it was made by a build that nothing leads from: it gets another name, and
//! there is a new one in its place.

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection, Executor};

use crate::store::connection::error::StoreError;
use crate::store::connection::faults::{Kind, fault, kind};
use crate::store::connection::schema::state::SchemaState;
use crate::store::handle::Store;

impl Store {
    /// Gives Keyrack's own database of an earlier build another name and makes a new one: nothing leads from its tables to
    /// these. Nothing of it is deleted. Says the name; none if somebody else has done it meanwhile. This store must not be
    /// used any more.
    ///
    /// # Errors
    /// [`StoreError::EarlierBuildInUse`] if others are still using it, and what asking can give.
    pub(crate) async fn put_aside(&self) -> Result<Option<String>, StoreError> {
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
            Kind::InUse => StoreError::EarlierBuildInUse,
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
