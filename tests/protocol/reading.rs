//! Reading: the change log misses nothing and waits for nobody; a watch shows what happens anywhere.

use std::time::{Duration, Instant};

use chrono::TimeDelta;
use keyrack::domain::ClaimState;
use keyrack::store::{HistoryOf, SlotFilter, Snapshot, StockFilter, Watch, WatchEvent};
use sqlx::postgres::PgConnection;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::support::{TestHouse, hold_slot, hours};
use crate::{ask, at, call_on, hold_slot_call, open_transaction, run, value};

/// The snapshot to ask with next time, and how many changes came since the last one.
async fn changes_since(reader: &mut PgConnection, test: &TestHouse, seen: &str) -> (String, i64) {
    let answer = ask(reader, &format!("changes_since({}, '{seen}')", test.site())).await;
    (
        answer["seen"].as_str().unwrap().to_owned(),
        answer["changes"].as_i64().unwrap(),
    )
}

async fn snapshot(reader: &mut PgConnection) -> String {
    value(reader, "SELECT pg_current_snapshot()::text").await
}

#[tokio::test]
async fn the_change_log_misses_nothing_that_commits_out_of_order() {
    let test = TestHouse::new().await;
    let mut reader = test.database.connect().await;
    let seen = snapshot(&mut reader).await;
    let claim = |room: i64| {
        format!(
            "SELECT * FROM {}",
            hold_slot_call(&test, "anna", room, 0, 1, "10m")
        )
    };
    // The first to write is the last to commit.
    let (mut early, _) = open_transaction(&test, &claim(test.blue.0)).await;
    let (mut late, _) = open_transaction(&test, &claim(test.garden.0)).await;
    let (seen, changes) = changes_since(&mut reader, &test, &seen).await;
    assert_eq!(changes, 0);
    run(&mut late, "COMMIT").await;
    let (seen, changes) = changes_since(&mut reader, &test, &seen).await;
    assert_eq!(changes, 1);
    let (seen, changes) = changes_since(&mut reader, &test, &seen).await;
    assert_eq!(changes, 0, "each is told once");
    run(&mut early, "COMMIT").await;
    let (seen, changes) = changes_since(&mut reader, &test, &seen).await;
    assert_eq!(changes, 1, "a number would have passed it by");
    assert_eq!(changes_since(&mut reader, &test, &seen).await.1, 0);
}

#[tokio::test]
async fn the_change_log_is_not_held_up_by_an_idle_transaction() {
    let test = TestHouse::new().await;
    let mut reader = test.database.connect().await;
    let (mut idle, _) = open_transaction(&test, "SELECT pg_current_xact_id()").await;
    let mut seen = snapshot(&mut reader).await;
    for hour in 0..3 {
        test.hold(test.blue, hours(hour, hour + 1), None).await;
        let (next, changes) = changes_since(&mut reader, &test, &seen).await;
        assert_eq!(changes, 1);
        seen = next;
    }
    run(&mut idle, "ROLLBACK").await;
    assert_eq!(changes_since(&mut reader, &test, &seen).await.1, 0);
}

#[tokio::test]
async fn every_change_is_in_the_change_log() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let (site, blue, ticket) = (test.site(), test.blue, test.ticket);
    let slot = test.hold(test.garden, hours(0, 1), None).await.id;
    let stock = test.hold_stock(test.breakfast, 1, None).await.id;
    let mut seen = snapshot(&mut desk).await;
    for call in [
        format!(
            "hold_slot({site}, gen_random_uuid(), 'anna', {blue}, {}, {})",
            at(0),
            at(1)
        ),
        format!("edit_slot({site}, gen_random_uuid(), 'anna', {slot}, 'Okafor')"),
        format!("confirm_slot({site}, gen_random_uuid(), 'anna', {slot})"),
        format!("cancel_slot({site}, gen_random_uuid(), 'anna', {slot})"),
        format!("hold_stock({site}, gen_random_uuid(), 'anna', {ticket}, 1)"),
        format!("confirm_stock({site}, gen_random_uuid(), 'anna', {stock})"),
        format!("receive_stock({site}, gen_random_uuid(), 'anna', {ticket}, 1, '')"),
        format!("add_room({site}, gen_random_uuid(), 'anna', 'Attic')"),
        format!("add_item({site}, gen_random_uuid(), 'anna', 'Parking day', 1)"),
        format!("retire_room({site}, gen_random_uuid(), 'anna', {blue})"),
        format!("retire_item({site}, gen_random_uuid(), 'anna', {ticket})"),
    ] {
        assert!(ask(&mut desk, &call).await["refusal"].is_null(), "{call}");
        let (next, changes) = changes_since(&mut desk, &test, &seen).await;
        assert_eq!(changes, 1, "{call}");
        seen = next;
    }
}

#[tokio::test]
async fn r6_a_claim_shows_in_every_window_that_it_touches_and_in_no_other() {
    let test = TestHouse::new().await;
    let hold = test.hold(test.blue, hours(10, 20), None).await;
    for (from, to, shown) in [
        (0, 14, true),
        (14, 38, true),
        (12, 13, true),
        (0, 10, false),
        (20, 30, false),
        (19, 30, true),
    ] {
        let claims = test.house.claims_in(hours(from, to)).await.unwrap();
        assert_eq!(
            claims.iter().any(|claim| claim.id == hold.id),
            shown,
            "{from} to {to}"
        );
    }
}

struct Screen {
    events: UnboundedReceiver<WatchEvent>,
    _watch: Watch,
}

impl Screen {
    /// Opens a watch and waits for its first picture.
    async fn open(test: &TestHouse) -> (Self, Snapshot) {
        let (send, events) = unbounded_channel();
        let watch = test
            .another_desk()
            .await
            .watch(test.desk.clone(), hours(0, 24), send, None);
        let mut screen = Self {
            events,
            _watch: watch,
        };
        let picture = screen.until(|_| true, Duration::from_secs(10)).await.0;
        (screen, picture)
    }

    /// The first picture that shows it, and how long it took.
    async fn until(
        &mut self,
        shows: impl Fn(&Snapshot) -> bool,
        limit: Duration,
    ) -> (Snapshot, Duration) {
        let started = Instant::now();
        loop {
            let event = tokio::time::timeout(limit, self.events.recv()).await;
            match event.expect("the screen stayed as it was").unwrap() {
                WatchEvent::Snapshot(picture) if shows(&picture) => {
                    return ((*picture).clone(), started.elapsed());
                }
                WatchEvent::Lost { sentence } => panic!("{sentence}"),
                _ => assert!(started.elapsed() < limit, "the screen stayed as it was"),
            }
        }
    }
}

/// What a console must show, with some patience for a busy machine on top of the second that is promised.
const SOON: Duration = Duration::from_millis(2500);

#[tokio::test]
async fn a_watch_shows_what_another_desk_and_a_function_call_do() {
    let test = TestHouse::new().await;
    let (mut screen, first) = Screen::open(&test).await;
    assert!(first.claims.is_empty());
    // Another store.
    let other = test.another_desk().await;
    let command = hold_slot(test.blue, hours(0, 1), None);
    let request = keyrack::domain::Request::fresh(test.desk.clone(), command);
    other.execute(request).await.unwrap().outcome.unwrap();
    screen
        .until(|picture| picture.claims.len() == 1, SOON)
        .await;
    // A call as psql makes it: no hint, the poll finds it.
    let mut psql = test.database.connect().await;
    ask(
        &mut psql,
        &hold_slot_call(&test, "psql", test.garden.0, 0, 1, "10m"),
    )
    .await;
    let (picture, _) = screen
        .until(|picture| picture.claims.len() == 2, SOON)
        .await;
    assert!(picture.events.iter().any(|event| event.desk.0 == "psql"));
}

#[tokio::test]
async fn a_watch_shows_raw_sql_within_some_seconds() {
    let test = TestHouse::new().await;
    let (mut screen, _) = Screen::open(&test).await;
    let mut psql = test.database.connect().await;
    run(
        &mut psql,
        &format!(
            "UPDATE inventory SET available = 99 WHERE item_id = {}",
            test.breakfast
        ),
    )
    .await;
    let shows = |picture: &Snapshot| picture.items.iter().any(|item| item.available == 99);
    screen.until(shows, Duration::from_secs(7)).await;
}

#[tokio::test]
async fn r11_a_watch_expires_what_is_due_within_about_a_second() {
    let test = TestHouse::new().await;
    let (mut screen, _) = Screen::open(&test).await;
    let hold = test
        .hold(test.blue, hours(0, 1), Some(TimeDelta::seconds(1)))
        .await
        .id;
    let stock = test
        .hold_stock(test.ticket, 1, Some(TimeDelta::seconds(1)))
        .await
        .id;
    screen
        .until(|picture| picture.claims.len() == 1, SOON)
        .await;
    screen
        .until(
            |picture| picture.claims.is_empty() && picture.stock_claims.is_empty(),
            SOON + Duration::from_secs(1),
        )
        .await;
    // In the database and not only on the screen.
    let slot = test.house.slot_hold(hold).await.unwrap().unwrap();
    assert_eq!(slot.state, ClaimState::Expired);
    let late = slot.changed_at - slot.expires_at.unwrap();
    assert!(
        late >= TimeDelta::zero() && late < TimeDelta::seconds(2),
        "{late}"
    );
    let stock = test.house.stock_hold(stock).await.unwrap().unwrap();
    assert_eq!(stock.state, ClaimState::Expired);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn a_watch_survives_the_death_of_its_connections() {
    let test = TestHouse::new().await;
    let (mut screen, _) = Screen::open(&test).await;
    let mut psql = test.database.connect().await;
    run(
        &mut psql,
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'keyrack'",
    )
    .await;
    ask(
        &mut psql,
        &hold_slot_call(&test, "psql", test.blue.0, 0, 1, "10m"),
    )
    .await;
    let started = Instant::now();
    loop {
        let event = tokio::time::timeout(Duration::from_secs(8), screen.events.recv()).await;
        match event.unwrap().unwrap() {
            WatchEvent::Snapshot(picture) if picture.claims.len() == 1 => break,
            _ => assert!(started.elapsed() < Duration::from_secs(8)),
        }
    }
}

#[tokio::test]
async fn lists_are_read_in_pages_and_are_whole() {
    let test = TestHouse::new().await;
    let mut stray = test.database.connect().await;
    let (site, room, item) = (test.site(), test.blue, test.breakfast);
    run(
        &mut stray,
        &format!(
            "INSERT INTO slot_hold (site_id, room_id, period, expires_at)
             SELECT {site}, {room}, tstzrange(begins, begins + interval '1 minute'), now() + interval '1 hour'
             FROM generate_series(1, 2500) AS n
             CROSS JOIN LATERAL (SELECT {} + n * interval '1 minute' AS begins) AS b;
             INSERT INTO stock_hold (site_id, item_id, quantity, expires_at)
             SELECT {site}, {item}, 1, now() + interval '1 hour' FROM generate_series(1, 1000);
             INSERT INTO hold_event (site_id, at, what, desk) SELECT {site}, now(), 'changed', 'anna' FROM generate_series(1, 1500)",
            at(0)
        ),
    )
    .await;
    let page: Vec<i64> = value(
        &mut stray,
        &format!(
            "SELECT array_agg((claim ->> 'hold_id')::bigint)
             FROM json_array_elements(list_slots({site}, NULL, NULL, NULL, NULL, NULL, 7, 1000)) AS claim"
        ),
    )
    .await;
    assert_eq!(page, (8..1008).collect::<Vec<i64>>());
    let rooms = test.house.slot_holds(&SlotFilter::default()).await.unwrap();
    assert_eq!(rooms.len(), 2500);
    assert!(rooms.windows(2).all(|two| two[0].id < two[1].id));
    let stock = test
        .house
        .stock_holds(&StockFilter::default())
        .await
        .unwrap();
    assert_eq!(stock.len(), 1000);
    let events = test.house.history(HistoryOf::Site).await.unwrap();
    let count: i64 = value(&mut stray, "SELECT count(*) FROM hold_event").await;
    assert_eq!(events.len() as i64, count);
}

/// Numbers of events are no order: what commits later may have the smaller one, and a clock may step back.
#[tokio::test]
async fn r25_a_life_is_told_in_the_order_of_its_versions() {
    let test = TestHouse::new().await;
    let mut stray = test.database.connect().await;
    let hold = test.hold(test.blue, hours(0, 1), None).await.id;
    run(
        &mut stray,
        "SELECT setval(pg_get_serial_sequence('hold_event', 'event_id'), 5000)",
    )
    .await;
    ask(&mut stray, &call_on(&test, "edit_slot", hold.0)).await;
    run(
        &mut stray,
        "SELECT setval(pg_get_serial_sequence('hold_event', 'event_id'), 1000)",
    )
    .await;
    ask(&mut stray, &call_on(&test, "confirm_slot", hold.0)).await;
    ask(&mut stray, &call_on(&test, "cancel_slot", hold.0)).await;
    test.assert_all_is_well().await;
    let life = test.house.history(HistoryOf::SlotHold(hold)).await.unwrap();
    let kinds: Vec<&str> = life.iter().map(|event| event.kind.word()).collect();
    assert_eq!(kinds, ["held", "edited", "confirmed", "cancelled"]);
    assert!(life[1].id > life[3].id);
}
