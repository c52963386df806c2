//! Every step has a gate, and nobody but a session in step mode sees them.

use sqlx::Executor;
use sqlx::postgres::PgConnection;

use crate::support::{Database, TestHouse, hold_slot, hours};
use crate::{begin, value};

/// Functions that write or lock and are no step of their own: whoever steps sees what they are made of, or there is
/// nothing to see. Whatever else does so needs a gate: `stepwise.put_gate` in the migration that adds it.
const NO_STEPS: [&str; 22] = [
    // What commands share: made of steps.
    "change_group",
    "change_slot",
    "change_stock",
    "claim_slot",
    "move_stock",
    // The frame of an answer: it is read, and the step remember_outcome is in it.
    "answer_group",
    "answer_item",
    "answer_slot",
    "answer_stock",
    "finish_group",
    "finish_item",
    "finish_room",
    "finish_slot",
    "finish_stock",
    // A part of recording, a look at the session's settings, a look at the calendar.
    "log_change",
    "require_read_committed",
    "period_problem",
    // Upkeep and whole houses, not part of a command.
    "prune_change_log",
    "set_default_site",
    "open_demo_site",
    "keep_demo_site",
    "remove_abandoned_demo_sites",
];

/// What counts as a step: a function that may write or lock, or whose answer decides (which those do that have a gate
/// already), and that is not a command, which says how it is called.
async fn steps_without_a_gate(connection: &mut PgConnection) -> Vec<String> {
    let mut without: Vec<String> = value(
        connection,
        "SELECT coalesce(array_agg(step.proname::text), '{}')
         FROM pg_proc AS step
         WHERE step.pronamespace = 'public'::regnamespace AND step.provolatile = 'v'
             AND step.prorettype <> 'trigger'::regtype AND obj_description(step.oid, 'pg_proc') IS NULL
             AND NOT EXISTS (
                 SELECT FROM pg_depend
                 WHERE objid = step.oid AND classid = 'pg_proc'::regclass AND deptype = 'e'
             )",
    )
    .await;
    without.retain(|name| !NO_STEPS.contains(&name.as_str()));
    without
}

/// Gates that no longer fit a step: another name, other arguments, other defaults, another result.
async fn gates_without_a_step(connection: &mut PgConnection) -> Vec<String> {
    value(
        connection,
        "SELECT coalesce(array_agg(gate.proname::text), '{}')
         FROM pg_proc AS gate
         WHERE gate.pronamespace = 'stepwise'::regnamespace AND gate.proname NOT IN ('reach', 'leave', 'put_gate')
             AND NOT EXISTS (
                 SELECT FROM pg_proc AS step
                 WHERE step.pronamespace = 'public'::regnamespace AND step.proname = gate.proname
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

    // A later migration adds a step.
    connection
        .execute(
            "CREATE FUNCTION lock_shelf(p_site bigint) RETURNS void LANGUAGE plpgsql AS 'BEGIN END'",
        )
        .await
        .unwrap();
    assert_eq!(steps_without_a_gate(&mut connection).await, ["lock_shelf"]);
    connection
        .execute("SELECT stepwise.put_gate('lock_shelf', 'Lock the shelf.')")
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

#[tokio::test]
async fn nothing_fixes_the_path_on_which_a_command_finds_its_steps() {
    let database = Database::migrated().await;
    let fixed: Vec<String> = value(
        &mut database.connect().await,
        "SELECT coalesce(array_agg(p.proname::text), '{}') FROM pg_proc AS p
         WHERE p.pronamespace = 'public'::regnamespace AND p.proconfig::text LIKE '%search_path%'",
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
        "SELECT refusal IS NULL FROM hold_slot({}, gen_random_uuid(), 'anna', {}, '{}', '{}')",
        test.site(),
        test.blue,
        hours(0, 2).start(),
        hours(0, 2).end()
    );
    let output = std::process::Command::new(psql)
        .args(["-X", "-A", "-t", "-q", &test.database.url()])
        .args(["-c", "SET search_path = stepwise, public", "-c", &call])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "t");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("lock_room(p_site => 1, p_room => 1)"),
        "{told}"
    );
    assert!(told.contains("place_slot returned 1"), "{told}");
}
