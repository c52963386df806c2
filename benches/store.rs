//! A hold through the store, against the same function called by pgbench, and against a client-side transaction of
//! five statements that writes the same rows (design section 13).
//!
//! All three share one database and one PostgreSQL of their own. The ratios come from short rounds in which the sides
//! take turns, each on a new connection, so that whatever else the machine does meets all of them. Twice: as Keyrack
//! runs it, where each command waits for the disk, and without that wait, where only the work is left.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::fs;
use std::path::Path;
use std::process::Command as Process;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use keyrack::domain::{Desk, Done, Period, Refusal, Request, RoomId};
use keyrack::store::{House, Store};
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection, Executor};
use support::{HOUSE, TestHouse, hold_slot, hour};
use tokio::runtime::Runtime;
use uuid::Uuid;

const ROOMS: i64 = 50;
/// Holds of a second in 50 rooms for 300 days: so many that two of them hardly ever meet.
const SECONDS: i64 = 300 * 24 * 3600;
const ROUNDS: usize = 8;
const ROUND: Duration = Duration::from_secs(1);

/// A house with many rooms, and what the sides need to know of it.
struct Bench {
    house: TestHouse,
    first_room: i64,
}

impl Bench {
    async fn new() -> Self {
        let rooms: String = (1..=ROOMS)
            .map(|number| format!("\n[[room]]\nname = \"Room {number}\"\ncapacity = 4\n"))
            .collect();
        let house = TestHouse::described(&format!("{HOUSE}{rooms}")).await;
        let id = async |name: String| house.house.room_named(&name).await.unwrap().unwrap().id.0;
        let first_room = id("Room 1".into()).await;
        assert_eq!(id(format!("Room {ROOMS}")).await, first_room + ROOMS - 1);
        Self { house, first_room }
    }

    /// Whether a commit waits for the disk, for connections made from now on.
    async fn wait_for_disk(&self, wait: bool) {
        let mut connection = self.house.database.connect().await;
        let setting = if wait { "on" } else { "off" };
        let database: String = sqlx::query_scalar("SELECT current_database()")
            .fetch_one(&mut connection)
            .await
            .unwrap();
        let alter = format!("ALTER DATABASE {database} SET synchronous_commit = {setting}");
        connection.execute(AssertSqlSafe(alter)).await.unwrap();
        connection.close().await.unwrap();
    }

    fn random_claim(&self) -> (RoomId, Period) {
        let random = Uuid::new_v4().as_u128();
        let room = self.first_room + (random % ROOMS as u128) as i64;
        let second = (random / 1000 % SECONDS as u128) as i64;
        let start = hour(0) + chrono::TimeDelta::seconds(second);
        let period = Period::new(start, start + chrono::TimeDelta::seconds(1)).unwrap();
        (RoomId(room), period)
    }

    async fn hold_through_store(&self, house: &House, desk: &Desk) {
        let (room, period) = self.random_claim();
        let request = Request::fresh(desk.clone(), hold_slot(room, period, None));
        let answer = house.execute(request).await.unwrap();
        assert!(matches!(
            answer.outcome,
            Ok(Done::Slot(_)) | Err(Refusal::SlotTaken { .. })
        ));
    }

    /// What an application does that has no function to call: the same rows, a statement at a time.
    async fn hold_in_five_statements(&self, pool: &PgPool) {
        let (room, period) = self.random_claim();
        let (site, request) = (self.house.site(), Uuid::new_v4());
        let mut transaction = pool.begin().await.unwrap();
        let statements = [
            "INSERT INTO request (site_id, request_id, command, fingerprint, desk)
             VALUES ($1, $2, 'hold_slot', sha256($2::text::bytea), 'anna')",
            "SELECT * FROM room WHERE site_id = $1 AND room_id = $2 FOR NO KEY UPDATE",
            "UPDATE slot_hold SET state = 'expired'
             WHERE site_id = $1 AND room_id = $2 AND state = 'held' AND expires_at <= clock_timestamp()",
            "INSERT INTO slot_hold (site_id, room_id, period, expires_at, desk, request_id)
             VALUES ($1, $2, tstzrange($3, $4), clock_timestamp() + interval '10 minutes', 'anna', $5)
             RETURNING *",
            "WITH change AS (INSERT INTO change_log (site_id) VALUES ($1)),
                 outcome AS (UPDATE request SET slot_hold_id = $3 WHERE site_id = $1 AND request_id = $2)
             INSERT INTO hold_event (site_id, at, what, slot_hold_id, to_state, desk, request_id)
             VALUES ($1, clock_timestamp(), 'held', $3, 'held', 'anna', $2)",
        ];
        let connection = &mut *transaction;
        sqlx::query(statements[0])
            .bind(site)
            .bind(request)
            .execute(&mut *connection)
            .await
            .unwrap();
        sqlx::query(statements[1])
            .bind(site)
            .bind(room.0)
            .fetch_one(&mut *connection)
            .await
            .unwrap();
        sqlx::query(statements[2])
            .bind(site)
            .bind(room.0)
            .execute(&mut *connection)
            .await
            .unwrap();
        let placed = sqlx::query(statements[3])
            .bind(site)
            .bind(room.0)
            .bind(period.start())
            .bind(period.end())
            .bind(request)
            .fetch_one(&mut *connection)
            .await;
        // Two of them have met after all.
        let Ok(row) = placed else { return };
        let hold: i64 = sqlx::Row::get(&row, "hold_id");
        sqlx::query(statements[4])
            .bind(site)
            .bind(request)
            .bind(hold)
            .execute(&mut *connection)
            .await
            .unwrap();
        transaction.commit().await.unwrap();
    }

    async fn one_connection(&self) -> PgPool {
        PgPoolOptions::new()
            .max_connections(1)
            .connect_with(self.house.database.options())
            .await
            .unwrap()
    }

    async fn store_rate(self: Arc<Self>) -> f64 {
        let store = Store::connect(self.house.database.options()).await.unwrap();
        let house = store.house(self.house.house.site().clone());
        let mut round = Round::start();
        while round.goes_on() {
            self.hold_through_store(&house, &self.house.desk).await;
        }
        let rate = round.rate();
        store.close().await;
        rate
    }

    async fn transaction_rate(self: Arc<Self>) -> f64 {
        let pool = self.one_connection().await;
        let mut round = Round::start();
        while round.goes_on() {
            self.hold_in_five_statements(&pool).await;
        }
        let rate = round.rate();
        pool.close().await;
        rate
    }

    /// The same function from a client that does nothing else: prepared, one connection, one thread.
    fn pgbench_rate(&self, pgbench: &Path) -> f64 {
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("hold.sql");
        let text = format!(
            "\\set room random({first}, {last})\n\\set second random(0, {SECONDS})\n\
             SELECT * FROM hold_slot({site}, gen_random_uuid(), 'anna', :room, \
             '{start}'::timestamptz + :second * interval '1 second', \
             '{start}'::timestamptz + (:second + 1) * interval '1 second', NULL, '', '', NULL);\n",
            first = self.first_room,
            last = self.first_room + ROOMS - 1,
            site = self.house.site(),
            start = hour(0).to_rfc3339(),
        );
        fs::write(&script, text).unwrap();
        let output = Process::new(pgbench)
            .args([
                "--no-vacuum",
                "--protocol=prepared",
                "--client=1",
                "--jobs=1",
            ])
            .arg(format!("--time={}", ROUND.as_secs()))
            .arg("--file")
            .arg(&script)
            .arg(self.house.database.url())
            .output()
            .unwrap();
        let report = String::from_utf8_lossy(&output.stdout);
        let tps = report.lines().find_map(|line| line.strip_prefix("tps = "));
        let tps = tps.and_then(|rest| rest.split(' ').next());
        let errors = String::from_utf8_lossy(&output.stderr);
        tps.unwrap_or_else(|| panic!("pgbench said:\n{report}{errors}"))
            .parse()
            .unwrap()
    }

    /// Rounds in which the sides take turns; the median of each side, and of the ratios within a round.
    fn compare(self: &Arc<Self>, runtime: &Runtime, pgbench: Option<&Path>) -> Comparison {
        let mut rounds: Vec<[f64; 3]> = Vec::new();
        for _ in 0..ROUNDS {
            rounds.push([
                on_worker(runtime, Arc::clone(self).store_rate()),
                pgbench.map_or(f64::NAN, |program| self.pgbench_rate(program)),
                on_worker(runtime, Arc::clone(self).transaction_rate()),
            ]);
        }
        let side = |index: usize| median(rounds.iter().map(|round| round[index]));
        let over = |index: usize| median(rounds.iter().map(|round| round[0] / round[index]));
        Comparison {
            rates: [side(0), side(1), side(2)],
            over_pgbench: over(1),
            over_transaction: over(2),
        }
    }
}

struct Comparison {
    rates: [f64; 3],
    over_pgbench: f64,
    over_transaction: f64,
}

impl Comparison {
    fn print(&self, how: &str, has_pgbench: bool) {
        let [store, pgbench, transaction] = self.rates;
        if has_pgbench {
            println!(
                "ratio: store over pgbench {:.2}, {how} (aim 0.9; {store:.0} and {pgbench:.0} holds a second)",
                self.over_pgbench
            );
        }
        println!(
            "ratio: store over the five-statement transaction {:.2}, {how} (aim 2; {store:.0} and {transaction:.0} \
             holds a second)",
            self.over_transaction
        );
    }
}

/// On one of the runtime's own threads, where the console's commands are too.
fn on_worker(runtime: &Runtime, work: impl Future<Output = f64> + Send + 'static) -> f64 {
    runtime.block_on(runtime.spawn(work)).unwrap()
}

/// A second or so of doing one thing after the other.
struct Round {
    started: Instant,
    done: u32,
}

impl Round {
    fn start() -> Self {
        Self {
            started: Instant::now(),
            done: 0,
        }
    }

    /// Whether to do it once more.
    fn goes_on(&mut self) -> bool {
        let goes_on = self.started.elapsed() < ROUND;
        self.done += u32::from(goes_on);
        goes_on
    }

    /// How often a second it was done.
    fn rate(&self) -> f64 {
        f64::from(self.done) / self.started.elapsed().as_secs_f64()
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    (values[(values.len() - 1) / 2] + values[middle]) / 2.0
}

fn holds(criterion: &mut Criterion) {
    // As the program has it.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let bench = Arc::new(runtime.block_on(Bench::new()));

    let house = runtime.block_on(bench.house.another_desk());
    let pool = runtime.block_on(bench.one_connection());
    let mut group = criterion.benchmark_group("hold");
    group
        .sample_size(20)
        .measurement_time(Duration::from_secs(3));
    group.bench_function("store", |bencher| {
        bencher
            .to_async(&runtime)
            .iter(|| bench.hold_through_store(&house, &bench.house.desk));
    });
    group.bench_function("five-statement transaction", |bencher| {
        bencher
            .to_async(&runtime)
            .iter(|| bench.hold_in_five_statements(&pool));
    });
    group.finish();
    runtime.block_on(async {
        house.store().close().await;
        pool.close().await;
    });

    let pgbench = bench.house.database.client_program("pgbench");
    if pgbench.is_none() {
        println!(
            "This PostgreSQL comes without pgbench: nothing to compare the store with but the transaction."
        );
    }
    for (wait, how) in [
        (true, "waiting for the disk"),
        (false, "not waiting for the disk"),
    ] {
        runtime.block_on(bench.wait_for_disk(wait));
        bench
            .compare(&runtime, pgbench.as_deref())
            .print(how, pgbench.is_some());
    }
    // The database is dropped with its house, which wants no runtime around it.
    drop(bench);
}

criterion_group!(benches, holds);
criterion_main!(benches);
