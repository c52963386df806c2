//! Nobody is blocked for longer than the limit: the view warns, the conductor ends it, and if the whole program hangs
//! the database does.

use std::time::Duration;

use keyrack::domain::Request;
use keyrack::domain::sentences::fault::Rollback;
use keyrack::store::stepping::Ending;
use keyrack::store::{StepLimits, StepPlace, StepView, Stepwise, Store};

use crate::support::{TestHouse, hold_slot, hours};
use crate::{answered, value};

/// Limits to try, until one is long enough for this machine to see what the test is about.
fn limits() -> impl Iterator<Item = StepLimits> {
    (0..6).map(|doubled| StepLimits {
        total: Duration::from_secs(1 << doubled),
    })
}

/// A hold of the same hours for every desk.
fn hold(test: &TestHouse) -> Request {
    Request::fresh(test.desk.clone(), hold_slot(test.blue, hours(0, 2), None))
}

/// Another desk, behind a transaction that is about to be ended, is answered, and nothing of that one is there.
async fn is_answered_alone(test: &TestHouse, other: &Stepwise) {
    let has_answered = |view: &StepView| matches!(view.place, StepPlace::Answered(_));
    let view = other.until(has_answered).await;
    assert!(answered(&view).outcome.is_ok());
    other.roll_back().await;
    let mut observer = test.database.connect().await;
    let claims: i64 = value(&mut observer, "SELECT count(*) FROM slot_hold").await;
    assert_eq!(claims, 0);
}

/// Leads a transaction to where it has locked the room, and on to its answer if that is wanted; false if its time was
/// up before.
async fn lead(stepwise: &Stepwise, to_the_answer: bool) -> bool {
    let view = if to_the_answer {
        stepwise.run_on().await
    } else {
        stepwise.run_on_to("record_slot").await
    };
    !view.is_over()
}

/// Whether the view warned before the end, naming the one that waits.
async fn warns(test: &TestHouse, limits: StepLimits, to_the_answer: bool) -> bool {
    let stepwise = test.house.step_through(hold(test), limits).await.unwrap();
    if !lead(&stepwise, to_the_answer).await {
        return false;
    }
    let bert = test
        .house
        .step_through(hold(test), StepLimits::default())
        .await
        .unwrap();
    let bert_waits = matches!(bert.run_on().await.place, StepPlace::Waiting(_));
    let names_who_waits = |view: &StepView| {
        let warning = view.warning.as_ref();
        warning.is_some_and(|warning| !warning.blocks.is_empty())
    };
    let view = stepwise.until(names_who_waits).await;
    let warned = view.warning.clone();
    let view = stepwise.until(|_| false).await;
    assert_eq!(
        view.place,
        StepPlace::Ended(Ending::RolledBack(Rollback::TimeUp))
    );
    is_answered_alone(test, &bert).await;
    let Some(warning) = warned.filter(|_| bert_waits) else {
        return false;
    };
    assert!(warning.seconds_left <= limits.total.as_secs() / 2);
    assert_eq!(warning.blocks[0].backend, bert.look().backend);
    true
}

#[tokio::test(flavor = "multi_thread")]
async fn at_half_time_it_warns_and_at_the_limit_it_ends() {
    let test = TestHouse::new().await;
    for to_the_answer in [false, true] {
        let mut warned = false;
        for limits in limits() {
            warned = warned || warns(&test, limits, to_the_answer).await;
        }
        assert!(warned);
    }
}

/// A program that hangs: its runtime lives, with every connection open, and nobody drives it any more.
struct Hanging {
    backend: i32,
    _runtime: tokio::runtime::Runtime,
}

impl Hanging {
    /// None if its time was up before it came so far.
    fn new(test: &TestHouse, limits: StepLimits, to_the_answer: bool) -> Option<Self> {
        let (options, site, request) = (
            test.database.options(),
            test.house.site().clone(),
            hold(test),
        );
        let hangs = move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            let backend = runtime.block_on(async {
                let store = Store::connect(options).await.unwrap();
                let stepwise = store
                    .site_store(site)
                    .step_through(request, limits)
                    .await
                    .unwrap();
                let in_time = lead(&stepwise, to_the_answer).await;
                let backend = stepwise.look().backend;
                // Dropped, it would tell its conductor to roll back.
                std::mem::forget(stepwise);
                in_time.then_some(backend)
            });
            Some(Self {
                backend: backend?,
                _runtime: runtime,
            })
        };
        std::thread::spawn(hangs).join().unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_database_ends_what_a_hanging_program_leaves_open() {
    let test = TestHouse::new().await;
    for to_the_answer in [false, true] {
        let mut seen_to_wait = false;
        for limits in limits() {
            if seen_to_wait {
                break;
            }
            let Some(hanging) = Hanging::new(&test, limits, to_the_answer) else {
                continue;
            };
            let bert = test
                .house
                .step_through(hold(&test), StepLimits::default())
                .await
                .unwrap();
            if let StepPlace::Waiting(wait) = bert.run_on().await.place {
                seen_to_wait = true;
                assert_eq!(wait.whom[0].backend, hanging.backend);
            }
            is_answered_alone(&test, &bert).await;
            // A runtime may not be dropped on another.
            std::thread::spawn(move || drop(hanging)).join().unwrap();
        }
        assert!(seen_to_wait);
    }
}
