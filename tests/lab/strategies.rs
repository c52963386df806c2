//! Which strategies keep the rule, seen in the rows.

use std::future::pending;
use std::time::Duration;

use keyrack::demo::lab::{self, Length, Measured, Plan, Report, Verdict};
use keyrack::store::Store;
use keyrack::store::lab::{STRATEGIES, Strategy, Subject, strategy};

use crate::support::Database;

fn plan(strategies: Vec<&'static Strategy>, rounds: u32, think: u64) -> Plan {
    Plan {
        strategies,
        clients: 6,
        length: Length::Rounds(rounds),
        think: Duration::from_millis(think),
        seed: 20_261_130,
    }
}

fn named(name: &str) -> &'static Strategy {
    strategy(name).unwrap()
}

async fn run(database: &Database, plan: &Plan) -> Report {
    let store = Store::connect(database.options()).await.unwrap();
    let report = lab::run(&store, plan, pending(), |_| ()).await.unwrap();
    store.close().await;
    assert!(!report.stopped);
    report
}

fn assert_adds_up(measured: &Measured, clients: u64) {
    let turns = u64::from(measured.rounds) * clients;
    assert_eq!(
        measured.done + measured.refused + measured.gave_up,
        turns,
        "{measured:?}"
    );
    assert!(measured.median <= measured.percentile_99, "{measured:?}");
    assert!(measured.answers_per_second > 0.0, "{measured:?}");
}

/// Every strategy that is known to be right, over some rounds.
async fn right_ones_stay_right(subject: Subject) {
    let database = Database::migrated().await;
    let right = STRATEGIES
        .iter()
        // It has a test of its own: each of its deadlocks takes a second.
        .filter(|strategy| strategy.name != "exclusion-alone")
        .filter(|strategy| strategy.subject == subject && strategy.sound);
    let plan = plan(right.collect(), 12, 2);
    let report = run(&database, &plan).await;
    assert_eq!(report.measured.len(), plan.strategies.len());
    for measured in &report.measured {
        assert_eq!(measured.wrong, 0, "{measured:?}");
        // There was something to lose: somebody got it, and somebody else did not.
        assert!(measured.done > 0 && measured.refused > 0, "{measured:?}");
        assert_adds_up(measured, 6);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r1_right_strategies_double_book_nothing() {
    right_ones_stay_right(Subject::Slots).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r15_right_strategies_oversell_nothing() {
    right_ones_stay_right(Subject::Stock).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r1_the_exclusion_constraint_alone_double_books_nothing() {
    let database = Database::migrated().await;
    let report = run(&database, &plan(vec![named("exclusion-alone")], 2, 20)).await;
    assert_eq!(report.measured[0].wrong, 0, "{report:?}");
    assert_adds_up(&report.measured[0], 6);
}

/// A wrong strategy is caught. Whether it is in one round is up to the machine, so there may be many.
async fn is_caught(name: &str, verdict: Verdict) {
    let database = Database::migrated().await;
    let mut measured = None;
    for _ in 0..20 {
        let report = run(&database, &plan(vec![named(name)], 3, 50)).await;
        assert_adds_up(&report.measured[0], 6);
        let seen = report.measured.into_iter().next();
        if seen.as_ref().is_some_and(|seen| seen.wrong > 0) {
            measured = seen;
            break;
        }
    }
    let measured = measured.unwrap_or_else(|| panic!("{name} was not caught"));
    assert_eq!(measured.verdict(), verdict, "{measured:?}");
    assert!(!measured.is_surprising());
}

#[tokio::test(flavor = "multi_thread")]
async fn check_then_insert_is_caught() {
    is_caught("check-then-insert", Verdict::DoubleBooks).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unique_start_time_is_caught() {
    is_caught("unique-start-time", Verdict::DoubleBooks).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trigger_without_a_lock_is_caught() {
    is_caught("trigger-without-lock", Verdict::DoubleBooks).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn read_then_write_is_caught() {
    is_caught("read-then-write", Verdict::Oversells).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn serializable_and_versions_ask_again() {
    let database = Database::migrated().await;
    let strategies = vec![named("serializable-retry"), named("optimistic-version")];
    let mut retries = [0; 2];
    for _ in 0..20 {
        let report = run(&database, &plan(strategies.clone(), 3, 50)).await;
        for (retries, measured) in retries.iter_mut().zip(&report.measured) {
            assert_eq!(measured.wrong, 0, "{measured:?}");
            *retries += measured.retries;
        }
        if retries.iter().all(|retries| *retries > 0) {
            return;
        }
    }
    panic!("nobody had to ask again: {retries:?}");
}
