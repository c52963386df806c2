//! The order of the checks, and versions (R22).

use chrono::TimeDelta;
use keyrack::domain::{Command, Refusal, SlotEdit, Version};
use uuid::Uuid;

use crate::support::{TestHouse, hours, refusal};
use crate::{ask, at, call_on, run, until_due, value};

#[tokio::test]
async fn r22_stale_says_what_the_claim_is_now() {
    let test = TestHouse::new().await;
    let hold = test.hold(test.blue, hours(0, 2), None).await;
    test.ask(Command::EditSlot {
        hold: hold.id,
        expect_version: Some(hold.version),
        edit: SlotEdit {
            guest: Some("Okafor".into()),
            ..SlotEdit::default()
        },
    })
    .await
    .outcome
    .unwrap();
    let confirm = Command::ConfirmSlot {
        hold: hold.id,
        expect_version: Some(hold.version),
    };
    let answer = test.ask(confirm).await;
    assert_eq!(answer.slot().unwrap().guest, "Okafor");
    let Refusal::Stale {
        expected, version, ..
    } = refusal(answer)
    else {
        panic!("not stale")
    };
    assert_eq!((expected, version), (Version(1), Version(2)));
    // Raw SQL moves the version too.
    let mut stray = test.database.connect().await;
    run(
        &mut stray,
        "UPDATE slot_hold SET note = 'by hand', version = 2",
    )
    .await;
    let version: i64 = value(&mut stray, "SELECT version FROM slot_hold").await;
    assert_eq!(version, 3);
}

/// Every check, each before the next: what a claim on a room answers when several things are wrong at once.
#[tokio::test]
async fn r22_the_order_of_the_checks_for_rooms() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let site = test.site();
    let long = "x".repeat(501);
    let short = Some(TimeDelta::seconds(1));
    let due = test.hold(test.blue, hours(0, 1), short).await.id.0;
    let cancelled = test.hold(test.blue, hours(1, 2), None).await.id.0;
    ask(&mut desk, &call_on(&test, "cancel_slot", cancelled)).await;
    let confirmed = test.hold(test.blue, hours(2, 3), None).await.id.0;
    ask(&mut desk, &call_on(&test, "confirm_slot", confirmed)).await;
    let held = test.hold(test.blue, hours(3, 4), None).await.id.0;
    until_due(&mut desk, "slot_hold", due).await;
    for (call, expected) in [
        // Missing comes before version and rules.
        (
            format!("cancel_slot({site}, ID, 'a', 999, '{long}', 7)"),
            "no_such_hold",
        ),
        (
            format!("cancel_slot({site}, ID, 'a', NULL, '{long}', 7)"),
            "no_such_hold",
        ),
        // Due is expired, and then it has ended, whatever the version.
        (
            format!("cancel_slot({site}, ID, 'a', {due}, '{long}', 7)"),
            "hold_expired",
        ),
        (
            format!("confirm_slot({site}, ID, 'a', {due}, 7)"),
            "hold_expired",
        ),
        (
            format!("edit_slot({site}, ID, 'a', {due}, '{long}', NULL, 0, 7)"),
            "hold_expired",
        ),
        (
            format!("cancel_slot({site}, ID, 'a', {cancelled}, '{long}', 7)"),
            "already_cancelled",
        ),
        (
            format!("confirm_slot({site}, ID, 'a', {cancelled}, 7)"),
            "already_cancelled",
        ),
        (
            format!("confirm_slot({site}, ID, 'a', {confirmed}, 7)"),
            "already_confirmed",
        ),
        // Version before rules.
        (
            format!("cancel_slot({site}, ID, 'a', {confirmed}, '{long}', 7)"),
            "stale",
        ),
        (
            format!("cancel_slot({site}, ID, 'a', {held}, '{long}', 7)"),
            "stale",
        ),
        (
            format!("edit_slot({site}, ID, 'a', {held}, '{long}', NULL, 0, 7)"),
            "stale",
        ),
        // The rules.
        (
            format!("cancel_slot({site}, ID, 'a', {held}, '{long}', 1)"),
            "text_too_long",
        ),
        (
            format!("edit_slot({site}, ID, 'a', {held}, NULL, NULL, -1, 1)"),
            "quantity_invalid",
        ),
    ] {
        let id = format!("'{}'", Uuid::new_v4());
        let answer = ask(&mut desk, &call.replace("ID", &id)).await;
        assert_eq!(answer["refusal"], expected, "{call}");
        // Before all of them: the repeated request.
        let again = ask(&mut desk, &call.replace("ID", &id)).await;
        assert_eq!(
            (&again["refusal"], &again["repeated"]),
            (&answer["refusal"], &true.into()),
            "{call}"
        );
        assert_eq!(again["details"], answer["details"], "{call}");
        let other = format!(
            "hold_slot({site}, {id}, 'a', {}, {}, {})",
            test.garden,
            at(0),
            at(1)
        );
        assert_eq!(ask(&mut desk, &other).await["refusal"], "request_reused");
    }
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r22_the_order_of_the_checks_for_stock() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let site = test.site();
    let long = "x".repeat(501);
    let due = test
        .hold_stock(test.breakfast, 1, Some(TimeDelta::seconds(1)))
        .await
        .id
        .0;
    let cancelled = test.hold_stock(test.breakfast, 1, None).await.id.0;
    ask(&mut desk, &call_on(&test, "cancel_stock", cancelled)).await;
    let sold = test.hold_stock(test.breakfast, 1, None).await.id.0;
    ask(&mut desk, &call_on(&test, "confirm_stock", sold)).await;
    let held = test.hold_stock(test.breakfast, 1, None).await.id.0;
    until_due(&mut desk, "stock_hold", due).await;
    for (call, expected) in [
        (
            format!("cancel_stock({site}, ID, 'a', 999, '{long}', 7)"),
            "no_such_hold",
        ),
        (
            format!("cancel_stock({site}, ID, 'a', {due}, '{long}', 7)"),
            "hold_expired",
        ),
        (
            format!("confirm_stock({site}, ID, 'a', {due}, 7)"),
            "hold_expired",
        ),
        (
            format!("cancel_stock({site}, ID, 'a', {cancelled}, '{long}', 7)"),
            "already_cancelled",
        ),
        (
            format!("confirm_stock({site}, ID, 'a', {sold}, 7)"),
            "already_confirmed",
        ),
        // R18 is one of the rules: the version comes first.
        (
            format!("cancel_stock({site}, ID, 'a', {sold}, '{long}', 1)"),
            "stale",
        ),
        (
            format!("cancel_stock({site}, ID, 'a', {sold}, '{long}', 2)"),
            "sale_is_final",
        ),
        (
            format!("cancel_stock({site}, ID, 'a', {held}, '{long}', 7)"),
            "stale",
        ),
        (
            format!("cancel_stock({site}, ID, 'a', {held}, '{long}', 1)"),
            "text_too_long",
        ),
    ] {
        let id = format!("'{}'", Uuid::new_v4());
        for repeated in [false, true] {
            let answer = ask(&mut desk, &call.replace("ID", &id)).await;
            assert_eq!(answer["refusal"], expected, "{call}");
            assert_eq!(answer["repeated"], repeated, "{call}");
        }
    }
    test.assert_all_is_well().await;
}
