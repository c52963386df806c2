//! Events: every change leaves exactly one (R25).

use chrono::TimeDelta;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{TestHouse, hours};
use crate::{ask, at, until_due, value};

#[tokio::test]
async fn r25_every_change_leaves_exactly_one_event() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let (site, blue, garden, ticket) = (test.site(), test.blue, test.garden, test.ticket);
    let (zero, one) = (at(0), at(1));
    let mut last = value::<i64>(&mut desk, "SELECT max(event_id) FROM hold_event").await;
    for (call, expected) in [
        (
            format!("hold_slot({site}, ID, 'anna', {blue}, {zero}, {one}, '10m', 'Müller')"),
            json!(["held", null, "held", null, ""]),
        ),
        (
            "edit_slot(SITE, ID, 'anna', HOLD, 'Okafor')".into(),
            json!(["edited", "held", "held", null, ""]),
        ),
        (
            "confirm_slot(SITE, ID, 'bert', HOLD)".into(),
            json!(["confirmed", "held", "confirmed", null, ""]),
        ),
        (
            "edit_slot(SITE, ID, 'anna', HOLD, p_party => 3)".into(),
            json!(["edited", "confirmed", "confirmed", null, ""]),
        ),
        (
            "cancel_slot(SITE, ID, 'cleo', HOLD, 'guest called')".into(),
            json!(["cancelled", "confirmed", "cancelled", null, "guest called"]),
        ),
        (
            format!("block_slot({site}, ID, 'anna', {blue}, {zero}, {one}, 'paint')"),
            json!(["blocked", null, "confirmed", null, "paint"]),
        ),
        (
            format!("import_slot({site}, ID, 'anna', {garden}, {zero}, {one}, 'Müller')"),
            json!(["imported", null, "confirmed", null, ""]),
        ),
        (
            format!("hold_stock({site}, ID, 'anna', {ticket}, 2)"),
            json!(["held", null, "held", 2, ""]),
        ),
        (
            "cancel_stock(SITE, ID, 'anna', HOLD, 'no')".into(),
            json!(["cancelled", "held", "cancelled", 2, "no"]),
        ),
        (
            format!("hold_stock({site}, ID, 'anna', {ticket}, 1)"),
            json!(["held", null, "held", 1, ""]),
        ),
        (
            "confirm_stock(SITE, ID, 'anna', HOLD)".into(),
            json!(["confirmed", "held", "confirmed", 1, ""]),
        ),
        (
            format!("receive_stock({site}, ID, 'anna', {ticket}, 4, 'delivery')"),
            json!(["received", null, null, 4, "delivery"]),
        ),
        (
            format!("adjust_stock({site}, ID, 'anna', {ticket}, -1, 'broken')"),
            json!(["adjusted", null, null, -1, "broken"]),
        ),
        (
            format!("add_room({site}, ID, 'anna', 'Attic')"),
            json!(["added", null, null, null, ""]),
        ),
        (
            format!("retire_room({site}, ID, 'anna', {})", test.studio),
            json!(["retired", null, null, null, ""]),
        ),
        (
            format!("add_item({site}, ID, 'anna', 'Parking day', 5)"),
            json!(["added", null, null, 5, ""]),
        ),
        (
            format!("retire_item({site}, ID, 'anna', {})", test.breakfast),
            json!(["retired", null, null, null, ""]),
        ),
    ] {
        // HOLD: the claim of the newest event.
        let hold: Option<i64> = value(
            &mut desk,
            "SELECT coalesce(slot_hold_id, stock_hold_id) FROM hold_event ORDER BY event_id DESC LIMIT 1",
        )
        .await;
        let id = Uuid::new_v4();
        let call = call
            .replace("SITE", &site.to_string())
            .replace("ID", &format!("'{id}'"))
            .replace("HOLD", &hold.unwrap_or(0).to_string());
        let answer = ask(&mut desk, &call).await;
        assert_eq!(answer["refusal"], Value::Null, "{call}: {answer}");
        let events: Value = value(
            &mut desk,
            &format!(
                "SELECT jsonb_agg(jsonb_build_array(what, from_state, to_state, quantity, reason))
                 FROM hold_event WHERE event_id > {last} AND request_id = '{id}' AND desk = split_part($${call}$$, '''', 4)"
            ),
        )
        .await;
        assert_eq!(events, json!([expected]), "{call}");
        let count: i64 = value(
            &mut desk,
            &format!("SELECT count(*) FROM hold_event WHERE event_id > {last}"),
        )
        .await;
        assert_eq!(count, 1, "{call}");
        let clocks: bool = value(
            &mut desk,
            "SELECT at BETWEEN clock_timestamp() - interval '1 minute' AND clock_timestamp()
             FROM hold_event ORDER BY event_id DESC LIMIT 1",
        )
        .await;
        assert!(clocks);
        last = value(&mut desk, "SELECT max(event_id) FROM hold_event").await;
    }
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r25_an_expiry_leaves_one_event_a_claim_and_a_refusal_none() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let second = Some(TimeDelta::seconds(1));
    let slot = test.hold(test.blue, hours(0, 1), second).await.id.0;
    let slot_too = test.hold(test.blue, hours(1, 2), second).await.id.0;
    let stock = test.hold_stock(test.ticket, 2, second).await.id.0;
    for (table, hold) in [
        ("slot_hold", slot),
        ("slot_hold", slot_too),
        ("stock_hold", stock),
    ] {
        until_due(&mut desk, table, hold).await;
    }
    let before: i64 = value(&mut desk, "SELECT count(*) FROM hold_event").await;
    let site = test.site();
    let nothing = format!(
        "hold_stock({site}, gen_random_uuid(), 'anna', {}, 99)",
        test.breakfast
    );
    assert_eq!(ask(&mut desk, &nothing).await["refusal"], "sold_out");
    let after: i64 = value(&mut desk, "SELECT count(*) FROM hold_event").await;
    assert_eq!(before, after);
    let swept: i64 = test
        .house
        .sweep(&keyrack::domain::Desk("sweep".into()))
        .await
        .unwrap();
    assert_eq!(swept, 3);
    let events: Value = value(
        &mut desk,
        "SELECT jsonb_agg(jsonb_build_array(what, slot_hold_id, stock_hold_id, from_state, to_state, quantity, desk) ORDER BY event_id)
         FROM hold_event WHERE what = 'expired' AND request_id IS NULL",
    )
    .await;
    assert_eq!(
        events,
        json!([
            ["expired", slot, null, "held", "expired", null, "sweep"],
            ["expired", slot_too, null, "held", "expired", null, "sweep"],
            ["expired", null, stock, "held", "expired", 2, "sweep"],
        ])
    );
    // The moment of the expiry is not before the deadline, and the claim keeps its deadline for explanation.
    let in_order: bool = value(
        &mut desk,
        "SELECT bool_and(e.at >= s.expires_at AND e.at = s.changed_at)
         FROM hold_event AS e JOIN slot_hold AS s ON s.hold_id = e.slot_hold_id WHERE e.what = 'expired'",
    )
    .await;
    assert!(in_order);
    test.assert_all_is_well().await;
}
