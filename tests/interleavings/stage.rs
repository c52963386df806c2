//! The stage: a database with gates, a controller that opens them, and sessions that play commands through them, each
//! command in a transaction of its own so that COMMIT is a step too. Knows nothing of what the commands mean.

use std::time::{Duration, Instant};

use serde_json::Value;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection, Executor, Row};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use crate::support::{Database, backend};

/// The steps that have a gate, besides the beginning: where a command can wait, and between what it reads and what it
/// writes. Recording and remembering have none, because nobody else can see them before the COMMIT, which is a step of
/// its own.
const STEPS: [&str; 14] = [
    "lock_room",
    "lock_item",
    "lock_slot_hold",
    "lock_stock_hold",
    "expire_room",
    "expire_item",
    "slot_ended_or_stale",
    "stock_ended_or_stale",
    "find_slot_conflict",
    "place_slot",
    "replace_slot",
    "exchange_slots",
    "take_stock",
    "settle_stock",
];

/// The number by which a session says that its command has answered; steps are numbered from one, and the beginning is
/// not one of them.
const ANSWERED: i64 = 100;
const BEGIN: i64 = 101;

/// What a command answered, or the SQLSTATE of what it raised.
pub type Answer = Result<Value, String>;

/// Where a session is.
#[derive(Debug, PartialEq)]
enum Place {
    /// Nothing to do, or done and committed.
    Idle,
    /// Between two gates.
    Running,
    /// At a gate.
    Gate,
    /// Waiting for a lock that another session holds.
    Waiting,
    /// The command has answered and its transaction is open.
    Answered,
}

enum Job {
    Play(String, oneshot::Sender<Answer>),
    Commit(oneshot::Sender<Answer>),
}

struct Session {
    backend: i32,
    jobs: mpsc::UnboundedSender<Job>,
    place: Place,
    /// The step whose gate it stands at.
    step: &'static str,
    /// The gate that it comes to next, or stands at; the controller holds its lock.
    gate: i32,
    reply: Option<oneshot::Receiver<Answer>>,
    answer: Option<Answer>,
}

/// A database with gates, its controller and three sessions.
pub struct Stage {
    controller: PgConnection,
    backend: i32,
    sessions: Vec<Session>,
    _database: Database,
}

impl Stage {
    /// One with the protocol as it is.
    pub async fn new() -> Self {
        Self::altered(&[]).await
    }

    /// One on which statements were run, after the gates were put up.
    pub async fn altered(alterations: &[String]) -> Self {
        let database = Database::migrated().await;
        let mut controller = database.connect().await;
        let name: String = sqlx::query_scalar("SELECT current_database()::text")
            .fetch_one(&mut controller)
            .await
            .unwrap();
        controller.execute(include_str!("stage.sql")).await.unwrap();
        let steps = STEPS.map(str::to_owned).to_vec();
        sqlx::query("SELECT stage.put_gates($1)")
            .bind(steps)
            .execute(&mut controller)
            .await
            .unwrap();
        for statement in alterations {
            controller
                .execute(AssertSqlSafe(statement.clone()))
                .await
                .unwrap_or_else(|error| panic!("{error}: {statement}"));
        }
        controller
            .execute(AssertSqlSafe(format!(
                "ALTER DATABASE {name} SET synchronous_commit = off"
            )))
            .await
            .unwrap();
        controller.close().await.unwrap();

        let mut controller = database.connect().await;
        let backend = backend(&mut controller).await;
        let mut sessions = Vec::new();
        for number in 1..=3 {
            sessions.push(Session::open(&database, number).await);
            hold_gate(&mut controller, number, 1).await;
        }
        Self {
            controller,
            backend,
            sessions,
            _database: database,
        }
    }

    /// The source of a function of the protocol, even where there is a gate before it.
    pub async fn source(&mut self, function: &str) -> String {
        sqlx::query_scalar(
            "SELECT pg_get_functiondef(oid) FROM pg_proc
             WHERE pronamespace = 'keyrack'::regnamespace AND proname IN ($1, $1 || '_ungated')
             ORDER BY length(proname::text) DESC LIMIT 1",
        )
        .bind(function)
        .fetch_one(&mut self.controller)
        .await
        .unwrap_or_else(|error| panic!("{function}: {error}"))
    }

    /// A new house, and the numbers of what is in it.
    pub async fn fresh_house(&mut self, setting: &str) -> Value {
        sqlx::query_scalar("SELECT stage.fresh_house($1)")
            .bind(setting)
            .fetch_one(&mut self.controller)
            .await
            .unwrap()
    }

    /// Whatever is held in the house is due from now on.
    pub async fn pass_the_deadline(&mut self) {
        self.controller
            .execute("SELECT setval('stage.jumped', 2)")
            .await
            .unwrap();
    }

    /// Sends a session its command; it comes as far as its first gate.
    pub fn play(&mut self, session: usize, call: String) {
        let (sender, receiver) = oneshot::channel();
        let session = &mut self.sessions[session];
        session.jobs.send(Job::Play(call, sender)).unwrap();
        session.reply = Some(receiver);
        session.place = Place::Running;
    }

    /// Whether a session could take a step now.
    pub fn can_move(&self, session: usize) -> bool {
        matches!(self.sessions[session].place, Place::Gate | Place::Answered)
    }

    /// Whether a session has committed.
    pub fn is_done(&self, session: usize) -> bool {
        self.sessions[session].place == Place::Idle
    }

    /// What a session's command answered.
    pub fn answer(&mut self, session: usize) -> Answer {
        self.sessions[session].answer.take().unwrap()
    }

    /// The step that a session takes next.
    pub fn step_of(&self, session: usize) -> &'static str {
        match self.sessions[session].place {
            Place::Answered => "commit",
            _ => self.sessions[session].step,
        }
    }

    /// Lets a session take its next step.
    pub async fn let_go(&mut self, number: usize) {
        let session = &mut self.sessions[number];
        if session.place == Place::Answered {
            let (sender, receiver) = oneshot::channel();
            session.jobs.send(Job::Commit(sender)).unwrap();
            if let Err(error) = receiver.await.unwrap() {
                session.answer = Some(Err(error));
            }
            session.place = Place::Idle;
        } else {
            // The next gate is shut before this one is opened.
            sqlx::query("SELECT pg_advisory_lock($1, $2 + 1), pg_advisory_unlock($1, $2)")
                .bind(i32::try_from(number).unwrap() + 1)
                .bind(session.gate)
                .execute(&mut self.controller)
                .await
                .unwrap();
            session.gate += 1;
            session.place = Place::Running;
        }
    }

    /// Waits until every session stands at a gate, waits for another session, or has answered. False if every session
    /// that is not done waits for another one.
    pub async fn settle(&mut self) -> bool {
        let started = Instant::now();
        loop {
            self.look().await;
            if self.sessions.iter().all(|s| s.place != Place::Running) {
                let idle = self.sessions.iter().all(|s| s.place == Place::Idle);
                return idle || (0..self.sessions.len()).any(|number| self.can_move(number));
            }
            assert!(
                started.elapsed() < Duration::from_secs(30),
                "A session neither waits nor answers"
            );
            // For politeness, not for luck; a step takes less than the millisecond that is the shortest sleep.
            if started.elapsed() > Duration::from_millis(2) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }

    /// Looks where those sessions are that may have moved. Each one's step is read after it is known to stand at its gate.
    async fn look(&mut self) {
        let moving: Vec<usize> = (0..self.sessions.len())
            .filter(|&number| {
                matches!(self.sessions[number].place, Place::Running | Place::Waiting)
            })
            .collect();
        if moving.is_empty() {
            return;
        }
        let numbers: Vec<i32> = moving.iter().map(|&n| n as i32 + 1).collect();
        let backends: Vec<i32> = moving.iter().map(|&n| self.sessions[n].backend).collect();
        let all: Vec<i32> = self.sessions.iter().map(|s| s.backend).collect();
        let rows = sqlx::query("SELECT place, step FROM stage.look($1, $2, $3, $4, $5)")
            .bind(self.backend)
            .bind(numbers)
            .bind(backends)
            .bind(all)
            .bind(ANSWERED)
            .fetch_all(&mut self.controller)
            .await
            .unwrap();
        for (number, row) in moving.into_iter().zip(rows) {
            let session = &mut self.sessions[number];
            session.place = match row.get("place") {
                "gate" => Place::Gate,
                "waiting" => Place::Waiting,
                _ => Place::Running,
            };
            session.step = match row.get::<i64, _>("step") {
                BEGIN => "begin",
                step => STEPS.get(step as usize - 1).copied().unwrap_or_default(),
            };
            session
                .take_answer(row.get::<&str, _>("place") == "answered")
                .await;
        }
    }

    /// What a house has come to: a picture of it, what is remembered of the requests, and what `check` finds.
    pub async fn result(&mut self, site: i64, requests: &[Uuid]) -> (Value, Value, Vec<String>) {
        let row = sqlx::query(
            "SELECT stage.picture($1, $2), stage.remembered($1, $2),
                 ARRAY(SELECT rule || ' ' || subject || ': ' || problem FROM check_site($1))",
        )
        .bind(site)
        .bind(requests)
        .fetch_one(&mut self.controller)
        .await
        .unwrap();
        (row.get(0), row.get(1), row.get(2))
    }
}

impl Session {
    /// Takes the command's answer if it has come, or is known to be coming.
    async fn take_answer(&mut self, coming: bool) {
        let Some(mut reply) = self.reply.take() else {
            return;
        };
        let answer = if coming {
            (&mut reply).await.ok()
        } else {
            reply.try_recv().ok()
        };
        match answer {
            Some(answer) => {
                self.place = Place::Answered;
                self.answer = Some(answer);
            }
            None => self.reply = Some(reply),
        }
    }

    async fn open(database: &Database, number: i32) -> Self {
        let mut connection = database.connect().await;
        connection
            .execute(AssertSqlSafe(format!("SET stage.session = {number}")))
            .await
            .unwrap();
        let backend = backend(&mut connection).await;
        let (jobs, mut inbox) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(job) = inbox.recv().await {
                match job {
                    Job::Play(call, reply) => {
                        let _ = reply.send(play(&mut connection, call).await);
                    }
                    Job::Commit(reply) => {
                        let committed = connection.execute("COMMIT").await;
                        let _ = reply.send(committed.map(|_| Value::Null).map_err(sqlstate));
                    }
                }
            }
        });
        Self {
            backend,
            jobs,
            place: Place::Idle,
            step: "",
            gate: 1,
            reply: None,
            answer: None,
        }
    }
}

async fn hold_gate(controller: &mut PgConnection, session: i32, gate: i32) {
    sqlx::query("SELECT pg_advisory_lock($1, $2)")
        .bind(session)
        .bind(gate)
        .execute(controller)
        .await
        .unwrap();
}

async fn play(connection: &mut PgConnection, call: String) -> Answer {
    let statements = format!(
        "BEGIN;
         SELECT set_config('stage.began', last_value::text, true) FROM stage.jumped;
         SELECT stage.gate({BEGIN});
         SELECT to_jsonb(answer) AS answer FROM {call} AS answer;
         SELECT stage.tell_step({ANSWERED})"
    );
    let rows = sqlx::raw_sql(AssertSqlSafe(statements))
        .fetch_all(connection)
        .await
        .map_err(sqlstate)?;
    // After it, that it has answered.
    Ok(rows[rows.len() - 2].get("answer"))
}

fn sqlstate(error: sqlx::Error) -> String {
    let error = error.into_database_error().unwrap();
    format!(
        "{} {}{}",
        error.code().unwrap(),
        error.message(),
        error.constraint().unwrap_or_default()
    )
}
