//! Random desks on few rooms and items, with short deadlines, in real time, while connections are cut: afterwards every
//! room's and every item's history must be linearizable, as a small sequential model would have it.
//!
//! `KEYRACK_SEED` repeats the desks' choices (their races are real and can't be repeated); `KEYRACK_HISTORY_SECONDS`
//! makes it longer. Both are printed.
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod checker;
mod desks;
mod item;
mod mistakes;
mod planted;
mod room;
mod story;

use std::env;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use keyrack::domain::SiteFile;
use keyrack::domain::{Desk, ServerCommand};
use keyrack::store::Store;
use sqlx::postgres::PgConnection;

use desks::{Playground, Record, careful, careless, vandal};
use item::Item;
use room::Room;
use support::{Database, change_site};

/// How long the desks are at it before their history is looked at.
const ROUND: Duration = Duration::from_millis(2_500);

const ITEM_TOTAL: i64 = 6;

/// A round's house: few rooms and items, and no limit to renewing, which is a matter of one claim.
fn house(round: usize) -> SiteFile {
    let text = format!(
        "[site]\nname = \"Round {round}\"\ntime_zone = \"Europe/London\"\nrenewals = 100000\n\
         [[room]]\nname = \"Blue room\"\n[[room]]\nname = \"Garden room\"\n\
         [[item]]\nname = \"Breakfast\"\ntotal = {ITEM_TOTAL}\n"
    );
    SiteFile::parse(&text).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_history_is_linearizable() {
    let seed = env::var("KEYRACK_SEED")
        .ok()
        .map_or_else(|| fastrand::u64(..), |seed| seed.parse().unwrap());
    let seconds: u64 =
        env::var("KEYRACK_HISTORY_SECONDS").map_or(15, |seconds| seconds.parse().unwrap());
    println!("KEYRACK_SEED={seed} KEYRACK_HISTORY_SECONDS={seconds}");
    let mut rng = fastrand::Rng::with_seed(seed);
    let until = Instant::now() + Duration::from_secs(seconds);
    let database = Database::migrated().await;
    let (mut calls, mut unknown, mut cut, mut steps) = (0, 0, 0, 0);
    for round in 0.. {
        let outcome = play(&database, round, ROUND, rng.fork()).await;
        let told = outcome.unwrap_or_else(|why| panic!("KEYRACK_SEED={seed} round {round}: {why}"));
        calls += told.calls;
        unknown += told.unknown;
        cut += told.cut;
        steps += told.steps;
        if Instant::now() >= until {
            break;
        }
    }
    println!(
        "{calls} calls, {cut} connections cut, {unknown} outcomes unknown, {steps} steps of the search"
    );
    assert!(calls > 100 && cut > 5, "too little happened");
}

/// What was seen in a round.
struct Told {
    calls: usize,
    unknown: usize,
    cut: usize,
    steps: usize,
}

async fn play(
    database: &Database,
    round: usize,
    how_long: Duration,
    mut rng: fastrand::Rng,
) -> Result<Told, String> {
    let store = Store::connect(database.options().application_name("referee"))
        .await
        .unwrap();
    let desk = Desk("anna".into());
    let file = house(round);
    let site = change_site(&store, &desk, ServerCommand::ApplySite { file })
        .await
        .site;
    let house = store.site_store(site.clone());
    let rooms = house
        .rooms()
        .await
        .unwrap()
        .iter()
        .map(|room| room.id)
        .collect();
    let items = house
        .items()
        .await
        .unwrap()
        .iter()
        .map(|item| item.id)
        .collect();
    let playground = Arc::new(Playground::new(house.clone(), rooms, items));

    let until = Instant::now() + how_long;
    let vandal = tokio::spawn(vandal(database.options(), rng.fork(), until));
    let careless = (0..rng.usize(2..4)).map(|_| {
        tokio::spawn(careless(
            playground.clone(),
            database.options(),
            rng.fork(),
            until,
        ))
    });
    let careless: Vec<_> = careless.collect();
    let careful = (0..rng.usize(6..13)).map(|number| {
        let name = format!("desk {number}");
        tokio::spawn(careful(
            playground.clone(),
            database.options(),
            name,
            rng.fork(),
            until,
        ))
    });
    let careful: Vec<_> = careful.collect();
    let mut records: Vec<Record> = Vec::new();
    for desk in join_all(careful.into_iter().chain(careless)).await {
        records.extend(desk.unwrap());
    }
    let cut = vandal.await.unwrap();

    let mut referee = database.connect().await;
    settle(&mut referee, site.id.0).await;
    while house.sweep(&desk).await.unwrap() > 0 {}
    let end = playground.clock();
    let story = story::tell(&records, site.id.0, end, &mut referee).await?;
    let problems = house.check().await.unwrap();
    if !problems.is_empty() {
        return Err(format!("{problems:#?}"));
    }
    let mut steps = 0;
    for (room, history) in story.rooms {
        steps += checker::check(Room::default(), history)
            .map_err(|why| format!("room {room}: {why}"))?;
    }
    for (item, history) in story.items {
        steps += checker::check(Item::with(ITEM_TOTAL), history)
            .map_err(|why| format!("item {item}: {why}"))?;
    }
    let unknown = records
        .iter()
        .filter(|record| matches!(record.heard, desks::Heard::Nothing))
        .count();
    Ok(Told {
        calls: records.len(),
        unknown,
        cut,
        steps,
    })
}

/// Waits until no statement runs any more, and until every hold is due.
async fn settle(referee: &mut PgConnection, site: i64) {
    let started = Instant::now();
    loop {
        let restless: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle')
             OR EXISTS (SELECT FROM slot_hold WHERE site_id = $1 AND state = 'held' AND expires_at > clock_timestamp())
             OR EXISTS (SELECT FROM stock_hold WHERE site_id = $1 AND state = 'held' AND expires_at > clock_timestamp())",
        )
        .bind(site)
        .fetch_one(&mut *referee)
        .await
        .unwrap();
        if !restless {
            return;
        }
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "it never became quiet"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
