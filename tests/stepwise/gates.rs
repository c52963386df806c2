//! Every step has a gate, and nobody but a session in step mode sees them.

use std::collections::BTreeMap;

use serde_json::Value;
use sqlx::Executor;
use sqlx::postgres::PgConnection;

use crate::support::{Database, TestHouse, hold_slot, hours};
use crate::{begin, value};

/// Functions that may write or lock and are no step of their own: whoever steps sees what they are made of, or there is
/// nothing to see. Whatever else does so needs a gate: `keyrack_step.put_gate` in `15_step_mode.sql`.
const NO_STEPS: [&str; 17] = [
    // What commands share: made of steps.
    "change_group",
    "change_slot",
    "change_stock",
    "claim_slot",
    "lock_group",
    "move_stock",
    // The frame of an answer: it is read, and the step remember_outcome is in it.
    "answer",
    "finish",
    // A look at the session's settings, at the clock, at the calendar.
    "require_read_committed",
    "site_clock",
    "period_problem",
    // A part of recording what was changed, whoever did it.
    "note_change",
    // A house that is described: a new item with what it opens with, and the frame of commands without a site.
    "place_item",
    "begin_server_request",
    "finish_server_request",
    // Called while the text is put in force, and never by a command.
    "put_view",
    "drop_left_over",
];

/// What counts as a step: a function that may write or lock, or whose answer decides (which those do that have a gate
/// already), and that is not a command, which everybody may call.
async fn steps_without_a_gate(connection: &mut PgConnection) -> Vec<String> {
    let found: Vec<String> = value(
        connection,
        "SELECT coalesce(array_agg(step.proname::text), '{}')
         FROM pg_proc AS step
         WHERE step.pronamespace = 'keyrack'::regnamespace AND step.provolatile = 'v' AND NOT step.prosecdef
             AND step.prorettype <> 'trigger'::regtype AND obj_description(step.oid, 'pg_proc') IS NULL
             AND NOT EXISTS (
                 SELECT FROM pg_depend
                 WHERE objid = step.oid AND classid = 'pg_proc'::regclass AND deptype = 'e'
             )",
    )
    .await;
    // The list names nothing else.
    for name in NO_STEPS {
        assert!(found.iter().any(|found| found == name), "{name}");
    }
    let without = found.into_iter();
    without
        .filter(|name| !NO_STEPS.contains(&name.as_str()))
        .collect()
}

/// Gates that no longer fit a step: another name, other arguments, other defaults, another result.
async fn gates_without_a_step(connection: &mut PgConnection) -> Vec<String> {
    value(
        connection,
        "SELECT coalesce(array_agg(gate.proname::text), '{}')
         FROM pg_proc AS gate
         WHERE gate.pronamespace = 'keyrack_step'::regnamespace AND NOT gate.prosecdef
             AND gate.proname NOT IN ('reach', 'leave', 'put_gate', 'copy_entries')
             AND NOT EXISTS (
                 SELECT FROM pg_proc AS step
                 WHERE step.pronamespace = 'keyrack'::regnamespace AND step.proname = gate.proname
                     AND pg_get_function_arguments(step.oid) = pg_get_function_arguments(gate.oid)
                     AND pg_get_function_result(step.oid) = pg_get_function_result(gate.oid)
                     AND obj_description(step.oid, 'pg_proc') IS NOT NULL
             )",
    )
    .await
}

#[tokio::test]
async fn every_step_has_a_gate_and_one_without_is_found() {
    let database = Database::migrated().await;
    let mut connection = database.connect().await;
    assert_eq!(steps_without_a_gate(&mut connection).await, [""; 0]);
    assert_eq!(gates_without_a_step(&mut connection).await, [""; 0]);

    // A later text adds a step.
    connection
        .execute(
            "CREATE FUNCTION keyrack.lock_shelf(p_site bigint) RETURNS void LANGUAGE plpgsql AS 'BEGIN END'",
        )
        .await
        .unwrap();
    assert_eq!(steps_without_a_gate(&mut connection).await, ["lock_shelf"]);
    connection
        .execute("SELECT keyrack_step.put_gate('lock_shelf', 'Lock the shelf.')")
        .await
        .unwrap();
    assert_eq!(steps_without_a_gate(&mut connection).await, [""; 0]);

    // Another changes the arguments of one.
    connection
        .execute("ALTER FUNCTION lock_shelf(bigint) RENAME TO lock_shelves")
        .await
        .unwrap();
    assert_eq!(gates_without_a_step(&mut connection).await, ["lock_shelf"]);
}

/// Commands, and what the sweep calls: their text, and the path on which it finds its steps.
async fn commands(connection: &mut PgConnection, schema: &str) -> BTreeMap<String, Value> {
    let found: Value = value(
        connection,
        &format!(
            "SELECT jsonb_object_agg(
                 proname || pg_get_function_arguments(oid) || pg_get_function_result(oid),
                 jsonb_build_object('text', prosrc, 'path', array_to_string(proconfig, ' '))
             )
             FROM pg_proc
             WHERE pronamespace = '{schema}'::regnamespace AND prosecdef AND provolatile = 'v'
                 AND 'p_request' = ANY (proargnames)"
        ),
    )
    .await;
    serde_json::from_value(found).unwrap()
}

#[tokio::test]
async fn a_command_is_there_twice_of_the_same_text_and_only_one_of_them_finds_gates() {
    let database = Database::migrated().await;
    let mut connection = database.connect().await;
    let plain = commands(&mut connection, "keyrack").await;
    let stepped = commands(&mut connection, "keyrack_step").await;
    assert!(plain.len() > 20, "{}", plain.len());
    assert!(plain.keys().eq(stepped.keys()), "{plain:#?} {stepped:#?}");
    for (name, plain) in &plain {
        assert_eq!(plain["text"], stepped[name]["text"], "{name}");
        assert_eq!(
            plain["path"], "search_path=pg_catalog, keyrack, pg_temp",
            "{name}"
        );
        assert_eq!(
            stepped[name]["path"], "search_path=pg_catalog, keyrack_step, keyrack, pg_temp",
            "{name}"
        );
    }
    // What they are made of has no path of its own, so that it finds its steps where they do.
    let fixed: Vec<String> = value(
        &mut connection,
        "SELECT coalesce(array_agg(p.proname::text), '{}') FROM pg_proc AS p
         WHERE p.pronamespace IN ('keyrack'::regnamespace, 'keyrack_step'::regnamespace) AND NOT p.prosecdef
             AND p.proconfig::text LIKE '%search_path%'",
    )
    .await;
    assert_eq!(fixed, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_not_in_step_mode_meets_no_gate() {
    let test = TestHouse::new().await;
    let stepwise = begin(&test.house, "anna", hold_slot(test.blue, hours(0, 2), None)).await;
    // The house's own connections answer as always while one stands.
    test.hold(test.garden, hours(0, 2), None).await;
    test.hold(test.blue, hours(0, 2), None).await;
    stepwise.roll_back().await;
}

#[tokio::test]
async fn at_a_prompt_the_steps_are_told_and_nothing_stops() {
    let test = TestHouse::new().await;
    let Some(psql) = test.database.client_program("psql") else {
        // A server without client programs, as in CI's newer one.
        return;
    };
    let call = format!(
        "SELECT keyrack_step.hold_slot({}, gen_random_uuid(), 'anna', {}, '{}', '{}') -> 'refusal'",
        test.site(),
        test.blue,
        hours(0, 2).start(),
        hours(0, 2).end()
    );
    let output = std::process::Command::new(psql)
        .args(["-X", "-A", "-t", "-q", &test.database.url()])
        .args(["-c", &call])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "null");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("lock_room(p_site => 1, p_room => 1)"),
        "{told}"
    );
    assert!(told.contains("place_slot returned 1"), "{told}");
}
