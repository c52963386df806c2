//! The store against a real database: what a desk asks and hears.
#![allow(clippy::unwrap_used)]

mod support;

use chrono::TimeDelta;
use keyrack::domain::SiteFile;
use keyrack::domain::sentences::fault::FaultKind;
use keyrack::domain::{
    ClaimState, Command, EventKind, EventSubject, Refusal, Request, ServerCommand, SlotDetails,
    Success,
};
use keyrack::store::HistoryOf;
use support::{HOUSE, TestHouse, change_site, hold_slot, hour, hours, refusal};

#[tokio::test]
async fn a_hold_is_confirmed_and_cancelled() {
    let test = TestHouse::new().await;
    let hold = test.hold(test.blue, hours(0, 2), None).await;
    assert_eq!(hold.state, ClaimState::Held);
    let confirmed = test
        .ask(Command::ConfirmSlot {
            hold: hold.id,
            expect_version: Some(hold.version),
        })
        .await;
    let Ok(Success::Slot(confirmed)) = confirmed.outcome else {
        panic!("{confirmed:?}")
    };
    assert_eq!(confirmed.state, ClaimState::Confirmed);
    let cancelled = test
        .ask(Command::CancelSlot {
            hold: hold.id,
            expect_version: Some(confirmed.version),
            reason: "guest called".into(),
        })
        .await;
    assert!(
        matches!(cancelled.outcome, Ok(Success::Slot(hold)) if hold.state == ClaimState::Cancelled)
    );
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r1_a_conflict_says_who_has_it_and_until_when() {
    let test = TestHouse::new().await;
    let holder = test
        .hold(test.blue, hours(0, 2), Some(TimeDelta::minutes(5)))
        .await;
    let Refusal::SlotTaken(taken) =
        refusal(test.ask(hold_slot(test.blue, hours(1, 3), None)).await)
    else {
        panic!("not taken")
    };
    assert_eq!(taken.hold_id, Some(holder.id));
    assert_eq!(taken.period, Some(hours(0, 2)));
    assert_eq!(taken.expires_at, holder.expires_at);
    assert_eq!(taken.desk.as_deref(), Some("anna"));
}

#[tokio::test]
async fn r21_the_same_request_is_answered_once_and_remembered() {
    let test = TestHouse::new().await;
    let request = Request::fresh(test.desk.clone(), hold_slot(test.blue, hours(0, 2), None));
    let first = test.house.execute(request.clone()).await.unwrap();
    let again = test.house.execute(request.clone()).await.unwrap();
    assert!(!first.repeated);
    assert!(again.repeated);
    assert_eq!(first.outcome, again.outcome);

    let other = Request {
        command: hold_slot(test.blue, hours(4, 5), None),
        ..request
    };
    assert!(matches!(
        refusal(test.house.execute(other).await.unwrap()),
        Refusal::RequestReused { .. }
    ));
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn a_house_applied_twice_changes_nothing() {
    let test = TestHouse::new().await;
    let file = SiteFile::parse(HOUSE).unwrap();
    let apply = ServerCommand::ApplySite { file };
    let change = change_site(&test.store, &test.desk, apply).await;
    assert_eq!(change.changes, []);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn the_picture_shows_what_touches_the_window() {
    let test = TestHouse::new().await;
    let inside = test.hold(test.blue, hours(0, 2), None).await;
    test.hold(test.blue, hours(48, 49), None).await;
    test.hold_stock(test.breakfast, 3, None).await;
    let picture = test.house.snapshot(hours(1, 5)).await.unwrap();
    assert_eq!(
        picture
            .claims
            .iter()
            .map(|claim| claim.id)
            .collect::<Vec<_>>(),
        [inside.id]
    );
    assert_eq!(picture.rooms.len(), 4);
    let breakfast = &picture.items[0];
    assert_eq!(
        (breakfast.total, breakfast.available, breakfast.held),
        (10, 7, 3)
    );
    assert_eq!(picture.stock_claims.len(), 1);
    assert!(picture.read_at < hour(0));
}

#[tokio::test]
async fn r25_a_changed_house_file_leaves_an_event_for_the_house_and_for_each_room() {
    let test = TestHouse::new().await;
    let changed = HOUSE.replace("capacity = 8", "capacity = 9").replace(
        "time_zone = \"Europe/London\"",
        "time_zone = \"Europe/London\"\ndefault_hold = \"5m\"",
    );
    let file = SiteFile::parse(&changed).unwrap();
    change_site(&test.store, &test.desk, ServerCommand::ApplySite { file }).await;
    let changes: Vec<_> = test
        .house
        .history(HistoryOf::Site)
        .await
        .unwrap()
        .into_iter()
        .filter(|event| event.kind == EventKind::Changed)
        .map(|event| (event.subject, event.subject_name))
        .collect();
    assert_eq!(
        changes,
        [
            (EventSubject::Site, "Test House".into()),
            (EventSubject::Room(test.blue), "Blue room".into())
        ]
    );
}

#[tokio::test]
async fn a_character_that_can_not_be_stored_is_the_persons_to_remove() {
    let test = TestHouse::new().await;
    let Command::HoldSlot { room, period, .. } = hold_slot(test.blue, hours(0, 2), None) else {
        unreachable!()
    };
    let command = Command::HoldSlot {
        room,
        period,
        ttl: None,
        details: SlotDetails {
            guest: "nobody\0".into(),
            ..SlotDetails::default()
        },
    };
    let error = test
        .house
        .execute(Request::fresh(test.desk.clone(), command))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), FaultKind::Usage, "{error}");
    assert!(matches!(
        test.ask(hold_slot(test.blue, hours(0, 2), None))
            .await
            .outcome,
        Ok(Success::Slot(_))
    ));
}

#[tokio::test]
async fn r25_an_event_names_the_room_where_the_claim_was_then() {
    let test = TestHouse::new().await;
    let hold = test.hold(test.blue, hours(0, 2), None).await;
    test.ask(Command::MoveSlot {
        hold: hold.id,
        expect_version: None,
        to_room: Some(test.garden),
        from: None,
        to: None,
    })
    .await
    .outcome
    .unwrap();
    let rooms: Vec<_> = test
        .house
        .history(HistoryOf::SlotHold(hold.id))
        .await
        .unwrap()
        .into_iter()
        .map(|event| (event.kind, event.subject_name))
        .collect();
    assert_eq!(
        rooms,
        [
            (EventKind::Held, "Blue room".into()),
            (EventKind::Moved, "Garden room".into())
        ]
    );
}

#[tokio::test]
async fn tables_made_by_another_build_are_told_apart() {
    let test = TestHouse::new().await;
    test.store.check_schema().await.unwrap();
    let mut connection = test.database.connect().await;
    sqlx::query("UPDATE _sqlx_migrations SET checksum = '\\x00' WHERE version = 1")
        .execute(&mut connection)
        .await
        .unwrap();
    let error = test.store.migrate().await.unwrap_err();
    assert!(error.to_string().contains("another build"), "{error}");
}
