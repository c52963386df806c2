//! A session that runs whatever SQL it is given, as a psql window does: for scenarios, which show what the guards of the
//! database do against writers that go around the protocol.

use futures_util::TryStreamExt;
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Connection, Either, Row, ValueRef};
use tokio::sync::{mpsc, oneshot};

use crate::domain::Desk;
use crate::store::connection::connections::session_name;
use crate::store::connection::error::StoreError;
use crate::store::connection::faults::fault;
use crate::store::handle::Store;

/// A session of its own. Its transaction, if one is open, is rolled back when this is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Prompt {
    typed: mpsc::UnboundedSender<(String, oneshot::Sender<PromptAnswer>)>,
}

/// What psql would show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PromptAnswer {
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

impl Store {
    /// Opens a session that is known by a name, and works in this schema first if one is named.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub(crate) async fn prompt(
        &self,
        name: &str,
        schema: Option<&str>,
    ) -> Result<Prompt, StoreError> {
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
        let (typed, mut inbox) =
            mpsc::unbounded_channel::<(String, oneshot::Sender<PromptAnswer>)>();
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
}

impl Prompt {
    /// Runs one or several statements, and waits for what is said to them. If the wait is given up they run all the same.
    pub(crate) async fn run(&self, sql: &str) -> PromptAnswer {
        let (sender, heard) = oneshot::channel();
        if self.typed.send((sql.to_owned(), sender)).is_err() {
            return PromptAnswer::Lost;
        }
        heard.await.unwrap_or(PromptAnswer::Lost)
    }
}

async fn run(connection: &mut PgConnection, sql: String) -> PromptAnswer {
    match last_row(connection, sql).await {
        Ok(last) => PromptAnswer::Done(last),
        Err(sqlx::Error::Database(error)) => PromptAnswer::Error {
            name: match (error.constraint(), error.code()) {
                (Some(constraint), _) => constraint.to_owned(),
                (None, code) => code.unwrap_or_default().into_owned(),
            },
            message: error.message().to_owned(),
        },
        Err(_) => PromptAnswer::Lost,
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
