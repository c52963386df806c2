//! Nothing crosses a site (R29).

use keyrack::domain::{Command, EventSubject, Request, ServerCommand, SlotEdit};
use keyrack::store::SiteStore;
use serde_json::Value;
use uuid::Uuid;

use crate::support::{TestHouse, change_site, hold_slot, hold_stock, hours};
use crate::{Sent, ask, at, guard, open_transaction, run, try_run, value};

/// The same house a second time, under another name.
async fn annex(test: &TestHouse) -> SiteStore {
    let add = ServerCommand::AddSite {
        name: "Annex".into(),
        time_zone: "Asia/Tokyo".into(),
    };
    let change = change_site(&test.store, &test.desk, add).await;
    test.store.site_store(change.site)
}

#[tokio::test]
async fn r29_numbers_of_another_site_are_not_found() {
    let test = TestHouse::new().await;
    let annex = annex(&test).await;
    let slot = test.hold(test.blue, hours(0, 1), None).await.id;
    let stock = test.hold_stock(test.ticket, 1, None).await.id;
    for (command, expected) in [
        (hold_slot(test.blue, hours(4, 5), None), "no_such_room"),
        (
            Command::BlockSlot {
                room: test.blue,
                period: hours(4, 5),
                reason: "mine".into(),
            },
            "no_such_room",
        ),
        (
            Command::ConfirmSlot {
                hold: slot,
                expect_version: None,
            },
            "no_such_hold",
        ),
        (
            Command::CancelSlot {
                hold: slot,
                expect_version: None,
                reason: String::new(),
            },
            "no_such_hold",
        ),
        (
            Command::EditSlot {
                hold: slot,
                expect_version: None,
                edit: SlotEdit {
                    guest: Some("mine".into()),
                    ..SlotEdit::default()
                },
            },
            "no_such_hold",
        ),
        (hold_stock(test.ticket, 1, None), "no_such_item"),
        (
            Command::ConfirmStock {
                hold: stock,
                expect_version: None,
            },
            "no_such_hold",
        ),
        (
            Command::CancelStock {
                hold: stock,
                expect_version: None,
                reason: String::new(),
            },
            "no_such_hold",
        ),
        (
            Command::ReceiveStock {
                item: test.ticket,
                quantity: 1,
                reason: "mine".into(),
            },
            "no_such_item",
        ),
        (
            Command::AdjustStock {
                item: test.ticket,
                change: -1,
                reason: "mine".into(),
            },
            "no_such_item",
        ),
        (Command::RetireRoom { room: test.blue }, "no_such_room"),
        (Command::RetireItem { item: test.ticket }, "no_such_item"),
    ] {
        let answer = annex
            .execute(Request::fresh(test.desk.clone(), command.clone()))
            .await
            .unwrap();
        let refused = answer.outcome.unwrap_err();
        assert_eq!(refused.claim, None, "{command:?}");
        assert_eq!(refused.refusal.code(), expected, "{command:?}");
    }

    // Reading neither.
    assert_eq!(annex.slot_hold(slot).await.unwrap(), None);
    assert_eq!(annex.stock_hold(stock).await.unwrap(), None);
    let picture = annex.snapshot(hours(0, 9)).await.unwrap();
    assert!(picture.claims.is_empty() && picture.rooms.is_empty() && picture.items.is_empty());
    assert!(picture.stock_claims.is_empty());
    // That it was added is all that has happened there.
    let subjects: Vec<EventSubject> = picture.events.iter().map(|event| event.subject).collect();
    assert_eq!(subjects, [EventSubject::Site]);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r29_the_same_request_id_in_two_sites_is_two_requests() {
    let test = TestHouse::new().await;
    let annex = annex(&test).await;
    let mut desk = test.database.connect().await;
    let id = Uuid::new_v4();
    let room = ask(
        &mut desk,
        &format!(
            "add_room({}, gen_random_uuid(), 'anna', 'Blue room')",
            annex.site().id
        ),
    )
    .await;
    for (site, room) in [
        (test.site(), test.blue.0),
        (annex.site().id.0, room["room_id"].as_i64().unwrap()),
    ] {
        let call = format!(
            "hold_slot({site}, '{id}', 'anna', {room}, {}, {})",
            at(0),
            at(1)
        );
        let answer = ask(&mut desk, &call).await;
        assert_eq!(
            (&answer["refusal"], &answer["repeated"]),
            (&Value::Null, &false.into())
        );
    }
}

#[tokio::test]
async fn r29_a_claim_can_not_point_at_another_sites_room_or_item() {
    let test = TestHouse::new().await;
    let annex = annex(&test).await;
    let mut stray = test.database.connect().await;
    let site = annex.site().id;
    let slot = format!(
        "INSERT INTO slot_hold (site_id, room_id, period, expires_at) VALUES ({site}, {}, tstzrange({}, {}), now())",
        test.blue,
        at(0),
        at(1)
    );
    assert_eq!(
        guard(try_run(&mut stray, &slot).await),
        "slot_hold_room_fkey"
    );
    let stock = format!(
        "INSERT INTO stock_hold (site_id, item_id, quantity, expires_at) VALUES ({site}, {}, 1, now())",
        test.ticket
    );
    assert_eq!(
        guard(try_run(&mut stray, &stock).await),
        "stock_hold_item_fkey"
    );
}

#[tokio::test]
async fn r29_two_sites_may_use_the_same_numbers() {
    let test = TestHouse::new().await;
    let annex = annex(&test).await;
    let mut stray = test.database.connect().await;
    let site = annex.site().id;
    // As they would be on another server.
    run(
        &mut stray,
        &format!(
            "INSERT INTO room (site_id, room_id, name) VALUES ({site}, {}, 'Twin')",
            test.blue
        ),
    )
    .await;
    let hold = test.hold(test.blue, hours(0, 2), None).await.id;
    run(
        &mut stray,
        &format!(
            "INSERT INTO slot_hold (site_id, hold_id, room_id, period, expires_at)
             VALUES ({site}, {hold}, {}, tstzrange({}, {}), now() + interval '1 hour')",
            test.blue,
            at(0),
            at(2)
        ),
    )
    .await;
    let cancelled = format!(
        "cancel_slot({}, gen_random_uuid(), 'anna', {hold})",
        test.site()
    );
    assert_eq!(ask(&mut stray, &cancelled).await["refusal"], Value::Null);
    let left: String = value(
        &mut stray,
        &format!("SELECT state FROM slot_hold WHERE site_id = {site}"),
    )
    .await;
    assert_eq!(left, "held");
    let claimed = annex.claims_in(hours(0, 9)).await.unwrap();
    assert_eq!(claimed.len(), 1);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r29_the_sweep_and_the_check_stay_in_their_site() {
    let test = TestHouse::new().await;
    let annex = annex(&test).await;
    let mut stray = test.database.connect().await;
    run(
        &mut stray,
        &format!(
            "INSERT INTO slot_hold (site_id, room_id, period, expires_at)
             VALUES ({}, {}, tstzrange({}, {}), now())",
            test.site(),
            test.blue,
            at(0),
            at(1)
        ),
    )
    .await;
    assert_eq!(annex.sweep(&test.desk).await.unwrap(), 0);
    assert_eq!(annex.check().await.unwrap(), []);
    assert!(!test.house.check().await.unwrap().is_empty());
    assert_eq!(test.house.sweep(&test.desk).await.unwrap(), 1);
}

/// In the order of the file it would wait for one room with another one locked, and groups deadlock against it (R20).
#[tokio::test]
async fn r20_applying_a_file_locks_rooms_and_items_in_the_order_of_their_ids() {
    let test = TestHouse::new().await;
    let mut other = test.database.connect().await;
    let rooms: Vec<String> = ["Loft", "Studio", "Garden room", "Blue room"]
        .iter()
        .map(|name| {
            format!(
                "{{\"name\": \"{name}\", \"capacity\": 7, \"booked_by\": \"hour\", \"turnaround\": 0,
                  \"check_in\": \"15:00\", \"check_out\": \"11:00\", \"features\": []}}"
            )
        })
        .collect();
    let call = format!(
        "apply_house(gen_random_uuid(), 'anna', '{{\"site\": {{\"name\": \"Test House\", \"time_zone\": \"Europe/London\",
           \"default_hold\": 600, \"longest_hold\": 86400, \"renewals\": 3, \"horizon\": 63072000,
           \"conflict_shows_guest\": true}}, \"rooms\": [{}],
           \"items\": [{{\"name\": \"Museum ticket\", \"total\": 3}}, {{\"name\": \"Breakfast\", \"total\": 10}}]}}')",
        rooms.join(", ")
    );
    for (table, column, first, second) in [
        ("room", "room_id", test.blue.0, test.garden.0),
        ("inventory", "item_id", test.breakfast.0, test.ticket.0),
    ] {
        let lock =
            |id: i64| format!("SELECT FROM {table} WHERE {column} = {id} FOR NO KEY UPDATE NOWAIT");
        let (mut holder, backend) = open_transaction(&test, &lock(first)).await;
        let apply = Sent::blocked(&test, call.clone(), &[backend]).await;
        // It waits for the first and has none of those behind it, so that whoever has the first can take the next.
        run(&mut other, &lock(second)).await;
        run(&mut holder, "COMMIT").await;
        assert_eq!(apply.answer().await["refusal"], Value::Null);
    }
    test.assert_all_is_well().await;
}
