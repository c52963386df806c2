//! `keyrack check`: after a corruption by hand it names the rule and the subject.

use keyrack::domain::Command;
use sqlx::postgres::PgConnection;

use crate::support::{TestHouse, hours};
use crate::{BRIEF, ask, at, call_on, run, until_due};

/// A house in which everything has happened once.
async fn lived_in() -> (TestHouse, PgConnection) {
    let test = TestHouse::new().await;
    let mut hands = test.database.connect().await;
    let site = test.site();
    let due = test.hold(test.garden, hours(0, 1), BRIEF).await.id;
    let stock_due = test.hold_stock(test.breakfast, 1, BRIEF).await.id;
    // Numbers 3 and 4: confirmed after an edit, and cancelled. Rooms and stock count together.
    let confirmed = test.hold(test.blue, hours(0, 1), None).await.id;
    ask(
        &mut hands,
        &format!("edit_slot({site}, gen_random_uuid(), 'anna', {confirmed}, 'Okafor')"),
    )
    .await;
    ask(&mut hands, &call_on(&test, "confirm_slot", confirmed.0)).await;
    let cancelled = test.hold(test.blue, hours(1, 2), None).await.id;
    ask(&mut hands, &call_on(&test, "cancel_slot", cancelled.0)).await;
    let held = test.hold(test.blue, hours(2, 3), None).await.id;
    assert_eq!((confirmed.0, cancelled.0, held.0), (3, 4, 5));
    let sold = test.hold_stock(test.ticket, 1, None).await.id;
    ask(&mut hands, &call_on(&test, "confirm_stock", sold.0)).await;
    let stock_held = test.hold_stock(test.ticket, 1, None).await.id;
    assert_eq!((sold.0, stock_held.0), (6, 7));
    test.ask(Command::ReceiveStock {
        item: test.ticket,
        quantity: 5,
        reason: "delivery".into(),
    })
    .await
    .outcome
    .unwrap();
    until_due(&mut hands, "slot_hold", due.0).await;
    until_due(&mut hands, "stock_hold", stock_due.0).await;
    (test, hands)
}

#[tokio::test]
async fn check_finds_nothing_wrong_in_a_house_that_was_lived_in() {
    let (test, _) = lived_in().await;
    // Before the sweep and after it.
    test.assert_all_is_well().await;
    assert_eq!(test.house.sweep(&test.desk).await.unwrap(), 2);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn check_names_the_rule_and_the_subject_of_every_corruption() {
    let (test, _) = lived_in().await;
    // The server's own tables are the superuser's.
    let mut hands = test.database.connect_as_superuser().await;
    let site = test.site();
    let (from, to) = (at(0), at(1));
    for (corruption, rule, subject) in [
        // Figures.
        ("UPDATE inventory SET available = available + 1 WHERE name = 'Museum ticket'".to_owned(), "R19", "item Museum ticket"),
        ("UPDATE inventory SET held = held + 1 WHERE name = 'Museum ticket'".into(), "R17", "item Museum ticket"),
        ("UPDATE inventory SET sold = sold - 1, available = available + 1 WHERE name = 'Museum ticket'".into(), "R17", "item Museum ticket"),
        (
            "ALTER TABLE inventory DROP CONSTRAINT inventory_available_not_negative;
             UPDATE inventory SET available = -1 WHERE name = 'Museum ticket'".into(),
            "R15",
            "item Museum ticket",
        ),
        // Movements.
        (
            "ALTER TABLE stock_movement DISABLE TRIGGER USER;
             UPDATE stock_movement SET change = change + 1 WHERE reason = 'delivery';
             ALTER TABLE stock_movement ENABLE TRIGGER USER".into(),
            "R19",
            "item Museum ticket",
        ),
        (
            "ALTER TABLE stock_movement DISABLE TRIGGER USER;
             DELETE FROM stock_movement WHERE reason = 'delivery';
             ALTER TABLE stock_movement ENABLE TRIGGER USER".into(),
            "R19",
            "item Museum ticket",
        ),
        // Claims written around the protocol.
        (
            format!("INSERT INTO slot_hold (site_id, hold_id, room_id, period, expires_at)
                VALUES ({site}, 77, {}, tstzrange({from}, {to}), now() + interval '1 hour')", test.studio),
            "R25",
            "room claim 77",
        ),
        (
            format!("INSERT INTO stock_hold (site_id, hold_id, item_id, quantity, expires_at)
                VALUES ({site}, 77, {}, 1, now() + interval '1 hour')", test.ticket),
            "R17",
            "item Museum ticket",
        ),
        (
            format!("INSERT INTO stock_hold (site_id, hold_id, item_id, quantity, expires_at)
                VALUES ({site}, 77, {}, 1, now() + interval '1 hour')", test.ticket),
            "R25",
            "stock claim 77",
        ),
        ("UPDATE slot_hold SET state = 'confirmed' WHERE hold_id = 5".into(), "R25", "room claim 5"),
        ("UPDATE slot_hold SET state = 'cancelled' WHERE hold_id = 3".into(), "R25", "room claim 3"),
        ("UPDATE stock_hold SET state = 'cancelled' WHERE hold_id = 7".into(), "R25", "stock claim 7"),
        ("UPDATE stock_hold SET state = 'cancelled' WHERE hold_id = 7".into(), "R17", "item Museum ticket"),
        // The same state, another guest: no event tells of it.
        ("UPDATE slot_hold SET guest = 'Somebody' WHERE hold_id = 5".into(), "R25", "room claim 5"),
        // An edge that does not exist, behind the guard's back.
        (
            "ALTER TABLE slot_hold DISABLE TRIGGER slot_hold_guard;
             UPDATE slot_hold SET state = 'confirmed' WHERE hold_id = 4;
             ALTER TABLE slot_hold ENABLE TRIGGER slot_hold_guard".into(),
            "R25",
            "room claim 4",
        ),
        // The same, with an event to cover it.
        (
            format!("ALTER TABLE slot_hold DISABLE TRIGGER slot_hold_guard;
             UPDATE slot_hold SET state = 'confirmed', version = version + 1 WHERE hold_id = 4;
             INSERT INTO hold_event (site_id, at, what, slot_hold_id, version, from_state, to_state, desk)
             VALUES ({site}, now(), 'confirmed', 4, 3, 'cancelled', 'confirmed', 'x');
             ALTER TABLE slot_hold ENABLE TRIGGER slot_hold_guard"),
            "R9",
            "room claim 4",
        ),
        // An edge that claims on rooms have and sales have not (R18), with an event to cover it.
        (
            format!("ALTER TABLE stock_hold DISABLE TRIGGER stock_hold_guard;
             UPDATE stock_hold SET state = 'cancelled', version = version + 1 WHERE hold_id = 6;
             INSERT INTO hold_event (site_id, at, what, stock_hold_id, version, from_state, to_state, quantity, desk)
             VALUES ({site}, now(), 'cancelled', 6, 3, 'confirmed', 'cancelled', 1, 'x');
             ALTER TABLE stock_hold ENABLE TRIGGER stock_hold_guard"),
            "R9",
            "stock claim 6",
        ),
        // Events removed: the last, the first, one in the middle that changed no state.
        (removed("what = 'confirmed' AND slot_hold_id = 3"), "R25", "room claim 3"),
        (removed("what = 'held' AND slot_hold_id = 3"), "R25", "room claim 3"),
        (removed("what = 'edited' AND slot_hold_id = 3"), "R25", "room claim 3"),
        (removed("what = 'held' AND stock_hold_id = 6"), "R25", "stock claim 6"),
        (removed("slot_hold_id = 5"), "R25", "room claim 5"),
        // One event altered in the middle of a life.
        (
            "ALTER TABLE hold_event DISABLE TRIGGER USER;
             UPDATE hold_event SET to_state = 'confirmed' WHERE what = 'held' AND slot_hold_id = 3;
             ALTER TABLE hold_event ENABLE TRIGGER USER".into(),
            "R25",
            "room claim 3",
        ),
        // Constraints dropped, and what they kept out let in.
        ("ALTER TABLE slot_hold DROP CONSTRAINT slot_hold_no_overlap".into(), "R1", "slot_hold_no_overlap"),
        (
            format!("ALTER TABLE slot_hold DROP CONSTRAINT slot_hold_no_overlap;
                INSERT INTO slot_hold (site_id, room_id, period, expires_at)
                VALUES ({site}, {}, tstzrange({from}, {to}), now() + interval '1 hour')", test.blue),
            "R1",
            "room Blue room",
        ),
        (
            "ALTER TABLE slot_hold DROP CONSTRAINT slot_hold_no_overlap;
             ALTER TABLE slot_hold ADD CONSTRAINT slot_hold_no_overlap
             EXCLUDE USING gist (site_id WITH =, room_id WITH =, occupied WITH &&) WHERE (state = 'confirmed')".into(),
            "R1",
            "slot_hold_no_overlap",
        ),
        // The same rule, held by a trigger in place of the index.
        (
            "ALTER TABLE slot_hold DROP CONSTRAINT slot_hold_no_overlap;
             ALTER TABLE slot_hold ADD CONSTRAINT slot_hold_no_overlap
             EXCLUDE USING gist (site_id WITH =, room_id WITH =, occupied WITH &&) WHERE (active) DEFERRABLE".into(),
            "R1",
            "slot_hold_no_overlap",
        ),
        // The index itself: there, and of no use.
        (
            "SET LOCAL allow_system_table_mods = on;
             UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'slot_hold_no_overlap'::regclass".into(),
            "R1",
            "slot_hold_no_overlap",
        ),
        (
            "SET LOCAL allow_system_table_mods = on;
             UPDATE pg_index SET indisready = false WHERE indexrelid = 'slot_hold_no_overlap'::regclass".into(),
            "R1",
            "slot_hold_no_overlap",
        ),
        // A claim that waits for its new place for ever (R14).
        (
            "ALTER TABLE slot_hold DISABLE TRIGGER slot_hold_between_places;
             UPDATE slot_hold SET period = tstzrange('9000-01-01 00:00+00', '9000-01-01 00:01+00') WHERE hold_id = 5;
             ALTER TABLE slot_hold ENABLE TRIGGER slot_hold_between_places".into(),
            "R14",
            "room claim 5",
        ),
        ("ALTER TABLE slot_hold DISABLE TRIGGER slot_hold_between_places".into(), "R14", "slot_hold_between_places"),
        // What counts as active is written by hand.
        (
            "ALTER TABLE slot_hold ALTER COLUMN active DROP EXPRESSION".into(),
            "R9",
            "slot_hold.active",
        ),
        (
            "ALTER TABLE slot_hold ALTER COLUMN active DROP EXPRESSION;
             ALTER TABLE slot_hold DISABLE TRIGGER slot_hold_guard;
             UPDATE slot_hold SET active = true WHERE hold_id = 4;
             ALTER TABLE slot_hold ENABLE TRIGGER slot_hold_guard".into(),
            "R9",
            "room claim 4",
        ),
        ("ALTER TABLE slot_hold DROP CONSTRAINT slot_hold_period".into(), "R2", "slot_hold_period"),
        (
            format!("ALTER TABLE slot_hold DROP CONSTRAINT slot_hold_period;
                INSERT INTO slot_hold (site_id, hold_id, room_id, period, expires_at)
                VALUES ({site}, 77, {}, tstzrange({from}, 'infinity'), now())", test.studio),
            "R2",
            "room claim 77",
        ),
        (
            format!("ALTER TABLE slot_hold ALTER COLUMN occupied DROP EXPRESSION;
                ALTER TABLE slot_hold DISABLE TRIGGER slot_hold_guard;
                UPDATE slot_hold SET occupied = tstzrange({from}, {from} + interval '1 minute') WHERE hold_id = 3;
                ALTER TABLE slot_hold ENABLE TRIGGER slot_hold_guard"),
            "R4",
            "room claim 3",
        ),
        ("ALTER TABLE inventory DROP CONSTRAINT inventory_available_not_negative".into(), "R15", "inventory_available_not_negative"),
        ("ALTER TABLE slot_hold DISABLE TRIGGER slot_hold_guard".into(), "R9", "slot_hold_guard"),
        ("DROP TRIGGER stock_hold_guard ON stock_hold".into(), "R9", "stock_hold_guard"),
        ("ALTER TABLE stock_hold DISABLE TRIGGER stock_hold_quantity_guard".into(), "R16", "stock_hold_quantity_guard"),
        ("ALTER TABLE hold_event DISABLE TRIGGER USER".into(), "R25", "hold_event_append_only"),
        ("ALTER TABLE stock_movement DISABLE TRIGGER USER".into(), "R19", "stock_movement_append_only"),
    ] {
        run(&mut hands, "BEGIN").await;
        run(&mut hands, &corruption).await;
        let found: Vec<(String, String, String)> =
            sqlx::query_as("SELECT rule, subject, problem FROM check_site($1)")
                .bind(site)
                .fetch_all(&mut hands)
                .await
                .unwrap();
        run(&mut hands, "ROLLBACK").await;
        let named = found.iter().find(|found| found.0 == rule && found.1 == subject);
        let Some((_, _, problem)) = named else {
            panic!("{corruption}\nnot found among {found:#?}")
        };
        assert!(problem.len() > 20, "says what is wrong: {problem}");
    }
    // All of it was rolled back.
    test.assert_all_is_well().await;
}

/// Removes events with the guard out of the way.
fn removed(which: &str) -> String {
    format!(
        "ALTER TABLE hold_event DISABLE TRIGGER USER;
         DELETE FROM hold_event WHERE {which};
         ALTER TABLE hold_event ENABLE TRIGGER USER"
    )
}

#[tokio::test]
async fn check_through_the_store_says_what_and_where() {
    let (test, mut hands) = lived_in().await;
    run(
        &mut hands,
        "UPDATE inventory SET available = 9 WHERE name = 'Museum ticket'",
    )
    .await;
    let problems = test.house.check().await.unwrap();
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].rule, "R19");
    assert_eq!(problems[0].subject, "item Museum ticket");
    assert_eq!(
        problems[0].problem,
        "the movements add up to 8, and available 9 + held 1 + sold 1 makes 11"
    );
}
