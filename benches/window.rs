//! What a console reads, where ten thousand claims have ended and where a million have.
//!
//! Both houses have the same active claims. Ended claims lie in the same rooms and the same days, before and after the
//! window and in it; a tenth as many on stock, after the latest sale; and an event for each.
#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use keyrack::domain::Period;
use keyrack::store::SiteStore;
use support::tests::hour;
use support::{Bench, Sides, runtime, taken};

const ROOMS: i64 = 200;
const FEW: i64 = 10_000;
const MANY: i64 = 1_000_000;
const ROUNDS: usize = 40;

/// A house in which so many claims have ended.
async fn house(ended: i64) -> Arc<Bench> {
    let bench = Bench::new(ROOMS).await;
    let (site, room, item) = (
        bench.house.site(),
        bench.first_room,
        bench.house.breakfast.0,
    );
    let start = hour(0).to_rfc3339();
    // Loaded, not claimed: the guards would ask how a claim can begin ended. What reads do not use is left out.
    bench
        .run(&format!(
            "ALTER TABLE slot_hold DISABLE TRIGGER USER, DROP CONSTRAINT slot_hold_room_fkey;
             ALTER TABLE stock_hold DISABLE TRIGGER USER, DROP CONSTRAINT stock_hold_item_fkey;
             ALTER TABLE hold_event DROP CONSTRAINT hold_event_slot_fkey, DROP CONSTRAINT hold_event_site_fkey;
             INSERT INTO slot_hold (site_id, room_id, period, state, expires_at, desk, guest)
             SELECT {site}, {room} + n % {ROOMS},
                 tstzrange(begins, begins + interval '2 hours'), 'confirmed', NULL, 'anna', 'Lindqvist'
             FROM generate_series(0, {ROOMS} * 4 * 30 - 1) AS n
             CROSS JOIN LATERAL (SELECT TIMESTAMPTZ '{start}' + n / {ROOMS} * interval '6 hours' AS begins) AS b;
             INSERT INTO slot_hold (site_id, room_id, period, state, expires_at, desk, guest)
             SELECT {site}, {room} + n % {ROOMS},
                 tstzrange(begins, begins + interval '2 hours'), 'expired', begins, 'anna', 'Okafor'
             FROM generate_series(1, {ended}) AS n
             CROSS JOIN LATERAL (SELECT TIMESTAMPTZ '{start}' + (n % 20000 - 19000) * interval '1 hour' AS begins) AS b;
             INSERT INTO stock_hold (site_id, item_id, quantity, state, expires_at, desk)
             SELECT {site}, {item}, 1, CASE WHEN n <= 100 THEN 'confirmed' ELSE 'expired' END, now(), 'anna'
             FROM generate_series(1, {ended} / 10) AS n;
             INSERT INTO hold_event (site_id, at, what, slot_hold_id, version, from_state, to_state, desk)
             SELECT {site}, changed_at, 'expired', hold_id, 2, 'held', 'expired', 'anna'
             FROM slot_hold WHERE site_id = {site} AND state = 'expired';"
        ))
        .await;
    bench.run("VACUUM ANALYZE").await;
    Arc::new(bench)
}

fn window() -> Period {
    Period::new(hour(-24), hour(3 * 24)).unwrap()
}

async fn micros(what: impl Future<Output = ()>) -> f64 {
    taken(what).await.as_secs_f64() * 1e6
}

async fn claims(house: &SiteStore) {
    assert!(house.claims_in(window()).await.unwrap().len() > 1000);
}

async fn picture(house: &SiteStore) {
    assert_eq!(house.snapshot(window()).await.unwrap().events.len(), 200);
}

fn reads(criterion: &mut Criterion) {
    let runtime = runtime();
    let benches = [FEW, MANY].map(|ended| runtime.block_on(house(ended)));
    let houses = benches
        .each_ref()
        .map(|bench| runtime.block_on(bench.desk()));
    let mut group = criterion.benchmark_group("picture");
    for (house, ended) in houses.iter().zip([FEW, MANY]) {
        group.bench_function(format!("{ended} ended claims"), |bencher| {
            bencher.to_async(&runtime).iter(|| picture(house));
        });
    }
    group.finish();

    let [few, many] = &houses;
    let (mut window, mut whole) = (Sides::new(), Sides::new());
    runtime.block_on(async {
        for _ in 0..ROUNDS {
            window.add(micros(claims(many)).await, micros(claims(few)).await);
            whole.add(micros(picture(many)).await, micros(picture(few)).await);
        }
        for house in &houses {
            house.store().close().await;
        }
    });
    window.print(
        "window of four days, a million ended claims over ten thousand",
        "aim 1.2 at most; ",
        "µs",
    );
    whole.print(
        "a console's whole picture, a million over ten thousand",
        "aim 1.2 at most; ",
        "µs",
    );
    // The databases are dropped with their houses, which want no runtime around them.
    drop(benches);
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(2));
    targets = reads
}
criterion_main!(benches);
