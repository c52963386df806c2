//! The tests catch what they claim to: bugs that are planted in a test's database only, each of which must be found by a
//! check that finds nothing without it.

use sqlx::{AssertSqlSafe, Executor};

use crate::explorer::{self, Case, Extent, Lot};
use crate::space::pair;
use crate::stage::Stage;
use crate::support::Database;

/// How many schedules a bug may take to be found.
const MANY: usize = 300;

/// A bug, and the case that is to find it.
struct Bug {
    name: &'static str,
    /// What is replaced in the source of which functions.
    replaced: &'static [(&'static str, &'static str, &'static str)],
    /// What else stands in its way, and is weakened under the same name.
    weakened: &'static [&'static str],
    case: Case,
}

fn bugs() -> Vec<Bug> {
    vec![
        Bug {
            name: "the room is not locked",
            replaced: &[("lock_room", " FOR NO KEY UPDATE", "")],
            weakened: &[],
            case: pair("free", "group", "hold group", "hold group reversed", false),
        },
        Bug {
            name: "the room is not locked, and the constraint holds nothing",
            replaced: &[("lock_room", " FOR NO KEY UPDATE", "")],
            weakened: &[
                "ALTER TABLE slot_hold DROP CONSTRAINT slot_hold_no_overlap",
                "ALTER TABLE slot_hold ADD CONSTRAINT slot_hold_no_overlap
                 EXCLUDE USING gist (site_id WITH =, room_id WITH =, occupied WITH &&)
                 WHERE (active AND false)",
            ],
            case: pair("free", "room", "hold", "block", false),
        },
        Bug {
            name: "the item is not locked",
            replaced: &[("lock_item", " FOR NO KEY UPDATE", "")],
            weakened: &[],
            case: pair("held", "item", "hold one", "adjust", false),
        },
        Bug {
            name: "the beginning of the transaction for the clock",
            replaced: &[("change_slot", "site_clock(v_site)", "stage.now()")],
            weakened: &[],
            case: pair("held", "room", "confirm", "sweep", true),
        },
        Bug {
            name: "a late confirm is not refused",
            replaced: &[
                (
                    "change_slot",
                    "EXIT WHEN v_hold.state <> 'held' OR v_hold.expires_at > v_now;",
                    "EXIT;",
                ),
                (
                    "guard_claim",
                    "NEW.state = 'confirmed' AND NEW.changed_at >= OLD.expires_at",
                    "false",
                ),
            ],
            weakened: &[],
            case: pair("held", "room", "confirm", "sweep", true),
        },
        Bug {
            name: "what is due is left out by the reader, and stays held",
            replaced: &[
                ("expire_room", "BEGIN\n", "BEGIN\n    RETURN 0;\n"),
                (
                    "find_slot_conflict",
                    "AND hold_id",
                    "AND NOT (state = 'held' AND expires_at <= site_clock(NULL)) AND hold_id",
                ),
            ],
            weakened: &[],
            case: pair("held", "room", "hold", "block", true),
        },
        Bug {
            name: "units are given back whoever won",
            replaced: &[
                (
                    "stock_ended_or_stale",
                    "p_hold.state = 'cancelled'",
                    "false",
                ),
                (
                    "change_stock",
                    "hold_id = p_hold\n    RETURNING",
                    "hold_id = p_hold AND state = 'held'\n    RETURNING",
                ),
            ],
            weakened: &["ALTER TABLE inventory DROP CONSTRAINT inventory_committed_not_negative"],
            case: pair("held", "item", "cancel", "cancel", false),
        },
        Bug {
            name: "a sale gives its units back",
            replaced: &[("settle_stock", "WHEN 'cancelled'", "WHEN p_to")],
            weakened: &[],
            case: pair("held", "item", "confirm", "hold", false),
        },
        Bug {
            name: "stock is taken without a condition",
            replaced: &[("take_stock", " AND available >= p_quantity", "")],
            weakened: &[
                "ALTER TABLE inventory DROP CONSTRAINT inventory_available_not_negative",
                "ALTER TABLE inventory ADD CONSTRAINT inventory_available_not_negative CHECK (available > -100)",
            ],
            case: pair("held", "item", "hold", "hold one", false),
        },
        Bug {
            name: "periods include their end",
            replaced: &[("place_slot", "'[)'", "'[]'")],
            weakened: &[
                "ALTER TABLE slot_hold DROP CONSTRAINT slot_hold_period",
                "ALTER TABLE slot_hold ADD CONSTRAINT slot_hold_period CHECK (NOT isempty(period))",
            ],
            case: pair("free", "room", "hold", "block", false),
        },
        Bug {
            name: "an event is lost",
            replaced: &[("record_slot", "BEGIN\n", "BEGIN\n    RETURN;\n")],
            weakened: &[],
            case: pair("held", "room", "edit", "cancel", false),
        },
        Bug {
            name: "a refusal is not remembered",
            replaced: &[("remember_outcome", "BEGIN\n", "BEGIN\n    RETURN;\n")],
            weakened: &[],
            case: pair("confirmed", "room", "hold", "cancel", false),
        },
        Bug {
            name: "the same request again is taken for a new one",
            replaced: &[("begin_request", "IF FOUND THEN", "IF true THEN")],
            weakened: &[],
            case: Case {
                twins: true,
                ..pair("free", "room", "hold", "hold", false)
            },
        },
        Bug {
            name: "a group locks in the order of its lines",
            replaced: &[(
                "lock_rooms_and_items",
                "SELECT DISTINCT wanted FROM unnest(p_rooms) AS wanted ORDER BY wanted",
                "SELECT wanted FROM unnest(p_rooms) AS wanted",
            )],
            weakened: &[],
            case: pair("free", "group", "hold group", "hold group reversed", false),
        },
        Bug {
            name: "the version is not looked at",
            replaced: &[(
                "slot_ended_or_stale",
                "p_expect_version <> p_hold.version",
                "false",
            )],
            weakened: &[],
            case: pair("confirmed", "room", "edit", "edit", false),
        },
        Bug {
            name: "a moved claim is in its own way",
            replaced: &[("move_slot", "v_occupied, ARRAY[p_hold]", "v_occupied, '{}'")],
            weakened: &[],
            case: pair("confirmed", "room", "stretch", "edit", false),
        },
        Bug {
            name: "an exchange leaves a claim between two places",
            replaced: &[(
                "exchange_slots",
                "hold_id = p_first.hold_id;\n    RETURN true",
                "hold_id = p_first.hold_id AND false;\n    RETURN true",
            )],
            weakened: &[],
            case: pair("confirmed", "room", "swap", "edit", false),
        },
        Bug {
            name: "an exchange leaves a claim between two places, and nobody minds",
            replaced: &[(
                "exchange_slots",
                "hold_id = p_first.hold_id;\n    RETURN true",
                "hold_id = p_first.hold_id AND false;\n    RETURN true",
            )],
            weakened: &["DROP TRIGGER slot_hold_between_places ON slot_hold"],
            case: pair("confirmed", "room", "swap", "edit", false),
        },
    ]
}

#[tokio::test]
async fn every_planted_bug_is_found() {
    let mut healthy = Stage::new().await;
    let mut missed = Vec::new();
    for bug in bugs() {
        let case = &bug.case;
        let serial = match explorer::serial_results(&mut healthy, case).await {
            Ok(serial) => serial,
            Err(failure) => panic!("{failure}"),
        };
        let some = Extent::Sample(8);
        if let Err(failure) = explorer::explore(&mut healthy, case, &serial, some, Lot(0)).await {
            panic!("Without the bug: {failure}");
        }
        let mut stage = Stage::altered(&plant(&mut healthy, &bug).await).await;
        let many = Extent::Sample(MANY);
        match explorer::explore(&mut stage, case, &serial, many, Lot(1)).await {
            Ok(_) => missed.push(bug.name),
            Err(failure) => {
                let how = failure
                    .problem
                    .unwrap_or_else(|| "no serial order comes to this".into());
                println!(
                    "{} | {case}, schedule {} | {how}",
                    bug.name, failure.schedules
                );
            }
        }
    }
    assert!(missed.is_empty(), "Not found: {missed:?}");
}

/// The statements that plant a bug. Every replacement must have something to replace.
async fn plant(healthy: &mut Stage, bug: &Bug) -> Vec<String> {
    let mut statements: Vec<String> = bug.weakened.iter().map(|&s| s.to_owned()).collect();
    for (function, old, new) in bug.replaced {
        let source = healthy.source(function).await;
        assert!(
            source.contains(old),
            "{}: {function} has no {old}",
            bug.name
        );
        statements.push(source.replace(old, new));
    }
    statements
}

#[tokio::test]
async fn a_change_log_in_the_order_of_a_sequence_is_found() {
    let database = Database::migrated().await;
    let mut connection = database.connect().await;
    assert_eq!(changes_of_a_late_commit(&database).await, 1);

    connection
        .execute(
            "CREATE OR REPLACE FUNCTION keyrack.changes_since(
                 p_site bigint, p_seen text, OUT seen text, OUT now timestamptz, OUT changes bigint
             )
             LANGUAGE sql STABLE
             AS $$
                 SELECT max(transaction_id::text::bigint)::text, clock_timestamp(),
                     count(*) FILTER (WHERE transaction_id::text::bigint > p_seen::bigint)
                 FROM keyrack.change_log WHERE site_id = p_site
             $$",
        )
        .await
        .unwrap();
    assert_eq!(changes_of_a_late_commit(&database).await, 0);
}

/// How many changes a console sees of a transaction that wrote to the change log before another one, and committed after
/// it and after the console had looked.
async fn changes_of_a_late_commit(database: &Database) -> i64 {
    let mut late = database.connect().await;
    let mut console = database.connect().await;
    let site: i64 = sqlx::query_scalar(
        "SELECT (add_site(gen_random_uuid(), 'anna', gen_random_uuid()::text, 'UTC') #>> '{site,site_id}')::bigint",
    )
    .fetch_one(&mut console)
    .await
    .unwrap();
    let start: String = sqlx::query_scalar("SELECT seen FROM changes_since($1, NULL)")
        .bind(site)
        .fetch_one(&mut console)
        .await
        .unwrap();
    let log = format!("SELECT note_change({site}, '{{}}', '{{}}', '{{}}')");
    late.execute("BEGIN").await.unwrap();
    late.execute(AssertSqlSafe(log.clone())).await.unwrap();
    console.execute(AssertSqlSafe(log)).await.unwrap();
    let look = "SELECT seen, changes FROM changes_since($1, $2)";
    let (seen, changes): (String, i64) = sqlx::query_as(look)
        .bind(site)
        .bind(&start)
        .fetch_one(&mut console)
        .await
        .unwrap();
    assert_eq!(changes, 1);
    late.execute("COMMIT").await.unwrap();
    let (_, changes): (String, i64) = sqlx::query_as(look)
        .bind(site)
        .bind(seen)
        .fetch_one(&mut console)
        .await
        .unwrap();
    changes
}
