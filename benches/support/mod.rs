//! What the benches share: a house with many rooms, rounds in which the sides take turns, and how a ratio is said.
//!
//! Other work on the machine meets both sides of a round alike, so that a ratio is taken within each round; said are
//! the median of the rounds and, in brackets, the lowest and the highest.
#![allow(dead_code)]

pub mod proxy;
#[path = "../../tests/support/mod.rs"]
pub mod tests;

use std::time::{Duration, Instant};

use chrono::TimeDelta;
use keyrack::domain::{Command, Period, RoomId};
use keyrack::store::{SiteStore, Store};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection, Executor};
use tokio::runtime::Runtime;

use tests::{HOUSE, TestHouse, hour};

/// A house with many rooms, numbered from the first without a gap.
pub struct Bench {
    pub house: TestHouse,
    pub first_room: i64,
    pub rooms: i64,
}

impl Bench {
    pub async fn new(rooms: i64) -> Self {
        let described: String = (1..=rooms)
            .map(|number| format!("\n[[room]]\nname = \"Room {number}\"\ncapacity = 4\n"))
            .collect();
        let house = TestHouse::described(&format!("{HOUSE}{described}")).await;
        let id = async |number: i64| {
            let name = format!("Room {number}");
            house.house.room_named(&name).await.unwrap().unwrap().id.0
        };
        let first_room = id(1).await;
        assert_eq!(id(rooms).await, first_room + rooms - 1);
        Self {
            house,
            first_room,
            rooms,
        }
    }

    /// The room of the `n`th claim, when claims go around the house.
    pub fn room(&self, n: i64) -> RoomId {
        RoomId(self.first_room + n % self.rooms)
    }

    /// A desk with a store and a connection of its own.
    pub async fn desk(&self) -> SiteStore {
        let store = Store::connect(self.house.database.options()).await.unwrap();
        store.site_store(self.house.house.site().clone())
    }

    /// Runs SQL around the store.
    pub async fn run(&self, sql: &str) {
        let mut connection = self.house.database.connect().await;
        run(&mut connection, sql).await;
        connection.close().await.unwrap();
    }

    /// So much stock that none of it runs out.
    pub async fn fill_shelves(&self) {
        let receive = Command::ReceiveStock {
            item: self.house.breakfast,
            quantity: 10_000_000,
            reason: "for the bench".into(),
        };
        assert!(self.house.ask(receive).await.outcome.is_ok());
    }

    /// Whether a commit waits for the disk, for connections made from now on.
    pub async fn wait_for_disk(&self, wait: bool) {
        let mut connection = self.house.database.connect().await;
        let database: String = sqlx::query_scalar("SELECT current_database()")
            .fetch_one(&mut connection)
            .await
            .unwrap();
        let setting = if wait { "on" } else { "off" };
        let alter = format!("ALTER DATABASE {database} SET synchronous_commit = {setting}");
        run(&mut connection, &alter).await;
        connection.close().await.unwrap();
    }
}

async fn run(connection: &mut PgConnection, sql: &str) {
    connection
        .execute(AssertSqlSafe(sql.to_owned()))
        .await
        .unwrap();
}

/// A second for every claim, and one between: no two of them meet.
pub fn period(n: i64) -> Period {
    let start = hour(0) + TimeDelta::seconds(2 * n);
    Period::new(start, start + TimeDelta::seconds(1)).unwrap()
}

/// As the program has it.
pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

/// The time that a piece of work takes.
pub async fn taken(work: impl Future<Output = ()>) -> Duration {
    let started = Instant::now();
    work.await;
    started.elapsed()
}

pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    percentile(values, 50)
}

pub fn percentile(values: impl IntoIterator<Item = f64>, percent: usize) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) * percent / 100]
}

/// Two sides of a comparison, measured in the same rounds.
pub struct Sides(Vec<(f64, f64)>);

impl Sides {
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    pub fn add(&mut self, one: f64, other: f64) {
        self.0.push((one, other));
    }

    /// Says the ratio of the first to the second, and both.
    pub fn print(&self, what: &str, aim: &str, unit: &str) {
        let ratios: Vec<f64> = self.0.iter().map(|(one, other)| one / other).collect();
        println!(
            "ratio: {what} {:.2} [{:.2}-{:.2}] ({aim}{:.*} and {:.*} {unit})",
            median(ratios.iter().copied()),
            percentile(ratios.iter().copied(), 0),
            percentile(ratios.iter().copied(), 100),
            decimals(self.one()),
            self.one(),
            decimals(self.one()),
            median(self.0.iter().map(|(_, other)| *other)),
        );
    }

    fn one(&self) -> f64 {
        median(self.0.iter().map(|(one, _)| *one))
    }
}

fn decimals(figure: f64) -> usize {
    if figure < 20.0 { 2 } else { 0 }
}
