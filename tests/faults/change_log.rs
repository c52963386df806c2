//! The change log misses nothing, whatever the order of the commits, and is not held up by a session that idles in a
//! transaction.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection, Executor};

use crate::place::Place;
use crate::support::Database;
use crate::{seed, whole_space};

const WRITERS: usize = 12;

/// A writer's transactions: some changes each, then a while, then a commit, or not. Says how many changes it committed.
async fn write(place: Arc<Place>, site: i64, mut rng: fastrand::Rng, turns: usize) -> i64 {
    let mut connection = PgConnection::connect_with(&place.options).await.unwrap();
    let mut committed = 0;
    for _ in 0..turns {
        let changes = rng.i64(1..4);
        connection.execute("BEGIN").await.unwrap();
        // Some begin early and change something late.
        if rng.bool() {
            connection
                .execute("SELECT pg_current_xact_id()")
                .await
                .unwrap();
            tokio::time::sleep(Duration::from_millis(rng.u64(0..8))).await;
        }
        for _ in 0..changes {
            let change = format!("SELECT note_change({site}, '{{}}', '{{}}', '{{}}')");
            connection.execute(AssertSqlSafe(change)).await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(rng.u64(0..15))).await;
        if rng.u8(..5) == 0 {
            connection.execute("ROLLBACK").await.unwrap();
        } else {
            connection.execute("COMMIT").await.unwrap();
            // However many statements it had.
            committed += 1;
        }
    }
    committed
}

/// Polls until the writers are done and nothing more comes. Says what it was told of in all, and in how many polls.
async fn poll(
    options: sqlx::postgres::PgConnectOptions,
    site: i64,
    mut seen: String,
    over: Arc<AtomicBool>,
    mut rng: fastrand::Rng,
) -> (i64, usize) {
    let mut connection = PgConnection::connect_with(&options).await.unwrap();
    let (mut told, mut polls) = (0, 0);
    loop {
        let last = over.load(Ordering::SeqCst);
        let (next, changes): (String, i64) =
            sqlx::query_as("SELECT seen, changes FROM changes_since($1, $2)")
                .bind(site)
                .bind(&seen)
                .fetch_one(&mut connection)
                .await
                .unwrap();
        seen = next;
        told += changes;
        polls += 1;
        if last {
            return (told, polls);
        }
        tokio::time::sleep(Duration::from_millis(rng.u64(0..12))).await;
    }
}

async fn snapshot(connection: &mut PgConnection) -> String {
    sqlx::query_scalar("SELECT pg_current_snapshot()::text")
        .fetch_one(connection)
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_change_log_tells_of_every_commit_once_in_whatever_order() {
    let mut rng = seed();
    let database = Database::migrated().await;
    let place = Arc::new(Place::new(database.options(), "Busy house").await);
    let site = place.house.site().id.0;
    let mut observer = database.connect().await;

    // Older than all of them, with a change of its own that it keeps to itself.
    let mut idler = database.connect().await;
    let idle = format!("BEGIN; SELECT note_change({site}, '{{}}', '{{}}', '{{}}')");
    idler.execute(AssertSqlSafe(idle)).await.unwrap();

    let seen = snapshot(&mut observer).await;
    let over = Arc::new(AtomicBool::new(false));
    let pollers: Vec<_> = (0..3)
        .map(|_| {
            let (options, seen, over) = (database.options(), seen.clone(), over.clone());
            tokio::spawn(poll(options, site, seen, over, rng.fork()))
        })
        .collect();
    let turns = if whole_space() { 2_000 } else { 60 };
    let writers = (0..WRITERS).map(|_| tokio::spawn(write(place.clone(), site, rng.fork(), turns)));
    let writers: Vec<_> = writers.collect();
    let committed: i64 = join_all(writers)
        .await
        .into_iter()
        .map(Result::unwrap)
        .sum();
    over.store(true, Ordering::SeqCst);
    for poller in pollers {
        let (told, polls) = poller.await.unwrap();
        println!("{told} changes in {polls} polls");
        // Each once, although the oldest transaction idles all the time.
        assert_eq!(told, committed);
        assert!(polls > 10);
    }

    // Transactions did commit in another order than they began: else this proves little.
    let out_of_order: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM (
            SELECT transaction_id, lag(transaction_id) OVER (ORDER BY at) AS before FROM change_log
        ) AS log WHERE transaction_id < before",
    )
    .fetch_one(&mut observer)
    .await
    .unwrap();
    assert!(out_of_order > 20, "{out_of_order}");

    // What the idler kept to itself comes when it commits, however late.
    let seen = snapshot(&mut observer).await;
    idler.execute("COMMIT").await.unwrap();
    let late: i64 = sqlx::query_scalar("SELECT changes FROM changes_since($1, $2)")
        .bind(site)
        .bind(&seen)
        .fetch_one(&mut observer)
        .await
        .unwrap();
    assert_eq!(late, 1);
}

/// What commands do is told too: every change of a row of every kind of command, seen by a console that polls.
#[tokio::test(flavor = "multi_thread")]
async fn every_command_is_in_the_change_log() {
    let database = Database::migrated().await;
    let place = Place::new(database.options(), "Told").await;
    let mut observer = database.connect().await;
    let mut told = HashMap::new();
    for name in crate::place::COMMANDS {
        let request = place.request(name).await;
        let seen = snapshot(&mut observer).await;
        place.house.execute(request).await.unwrap().outcome.unwrap();
        let changes: i64 = sqlx::query_scalar("SELECT changes FROM changes_since($1, $2)")
            .bind(place.house.site().id.0)
            .bind(&seen)
            .fetch_one(&mut observer)
            .await
            .unwrap();
        told.insert(name, changes);
    }
    assert!(told.values().all(|changes| *changes > 0), "{told:?}");
}
