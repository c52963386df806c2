//! Interleavings: two or three commands start together, and every order of their steps is tried.
//!
//! The text that runs is the protocol's own. In the test's database each step has a gate before it, at which a session
//! waits until the controller lets it take that one step; whether a session stands at its gate or waits for another
//! session is seen through `pg_isolation_test_session_is_blocked`. The deadline of a hold passes when the schedule says so,
//! because the stage has a clock of its own before the database's. After each schedule: `check` finds nothing, nothing was
//! raised, what was answered is what is remembered, and answers and rows are those of some serial order of the same
//! commands (and of the deadline), one that keeps the order of what did not overlap.
//!
//! `cargo test` plays some schedules of each case, the same each time. The whole space:
//!
//! ```sh
//! KEYRACK_INTERLEAVINGS=all cargo test --test interleavings -- --nocapture
//! ```
//!
//! Two neighbouring steps commute if one of them only reads what has been committed and the other commits nothing; of the
//! schedules that differ in the order of such steps alone, `all` plays one (sleep sets). `every` plays each of them, which
//! takes many hours; a number, so many of each case, drawn by lot. `KEYRACK_INTERLEAVINGS_CASE=` part of a case's name plays
//! only such cases.
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod explorer;
mod planted;
mod space;
mod stage;

use std::cell::Cell;
use std::env;
use std::time::Instant;

use explorer::{Case, Extent, Failure, Lot};
use futures_util::future::join_all;
use stage::Stage;

/// How many schedules of each case `cargo test` plays.
const SAMPLE: usize = 3;

/// How many of a case that has too many, where all of the others are played.
const LARGE_SAMPLE: usize = 5_000;

/// How much of each case to play.
fn extent() -> Extent {
    match env::var("KEYRACK_INTERLEAVINGS").as_deref() {
        Ok("all") => Extent::All,
        Ok("every") => Extent::Every,
        Ok(number) => Extent::Sample(number.parse().unwrap()),
        Err(_) => Extent::Sample(SAMPLE),
    }
}

#[tokio::test]
async fn pairs_on_the_same_room() {
    all_is_well(space::rooms(), extent()).await;
}

#[tokio::test]
async fn pairs_on_the_same_item() {
    all_is_well(space::stock(), extent()).await;
}

#[tokio::test]
async fn pairs_on_the_same_group() {
    all_is_well(space::groups(), extent()).await;
}

#[tokio::test]
async fn triples() {
    all_is_well(space::triples(), extent()).await;
}

#[tokio::test]
async fn triples_with_too_many_orders_to_play_them_all() {
    let extent = match extent() {
        Extent::Sample(size) => Extent::Sample(size),
        Extent::All | Extent::Every => Extent::Sample(LARGE_SAMPLE),
    };
    all_is_well(space::too_many(), extent).await;
}

async fn all_is_well(mut cases: Vec<Case>, extent: Extent) {
    if let Ok(part) = env::var("KEYRACK_INTERLEAVINGS_CASE") {
        cases.retain(|case| case.to_string().contains(&part));
    }
    let started = Instant::now();
    let next = Cell::new(0);
    let worker = async || {
        let mut stage = Stage::new().await;
        let (mut count, mut failures) = (0, Vec::new());
        while let Some(case) = cases.get(next.replace(next.get() + 1)) {
            let lot = Lot(next.get() as u64);
            match try_case(&mut stage, case, extent, lot).await {
                Ok(schedules) => {
                    count += schedules;
                    println!("{schedules:6} {case}");
                }
                Err(failure) => failures.push(failure.to_string()),
            }
        }
        (count, failures)
    };
    // Most of the time a worker waits for the database.
    let workers = match extent {
        Extent::Sample(SAMPLE) => 1,
        _ => 2,
    };
    let workers = (0..workers).map(|_| worker());
    let (mut count, mut failures) = (0, Vec::new());
    for (played, failed) in join_all(workers).await {
        count += played;
        failures.extend(failed);
    }
    println!(
        "{count} schedules of {} cases in {:.0} s",
        cases.len(),
        started.elapsed().as_secs_f64()
    );
    assert!(
        failures.is_empty(),
        "{} of {} cases went wrong:\n\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n\n")
    );
}

/// What `all` leaves out is what it says.
#[tokio::test]
async fn one_schedule_of_each_class_comes_to_whatever_every_schedule_comes_to() {
    let mut stage = Stage::new().await;
    for (setting, first, second) in [
        ("held", "confirm", "cancel"),
        ("held", "hold", "sweep"),
        ("confirmed", "move away", "hold"),
    ] {
        let case = space::pair(setting, "room", first, second, setting == "held");
        let all = explorer::outcomes(&mut stage, &case, Extent::All).await;
        let every = explorer::outcomes(&mut stage, &case, Extent::Every).await;
        assert!(every.len() > 1, "{case}");
        assert_eq!(all, every, "{case}");
    }
}

/// How many schedules of a case were played, or what went wrong.
async fn try_case(
    stage: &mut Stage,
    case: &Case,
    extent: Extent,
    lot: Lot,
) -> Result<usize, Failure> {
    let serial = explorer::serial_results(stage, case).await?;
    explorer::explore(stage, case, &serial, extent, lot).await
}
