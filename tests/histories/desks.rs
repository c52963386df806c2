//! Random desks on few rooms and items, and what they saw.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use chrono::{TimeDelta, Utc};
use futures_util::future::join_all;
use keyrack::domain::{
    Answer, Command, Desk, GroupId, ItemId, Period, Request, RoomId, SlotDetails, SlotHoldId,
    SlotLine, StockHoldId, StockLine, Success,
};
use keyrack::store::{SiteStore, Store, StoreError};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{Connection, Executor};

use crate::support::{hold_slot, hold_stock, hours};

/// The hours of the day that the desks fight for.
const HOURS: i64 = 6;

/// What a desk heard.
#[derive(Debug, Clone)]
pub enum Heard {
    /// All of it.
    Answer(Box<Answer>),
    /// Only whether it was done.
    Done(bool),
    /// Nothing: done or not.
    Nothing,
}

/// One command, as the desk saw it.
#[derive(Debug, Clone)]
pub struct Record {
    pub request: Request,
    pub invoked: u64,
    pub returned: u64,
    pub earliest: i64,
    pub heard: Heard,
}

/// What the desks play with.
pub struct Playground {
    pub house: SiteStore,
    pub rooms: Vec<RoomId>,
    pub items: Vec<ItemId>,
    pub begun: Instant,
    slots: Mutex<Vec<SlotHoldId>>,
    stock: Mutex<Vec<StockHoldId>>,
    groups: Mutex<Vec<GroupId>>,
}

/// Remembers what was made last.
fn note<T>(made: &Mutex<Vec<T>>, new: T) {
    let mut made = made.lock().unwrap();
    made.push(new);
    if made.len() > 10 {
        made.remove(0);
    }
}

impl Playground {
    pub fn new(house: SiteStore, rooms: Vec<RoomId>, items: Vec<ItemId>) -> Self {
        Self {
            house,
            rooms,
            items,
            begun: Instant::now(),
            slots: Mutex::default(),
            stock: Mutex::default(),
            groups: Mutex::default(),
        }
    }

    /// The clock of all desks.
    pub fn clock(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64
    }

    fn remember(&self, answer: &Answer) {
        match &answer.outcome {
            Ok(Success::Slot(hold)) => note(&self.slots, hold.id),
            Ok(Success::Stock(hold)) => note(&self.stock, hold.id),
            Ok(Success::Group(group)) => {
                note(&self.groups, group.id);
                group
                    .slots
                    .iter()
                    .for_each(|hold| note(&self.slots, hold.id));
                group
                    .stock
                    .iter()
                    .for_each(|hold| note(&self.stock, hold.id));
            }
            _ => {}
        }
    }

    fn room(&self, rng: &mut fastrand::Rng) -> RoomId {
        self.rooms[rng.usize(..self.rooms.len())]
    }

    fn item(&self, rng: &mut fastrand::Rng) -> ItemId {
        self.items[rng.usize(..self.items.len())]
    }

    /// Something to ask for.
    fn command(&self, rng: &mut fastrand::Rng) -> Command {
        self.try_command(rng)
            .unwrap_or_else(|| hold_slot(self.room(rng), period(rng), ttl(rng)))
    }

    /// None if there is nothing yet to do it to.
    fn try_command(&self, rng: &mut fastrand::Rng) -> Option<Command> {
        fn one<T: Copy>(made: &Mutex<Vec<T>>, rng: &mut fastrand::Rng) -> Option<T> {
            rng.choice(made.lock().unwrap().iter().copied())
        }
        let expect_version = None;
        Some(match rng.u8(..100) {
            0..28 => hold_slot(self.room(rng), period(rng), ttl(rng)),
            28..30 => Command::BlockSlot {
                room: self.room(rng),
                period: period(rng),
                reason: "painting".into(),
            },
            30..38 => Command::ConfirmSlot {
                hold: one(&self.slots, rng)?,
                expect_version,
            },
            38..50 => Command::CancelSlot {
                hold: one(&self.slots, rng)?,
                expect_version,
                reason: String::new(),
            },
            50..55 => Command::RenewSlot {
                hold: one(&self.slots, rng)?,
                expect_version,
                ttl: ttl(rng),
            },
            55..63 => {
                let period = period(rng);
                Command::MoveSlot {
                    hold: one(&self.slots, rng)?,
                    expect_version,
                    to_room: Some(self.room(rng)),
                    from: Some(period.start()),
                    to: Some(period.end()),
                }
            }
            63..66 => {
                let (first, second) = (one(&self.slots, rng)?, one(&self.slots, rng)?);
                if first == second {
                    return None;
                }
                Command::SwapSlots {
                    first,
                    second,
                    expect_version,
                }
            }
            66..76 => hold_stock(self.item(rng), rng.i32(1..4), ttl(rng)),
            76..79 => Command::ConfirmStock {
                hold: one(&self.stock, rng)?,
                expect_version,
            },
            79..83 => Command::CancelStock {
                hold: one(&self.stock, rng)?,
                expect_version,
                reason: String::new(),
            },
            83..86 => Command::RenewStock {
                hold: one(&self.stock, rng)?,
                expect_version,
                ttl: ttl(rng),
            },
            86..89 => Command::ReceiveStock {
                item: self.item(rng),
                quantity: rng.i32(1..4),
                reason: "delivered".into(),
            },
            89..91 => Command::AdjustStock {
                item: self.item(rng),
                change: -rng.i32(1..4),
                reason: "spoilt".into(),
            },
            91..96 => Command::HoldGroup {
                rooms: self
                    .rooms
                    .iter()
                    .map(|room| SlotLine {
                        room: *room,
                        period: period(rng),
                    })
                    .collect(),
                stock: vec![StockLine {
                    item: self.item(rng),
                    quantity: rng.i32(1..3),
                }],
                ttl: ttl(rng),
                details: SlotDetails::default(),
            },
            96..98 => Command::ConfirmGroup {
                group: one(&self.groups, rng)?,
            },
            98..99 => Command::RenewGroup {
                group: one(&self.groups, rng)?,
                ttl: ttl(rng),
            },
            _ => Command::CancelGroup {
                group: one(&self.groups, rng)?,
                reason: String::new(),
                rooms_only: rng.bool(),
            },
        })
    }
}

fn period(rng: &mut fastrand::Rng) -> Period {
    let from = rng.i64(0..HOURS);
    hours(from, from + rng.i64(1..3))
}

fn ttl(rng: &mut fastrand::Rng) -> Option<TimeDelta> {
    Some(TimeDelta::milliseconds(rng.i64(50..400)))
}

/// Asks until the time is over, through a store of its own, which learns what became of a command that broke off.
pub async fn careful(
    playground: Arc<Playground>,
    options: PgConnectOptions,
    name: String,
    mut rng: fastrand::Rng,
    until: Instant,
) -> Vec<Record> {
    let store = Store::connect(options).await.unwrap();
    let house = store.site_store(playground.house.site().clone());
    let mut records = Vec::new();
    while Instant::now() < until {
        let request = Request::fresh(Desk(name.clone()), playground.command(&mut rng));
        let (invoked, earliest) = (playground.clock(), Utc::now().timestamp_micros());
        let heard = match ask(&house, &request, rng.u8(..10) == 0).await {
            Ok(answer) => {
                playground.remember(&answer);
                Heard::Answer(Box::new(answer))
            }
            Err(error) => {
                println!("{error}");
                Heard::Nothing
            }
        };
        let returned = playground.clock();
        records.push(Record {
            request,
            invoked,
            returned,
            earliest,
            heard,
        });
    }
    store.close().await;
    records
}

/// Asks, or is impatient and asks the same twice at once: then the first answer of the two counts (R21).
async fn ask(house: &SiteStore, request: &Request, impatient: bool) -> Result<Answer, StoreError> {
    if !impatient {
        return house.execute(request.clone()).await;
    }
    let twins = [
        house.execute(request.clone()),
        house.execute(request.clone()),
    ];
    let mut answers = Vec::new();
    for answer in join_all(twins).await {
        answers.push(answer?);
    }
    answers.sort_by_key(|answer| answer.repeated);
    Ok(answers.remove(0))
}

/// The same, from a script that never asks again: a connection that breaks leaves it in the dark.
pub async fn careless(
    playground: Arc<Playground>,
    options: PgConnectOptions,
    mut rng: fastrand::Rng,
    until: Instant,
) -> Vec<Record> {
    let connect = || async {
        loop {
            // It may be cut off while it connects.
            if let Ok(connection) =
                PgConnection::connect_with(&options.clone().application_name("keyrack")).await
            {
                return connection;
            }
        }
    };
    let mut connection = connect().await;
    let mut records = Vec::new();
    while Instant::now() < until {
        let request = Request::fresh(Desk("script".into()), playground.command(&mut rng));
        let site = playground.house.site().id.0;
        let Some(call) = call(site, &request) else {
            continue;
        };
        let (invoked, earliest) = (playground.clock(), Utc::now().timestamp_micros());
        let answer: Result<Option<String>, sqlx::Error> =
            sqlx::query_scalar(sqlx::AssertSqlSafe(format!("SELECT refusal FROM {call}")))
                .fetch_one(&mut connection)
                .await;
        let heard = match answer {
            Ok(refusal) => Heard::Done(refusal.is_none()),
            Err(_) => Heard::Nothing,
        };
        if matches!(heard, Heard::Nothing) {
            connection = connect().await;
        }
        let returned = playground.clock();
        records.push(Record {
            request,
            invoked,
            returned,
            earliest,
            heard,
        });
    }
    records
}

/// Some commands as SQL.
fn call(site: i64, request: &Request) -> Option<String> {
    let head = format!("{site}, '{}', 'script'", request.id);
    let length =
        |ttl: &Option<TimeDelta>| format!("'{} milliseconds'", ttl.unwrap().num_milliseconds());
    Some(match &request.command {
        Command::HoldSlot {
            room, period, ttl, ..
        } => format!(
            "hold_slot({head}, {room}, '{}', '{}', {})",
            period.start().to_rfc3339(),
            period.end().to_rfc3339(),
            length(ttl)
        ),
        Command::ConfirmSlot { hold, .. } => format!("confirm_slot({head}, {hold})"),
        Command::CancelSlot { hold, .. } => format!("cancel_slot({head}, {hold})"),
        Command::RenewSlot { hold, ttl, .. } => {
            format!("renew_slot({head}, {hold}, {})", length(ttl))
        }
        Command::HoldStock {
            item,
            quantity,
            ttl,
            ..
        } => {
            format!("hold_stock({head}, {item}, {quantity}, {})", length(ttl))
        }
        Command::ConfirmStock { hold, .. } => format!("confirm_stock({head}, {hold})"),
        Command::CancelStock { hold, .. } => format!("cancel_stock({head}, {hold})"),
        Command::ReceiveStock { item, quantity, .. } => {
            format!("receive_stock({head}, {item}, {quantity}, 'delivered')")
        }
        _ => return None,
    })
}

/// Cuts off some desk's connection now and then.
pub async fn vandal(options: PgConnectOptions, mut rng: fastrand::Rng, until: Instant) -> usize {
    let mut connection = PgConnection::connect_with(&options).await.unwrap();
    let mut cut = 0;
    while Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(rng.u64(60..200))).await;
        let done = connection
            .execute(
                "SELECT pg_terminate_backend(pid) FROM (
                    SELECT pid FROM pg_stat_activity
                    WHERE datname = current_database() AND application_name = 'keyrack'
                    ORDER BY (state = 'active') DESC, random() LIMIT 1
                ) AS victim",
            )
            .await
            .unwrap();
        cut += done.rows_affected() as usize;
    }
    cut
}
