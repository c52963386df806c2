//! A house of its own for a trial, every command with what it needs, and what it leaves in the tables.

use std::sync::atomic::{AtomicI64, Ordering};

use chrono::TimeDelta;
use keyrack::domain::SiteFile;
use keyrack::domain::{
    Answer, Change, Command, Desk, GroupId, ItemId, Request, RequestId, RoomId, ServerCommand,
    SlotDetails, SlotEdit, SlotHoldId, SlotLine, StockHoldId, StockLine, Success,
};
use keyrack::store::{SiteStore, Store};
use sqlx::postgres::{PgConnectOptions, PgConnection};

use crate::support::{HOUSE, change_site, hold_slot, hold_stock, hours};

/// Every command, by the name of its function.
pub const COMMANDS: [&str; 20] = [
    "hold_slot",
    "block_slot",
    "import_slot",
    "confirm_slot",
    "cancel_slot",
    "edit_slot",
    "renew_slot",
    "move_slot",
    "swap_slots",
    "hold_stock",
    "confirm_stock",
    "cancel_stock",
    "renew_stock",
    "receive_stock",
    "adjust_stock",
    "hold_group",
    "confirm_group",
    "renew_group",
    "cancel_group",
    // Cancelled by its number, on another path than one that is held.
    "cancel_slot confirmed",
];

/// The function of a command in [`COMMANDS`], as it stands in its statement.
pub fn function(name: &str) -> String {
    format!("{}(", name.split(' ').next().unwrap())
}

/// A site, seen by a desk that nothing disturbs.
pub struct Place {
    pub options: PgConnectOptions,
    pub house: SiteStore,
    pub desk: Desk,
    blue: RoomId,
    garden: RoomId,
    breakfast: ItemId,
    next_hour: AtomicI64,
}

impl Place {
    /// A new site in a database.
    pub async fn new(options: PgConnectOptions, name: &str) -> Self {
        let store = Store::connect(options.clone()).await.unwrap();
        let desk = Desk("anna".into());
        let file = SiteFile::parse(&HOUSE.replace("Test House", name)).unwrap();
        let site = change_site(&store, &desk, ServerCommand::ApplySite { file }).await;
        let house = store.site_store(site.site);
        let room = async |name: &str| house.room_named(name).await.unwrap().unwrap().id;
        let (blue, garden) = (room("Blue room").await, room("Garden room").await);
        let breakfast = house.item_named("Breakfast").await.unwrap().unwrap().id;
        let place = Self {
            options,
            house,
            desk,
            blue,
            garden,
            breakfast,
            next_hour: AtomicI64::new(0),
        };
        place.done(place.receive(10_000)).await;
        place
    }

    /// Another desk of the site, which connects in its own way.
    pub async fn desk(&self, options: PgConnectOptions) -> SiteStore {
        Store::connect(options)
            .await
            .unwrap()
            .site_store(self.house.site().clone())
    }

    /// A request with a command that nothing but a fault can stop: what it needs is there.
    pub async fn request(&self, name: &str) -> Request {
        let from = self.next_hour.fetch_add(4, Ordering::Relaxed);
        let command = match name {
            "hold_slot" => hold_slot(self.blue, hours(from, from + 1), None),
            "block_slot" => Command::BlockSlot {
                room: self.blue,
                period: hours(from, from + 1),
                reason: "painting".into(),
            },
            "import_slot" => Command::ImportSlot {
                room: self.blue,
                period: hours(from, from + 1),
                details: SlotDetails {
                    guest: "Okafor".into(),
                    ..SlotDetails::default()
                },
            },
            "confirm_slot" => Command::ConfirmSlot {
                hold: self.held(from).await,
                expect_version: None,
            },
            "cancel_slot" => cancel(self.held(from).await),
            "cancel_slot confirmed" => {
                let hold = self.held(from).await;
                self.done(Command::ConfirmSlot {
                    hold,
                    expect_version: None,
                })
                .await;
                cancel(hold)
            }
            "edit_slot" => Command::EditSlot {
                hold: self.held(from).await,
                expect_version: None,
                edit: SlotEdit {
                    guest: Some("Müller".into()),
                    party: Change::Set(3),
                    ..SlotEdit::default()
                },
            },
            "renew_slot" => Command::RenewSlot {
                hold: self.held(from).await,
                expect_version: None,
                ttl: Some(TimeDelta::minutes(20)),
            },
            "move_slot" => {
                let period = hours(from + 1, from + 3);
                Command::MoveSlot {
                    hold: self.held(from).await,
                    expect_version: None,
                    to_room: Some(self.garden),
                    from: Some(period.start()),
                    to: Some(period.end()),
                }
            }
            "swap_slots" => Command::SwapSlots {
                first: self.held(from).await,
                second: self.held(from + 1).await,
                expect_version: None,
            },
            "hold_stock" => hold_stock(self.breakfast, 2, None),
            "confirm_stock" => Command::ConfirmStock {
                hold: self.held_stock().await,
                expect_version: None,
            },
            "cancel_stock" => Command::CancelStock {
                hold: self.held_stock().await,
                expect_version: None,
                reason: "changed their mind".into(),
            },
            "renew_stock" => Command::RenewStock {
                hold: self.held_stock().await,
                expect_version: None,
                ttl: Some(TimeDelta::minutes(20)),
            },
            "receive_stock" => self.receive(5),
            "adjust_stock" => Command::AdjustStock {
                item: self.breakfast,
                change: -1,
                reason: "burnt".into(),
            },
            "hold_group" => self.group(from),
            "confirm_group" => Command::ConfirmGroup {
                group: self.held_group(from).await,
            },
            "renew_group" => Command::RenewGroup {
                group: self.held_group(from).await,
                ttl: Some(TimeDelta::minutes(20)),
            },
            "cancel_group" => Command::CancelGroup {
                group: self.held_group(from).await,
                reason: "called off".into(),
                rooms_only: false,
            },
            other => panic!("{other} is no command"),
        };
        Request::fresh(self.desk.clone(), command)
    }

    fn receive(&self, quantity: i32) -> Command {
        Command::ReceiveStock {
            item: self.breakfast,
            quantity,
            reason: "delivered".into(),
        }
    }

    fn group(&self, from: i64) -> Command {
        let line = |room| SlotLine {
            room,
            period: hours(from, from + 1),
        };
        Command::HoldGroup {
            rooms: vec![line(self.garden), line(self.blue)],
            stock: vec![StockLine {
                item: self.breakfast,
                quantity: 2,
            }],
            ttl: None,
            details: SlotDetails {
                guest: "Okafor".into(),
                ..SlotDetails::default()
            },
        }
    }

    /// A command that must work.
    pub async fn done(&self, command: Command) -> Success {
        let request = Request::fresh(self.desk.clone(), command);
        self.house.execute(request).await.unwrap().outcome.unwrap()
    }

    async fn held(&self, from: i64) -> SlotHoldId {
        match self
            .done(hold_slot(self.blue, hours(from, from + 1), None))
            .await
        {
            Success::Slot(hold) => hold.id,
            other => panic!("{other:?}"),
        }
    }

    async fn held_stock(&self) -> StockHoldId {
        match self.done(hold_stock(self.breakfast, 2, None)).await {
            Success::Stock(hold) => hold.id,
            other => panic!("{other:?}"),
        }
    }

    async fn held_group(&self, from: i64) -> GroupId {
        match self.done(self.group(from)).await {
            Success::Group(group) => group.id,
            other => panic!("{other:?}"),
        }
    }

    /// What an undisturbed command of this name leaves in the tables.
    pub async fn reference(&self, name: &str, connection: &mut PgConnection) -> Left {
        let request = self.request(name).await;
        let id = request.id;
        self.house.execute(request).await.unwrap().outcome.unwrap();
        let left = Left::by(id, connection).await;
        assert!(left.0 > 0, "{name} leaves no event");
        left
    }

    /// Asks for the same request again, which must have been done; says whether it had been done before.
    pub async fn ask_again(&self, request: &Request, context: &str) -> Answer {
        let answer = self
            .house
            .execute(request.clone())
            .await
            .unwrap_or_else(|error| panic!("{context}: {error}"));
        assert!(answer.outcome.is_ok(), "{context}: {answer:?}");
        answer
    }

    /// Asserts that the rows keep every rule.
    pub async fn assert_all_is_well(&self) {
        let problems = self.house.check().await.unwrap();
        assert!(problems.is_empty(), "{problems:#?}");
    }
}

fn cancel(hold: SlotHoldId) -> Command {
    Command::CancelSlot {
        hold,
        expect_version: None,
        reason: "called off".into(),
    }
}

/// What a request left: how many events, movements, claims on rooms, claims on stock.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub struct Left(i64, i64, i64, i64);

impl Left {
    /// Of a request that was not done.
    pub fn nothing() -> Self {
        Self(0, 0, 0, 0)
    }

    /// By its id.
    pub async fn by(request: RequestId, connection: &mut PgConnection) -> Self {
        let (events, movements, slots, stock) = sqlx::query_as(
            "SELECT (SELECT count(*) FROM hold_event WHERE request_id = $1),
                (SELECT count(*) FROM stock_movement WHERE request_id = $1),
                (SELECT count(*) FROM slot_hold WHERE request_id = $1),
                (SELECT count(*) FROM stock_hold WHERE request_id = $1)",
        )
        .bind(request.0)
        .fetch_one(connection)
        .await
        .unwrap();
        Self(events, movements, slots, stock)
    }
}
