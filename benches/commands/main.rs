//! Each command through the store, against the same function called by pgbench, and against a client-side transaction
//! that does the same job a statement at a time (docs/speed.md).
//!
//! All share one database on a PostgreSQL of their own, one connection each, and take turns in short rounds. Commits do
//! not wait for the disk, so that only the work is left; a hold is measured a second time as Keyrack runs it. The
//! transaction is met on a Unix socket, where round trips are nearly free, and on a wire where each takes half a
//! millisecond, as between two machines of one building.
#![allow(missing_docs, clippy::unwrap_used)]

mod cases;
mod groups;
mod rooms;
mod stock;
#[path = "../support/mod.rs"]
mod support;
mod transaction;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cases::{Case, Needs};
use criterion::{Criterion, criterion_group, criterion_main};
use keyrack::domain::{Command, Desk, Request};
use keyrack::store::{SiteStore, Store};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, Connection};
use support::tests::hour;
use support::{Bench, Sides, runtime};
use transaction::Transaction;

const ROOMS: i64 = 50;
const ROUNDS: i64 = 7;
/// Commands of a side in a round, and on the slow wire.
const MANY: i64 = 150;
const FEW: i64 = 40;
/// Commands before it counts, until plans are made and kept.
const WARM: i64 = 10;
const ROUND_TRIP: Duration = Duration::from_micros(500);

/// The sides of one case, and what is left to be done with.
struct Contest {
    bench: Arc<Bench>,
    case: &'static Case,
    pgbench: Option<PathBuf>,
    /// The next claim, and the prepared hold (or group) that goes with claim zero.
    next: i64,
    hold_of_zero: i64,
}

impl Contest {
    /// The numbers of the next so many claims.
    fn take(&mut self, many: i64) -> Range<i64> {
        self.next += many;
        self.next - many..self.next
    }

    /// What was held for a claim's number.
    fn hold(&self, n: i64) -> i64 {
        self.hold_of_zero + n * self.case.needs.numbers()
    }

    fn commands(&mut self, many: i64) -> Vec<Command> {
        let numbers = self.take(many);
        numbers
            .map(|n| (self.case.command)(&self.bench, n, self.hold(n)))
            .collect()
    }

    /// How many a second.
    async fn through_store(&mut self, house: &SiteStore, many: i64) -> f64 {
        let (house, commands) = (house.clone(), self.commands(many));
        // On one of the runtime's own threads, where the console's commands are too.
        let work = tokio::spawn(async move {
            let started = Instant::now();
            for command in commands {
                let request = Request::fresh(Desk("anna".into()), command);
                let answer = house.execute(request).await.unwrap();
                assert!(answer.outcome.is_ok(), "{answer:?}");
            }
            started.elapsed()
        });
        many as f64 / work.await.unwrap().as_secs_f64()
    }

    async fn by_transaction(
        &mut self,
        mut connection: PgConnection,
        many: i64,
    ) -> (f64, PgConnection) {
        let transaction = Transaction {
            bench: Arc::clone(&self.bench),
            statements: self.case.statements,
        };
        let work: Vec<(i64, i64)> = self.take(many).map(|n| (n, self.hold(n))).collect();
        let work = tokio::spawn(async move {
            let started = Instant::now();
            for (n, hold) in work {
                transaction.run(&mut connection, n, hold).await;
            }
            (started.elapsed(), connection)
        });
        let (taken, connection) = work.await.unwrap();
        (many as f64 / taken.as_secs_f64(), connection)
    }

    /// The same function from a client that does nothing else: prepared, one connection, one thread; of the times
    /// that it writes down, those of the first commands do not count.
    fn by_pgbench(&mut self, pgbench: &Path, many: i64) -> f64 {
        let first = self.take(WARM + many).start;
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("script.sql");
        let start = hour(0).to_rfc3339();
        let function = self
            .case
            .function
            .replace(
                "{from}",
                "TIMESTAMPTZ '{start}' + 2 * :n * interval '1 second'",
            )
            .replace(
                "{to}",
                "TIMESTAMPTZ '{start}' + (2 * :n + 1) * interval '1 second'",
            )
            .replace("{start}", &start);
        let text = format!(
            "\\set n :n + 1\n\\set hold :hold + {}\n\\set room {} + :n % {ROOMS}\n\\set next {} + (:n + 1) % {ROOMS}\n\
             SELECT * FROM {function};\n",
            self.case.needs.numbers(),
            self.bench.first_room,
            self.bench.first_room,
        );
        fs::write(&script, text).unwrap();
        let house = &self.bench.house;
        let output = Process::new(pgbench)
            .current_dir(directory.path())
            .args(["--no-vacuum", "--protocol=prepared", "--client=1", "--log"])
            .arg(format!("--transactions={}", WARM + many))
            .arg(format!("--define=n={}", first - 1))
            .arg(format!("--define=hold={}", self.hold(first - 1)))
            .arg(format!("--define=site={}", house.site()))
            .arg(format!("--define=item={}", house.breakfast.0))
            .arg("--file")
            .arg(&script)
            .arg(house.database.url())
            .output()
            .unwrap();
        let log = fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.extension().is_none_or(|extension| extension != "sql"))
            .map(|path| fs::read_to_string(path).unwrap())
            .unwrap_or_default();
        let micros: Vec<f64> = log
            .lines()
            .filter_map(|line| line.split(' ').nth(2)?.parse().ok())
            .collect();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(micros.len() as i64, WARM + many, "{errors}");
        many as f64 / micros[WARM as usize..].iter().sum::<f64>() * 1e6
    }

    async fn run(&mut self, how: &str) {
        let name = self.case.name;
        let near = self.bench.house.database.options();
        let far = support::proxy::slowed(near.clone(), ROUND_TRIP);
        // One more: a swap takes the next one too.
        let many = ROUNDS * (3 * MANY + 2 * FEW + WARM) + 4 * WARM + 1;
        self.hold_of_zero =
            hold_many(&self.bench, self.case.needs, self.next..self.next + many).await;
        self.bench.run("VACUUM ANALYZE").await;
        let (near_house, far_house) = (
            self.house(near.clone()).await,
            self.house(far.clone()).await,
        );
        let mut near_plain = PgConnection::connect_with(&near).await.unwrap();
        let mut far_plain = PgConnection::connect_with(&far).await.unwrap();
        self.through_store(&near_house, WARM).await;
        self.through_store(&far_house, WARM).await;
        (_, near_plain) = self.by_transaction(near_plain, WARM).await;
        (_, far_plain) = self.by_transaction(far_plain, WARM).await;

        let [mut with_pgbench, mut with_near, mut with_far] = [const { Sides::new() }; 3];
        for _ in 0..ROUNDS {
            let store = self.through_store(&near_house, MANY).await;
            if let Some(pgbench) = self.pgbench.clone() {
                with_pgbench.add(store, self.by_pgbench(&pgbench, MANY));
            }
            let transaction;
            (transaction, near_plain) = self.by_transaction(near_plain, MANY).await;
            with_near.add(store, transaction);
            let store = self.through_store(&far_house, FEW).await;
            let transaction;
            (transaction, far_plain) = self.by_transaction(far_plain, FEW).await;
            with_far.add(store, transaction);
        }
        let statements = self.case.statements.len();
        if self.pgbench.is_some() {
            with_pgbench.print(
                &format!("{name}, store over pgbench{how}"),
                "aim 0.9; ",
                "a second",
            );
        }
        with_near.print(
            &format!(
                "{name}, store over a transaction of {statements} statements on a socket{how}"
            ),
            "",
            "a second",
        );
        with_far.print(
            &format!("{name}, the same where a round trip takes 0.5 ms more{how}"),
            "aim 2; ",
            "a second",
        );
        // The one more is nobody's.
        self.take(1);
        near_house.store().close().await;
        far_house.store().close().await;
        near_plain.close().await.unwrap();
        far_plain.close().await.unwrap();
    }

    async fn house(&self, options: PgConnectOptions) -> SiteStore {
        let store = Store::connect(options).await.unwrap();
        store.site_store(self.bench.house.house.site().clone())
    }
}

/// Holds what commands are about, for these numbers; says which hold (or group) would go with number zero.
async fn hold_many(bench: &Bench, needs: Needs, numbers: Range<i64>) -> i64 {
    /// Claims of a transaction: each leaves a version of its item behind that the next ones walk past.
    const AT_ONCE: usize = 100;
    let (site, item) = (bench.house.site(), bench.house.breakfast.0);
    let (room, start) = (bench.first_room, hour(0).to_rfc3339());
    let from = format!("TIMESTAMPTZ '{start}' + 2 * n * interval '1 second'");
    let to = format!("TIMESTAMPTZ '{start}' + (2 * n + 1) * interval '1 second'");
    let (id, hold) = match needs {
        Needs::Nothing => return 0,
        Needs::Slot => (
            "{slot,hold_id}",
            format!(
                "hold_slot({site}, gen_random_uuid(), 'anna', {room} + n % {ROOMS}, {from}, {to}, '2 hours')"
            ),
        ),
        Needs::Group => (
            "{group,group_id}",
            format!(
                "hold_group({site}, gen_random_uuid(), 'anna', jsonb_build_array( \
                 jsonb_build_object('room', {room} + n % {ROOMS}, 'from', {from}, 'to', {to}), \
                 jsonb_build_object('room', {room} + (n + 1) % {ROOMS}, 'from', {from}, 'to', {to})), \
                 '[{{\"item\": {item}, \"quantity\": 1}}]', '2 hours')"
            ),
        ),
        // It must depend on n, or it is called once for all.
        Needs::Stock => (
            "{stock,hold_id}",
            format!("hold_stock({site}, gen_random_uuid(), 'anna', {item} + 0 * n, 1, '2 hours')"),
        ),
    };
    let mut connection = bench.house.database.connect().await;
    let mut of_zero = None;
    for first in numbers.clone().step_by(AT_ONCE) {
        let last = numbers.end.min(first + AT_ONCE as i64) - 1;
        let sql = format!(
            "SELECT min((h #>> '{id}')::bigint) - {first} * {} FROM generate_series({first}, {last}) AS n
             CROSS JOIN LATERAL {hold} AS h",
            needs.numbers()
        );
        let found = sqlx::query_scalar(AssertSqlSafe(sql))
            .fetch_one(&mut connection)
            .await
            .unwrap();
        assert_eq!(
            *of_zero.get_or_insert(found),
            found,
            "somebody else holds too"
        );
    }
    connection.close().await.unwrap();
    of_zero.unwrap_or_default()
}

fn commands(criterion: &mut Criterion) {
    let runtime = runtime();
    let bench = Arc::new(runtime.block_on(Bench::new(ROOMS)));
    runtime.block_on(bench.fill_shelves());
    let pgbench = bench.house.database.client_program("pgbench");
    if pgbench.is_none() {
        println!(
            "This PostgreSQL comes without pgbench: the store is compared with the transaction alone."
        );
    }
    // A house in use. Of an empty table PostgreSQL plans to read all, and a desk that stays keeps that plan.
    let mut next = 1000;
    runtime.block_on(async {
        for needs in [Needs::Slot, Needs::Stock] {
            hold_many(&bench, needs, 0..next).await;
        }
        bench.run("VACUUM ANALYZE").await;
    });
    let mut contest = |case, how| {
        let mut contest = Contest {
            bench: Arc::clone(&bench),
            case,
            pgbench: pgbench.clone(),
            next,
            hold_of_zero: 0,
        };
        runtime.block_on(contest.run(how));
        next = contest.next;
    };
    let hold = &rooms::CASES[0];
    contest(hold, ", waiting for the disk");
    runtime.block_on(bench.wait_for_disk(false));
    for case in [rooms::CASES, stock::CASES, groups::CASES]
        .iter()
        .copied()
        .flatten()
    {
        contest(case, "");
    }

    let house = runtime.block_on(bench.desk());
    criterion.bench_function("hold through the store", |bencher| {
        bencher.to_async(&runtime).iter(|| {
            next += 1;
            let command = (hold.command)(&bench, next, 0);
            house.execute(Request::fresh(Desk("anna".into()), command))
        });
    });
    runtime.block_on(house.store().close());
    // The database is dropped with its house, which wants no runtime around it.
    drop(bench);
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(3));
    targets = commands
}
criterion_main!(benches);
