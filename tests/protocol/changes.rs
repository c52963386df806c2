//! The change log: what a transaction touched, whoever sent it; and what a console reads of it.

use std::time::Duration;

use keyrack::domain::Desk;
use keyrack::store::WatchEvent;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::support::{TestHouse, hours};
use crate::{ask, at, open_transaction, run, value};

/// The row of the last change: claims, rooms and items, each once.
async fn last_change(connection: &mut sqlx::postgres::PgConnection) -> Value {
    value(
        connection,
        "SELECT jsonb_build_object(
             'claims', ARRAY(SELECT DISTINCT unnest(claims) ORDER BY 1),
             'rooms', ARRAY(SELECT DISTINCT unnest(rooms) ORDER BY 1),
             'items', ARRAY(SELECT DISTINCT unnest(items) ORDER BY 1)
         ) FROM change_log ORDER BY transaction_id DESC LIMIT 1",
    )
    .await
}

#[tokio::test]
async fn a_transaction_leaves_one_row_with_everything_that_it_touched() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let before: i64 = value(&mut desk, "SELECT count(*) FROM change_log").await;
    let hold = test.hold(test.blue, hours(0, 1), None).await.id.0;
    let expected = serde_json::json!({"claims": [hold], "rooms": [test.blue], "items": []});
    assert_eq!(last_change(&mut desk).await, expected);
    let stock = test.hold_stock(test.ticket, 1, None).await.id.0;
    let expected = serde_json::json!({"claims": [stock], "rooms": [], "items": [test.ticket]});
    assert_eq!(last_change(&mut desk).await, expected);
    // Two commands of one transaction.
    let site = test.site();
    run(&mut desk, "BEGIN").await;
    ask(
        &mut desk,
        &format!("confirm_slot({site}, gen_random_uuid(), 'anna', {hold})"),
    )
    .await;
    ask(
        &mut desk,
        &format!("confirm_stock({site}, gen_random_uuid(), 'anna', {stock})"),
    )
    .await;
    run(&mut desk, "COMMIT").await;
    let expected =
        serde_json::json!({"claims": [hold, stock], "rooms": [test.blue], "items": [test.ticket]});
    assert_eq!(last_change(&mut desk).await, expected);
    let after: i64 = value(&mut desk, "SELECT count(*) FROM change_log").await;
    assert_eq!(after - before, 3);
    // A refusal changes nothing that a console shows.
    ask(
        &mut desk,
        &format!("confirm_slot({site}, gen_random_uuid(), 'anna', {hold})"),
    )
    .await;
    assert_eq!(
        value::<i64>(&mut desk, "SELECT count(*) FROM change_log").await,
        after
    );
}

#[tokio::test]
async fn raw_sql_that_goes_around_the_functions_is_noticed_at_once() {
    let test = TestHouse::new().await;
    let mut stray = test.database.connect().await;
    let hold = test.hold(test.blue, hours(0, 1), None).await.id.0;
    let site = test.site();
    for (statement, expected) in [
        (
            format!("UPDATE slot_hold SET guest = 'Okafor' WHERE hold_id = {hold}"),
            serde_json::json!({"claims": [hold], "rooms": [test.blue], "items": []}),
        ),
        (
            "UPDATE inventory SET available = available + 1".to_owned(),
            serde_json::json!({"claims": [], "rooms": [], "items": [test.breakfast, test.ticket]}),
        ),
        (
            format!("UPDATE room SET capacity = 9 WHERE room_id = {}", test.blue),
            serde_json::json!({"claims": [], "rooms": [test.blue], "items": []}),
        ),
        (
            "UPDATE site SET renewals = 9".to_owned(),
            serde_json::json!({"claims": [], "rooms": [], "items": []}),
        ),
        (
            format!(
                "INSERT INTO stock_hold (site_id, hold_id, item_id, quantity, expires_at)
                 VALUES ({site}, 77, {}, 1, now() + interval '1 hour')",
                test.ticket
            ),
            serde_json::json!({"claims": [77], "rooms": [], "items": [test.ticket]}),
        ),
    ] {
        let seen: String = value(
            &mut stray,
            &format!("SELECT seen FROM changes_since({site}, NULL)"),
        )
        .await;
        run(&mut stray, &statement).await;
        let changes: i64 = value(
            &mut stray,
            &format!("SELECT changes FROM changes_since({site}, '{seen}')"),
        )
        .await;
        assert_eq!(changes, 1, "{statement}");
        assert_eq!(last_change(&mut stray).await, expected, "{statement}");
    }
}

#[tokio::test]
async fn the_log_is_cleared_by_whoever_writes_and_by_no_console() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let site = test.site();
    run(
        &mut desk,
        &format!(
            "INSERT INTO change_log (site_id, transaction_id, at)
             SELECT {site}, n::text::xid8, now() - interval '3 hours' FROM generate_series(1, 300) AS n;
             INSERT INTO change_log (site_id, transaction_id, at)
             SELECT {site}, n::text::xid8, now() - interval '30 minutes' FROM generate_series(301, 400) AS n"
        ),
    )
    .await;
    test.hold(test.blue, hours(0, 1), None).await;
    let old = "SELECT count(*) FROM change_log WHERE at < now() - interval '1 hour'";
    assert_eq!(value::<i64>(&mut desk, old).await, 0);
    let recent = "SELECT count(*) FROM change_log WHERE at < now() - interval '20 minutes'";
    assert_eq!(value::<i64>(&mut desk, recent).await, 100);
    // Another site's are another writer's (R29).
    let other: i64 = value(
        &mut desk,
        "SELECT count(*) FROM change_log WHERE site_id <> (SELECT min(site_id) FROM site)",
    )
    .await;
    assert_eq!(other, 0);
}

#[tokio::test]
async fn what_a_dump_brings_back_harms_nobody() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let site = test.site();
    // Rows of another life of the database: of transactions that are yet to come here, some of an hour that is past.
    run(
        &mut desk,
        &format!(
            "INSERT INTO change_log (site_id, transaction_id, claims, at)
             SELECT {site}, (pg_current_xact_id()::text::bigint + n)::text::xid8, '{{4711}}',
                 now() - interval '90 minutes' * (n % 2)
             FROM generate_series(1, 50) AS n"
        ),
    )
    .await;
    let mut seen: String = value(
        &mut desk,
        &format!("SELECT seen FROM changes_since({site}, NULL)"),
    )
    .await;
    for n in 0..20 {
        test.hold(test.blue, hours(n, n + 1), None).await;
        let (now_seen, changes): (String, i64) =
            sqlx::query_as("SELECT seen, changes FROM changes_since($1, $2)")
                .bind(site)
                .bind(&seen)
                .fetch_one(&mut desk)
                .await
                .unwrap();
        assert!(changes >= 1, "the change of hold {n} was missed");
        seen = now_seen;
    }
    // Rows that were taken over count as new.
    let young: bool = value(
        &mut desk,
        "SELECT bool_and(at > now() - interval '1 hour') FROM change_log WHERE cardinality(claims) > 1",
    )
    .await;
    assert!(young);
}

#[tokio::test]
async fn a_picture_is_one_snapshot_in_one_statement() {
    let test = TestHouse::new().await;
    test.hold(test.blue, hours(0, 1), None).await;
    test.hold_stock(test.ticket, 2, None).await;
    let mut desk = test.database.connect().await;
    // While it is being read, somebody changes everything that it shows: held up at its clock, it shows none of it.
    run(
        &mut desk,
        "CREATE OR REPLACE FUNCTION keyrack.item_levels(p_site bigint, p_item bigint DEFAULT NULL) RETURNS TABLE (
             item_id bigint, item text, total integer, available integer, held integer, sold integer,
             retired_at timestamptz
         ) LANGUAGE plpgsql STABLE AS $$
         BEGIN
             PERFORM pg_advisory_lock(4711);
             PERFORM pg_advisory_unlock(4711);
             RETURN QUERY SELECT i.item_id, i.name, i.total, i.available, i.held, i.sold, i.retired_at
                 FROM keyrack.inventory AS i WHERE i.site_id = p_site ORDER BY i.item_id;
         END $$",
    )
    .await;
    let (mut gate, gate_backend) =
        open_transaction(&test, "SELECT pg_advisory_xact_lock(4711)").await;
    let reader = crate::Sent::blocked(
        &test,
        format!("snapshot({}, {}, {}, 50, 200)", test.site(), at(0), at(9)),
        &[gate_backend],
    )
    .await;
    run(
        &mut desk,
        "UPDATE slot_hold SET guest = 'Later'; UPDATE stock_hold SET guest = 'Later';
         UPDATE inventory SET name = name || ' later'; UPDATE room SET name = name || ' later';
         UPDATE site SET renewals = 987654321",
    )
    .await;
    run(&mut gate, "COMMIT").await;
    let picture = reader.answer().await.to_string();
    assert!(
        !picture.to_lowercase().contains("later") && !picture.contains("987654321"),
        "{picture}"
    );
}

#[tokio::test]
async fn a_console_sees_raw_sql_without_waiting_for_its_full_reading() {
    let test = TestHouse::new().await;
    let (events, mut heard) = mpsc::unbounded_channel();
    let _watch = test
        .house
        .watch(Desk("anna".into()), hours(0, 9), events, None);
    let mut stray = test.database.connect().await;
    let mut changed = false;
    let seen = tokio::time::timeout(Duration::from_secs(20), async {
        while let Some(event) = heard.recv().await {
            let WatchEvent::Snapshot(picture) = event else {
                continue;
            };
            if !changed {
                changed = true;
                run(
                    &mut stray,
                    "UPDATE room SET capacity = 77 WHERE name = 'Blue room'",
                )
                .await;
            } else if picture.rooms.iter().any(|room| room.capacity == 77) {
                return;
            }
        }
    });
    seen.await.unwrap();
}

#[tokio::test]
async fn a_transaction_that_touches_more_than_can_be_told_says_so_and_stays_fast() {
    let test = TestHouse::new().await;
    let mut stray = test.database.connect().await;
    let site = test.site();
    run(&mut stray, "BEGIN").await;
    for n in 0..6 {
        run(
            &mut stray,
            &format!(
                "INSERT INTO slot_hold (site_id, room_id, period, expires_at)
                 SELECT {site}, {}, tstzrange(begins, begins + interval '1 minute'), now() + interval '1 hour'
                 FROM generate_series(1, 300) AS k
                 CROSS JOIN LATERAL (SELECT {} + (k + 300 * {n}) * interval '2 minutes' AS begins) AS b",
                test.blue,
                at(0)
            ),
        )
        .await;
    }
    run(&mut stray, "COMMIT").await;
    let told: (Option<Vec<i64>>, Option<Vec<i64>>) =
        sqlx::query_as("SELECT claims, rooms FROM change_log ORDER BY transaction_id DESC LIMIT 1")
            .fetch_one(&mut stray)
            .await
            .unwrap();
    assert_eq!(told, (None, None));
    let changes: i64 = value(
        &mut stray,
        &format!("SELECT count(*) FROM change_log WHERE site_id = {site} AND claims IS NULL"),
    )
    .await;
    assert_eq!(changes, 1);
}
