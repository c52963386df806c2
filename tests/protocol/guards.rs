//! What the database refuses to every writer, whether it follows the protocol or not.

use sqlx::postgres::PgConnection;

use crate::support::{TestHouse, hours};
use crate::{at, guard, run, try_run, value};

const STATES: [&str; 4] = ["held", "confirmed", "cancelled", "expired"];

struct Table {
    name: &'static str,
    /// Columns and values that a row needs.
    columns: &'static str,
    allowed: &'static [(&'static str, &'static str)],
}

const TABLES: [Table; 2] = [
    Table {
        name: "slot_hold",
        columns: "room_id, period",
        allowed: &[
            ("held", "confirmed"),
            ("held", "cancelled"),
            ("held", "expired"),
            ("confirmed", "cancelled"),
        ],
    },
    Table {
        name: "stock_hold",
        columns: "item_id, quantity",
        allowed: &[
            ("held", "confirmed"),
            ("held", "cancelled"),
            ("held", "expired"),
        ],
    },
];

impl Table {
    fn values(&self, test: &TestHouse) -> String {
        match self.name {
            "slot_hold" => format!("{}, tstzrange({}, {})", test.blue, at(0), at(1)),
            _ => format!("{}, 1", test.ticket),
        }
    }

    /// A claim that has come to this state by plain SQL, with a deadline that lies ahead or behind.
    async fn claim(
        &self,
        connection: &mut PgConnection,
        test: &TestHouse,
        state: &str,
        due: bool,
    ) -> i64 {
        let deadline = if due {
            "now()"
        } else {
            "now() + interval '1 hour'"
        };
        let hold: i64 = value(
            connection,
            &format!(
                "INSERT INTO {} (site_id, expires_at, {}) VALUES ({}, {deadline}, {}) RETURNING hold_id",
                self.name,
                self.columns,
                test.site(),
                self.values(test)
            ),
        )
        .await;
        if state != "held" {
            run(
                connection,
                &format!(
                    "UPDATE {} SET state = '{state}' WHERE hold_id = {hold}",
                    self.name
                ),
            )
            .await;
        }
        hold
    }
}

#[tokio::test]
async fn r9_allowed_edges_work_and_every_other_is_refused() {
    let test = TestHouse::new().await;
    let mut stray = test.database.connect().await;
    for table in &TABLES {
        for from in STATES {
            for to in STATES.into_iter().filter(|to| *to != from) {
                let due = to == "expired" && from == "held" || from == "expired";
                run(&mut stray, "BEGIN").await;
                let hold = table.claim(&mut stray, &test, from, due).await;
                let update = format!(
                    "UPDATE {} SET state = '{to}' WHERE hold_id = {hold}",
                    table.name
                );
                let outcome = try_run(&mut stray, &update).await;
                run(&mut stray, "ROLLBACK").await;
                let edge = format!("{} {from} to {to}", table.name);
                if table.allowed.contains(&(from, to)) {
                    assert_eq!(outcome.unwrap(), 1, "{edge}");
                } else {
                    let expected = match from {
                        "cancelled" | "expired" => "ended",
                        _ => "edge",
                    };
                    assert_eq!(
                        guard(outcome),
                        format!("{}_{expected}", table.name),
                        "{edge}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn r9_a_claim_begins_held_or_confirmed_where_it_is_a_block_or_an_import() {
    let test = TestHouse::new().await;
    let mut stray = test.database.connect().await;
    for table in &TABLES {
        for state in STATES {
            for (purpose, imported) in [
                ("guest", false),
                ("guest", true),
                ("block", false),
                ("block", true),
            ] {
                if table.name == "stock_hold" && purpose == "block" {
                    continue;
                }
                let (column, word) = match table.name {
                    "slot_hold" => ("purpose, ", format!("'{purpose}', ")),
                    _ => ("", String::new()),
                };
                let insert = format!(
                    "INSERT INTO {} (site_id, state, imported, expires_at, {column}{})
                     VALUES ({}, '{state}', {imported}, now(), {word}{})",
                    table.name,
                    table.columns,
                    test.site(),
                    table.values(&test)
                );
                run(&mut stray, "BEGIN").await;
                let outcome = try_run(&mut stray, &insert).await;
                run(&mut stray, "ROLLBACK").await;
                let fine =
                    state == "held" || state == "confirmed" && (imported || purpose == "block");
                if fine {
                    assert_eq!(outcome.unwrap(), 1, "{insert}");
                } else {
                    assert_eq!(
                        guard(outcome),
                        format!("{}_begins_held", table.name),
                        "{insert}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn r9_unknown_states_and_missing_deadlines_are_refused() {
    let test = TestHouse::new().await;
    let mut stray = test.database.connect().await;
    for table in &TABLES {
        let hold = table.claim(&mut stray, &test, "held", false).await;
        for (change, expected) in [
            ("state = 'lost'", format!("{}_edge", table.name)),
            ("state = NULL", "23502".into()),
            ("expires_at = NULL", format!("{}_deadline", table.name)),
            (
                "expires_at = 'infinity'",
                format!("{}_deadline", table.name),
            ),
            (
                "expires_at = '-infinity'",
                format!("{}_deadline", table.name),
            ),
            ("renewals = -1", format!("{}_renewals", table.name)),
        ] {
            let update = format!("UPDATE {} SET {change} WHERE hold_id = {hold}", table.name);
            assert_eq!(
                guard(try_run(&mut stray, &update).await),
                expected,
                "{update}"
            );
        }
    }
}

#[tokio::test]
async fn r9_ended_claims_stay_as_they_are_and_nothing_is_deleted() {
    let test = TestHouse::new().await;
    let mut stray = test.database.connect().await;
    for table in &TABLES {
        for (state, due) in [("cancelled", false), ("expired", true)] {
            let hold = table.claim(&mut stray, &test, state, due).await;
            for change in [
                "note = 'again'",
                "guest = 'x'",
                "expires_at = now()",
                "version = 9",
                "desk = 'x'",
            ] {
                let update = format!("UPDATE {} SET {change} WHERE hold_id = {hold}", table.name);
                assert_eq!(
                    guard(try_run(&mut stray, &update).await),
                    format!("{}_ended", table.name)
                );
            }
            let delete = format!("DELETE FROM {} WHERE hold_id = {hold}", table.name);
            assert_eq!(
                guard(try_run(&mut stray, &delete).await),
                format!("{}_is_kept", table.name)
            );
        }
        let hold = table.claim(&mut stray, &test, "held", false).await;
        let delete = format!("DELETE FROM {} WHERE hold_id = {hold}", table.name);
        assert_eq!(
            guard(try_run(&mut stray, &delete).await),
            format!("{}_is_kept", table.name)
        );
        for change in [
            "hold_id = 99",
            "site_id = 99",
            "imported = true",
            "created_at = now()",
        ] {
            let update = format!("UPDATE {} SET {change} WHERE hold_id = {hold}", table.name);
            assert_eq!(
                guard(try_run(&mut stray, &update).await),
                format!("{}_identity", table.name)
            );
        }
        let truncate = format!("TRUNCATE {} CASCADE", table.name);
        assert!(guard(try_run(&mut stray, &truncate).await).ends_with("_append_only"));
    }
}

#[tokio::test]
async fn r16_what_was_claimed_of_stock_does_not_change() {
    let test = TestHouse::new().await;
    let mut stray = test.database.connect().await;
    let hold = test.hold_stock(test.ticket, 2, None).await.id;
    for change in [
        "quantity = 1".to_owned(),
        format!("item_id = {}", test.breakfast),
    ] {
        let update = format!("UPDATE stock_hold SET {change} WHERE hold_id = {hold}");
        assert_eq!(
            guard(try_run(&mut stray, &update).await),
            "stock_hold_quantity_is_kept"
        );
    }
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r25_records_are_append_only() {
    let test = TestHouse::new().await;
    let mut stray = test.database.connect().await;
    test.hold(test.blue, hours(0, 1), None).await;
    for table in ["hold_event", "stock_movement"] {
        for statement in [
            format!("UPDATE {table} SET reason = 'another'"),
            format!("DELETE FROM {table}"),
            format!("TRUNCATE {table}"),
        ] {
            assert_eq!(
                guard(try_run(&mut stray, &statement).await),
                format!("{table}_append_only")
            );
        }
    }
}

#[tokio::test]
async fn r5_a_zone_that_the_database_does_not_know_is_refused() {
    let test = TestHouse::new().await;
    let mut stray = test.database.connect().await;
    // An abbreviation is known, and each session may read it as it likes (R33).
    for zone in [
        "Europe/Atlantis",
        "",
        "+02",
        "-3",
        "IST",
        "PST",
        "europe/london",
        "posix/Europe/London",
        "localtime",
    ] {
        let update = format!("UPDATE site SET time_zone = '{zone}'");
        assert_eq!(
            guard(try_run(&mut stray, &update).await),
            "site_time_zone",
            "{zone}"
        );
    }
}
