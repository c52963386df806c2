//! Who prepares a strategy, opens rounds, and counts from the rows what went wrong.

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection, Executor};

use crate::store::StoreError;
use crate::store::connection::faults::fault;
use crate::store::lab::schema::making;
use crate::store::lab::{Strategy, Subject};

/// Pairs of active claims of one room that overlap. Every pair is one double booking.
const DOUBLE_BOOKINGS: &str = "
    SELECT count(*)
    FROM claim AS one
    JOIN claim AS other ON other.room_id = one.room_id AND other.claim_id > one.claim_id AND other.period && one.period
    WHERE NOT one.cancelled AND NOT other.cancelled";

/// Units that are claimed and not given back, beyond those that there are.
const OVERSOLD_UNITS: &str = "
    SELECT coalesce(sum(greatest(claimed - units, 0)), 0)::bigint
    FROM item
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(quantity), 0) AS claimed
        FROM claim
        WHERE claim.item_id = item.item_id AND NOT given_back
    ) AS claims";

/// Who prepares and counts.
#[derive(Debug)]
pub struct Referee {
    connection: PgConnection,
}

impl Referee {
    pub(super) fn new(connection: PgConnection) -> Self {
        Self { connection }
    }

    /// Clears the schema, and sets a strategy up in it.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub async fn prepare(&mut self, strategy: &Strategy) -> Result<(), StoreError> {
        self.try_prepare(strategy)
            .await
            .map_err(|error| fault(&error))
    }

    async fn try_prepare(&mut self, strategy: &Strategy) -> Result<(), sqlx::Error> {
        let schema: String = sqlx::query_scalar("SELECT current_schema()::text")
            .fetch_one(&mut self.connection)
            .await?;
        let anew = format!("DROP SCHEMA {schema} CASCADE; {}", making(&schema));
        self.connection.execute(AssertSqlSafe(anew)).await?;
        for script in strategy.scripts() {
            sqlx::raw_sql(script).execute(&mut self.connection).await?;
        }
        Ok(())
    }

    /// Puts a new item on the shelf, with so many units, of which so many are taken; says by which claims.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub async fn open_item(
        &mut self,
        item: i64,
        units: i32,
        taken: i32,
    ) -> Result<Vec<i64>, StoreError> {
        sqlx::query_scalar("SELECT open_item($1, $2, $3)")
            .bind(item)
            .bind(units)
            .bind(taken)
            .fetch_all(&mut self.connection)
            .await
            .map_err(|error| fault(&error))
    }

    /// How often a rule is broken in what is stored: pairs of claims that overlap, or units that were sold and are not
    /// there.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub async fn count_wrong(&mut self, subject: Subject) -> Result<i64, StoreError> {
        let question = match subject {
            Subject::Slots => DOUBLE_BOOKINGS,
            Subject::Stock => OVERSOLD_UNITS,
        };
        sqlx::query_scalar(question)
            .fetch_one(&mut self.connection)
            .await
            .map_err(|error| fault(&error))
    }

    /// Leaves.
    pub async fn leave(self) {
        // The server may be gone; then there is nobody to say goodbye to.
        let _ = self.connection.close().await;
    }
}
