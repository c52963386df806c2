//! One who asks, by whatever strategy is prepared: a statement an attempt, each a transaction.

use chrono::{DateTime, Utc};
use sqlx::Connection;
use sqlx::postgres::PgConnection;

use crate::domain::Period;
use crate::store::StoreError;
use crate::store::connection::faults::fault;

/// The lab's one room.
const ROOM: i64 = 1;

/// What a client wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// The room for a period.
    Book(Period),
    /// Units of an item.
    Take {
        /// Which.
        item: i64,
        /// How many.
        quantity: i32,
    },
    /// To give back what a claim has taken.
    GiveBack {
        /// Which.
        claim: i64,
    },
}

/// What one attempt came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// It is done.
    Done,
    /// It can't be had.
    Refused,
    /// Nothing was done, and nothing is known: to be tried again.
    Again(Again),
}

/// Why an attempt must be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// Two waited for each other, and this one was chosen to let go.
    Deadlock,
    /// What was read has changed meanwhile.
    Changed,
}

/// One who asks, with a connection of its own.
#[derive(Debug)]
pub struct Client {
    connection: PgConnection,
}

impl Client {
    pub(super) fn new(connection: PgConnection) -> Self {
        Self { connection }
    }

    /// One attempt.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub async fn ask(&mut self, wish: &Wish) -> Result<Reply, StoreError> {
        let answer = match send(&mut self.connection, wish).await {
            Ok(answer) => answer,
            Err(error) => return reply_to(&error).ok_or_else(|| fault(&error)),
        };
        match answer.as_str() {
            "done" => Ok(Reply::Done),
            "refused" => Ok(Reply::Refused),
            "again" => Ok(Reply::Again(Again::Changed)),
            other => Err(StoreError::StrategyAnswer {
                answer: other.to_owned(),
            }),
        }
    }

    /// The same, taken back at once: so that this connection has read the catalogue and made its plans before time is
    /// taken.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub async fn rehearse(&mut self, wish: &Wish) -> Result<(), StoreError> {
        let rehearsal = async {
            let mut transaction = self.connection.begin().await?;
            send(&mut transaction, wish).await?;
            transaction.rollback().await
        };
        rehearsal.await.map_err(|error: sqlx::Error| fault(&error))
    }

    /// Leaves.
    pub async fn leave(self) {
        // The server may be gone; then there is nobody to say goodbye to.
        let _ = self.connection.close().await;
    }
}

async fn send(connection: &mut PgConnection, wish: &Wish) -> Result<String, sqlx::Error> {
    // Not checked at compile time: these functions come with a strategy.
    match wish {
        Wish::Book(period) => {
            let (from, to): (DateTime<Utc>, DateTime<Utc>) = (period.start(), period.end());
            sqlx::query_scalar("SELECT book($1, tstzrange($2, $3, '[)'))")
                .bind(ROOM)
                .bind(from)
                .bind(to)
                .fetch_one(connection)
                .await
        }
        Wish::Take { item, quantity } => {
            sqlx::query_scalar("SELECT take($1, $2)")
                .bind(item)
                .bind(quantity)
                .fetch_one(connection)
                .await
        }
        Wish::GiveBack { claim } => {
            sqlx::query_scalar("SELECT give_back($1)")
                .bind(claim)
                .fetch_one(connection)
                .await
        }
    }
}

/// What an error means here, where it means anything but a fault.
fn reply_to(error: &sqlx::Error) -> Option<Reply> {
    let code = error.as_database_error()?.code()?;
    match &*code {
        // A unique or an exclusion constraint, or a trigger that speaks like one.
        "23505" | "23P01" => Some(Reply::Refused),
        "40P01" => Some(Reply::Again(Again::Deadlock)),
        // Could not serialise; or it waited for so long that the server gave it up.
        "40001" | "57014" => Some(Reply::Again(Again::Changed)),
        _ => None,
    }
}
