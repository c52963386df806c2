//! The database's clock, which is the only one that decides (R10).

use chrono::{DateTime, Utc};
use sqlx::postgres::PgConnection;

pub(crate) async fn clock(connection: &mut PgConnection) -> Result<DateTime<Utc>, sqlx::Error> {
    sqlx::query_scalar!(r#"SELECT clock_timestamp() AS "now!""#)
        .fetch_one(connection)
        .await
}
