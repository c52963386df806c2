//! What is killed in the middle of a command: its backend, the server, the desk. The command is stopped at each of its
//! steps by a gate: a lock on the table that the step writes next.

use std::process::{Command, Stdio};
use std::time::Duration;

use futures_util::future::join_all;
use keyrack::domain::{self, Answer, Request};
use keyrack::store::StoreError;
use rustix::process::{Pid, Signal, kill_process};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, Connection, Executor};
use tokio::task::JoinHandle;

use crate::place::{COMMANDS, Left, Place};
use crate::support::{self, Database, until_blocked};
use crate::victim::Victim;
use crate::{seed, whole_space};

/// The tables that a command locks or writes, a gate each. Not every command comes to every gate.
const GATES: [&str; 9] = [
    "request",
    "room",
    "inventory",
    "claim_group",
    "slot_hold",
    "stock_hold",
    "stock_movement",
    "hold_event",
    "change_log",
];

/// A closed gate.
pub struct Gate {
    connection: PgConnection,
    backend: i32,
}

impl Gate {
    pub async fn close(options: &PgConnectOptions, table: &str) -> Self {
        let mut connection = PgConnection::connect_with(options).await.unwrap();
        let backend = support::backend(&mut connection).await;
        let lock = format!("BEGIN; LOCK TABLE {table} IN EXCLUSIVE MODE");
        connection.execute(AssertSqlSafe(lock)).await.unwrap();
        Self {
            connection,
            backend,
        }
    }

    async fn open(mut self) {
        // The server may have been killed under it, which opens it too.
        let _ = self.connection.execute("ROLLBACK").await;
    }

    /// The backend that stands before it.
    async fn blocked(&self, observer: &mut PgConnection) -> Option<i32> {
        sqlx::query_scalar(
            "SELECT pid FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid)) LIMIT 1",
        )
        .bind(self.backend)
        .fetch_optional(observer)
        .await
        .unwrap()
    }
}

/// A command that was sent, and stands before a gate if it comes to that one.
pub struct Sent {
    pub answer: JoinHandle<Result<Answer, StoreError>>,
    pub backend: Option<i32>,
}

impl Sent {
    pub async fn to(
        place: &Place,
        gate: &Gate,
        request: &Request,
        observer: &mut PgConnection,
    ) -> Self {
        let (house, request) = (place.desk(place.options.clone()).await, request.clone());
        let answer = tokio::spawn(async move { house.execute(request).await });
        let mut backend = None;
        while backend.is_none() && !answer.is_finished() {
            tokio::time::sleep(Duration::from_millis(2)).await;
            backend = gate.blocked(observer).await;
        }
        Self { answer, backend }
    }
}

/// Every gate of some commands, in a database of their own. Says how many backends were ended.
async fn terminated(names: &[&str]) -> usize {
    let database = Database::migrated().await;
    let place = Place::new(database.options(), "Gates").await;
    let mut observer = database.connect().await;
    let mut ended = 0;
    for name in names {
        let expected = place.reference(name, &mut observer).await;
        for table in GATES {
            let request = place.request(name).await;
            let gate = Gate::close(&place.options, table).await;
            let sent = Sent::to(&place, &gate, &request, &mut observer).await;
            let reached = sent.backend.is_some();
            if let Some(backend) = sent.backend {
                sqlx::query("SELECT pg_terminate_backend($1, 5000)")
                    .bind(backend)
                    .execute(&mut observer)
                    .await
                    .unwrap();
                // Nothing half-done.
                let left = Left::by(request.id, &mut observer).await;
                assert_eq!(left, Left::nothing(), "{name} at {table}");
                ended += 1;
            }
            gate.open().await;
            let answer = sent.answer.await.unwrap().unwrap();
            assert!(answer.outcome.is_ok(), "{name} at {table}: {answer:?}");
            assert!(!reached || !answer.repeated, "{name} at {table}");
            assert!(
                place.ask_again(&request, name).await.repeated,
                "{name} at {table}"
            );
            assert_eq!(
                Left::by(request.id, &mut observer).await,
                expected,
                "{name} at {table}"
            );
        }
    }
    place.assert_all_is_well().await;
    ended
}

#[tokio::test(flavor = "multi_thread")]
async fn r24_a_backend_that_is_ended_at_any_step_leaves_nothing_half_done() {
    let ended: usize = join_all(COMMANDS.chunks(5).map(terminated))
        .await
        .iter()
        .sum();
    println!("{ended} backends ended before a gate");
    // At least its request, its claim or item, and its event.
    assert!(ended >= 4 * COMMANDS.len(), "{ended}");
}

/// Who is killed, and how.
#[derive(Debug, Clone, Copy)]
enum Blow {
    /// `kill -9` of the backend; the server throws everybody out and recovers.
    Backend,
    /// `kill -9` of the server itself; a console brings it back.
    Server,
    /// A fast shutdown and a start.
    Restart,
    /// An immediate shutdown and a start.
    Crash,
}

#[tokio::test(flavor = "multi_thread")]
async fn r24_a_killed_backend_and_a_killed_server_leave_nothing_half_done() {
    let mut rng = seed();
    let victim = Victim::new(tempfile::tempdir().unwrap()).await;
    let options = victim.server().connect_options();
    let place = Place::new(options.clone(), "Under fire").await;
    let blows = [Blow::Backend, Blow::Server, Blow::Restart, Blow::Crash];
    let mut trials: Vec<(&str, &str, Blow)> = Vec::new();
    for name in COMMANDS {
        for gate in GATES {
            trials.extend(blows.map(|blow| (name, gate, blow)));
        }
    }
    rng.shuffle(&mut trials);
    // One of each kind, unless everything is wanted.
    let mut left_of_kind = [if whole_space() { usize::MAX } else { 1 }; 4];
    let mut struck = 0;
    for (name, table, blow) in trials {
        if left_of_kind[blow as usize] == 0 {
            continue;
        }
        let what = format!("{name} at {table}: {blow:?}");
        let mut observer = victim.observer().await;
        let expected = place.reference(name, &mut observer).await;
        let request = place.request(name).await;
        let gate = Gate::close(&options, table).await;
        let sent = Sent::to(&place, &gate, &request, &mut observer).await;
        if let Some(backend) = sent.backend {
            left_of_kind[blow as usize] -= 1;
            struck += 1;
            let (whom, signal) = match blow {
                Blow::Backend => (backend, Signal::KILL),
                Blow::Server => (victim.process_id().await, Signal::KILL),
                Blow::Restart => (victim.process_id().await, Signal::INT),
                Blow::Crash => (victim.process_id().await, Signal::QUIT),
            };
            kill_process(Pid::from_raw(whom).unwrap(), signal).unwrap();
            // It is over when the gate's own connection is.
            while sqlx::Connection::ping(&mut observer).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            victim.server().ensure_running().await.unwrap();
        }
        gate.open().await;
        let answer = sent
            .answer
            .await
            .unwrap()
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(answer.outcome.is_ok(), "{what}: {answer:?}");
        let mut observer = victim.observer().await;
        assert!(place.ask_again(&request, &what).await.repeated, "{what}");
        assert_eq!(
            Left::by(request.id, &mut observer).await,
            expected,
            "{what}"
        );
        if left_of_kind == [0; 4] {
            break;
        }
    }
    println!("{struck} blows");
    assert!(struck >= 4);
    place.assert_all_is_well().await;
}

/// The command line for a command that has one without further ado.
fn arguments(command: &domain::Command) -> Option<Vec<String>> {
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>()
    };
    Some(match command {
        domain::Command::HoldSlot { room, period, .. } => words(&[
            "room",
            "hold",
            &format!("#{room}"),
            &period.start().to_rfc3339(),
            &period.end().to_rfc3339(),
        ]),
        domain::Command::ConfirmSlot { hold, .. } => words(&["room", "confirm", &hold.to_string()]),
        domain::Command::CancelSlot { hold, .. } => words(&[
            "room",
            "cancel",
            &hold.to_string(),
            "--reason",
            "called off",
        ]),
        domain::Command::HoldStock { item, quantity, .. } => {
            words(&["stock", "hold", &format!("#{item}"), &quantity.to_string()])
        }
        domain::Command::ConfirmStock { hold, .. } => {
            words(&["stock", "confirm", &hold.to_string()])
        }
        domain::Command::ReceiveStock {
            item,
            quantity,
            reason,
        } => words(&[
            "stock",
            "receive",
            &format!("#{item}"),
            &quantity.to_string(),
            "--reason",
            reason,
        ]),
        _ => return None,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn r24_a_desk_that_is_killed_at_any_step_did_it_once_or_not_at_all() {
    let mut rng = seed();
    let database = Database::migrated().await;
    let place = Place::new(database.options(), "Killed desks").await;
    let mut observer = database.connect().await;
    let mut trials = Vec::new();
    for name in [
        "hold_slot",
        "confirm_slot",
        "cancel_slot",
        "hold_stock",
        "confirm_stock",
        "receive_stock",
    ] {
        trials.extend(GATES.map(|gate| (name, gate)));
    }
    rng.shuffle(&mut trials);
    let mut killed = 0;
    for (name, table) in trials {
        let what = format!("{name} at {table}");
        let expected = place.reference(name, &mut observer).await;
        let request = place.request(name).await;
        let gate = Gate::close(&place.options, table).await;
        let mut desk = Command::new(env!("CARGO_BIN_EXE_keyrack"));
        desk.args(arguments(&request.command).unwrap())
            .args(["--request-id", &request.id.to_string(), "--json"])
            .env("DATABASE_URL", database.url())
            .env("KEYRACK_SITE", &place.house.site().name)
            .env("KEYRACK_DESK", "anna")
            .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut process = desk.spawn().unwrap();
        let mut backend = None;
        let mut ended = None;
        while backend.is_none() && ended.is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
            backend = gate.blocked(&mut observer).await;
            ended = process.try_wait().unwrap();
        }
        process.kill().unwrap();
        process.wait().unwrap();
        // Half of the time the server goes with it, and rolls back; else it does what it was asked.
        let server_too = rng.bool();
        if let Some(backend) = backend {
            killed += 1;
            until_blocked(&mut observer, backend, &[gate.backend]).await;
            if server_too {
                sqlx::query("SELECT pg_terminate_backend($1, 5000)")
                    .bind(backend)
                    .execute(&mut observer)
                    .await
                    .unwrap();
            }
        }
        gate.open().await;
        // Whoever asks again with its id hears the truth, and waits for it if it is not over yet.
        let answer = place.ask_again(&request, &what).await;
        // Before the first gate it has not begun, and may come second.
        let begun = backend.is_some() && table != "request";
        assert!(
            !begun || answer.repeated != server_too,
            "{what}: {answer:?}"
        );
        assert_eq!(
            Left::by(request.id, &mut observer).await,
            expected,
            "{what}"
        );
        if killed == 8 && !whole_space() {
            break;
        }
    }
    println!("{killed} desks killed");
    assert!(killed >= 8);
    place.assert_all_is_well().await;
}
