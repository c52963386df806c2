//! Many desks at once: one hot room against 200 rooms, the change log's cost, and a sweep of ten thousand due holds while
//! desks work.
//!
//! Each desk is a store with connections of its own, and holds one second after another, so that nobody is refused.
//! Commits wait for the disk, as Keyrack runs, except where it says otherwise.
#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use keyrack::domain::{Desk, Request, RoomId};
use keyrack::store::SiteStore;
use support::tests::hold_slot;
use support::{Bench, Sides, percentile, period, runtime};
use tokio::task::JoinSet;

const ROOMS: i64 = 200;
const ROUND: Duration = Duration::from_millis(1500);
const ROUNDS: usize = 3;
const SWEEPING_DESKS: usize = 4;

/// Where the next claim goes.
#[derive(Clone, Copy, PartialEq)]
enum Rooms {
    One,
    All,
}

struct Desks {
    bench: Arc<Bench>,
    houses: Vec<SiteStore>,
    next: Arc<AtomicI64>,
}

impl Desks {
    async fn open(bench: &Arc<Bench>, next: &Arc<AtomicI64>, many: usize) -> Self {
        let mut houses = Vec::new();
        for _ in 0..many {
            houses.push(bench.desk().await);
        }
        let desks = Self {
            bench: Arc::clone(bench),
            houses,
            next: Arc::clone(next),
        };
        // Until every connection has made its plans.
        desks.work(Rooms::All, Instant::now() + ROUND / 5).await;
        desks
    }

    /// Every desk holds until then; says how long each hold took, in milliseconds.
    async fn work(&self, rooms: Rooms, until: Instant) -> Vec<f64> {
        let mut desks = JoinSet::new();
        for house in self.houses.clone() {
            let (bench, next) = (Arc::clone(&self.bench), Arc::clone(&self.next));
            desks.spawn(async move {
                let mut taken = Vec::new();
                while Instant::now() < until {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let room = match rooms {
                        Rooms::One => RoomId(bench.first_room),
                        Rooms::All => bench.room(n),
                    };
                    let command = hold_slot(room, period(n), None);
                    let request = Request::fresh(Desk("anna".into()), command);
                    let started = Instant::now();
                    let answer = house.execute(request).await.unwrap();
                    taken.push(started.elapsed().as_secs_f64() * 1e3);
                    assert!(answer.outcome.is_ok(), "{answer:?}");
                }
                taken
            });
        }
        desks.join_all().await.concat()
    }

    /// Holds a second.
    async fn rate(&self, rooms: Rooms) -> f64 {
        let started = Instant::now();
        let done = self.work(rooms, started + ROUND).await.len();
        done as f64 / started.elapsed().as_secs_f64()
    }

    async fn close(self) {
        for house in self.houses {
            house.store().close().await;
        }
    }
}

async fn hot_room(bench: &Arc<Bench>, next: &Arc<AtomicI64>, how: &str) {
    for many in [1, 8, 32] {
        let desks = Desks::open(bench, next, many).await;
        let mut sides = Sides::new();
        for _ in 0..ROUNDS {
            sides.add(desks.rate(Rooms::One).await, desks.rate(Rooms::All).await);
        }
        sides.print(
            &format!("{many} desks, one hot room over {ROOMS} rooms, {how}"),
            "",
            "holds a second",
        );
        desks.close().await;
    }
}

/// Off: what writes it does nothing, in this database only.
async fn change_log(bench: &Arc<Bench>, next: &Arc<AtomicI64>) {
    let mut connection = bench.house.database.connect().await;
    let on: String = sqlx::query_scalar("SELECT pg_get_functiondef('note_change'::regproc)")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    let off = on.replacen("BEGIN\n", "BEGIN\n    RETURN;\n", 1);
    assert_ne!(on, off);
    let desks = Desks::open(bench, next, 8).await;
    let mut sides = Sides::new();
    for _ in 0..2 * ROUNDS {
        let mut rates = [0.0; 2];
        for (rate, function) in rates.iter_mut().zip([&on, &off]) {
            bench.run(function).await;
            *rate = desks.rate(Rooms::All).await;
        }
        sides.add(rates[0], rates[1]);
        bench.run(&on).await;
    }
    sides.print(
        "8 desks, with the change log over without",
        "",
        "holds a second",
    );
    desks.close().await;
}

/// Ten thousand holds that are due, in all rooms, in seconds of their own.
async fn let_come_due(bench: &Bench, next: &AtomicI64) {
    let first = next.fetch_add(10_000, Ordering::Relaxed);
    bench
        .run(&format!(
            "INSERT INTO slot_hold (site_id, room_id, period, expires_at, desk)
             SELECT {site}, {room} + n % {ROOMS},
                 tstzrange(start + 2 * n * interval '1 second', start + (2 * n + 1) * interval '1 second'),
                 clock_timestamp() - interval '1 second', 'anna'
             FROM generate_series({first}, {last}) AS n, (SELECT TIMESTAMPTZ '{start}' AS start) AS start",
            site = bench.house.site(),
            room = bench.first_room,
            last = first + 9_999,
            start = period(0).start().to_rfc3339(),
        ))
        .await;
}

async fn sweep(bench: &Arc<Bench>, next: &Arc<AtomicI64>) {
    let desks = Desks::open(bench, next, SWEEPING_DESKS).await;
    let sweeper = bench.desk().await;
    let (mut typical, mut worst) = (Sides::new(), Sides::new());
    for _ in 0..ROUNDS {
        let_come_due(bench, next).await;
        let started = Instant::now();
        let until = started + 2 * ROUND;
        let desk = Desk("sweep".into());
        let (during, (swept, seconds)) = tokio::join!(desks.work(Rooms::All, until), async {
            let swept = sweeper.sweep(&desk).await.unwrap();
            (swept, started.elapsed().as_secs_f64())
        });
        println!(
            "sweep: {swept} of 10000 in {seconds:.1} s; the others were expired by the desks that came to their rooms first"
        );
        let without = desks.work(Rooms::All, Instant::now() + 2 * ROUND).await;
        for (sides, percent) in [(&mut typical, 50), (&mut worst, 99)] {
            sides.add(
                percentile(during.iter().copied(), percent),
                percentile(without.iter().copied(), percent),
            );
        }
    }
    let what =
        format!("{SWEEPING_DESKS} desks, time of a hold during a sweep of 10000 over without");
    typical.print(&format!("{what}, median"), "", "ms");
    worst.print(&format!("{what}, 99 of 100"), "", "ms");
    sweeper.store().close().await;
    desks.close().await;
}

fn main() {
    let runtime = runtime();
    let bench = Arc::new(runtime.block_on(Bench::new(ROOMS)));
    let next = Arc::new(AtomicI64::new(0));
    runtime.block_on(async {
        hot_room(&bench, &next, "waiting for the disk").await;
        change_log(&bench, &next).await;
        sweep(&bench, &next).await;
        bench.wait_for_disk(false).await;
        hot_room(&bench, &next, "not waiting for the disk").await;
    });
    // The database is dropped with its house, which wants no runtime around it.
    drop(bench);
}
