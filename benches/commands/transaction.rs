//! What an application does that has no function to call: the same rows in one transaction, a statement at a time.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{Connection, Row};
use uuid::Uuid;

use crate::support::{Bench, period};

/// What a statement's parameters stand for, in their order.
#[derive(Clone, Copy)]
pub enum Bind {
    Site,
    Request,
    Room,
    /// The second room of a group.
    NextRoom,
    Item,
    Hold,
    From,
    To,
    /// The claim that a statement before has written.
    Written,
    /// The group that a statement before has written or changed.
    Group,
}

/// A statement and what to bind.
pub type Statement = (&'static str, &'static [Bind]);

pub struct Transaction {
    pub bench: Arc<Bench>,
    pub statements: &'static [Statement],
}

impl Transaction {
    pub async fn run(&self, connection: &mut PgConnection, n: i64, hold: i64) {
        let request = Uuid::new_v4();
        let (mut written, mut group) = (0_i64, 0_i64);
        let mut transaction = connection.begin().await.unwrap();
        for (sql, binds) in self.statements {
            let mut query = sqlx::query(*sql);
            for bind in *binds {
                query = match bind {
                    Bind::Site => query.bind(self.bench.house.site()),
                    Bind::Request => query.bind(request),
                    Bind::Room => query.bind(self.bench.room(n).0),
                    Bind::NextRoom => query.bind(self.bench.room(n + 1).0),
                    Bind::Item => query.bind(self.bench.house.breakfast.0),
                    Bind::Hold => query.bind(hold),
                    Bind::From => query.bind::<DateTime<Utc>>(period(n).start()),
                    Bind::To => query.bind::<DateTime<Utc>>(period(n).end()),
                    Bind::Written => query.bind(written),
                    Bind::Group => query.bind(group),
                };
            }
            let rows: Vec<PgRow> = query.fetch_all(&mut *transaction).await.unwrap();
            if let Some(row) = rows.first() {
                written = row.try_get("hold_id").unwrap_or(written);
                group = row.try_get("group_id").ok().flatten().unwrap_or(group);
            }
        }
        transaction.commit().await.unwrap();
        assert_ne!(written, 0, "nothing was done");
    }
}
