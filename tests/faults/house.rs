//! Changes to the house itself, broken after every message (R24): rooms, items and sites added, retired and applied.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use keyrack::domain::SiteFile;
use keyrack::domain::{
    Command, Desk, ItemId, NewItem, NewRoom, Request, RequestId, RoomId, ServerCommand,
    ServerRequest, Success,
};
use keyrack::store::{SiteStore, Store, StoreError};
use sqlx::postgres::PgConnection;

use crate::proxy::{Break, Fault, Proxy, Way};
use crate::support::{HOUSE, TestHouse};

const CHANGES: [&str; 6] = [
    "add_room",
    "retire_room",
    "add_item",
    "retire_item",
    "add_site",
    "apply_house",
];

/// A change that nothing but a fault can stop: its name is free, and what it retires is there.
#[derive(Clone)]
struct Change {
    function: &'static str,
    name: String,
    request: RequestId,
    room: RoomId,
    item: ItemId,
}

impl Change {
    async fn new(function: &'static str, test: &TestHouse) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("Number {}", NEXT.fetch_add(1, Ordering::Relaxed));
        let mut change = Self {
            function,
            name,
            request: RequestId::fresh(),
            room: test.blue,
            item: test.breakfast,
        };
        match function {
            "retire_room" => {
                let room = change.new_room();
                match test.ask(Command::AddRoom { room }).await.outcome {
                    Ok(Success::Room(room)) => change.room = room.id,
                    other => panic!("not added: {other:?}"),
                }
            }
            "retire_item" => {
                let item = change.new_item();
                match test.ask(Command::AddItem { item }).await.outcome {
                    Ok(Success::Item(item)) => change.item = item.id,
                    other => panic!("not added: {other:?}"),
                }
            }
            _ => {}
        }
        change
    }

    fn new_room(&self) -> NewRoom {
        NewRoom {
            capacity: 4,
            ..NewRoom::named(&self.name)
        }
    }

    fn new_item(&self) -> NewItem {
        NewItem {
            name: self.name.clone(),
            quantity: 7,
        }
    }

    async fn ask(&self, store: &Store, house: &SiteStore) -> Result<(), StoreError> {
        let (id, desk) = (self.request, &Desk("bert".into()));
        let to_house = async |command| {
            let desk = desk.clone();
            let answer = house.execute(Request { id, desk, command }).await?;
            Ok::<_, StoreError>(answer.refusal().cloned())
        };
        let to_server = async |command| {
            let desk = desk.clone();
            let request = ServerRequest { id, desk, command };
            Ok::<_, StoreError>(store.execute_server(request).await?.outcome.err())
        };
        let (room, item) = (self.room, self.item);
        let refusal = match self.function {
            "add_room" => {
                let room = self.new_room();
                to_house(Command::AddRoom { room }).await?
            }
            "retire_room" => to_house(Command::RetireRoom { room }).await?,
            "add_item" => {
                let item = self.new_item();
                to_house(Command::AddItem { item }).await?
            }
            "retire_item" => to_house(Command::RetireItem { item }).await?,
            "add_site" => {
                let (name, time_zone) = (self.name.clone(), "Europe/London".into());
                to_server(ServerCommand::AddSite { name, time_zone }).await?
            }
            _ => {
                let file = SiteFile::parse(&HOUSE.replace("Test House", &self.name)).unwrap();
                to_server(ServerCommand::ApplySite { file }).await?
            }
        };
        assert_eq!(refusal, None, "{}", self.function);
        Ok(())
    }

    /// How many rows it left: the request and its events.
    async fn left(&self, observer: &mut PgConnection) -> i64 {
        sqlx::query_scalar(
            "SELECT (SELECT count(*) FROM request WHERE request_id = $1)
                 + (SELECT count(*) FROM hold_event WHERE request_id = $1)",
        )
        .bind(self.request.0)
        .fetch_one(observer)
        .await
        .unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r24_a_change_to_the_house_itself_is_done_once_wherever_its_conversation_breaks() {
    let test = TestHouse::new().await;
    let options = test.database.options();
    let mut observer = test.database.connect().await;
    let mut trials = 0;
    for function in CHANGES {
        let reference = Change::new(function, &test).await;
        reference.ask(&test.store, &test.house).await.unwrap();
        let expected = reference.left(&mut observer).await;
        assert!(expected > 0, "{function}");
        for (way, what) in [
            (Way::Asking, Break::Cut),
            (Way::Answering, Break::Cut),
            (Way::Answering, Break::Reset),
        ] {
            // Until the conversation has no such message.
            for after in 0.. {
                let change = Change::new(function, &test).await;
                let proxy = Proxy::before(&options).await;
                let store = Store::connect(proxy.options(&options)).await.unwrap();
                let house = store.site_store(test.house.site().clone());
                let fault = Fault { way, after, what };
                proxy.arm([(fault, Some(format!("{function}(")))]);
                change
                    .ask(&store, &house)
                    .await
                    .unwrap_or_else(|error| panic!("{function} {fault:?}: {error}"));
                assert_eq!(
                    change.left(&mut observer).await,
                    expected,
                    "{function} {fault:?}"
                );
                // Whoever asks again hears the same and changes nothing.
                change.ask(&test.store, &test.house).await.unwrap();
                assert_eq!(change.left(&mut observer).await, expected);
                trials += 1;
                if proxy.fired() == 0 {
                    break;
                }
            }
        }
    }
    println!("{trials} broken conversations of {} changes", CHANGES.len());
    assert!(trials > 5 * CHANGES.len(), "{trials}");
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r24_a_change_to_the_house_itself_that_nobody_can_be_asked_about_is_unknown() {
    let test = TestHouse::new().await;
    let options = test.database.options();
    // All at once, because each asks until its patience ends.
    let unknown = CHANGES.map(async |function| {
        let change = Change::new(function, &test).await;
        let proxy = Proxy::before(&options).await;
        let store = Store::connect(proxy.options(&options)).await.unwrap();
        let house = store.site_store(test.house.site().clone());
        let (way, what) = (Way::Answering, Break::Cut);
        let fault = Fault {
            way,
            after: 0,
            what,
        };
        proxy.arm([(fault, Some(format!("{function}(")))]);
        // The open connection works until its answer is lost; there is no other one.
        proxy.down(true);
        let outcome = change.ask(&store, &house).await;
        assert_eq!(
            outcome,
            Err(StoreError::Unknown {
                request_id: change.request
            }),
            "{function}"
        );
        // Asking again is safe and tells.
        change.ask(&test.store, &test.house).await.unwrap();
    });
    join_all(unknown).await;
    test.assert_all_is_well().await;
}
