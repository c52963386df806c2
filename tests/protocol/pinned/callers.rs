//! Functions run with their owner's rights, and events still say who asked (R25, R33).

use sqlx::postgres::PgConnection;

use super::{STRANGER, let_the_stranger_write, stranger};
use crate::support::TestHouse;
use crate::{at, run, until_due, value};

/// Asks for changes of every kind, an expiry among them, and says who the events name.
async fn named_in_events(
    test: &TestHouse,
    session: &mut PgConnection,
    schema: &str,
) -> Vec<String> {
    let mut observer = test.database.connect().await;
    let before: i64 = value(&mut observer, "SELECT max(event_id) FROM hold_event").await;
    let (site, blue, ticket) = (test.site(), test.blue, test.ticket);
    let id = "gen_random_uuid()";
    let hold: i64 = value(
        session,
        &format!(
            "SELECT ({schema}.hold_slot({site}, {id}, 'anna', {blue}, {}, {}, '0.05 seconds') -> 'slot' ->> 'hold_id')::bigint",
            at(0),
            at(1)
        ),
    )
    .await;
    until_due(&mut observer, "slot_hold", hold).await;
    for call in [
        format!("expire_slots({site})"),
        format!("hold_stock({site}, {id}, 'anna', {ticket}, 1, '0.05 seconds')"),
        format!("receive_stock({site}, {id}, 'anna', {ticket}, 1, 'delivery')"),
        format!("add_room({site}, {id}, 'anna', 'Room of {hold}')"),
        format!(
            "hold_group({site}, {id}, 'anna', '[]', '[{{\"item\": {ticket}, \"quantity\": 1}}]', '0.05 seconds')"
        ),
        format!("add_site({id}, 'anna', 'Site of {hold}', 'Europe/Paris')"),
    ] {
        run(session, &format!("SELECT {schema}.{call}")).await;
    }
    let events: i64 = value(
        &mut observer,
        &format!("SELECT count(*) FROM hold_event WHERE event_id > {before}"),
    )
    .await;
    assert!(events >= 7, "{events}");
    value(
        &mut observer,
        &format!(
            "SELECT array_agg(DISTINCT database_user) FROM hold_event WHERE event_id > {before}"
        ),
    )
    .await
}

#[tokio::test]
async fn r33_events_name_the_role_that_asked_and_else_the_sessions_user() {
    let test = TestHouse::new().await;
    let_the_stranger_write(&test).await;
    for schema in ["keyrack", "keyrack_step"] {
        let mut owner = test.database.connect().await;
        assert_eq!(
            named_in_events(&test, &mut owner, schema).await,
            ["keyrack"]
        );
        let mut by_login = stranger(&test).await;
        assert_eq!(
            named_in_events(&test, &mut by_login, schema).await,
            [STRANGER]
        );

        // A pool's session takes the role of whoever it works for, and lets go of it.
        let mut pool = test.database.connect_as_superuser().await;
        for (statement, expected) in [
            ("SET ROLE keyrack_stranger", STRANGER),
            ("SET ROLE none", "postgres"),
            ("SET ROLE keyrack", "keyrack"),
            ("RESET ROLE", "postgres"),
            ("SET SESSION AUTHORIZATION keyrack_stranger", STRANGER),
            ("RESET SESSION AUTHORIZATION", "postgres"),
        ] {
            run(&mut pool, statement).await;
            assert_eq!(
                named_in_events(&test, &mut pool, schema).await,
                [expected],
                "{statement}"
            );
        }
        // For one transaction only.
        run(&mut pool, "BEGIN").await;
        run(&mut pool, "SET LOCAL ROLE keyrack_stranger").await;
        run(
            &mut pool,
            &format!(
                "SELECT {schema}.add_room({}, gen_random_uuid(), 'anna', '{schema}')",
                test.site()
            ),
        )
        .await;
        run(&mut pool, "COMMIT").await;
        let named: String = value(
            &mut pool,
            &format!(
                "SELECT e.database_user FROM hold_event AS e JOIN room AS r USING (site_id, room_id) WHERE r.name = '{schema}'"
            ),
        )
        .await;
        assert_eq!(named, STRANGER);
    }
}
