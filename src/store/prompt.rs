//! A session that runs whatever SQL it is given, as a psql window does: for scenarios, which show what the guards of the
//! database do against writers that go around the protocol. And who waits for whom among sessions that have a name.

use futures_util::TryStreamExt;
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Connection, Either, Row, ValueRef};
use tokio::sync::{mpsc, oneshot};

use super::connections::{desk_of_session, session_name};
use super::faults::fault;
use super::{Store, StoreError};
use crate::domain::Desk;

/// A session of its own. Its transaction, if one is open, is rolled back when this is dropped.
#[derive(Debug, Clone)]
pub struct Prompt {
    typed: mpsc::UnboundedSender<(String, oneshot::Sender<Said>)>,
}

/// What psql would show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// It went well; the first column of the last row, if there was one.
    Done(Option<String>),
    /// PostgreSQL said no.
    Error {
        /// The name of the constraint, else the SQLSTATE.
        name: String,
        /// The server's sentence.
        message: String,
    },
    /// The session is gone.
    Lost,
}

/// A session that waits for another's lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Who waits.
    pub who: Desk,
    /// For whom.
    pub whom: Desk,
}

impl Store {
    /// Opens a session that is known by a name, and works in this schema first if one is named.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub async fn prompt(&self, name: &str, schema: Option<&str>) -> Result<Prompt, StoreError> {
        let session = session_name(&Desk(name.to_owned()));
        // Where a psql window at a migrated database looks too.
        let mut path = r#""$user", public, keyrack"#.to_owned();
        if let Some(schema) = schema {
            path = format!("{schema}, {path}");
        }
        let connections = self.connections.with_options(|options| {
            // As psql has it: nobody is in a hurry there.
            options.application_name(&session).options([
                ("search_path", path.as_str()),
                ("lock_timeout", "0"),
                ("statement_timeout", "2min"),
                ("idle_in_transaction_session_timeout", "10min"),
            ])
        });
        let connection = connections.open().await;
        let mut connection = connection.map_err(|error| fault(&error))?;
        let (typed, mut inbox) = mpsc::unbounded_channel::<(String, oneshot::Sender<Said>)>();
        tokio::spawn(async move {
            while let Some((sql, heard)) = inbox.recv().await {
                // Whoever typed it may have gone meanwhile.
                let _ = heard.send(run(&mut connection, sql).await);
            }
            // The server may be gone; then there is nobody to say goodbye to.
            let _ = connection.close().await;
        });
        Ok(Prompt { typed })
    }

    /// Who waits for whom, of the sessions that say whose they are.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub async fn waiting(&self) -> Result<Vec<Waiting>, StoreError> {
        let rows = self
            .ask(async |mut connection| {
                let rows = sqlx::query!(
                    r#"
                    SELECT waiter.application_name AS "who!", holder.application_name AS "whom!"
                    FROM pg_stat_activity AS waiter
                    CROSS JOIN LATERAL unnest(CASE
                        WHEN waiter.wait_event_type = 'Lock' THEN pg_blocking_pids(waiter.pid)
                    END) AS blocking (pid)
                    JOIN pg_stat_activity AS holder ON holder.pid = blocking.pid
                    WHERE waiter.datname = current_database()
                    ORDER BY waiter.pid, holder.pid
                    "#
                )
                .fetch_all(&mut connection)
                .await;
                (connection, rows)
            })
            .await?;
        let named = rows.into_iter().filter_map(|row| {
            Some(Waiting {
                who: desk_of_session(&row.who)?,
                whom: desk_of_session(&row.whom)?,
            })
        });
        Ok(named.collect())
    }
}

impl Prompt {
    /// Runs one or several statements, and waits for what is said to them. If the wait is given up they run all the same.
    pub async fn run(&self, sql: &str) -> Said {
        let (sender, heard) = oneshot::channel();
        if self.typed.send((sql.to_owned(), sender)).is_err() {
            return Said::Lost;
        }
        heard.await.unwrap_or(Said::Lost)
    }
}

async fn run(connection: &mut PgConnection, sql: String) -> Said {
    match last_row(connection, sql).await {
        Ok(last) => Said::Done(last),
        Err(sqlx::Error::Database(error)) => Said::Error {
            name: match (error.constraint(), error.code()) {
                (Some(constraint), _) => constraint.to_owned(),
                (None, code) => code.unwrap_or_default().into_owned(),
            },
            message: error.message().to_owned(),
        },
        Err(_) => Said::Lost,
    }
}

async fn last_row(
    connection: &mut PgConnection,
    sql: String,
) -> Result<Option<String>, sqlx::Error> {
    let mut answers = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_many(connection);
    let mut last = None;
    while let Some(answer) = answers.try_next().await? {
        if let Either::Right(row) = answer {
            last = first_column(&row);
        }
    }
    Ok(last)
}

fn first_column(row: &PgRow) -> Option<String> {
    let value = row.try_get_raw(0).ok()?;
    if value.is_null() {
        return None;
    }
    value.as_str().ok().map(str::to_owned)
}
