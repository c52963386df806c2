//! A schema that comes and goes with one run of the lab.
//!
//! Its name is random, so that two labs don't meet. Whoever runs one holds an advisory lock on that name: a schema
//! whose lock is free was left by a lab that was killed, and the next lab removes it.

use std::time::Duration;

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection, Executor};
use uuid::Uuid;

use crate::store::connection::connections::Connections;
use crate::store::connection::faults::fault;
use crate::store::lab::schema::{MARK, making};
use crate::store::lab::{Client, Referee, Strategy};
use crate::store::{Store, StoreError};

/// The server that a lab runs on, as far as its figures depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// PostgreSQL's version, like 15.13.
    pub version: String,
    /// How long a wait lasts before the server looks whether it is a deadlock, like 1s.
    pub deadlock_timeout: String,
    /// How many more connections it would take, as far as can be known: what others do until then is up to them.
    pub spare_connections: i64,
}

/// A scratch schema, as long as a lab runs. [`Lab::close`] removes it.
#[derive(Debug)]
pub struct Lab {
    schema: String,
    server: Server,
    connections: Connections,
    /// Holds the lock; does nothing else until the end.
    keeper: PgConnection,
}

impl Store {
    /// Makes a scratch schema, after removing those that killed labs left behind.
    ///
    /// # Errors
    /// [`StoreError::NoSchemaForLab`] if the user may not create a schema, [`StoreError::OutOfReach`], and faults.
    pub async fn open_lab(&self) -> Result<Lab, StoreError> {
        let schema = format!("keyrack_lab_{}", Uuid::new_v4().simple());
        let connections = self.connections.with_options(|options| {
            // One attempt may wait for many others, and for deadlocks to be noticed.
            options.application_name(&schema).options([
                ("search_path", schema.as_str()),
                ("lock_timeout", "0"),
                ("statement_timeout", "10s"),
            ])
        });
        let mut keeper = connections.open().await.map_err(|error| fault(&error))?;
        may_create(&mut keeper).await?;
        remove_leftovers(&mut keeper)
            .await
            .map_err(|error| fault(&error))?;
        let server = server(&mut keeper).await.map_err(|error| fault(&error))?;
        create(&mut keeper, &schema)
            .await
            .map_err(|error| fault(&error))?;
        Ok(Lab {
            schema,
            server,
            connections,
            keeper,
        })
    }
}

impl Lab {
    /// The name of the schema.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// What it runs on.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Who prepares strategies, and counts.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`].
    pub async fn referee(&self) -> Result<Referee, StoreError> {
        let connection = self
            .connections
            .open()
            .await
            .map_err(|error| fault(&error))?;
        Ok(Referee::new(connection))
    }

    /// One who asks, by a strategy that is prepared, with a connection of its own. It takes this long to think between
    /// looking and writing.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`].
    pub async fn client(&self, strategy: &Strategy, think: Duration) -> Result<Client, StoreError> {
        let think = think.as_secs_f64().to_string();
        let connections = self.connections.with_options(|options| {
            options.options([
                ("keyrack_lab.think", think.as_str()),
                ("default_transaction_isolation", strategy.isolation()),
            ])
        });
        let connection = connections.open().await.map_err(|error| fault(&error))?;
        Ok(Client::new(connection))
    }

    /// Removes the schema, whoever is still at work in it.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults; then the next lab removes it.
    pub async fn close(mut self) -> Result<(), StoreError> {
        if remove(&mut self.keeper, &self.schema).await.is_err() {
            // The keeper's connection may have been lost.
            let mut other = self
                .connections
                .open()
                .await
                .map_err(|error| fault(&error))?;
            remove(&mut other, &self.schema)
                .await
                .map_err(|error| fault(&error))?;
            let _ = other.close().await;
        }
        // The server may be gone; then there is nobody to say goodbye to.
        let _ = self.keeper.close().await;
        Ok(())
    }
}

async fn may_create(keeper: &mut PgConnection) -> Result<(), StoreError> {
    let may: bool =
        sqlx::query_scalar("SELECT has_database_privilege(current_database(), 'CREATE')")
            .fetch_one(keeper)
            .await
            .map_err(|error| fault(&error))?;
    if may {
        return Ok(());
    }
    Err(StoreError::NoSchemaForLab)
}

async fn server(keeper: &mut PgConnection) -> Result<Server, sqlx::Error> {
    let (version, deadlock_timeout, spare_connections) = sqlx::query_as(
        "SELECT split_part(current_setting('server_version'), ' ', 1), current_setting('deadlock_timeout'),
             current_setting('max_connections')::bigint
                 - current_setting('superuser_reserved_connections')::bigint
                 - coalesce(current_setting('reserved_connections', true)::bigint, 0)
                 - (SELECT coalesce(sum(numbackends), 0)::bigint FROM pg_stat_database)",
    )
    .fetch_one(keeper)
    .await?;
    Ok(Server {
        version,
        deadlock_timeout,
        spare_connections,
    })
}

async fn create(keeper: &mut PgConnection, schema: &str) -> Result<(), sqlx::Error> {
    // The lock first: from the moment that others can see the schema, they can see that it is in use.
    sqlx::query("SELECT pg_advisory_lock(hashtextextended($1, 0))")
        .bind(schema)
        .execute(&mut *keeper)
        .await?;
    keeper.execute(AssertSqlSafe(making(schema))).await?;
    Ok(())
}

/// Removes schemas that were left behind. One that can't be removed now is left for another time.
async fn remove_leftovers(keeper: &mut PgConnection) -> Result<(), sqlx::Error> {
    let leftovers: Vec<String> = sqlx::query_scalar(
        "SELECT nspname::text FROM pg_namespace
         WHERE nspname ~ '^keyrack_lab_[0-9a-f]{32}$' AND obj_description(oid, 'pg_namespace') = $1
             AND pg_has_role(nspowner, 'USAGE')",
    )
    .bind(MARK)
    .fetch_all(&mut *keeper)
    .await?;
    for schema in leftovers {
        let free: bool = sqlx::query_scalar("SELECT pg_try_advisory_lock(hashtextextended($1, 0))")
            .bind(&schema)
            .fetch_one(&mut *keeper)
            .await?;
        if !free {
            continue;
        }
        if let Err(error) = remove(keeper, &schema).await {
            tracing::warn!(%schema, %error, "a scratch schema that was left behind could not be removed");
        }
        sqlx::query("SELECT pg_advisory_unlock(hashtextextended($1, 0))")
            .bind(&schema)
            .execute(&mut *keeper)
            .await?;
    }
    Ok(())
}

/// Ends what is still at work in a schema, and removes it.
async fn remove(keeper: &mut PgConnection, schema: &str) -> Result<(), sqlx::Error> {
    sqlx::query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND usename = current_user AND application_name = $1
             AND pid <> pg_backend_pid()",
    )
    .bind(schema)
    .execute(&mut *keeper)
    .await?;
    keeper
        .execute(AssertSqlSafe(format!(
            "DROP SCHEMA IF EXISTS {schema} CASCADE"
        )))
        .await?;
    Ok(())
}
