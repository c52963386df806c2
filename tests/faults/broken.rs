//! Broken conversations (R24): every command through [`Proxy`], broken after every message in either direction.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use keyrack::domain::{Answer, Request};
use keyrack::store::{Progress, SiteStore, StoreError};
use sqlx::Connection;
use sqlx::postgres::PgConnection;
use tokio::sync::Semaphore;

use crate::place::{COMMANDS, Left, Place, function};
use crate::proxy::{Break, Fault, Proxy, Way};
use crate::support::Database;
use crate::{seed, whole_space};

/// How many commands are tried at the same time, each in a site of its own.
const AT_ONCE: usize = 7;

/// A command on its way through a proxy.
struct Trial<'a> {
    place: &'a Place,
    proxy: Proxy,
    house: SiteStore,
    request: Request,
    what: String,
}

impl<'a> Trial<'a> {
    /// A desk with a connection that has asked nothing yet, or has asked the same kind of thing before.
    async fn new(place: &'a Place, name: &str, faults: &[(Fault, bool)], warm: bool) -> Self {
        let proxy = Proxy::before(&place.options).await;
        let house = place.desk(proxy.options(&place.options)).await;
        if warm {
            let earlier = place.request(name).await;
            house.execute(earlier).await.unwrap().outcome.unwrap();
        }
        let request = place.request(name).await;
        proxy.arm(
            faults
                .iter()
                .map(|(fault, of_command)| (*fault, of_command.then(|| function(name)))),
        );
        Self {
            place,
            proxy,
            house,
            request,
            what: format!("{name} {faults:?}{}", if warm { " warm" } else { "" }),
        }
    }

    /// The answer, and how often the desk was told that it is being checked.
    async fn execute(&self) -> (Result<Answer, StoreError>, usize) {
        let checked = Arc::new(AtomicUsize::new(0));
        let told = checked.clone();
        let answer = self
            .house
            .execute_reporting(self.request.clone(), move |progress| {
                if progress == Progress::Checking {
                    told.fetch_add(1, Ordering::Relaxed);
                }
            })
            .await;
        (answer, checked.load(Ordering::Relaxed))
    }

    /// The command was done, once; the desk carries on.
    async fn done_once(&self, observer: &mut PgConnection, expected: Left) {
        let what = &self.what;
        assert!(
            self.place.ask_again(&self.request, what).await.repeated,
            "{what}"
        );
        assert_eq!(
            Left::by(self.request.id, observer).await,
            expected,
            "{what}"
        );
        let next = self.place.request("hold_slot").await;
        let answer = self
            .house
            .execute(next)
            .await
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(answer.outcome.is_ok(), "{what}: {answer:?}");
    }
}

/// One command, broken once, after every message. Says how many trials that were.
async fn every_message(place: &Place, name: &str, mut rng: fastrand::Rng) -> usize {
    let mut observer = PgConnection::connect_with(&place.options).await.unwrap();
    let expected = place.reference(name, &mut observer).await;
    let breaks = [
        Break::Cut,
        Break::Reset,
        Break::Delay(Duration::from_millis(rng.u64(1..60))),
    ];
    let mut trials = 0;
    for way in [Way::Asking, Way::Answering] {
        // A desk that has asked such a thing before says less: fewer messages, of the same kinds.
        let warm_too = whole_space() || rng.u8(..4) == 0;
        for warm in if warm_too {
            vec![false, true]
        } else {
            vec![false]
        } {
            // Until the conversation has no such message.
            for after in 0.. {
                let chosen: Vec<Break> = if whole_space() {
                    breaks.to_vec()
                } else {
                    vec![breaks[rng.usize(..breaks.len())]]
                };
                let mut fired = 0;
                for what in chosen {
                    let fault = Fault { way, after, what };
                    let trial = Trial::new(place, name, &[(fault, true)], warm).await;
                    let (answer, checked) = trial.execute().await;
                    let what = &trial.what;
                    let answer = answer.unwrap_or_else(|error| panic!("{what}: {error}"));
                    assert!(answer.outcome.is_ok(), "{what}: {answer:?}");
                    fired = trial.proxy.fired();
                    let broken = fired > 0 && !matches!(fault.what, Break::Delay(_));
                    if !trial.proxy.heard() {
                        // R24: the desk was told, exactly if it had to wonder.
                        assert_eq!(checked > 0, broken, "{what}");
                    }
                    trial.done_once(&mut observer, expected).await;
                    trials += 1;
                }
                if fired == 0 {
                    break;
                }
            }
        }
    }
    trials
}

/// One command whose original arrives only after it was asked again: a delayed original must not do it twice (R21).
async fn every_stray(place: &Place, name: &str) -> usize {
    let mut observer = PgConnection::connect_with(&place.options).await.unwrap();
    let expected = place.reference(name, &mut observer).await;
    let mut trials = 0;
    for after in 0.. {
        let fault = Fault {
            way: Way::Asking,
            after,
            what: Break::Stray,
        };
        let trial = Trial::new(place, name, &[(fault, true)], false).await;
        let asked = trial.execute();
        tokio::pin!(asked);
        // The original may hold what asking again needs: then it arrives while that waits, else after it.
        let (answer, _) = loop {
            tokio::select! {
                outcome = &mut asked => break outcome,
                () = tokio::time::sleep(Duration::from_millis(5)) => {
                    if let Some(backend) = trial.proxy.backend().filter(|_| trial.proxy.fired() > 0)
                        && blocks_somebody(&mut observer, backend).await
                    {
                        trial.proxy.heal().await;
                    }
                }
            }
        };
        let what = &trial.what;
        let answer = answer.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(answer.outcome.is_ok(), "{what}: {answer:?}");
        trial.proxy.heal().await;
        trial.done_once(&mut observer, expected).await;
        trials += 1;
        if trial.proxy.fired() == 0 {
            break;
        }
    }
    trials
}

async fn blocks_somebody(observer: &mut PgConnection, backend: i32) -> bool {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND $1 = ANY (pg_blocking_pids(pid)))",
    )
    .bind(backend)
    .fetch_one(observer)
    .await
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn r24_a_command_is_done_once_wherever_its_conversation_breaks() {
    let mut rng = seed();
    let database = Database::migrated().await;
    let mut trials = 0;
    for names in COMMANDS.chunks(AT_ONCE) {
        let tried = names.iter().map(|name| {
            let (rng, options) = (rng.fork(), database.options());
            async move {
                let place = Place::new(options, name).await;
                let tried =
                    every_message(&place, name, rng).await + every_stray(&place, name).await;
                place.assert_all_is_well().await;
                tried
            }
        });
        trials += join_all(tried).await.iter().sum::<usize>();
    }
    println!(
        "{trials} broken conversations of {} commands",
        COMMANDS.len()
    );
    assert!(trials > 16 * COMMANDS.len(), "{trials}");
}

#[tokio::test(flavor = "multi_thread")]
async fn r24_a_command_survives_one_fault_after_the_other() {
    let mut rng = seed();
    let database = Database::migrated().await;
    let mut place = Place::new(database.options(), "Storm").await;
    let mut observer = database.connect().await;
    for number in 1..=if whole_space() { 2_000 } else { 40 } {
        if number % 200 == 0 {
            // Each request has hours of its own, and no house takes bookings for ever (R8).
            place.assert_all_is_well().await;
            place = Place::new(database.options(), &format!("Storm {number}")).await;
        }
        let name = COMMANDS[rng.usize(..COMMANDS.len())];
        let expected = place.reference(name, &mut observer).await;
        let faults: Vec<(Fault, bool)> = (0..rng.usize(1..5))
            .map(|_| {
                let what = match rng.u8(..3) {
                    0 => Break::Cut,
                    1 => Break::Reset,
                    _ => Break::Delay(Duration::from_millis(rng.u64(..30))),
                };
                let way = if rng.bool() {
                    Way::Asking
                } else {
                    Way::Answering
                };
                // Also while it connects again: that conversation is longer.
                let of_command = rng.bool();
                let after = rng.usize(..if of_command { 8 } else { 16 });
                (Fault { way, after, what }, of_command)
            })
            .collect();
        let trial = Trial::new(&place, name, &faults, rng.bool()).await;
        let (answer, _) = trial.execute().await;
        // Faults that are left over must not hit what comes after.
        trial.proxy.arm([]);
        let what = &trial.what;
        match answer {
            Ok(answer) => assert!(answer.outcome.is_ok(), "{what}: {answer:?}"),
            // It could not even connect; then nothing was done.
            Err(StoreError::OutOfReach { .. }) => {
                let left = Left::by(trial.request.id, &mut observer).await;
                assert_eq!(left, Left::nothing(), "{what}");
                assert!(
                    !place.ask_again(&trial.request, what).await.repeated,
                    "{what}"
                );
            }
            Err(error) => panic!("{what}: {error}"),
        }
        trial.done_once(&mut observer, expected).await;
    }
    place.assert_all_is_well().await;
}

/// One command that meets silence: done or unknown, never anything else. Few at a time prepare and clean up, because the
/// server has two hundred connections for all tests together.
async fn silence(place: Place, name: &str, fault: Fault, few: &Semaphore) -> usize {
    let preparing = few.acquire().await.unwrap();
    let mut observer = PgConnection::connect_with(&place.options).await.unwrap();
    let expected = place.reference(name, &mut observer).await;
    let trial = Trial::new(&place, name, &[(fault, true)], false).await;
    observer.close().await.unwrap();
    place.house.store().close().await;
    drop(preparing);

    let (answer, _) = trial.execute().await;
    let what = &trial.what;
    match answer {
        Ok(answer) => assert!(answer.outcome.is_ok(), "{what}: {answer:?}"),
        // The server still holds what the original took: nobody can know, and the desk is not told anything else.
        Err(error) => assert!(
            matches!(error, StoreError::Unknown { .. }),
            "{what}: {error}"
        ),
    }
    let fired = trial.proxy.fired();
    trial.proxy.heal().await;

    let _cleaning_up = few.acquire().await.unwrap();
    let mut observer = PgConnection::connect_with(&place.options).await.unwrap();
    place.ask_again(&trial.request, what).await;
    trial.done_once(&mut observer, expected).await;
    place.assert_all_is_well().await;
    trial.house.store().close().await;
    place.house.store().close().await;
    observer.close().await.unwrap();
    fired
}

/// A server that can't be reached any more after it was asked: unknown, until it is asked later.
async fn dead(place: Place, after: usize, done: bool) -> usize {
    let mut observer = PgConnection::connect_with(&place.options).await.unwrap();
    let expected = place.reference("hold_slot", &mut observer).await;
    let fault = Fault {
        way: if done { Way::Answering } else { Way::Asking },
        after,
        what: Break::Cut,
    };
    let trial = Trial::new(&place, "hold_slot", &[(fault, true)], false).await;
    trial.proxy.down(true);
    let (answer, checked) = trial.execute().await;
    let error = answer.unwrap_err();
    let id = trial.request.id;
    assert_eq!(
        error,
        StoreError::Unknown { request_id: id },
        "{}",
        trial.what
    );
    assert!(checked > 1, "{}", trial.what);
    trial.proxy.down(false);
    assert_eq!(
        place.ask_again(&trial.request, &trial.what).await.repeated,
        done
    );
    trial.done_once(&mut observer, expected).await;
    trial.proxy.fired()
}

/// Slow, because a desk waits as long as it does: every trial at the same time.
#[tokio::test(flavor = "multi_thread")]
async fn r24_a_desk_that_hears_nothing_more_says_unknown_or_the_truth() {
    let mut rng = seed();
    let database = Database::migrated().await;
    let few = Semaphore::new(4);
    let mut trials: Vec<BoxFuture<'_, usize>> = Vec::new();
    let places = AtomicUsize::new(0);
    let place = async || {
        let number = places.fetch_add(1, Ordering::Relaxed);
        let place = Place::new(database.options(), &format!("House {number}")).await;
        // None of its connections idles while the others are made.
        place.house.store().close().await;
        place
    };
    let whole = COMMANDS[rng.usize(..COMMANDS.len())];
    for name in COMMANDS {
        for way in [Way::Asking, Way::Answering] {
            for after in 0..8 {
                // One command after every message, the others after one.
                if name == whole || rng.u8(..32) == 0 || whole_space() {
                    let fault = Fault {
                        way,
                        after,
                        what: Break::Silence,
                    };
                    trials.push(silence(place().await, name, fault, &few).boxed());
                }
            }
        }
    }
    trials.push(dead(place().await, 3, false).boxed());
    // Everything up to the row of the answer.
    trials.push(dead(place().await, 5, true).boxed());
    let mut fired = 0;
    let mut trials = trials.into_iter();
    loop {
        let together: Vec<_> = trials.by_ref().take(40).collect();
        if together.is_empty() {
            break;
        }
        fired += join_all(together).await.iter().sum::<usize>();
    }
    println!("{fired} silences, one after every message of {whole}");
    assert!(fired >= 15);
}
