//! What every function of the protocol has in common.

use sqlx::postgres::PgConnection;

use crate::support::TestHouse;
use crate::{guard, run, try_run, value};

/// A call of every command with nothing but nulls: what is tried here is refused before any of them is looked at. A
/// command is what takes a request id and says how it is called, and is no step.
async fn commands(desk: &mut PgConnection) -> Vec<String> {
    value(
        desk,
        "SELECT array_agg(
             format('%s(%s)', proname, array_to_string(array_fill('NULL'::text, ARRAY[pronargs::integer]), ', '))
             ORDER BY proname
         )
         FROM pg_proc
         WHERE pronamespace = 'keyrack'::regnamespace AND 'p_request' = ANY (proargnames)
             AND prosecdef AND provolatile = 'v' AND obj_description(oid, 'pg_proc') IS NOT NULL",
    )
    .await
}

#[tokio::test]
async fn every_command_raises_under_another_isolation_level() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let commands = commands(&mut desk).await;
    assert!(commands.len() > 20, "{commands:?}");
    for level in ["REPEATABLE READ", "SERIALIZABLE"] {
        for call in &commands {
            run(&mut desk, &format!("BEGIN ISOLATION LEVEL {level}")).await;
            let outcome = try_run(&mut desk, &format!("SELECT * FROM {call}")).await;
            run(&mut desk, "ROLLBACK").await;
            assert_eq!(
                guard(outcome),
                "read_committed_only",
                "{call} under {level}"
            );
        }
    }
}

#[tokio::test]
async fn r21_a_command_needs_a_request_id() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    for call in commands(&mut desk).await {
        // What a sweep does, it does without being asked.
        if call.starts_with("expire_") {
            continue;
        }
        let outcome = try_run(&mut desk, &format!("SELECT * FROM {call}")).await;
        assert_eq!(guard(outcome), "request_id_given", "{call}");
    }
}

#[tokio::test]
async fn r29_every_key_begins_with_the_site() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    // The table of sites itself has two more: the name and the default are one a server. So are the requests that come
    // before there is a site, and the text in force.
    let elsewhere: Vec<String> = value(
        &mut desk,
        "SELECT coalesce(array_agg(c.conname::text), '{}')
         FROM pg_constraint AS c
         JOIN pg_class AS t ON t.oid = c.conrelid
         WHERE t.relnamespace = 'keyrack'::regnamespace AND t.relname <> '_sqlx_migrations'
             AND c.contype IN ('p', 'u', 'f', 'x')
             AND c.conname NOT IN ('site_name_unique', 'server_request_pkey', 'protocol_text_pkey')
             AND ((SELECT attname FROM pg_attribute WHERE attrelid = c.conrelid AND attnum = c.conkey[1]) <> 'site_id'
                 OR c.contype = 'f'
                 AND (SELECT attname FROM pg_attribute WHERE attrelid = c.confrelid AND attnum = c.confkey[1])
                     <> 'site_id')",
    )
    .await;
    assert_eq!(elsewhere, [""; 0]);
    let elsewhere: Vec<String> = value(
        &mut desk,
        "SELECT coalesce(array_agg(x.indexrelid::regclass::text), '{}')
         FROM pg_index AS x
         JOIN pg_class AS t ON t.oid = x.indrelid
         WHERE t.relnamespace = 'keyrack'::regnamespace AND t.relname <> '_sqlx_migrations'
             AND x.indexrelid::regclass::text NOT IN (
                 'site_name_unique', 'site_one_default', 'server_request_pkey', 'protocol_text_pkey'
             )
             AND (SELECT attname FROM pg_attribute WHERE attrelid = x.indrelid AND attnum = x.indkey[0]) <> 'site_id'",
    )
    .await;
    assert_eq!(elsewhere, [""; 0]);
    let without_a_key: Vec<String> = value(
        &mut desk,
        "SELECT coalesce(array_agg(t.relname::text), '{}') FROM pg_class AS t
         WHERE t.relnamespace = 'keyrack'::regnamespace AND t.relkind = 'r'
             AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.conrelid = t.oid AND c.contype = 'p')",
    )
    .await;
    assert_eq!(without_a_key, [""; 0]);
}

#[tokio::test]
async fn r29_the_site_is_the_first_argument_of_every_function_that_touches_rows() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    // Besides: pure helpers and triggers, which see no table, and what comes before there is a site, looks
    // after all that demos left, or puts the text in force.
    let elsewhere: Vec<String> = value(
        &mut desk,
        "SELECT coalesce(array_agg(p.proname::text ORDER BY p.proname::text), '{}')
         FROM pg_proc AS p
         WHERE p.pronamespace = 'keyrack'::regnamespace AND p.prorettype <> 'trigger'::regtype
             AND NOT EXISTS (
                 SELECT FROM pg_depend AS d WHERE d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
             )
             AND p.provolatile <> 'i'
             AND coalesce(p.proargnames[1], '') <> 'p_site'",
    )
    .await;
    assert_eq!(
        elsewhere,
        [
            "add_site",
            "apply_house",
            "begin_server_request",
            "default_site",
            "drop_left_over",
            "fingerprint_of",
            "list_sites",
            "open_demo_site",
            "open_site",
            "period_text",
            "put_view",
            "remove_abandoned_demo_sites",
            "require_read_committed",
            "site_time"
        ]
    );
}

#[tokio::test]
async fn every_function_that_a_person_may_call_says_how() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let silent: Vec<String> = value(
        &mut desk,
        "SELECT coalesce(array_agg(wanted), '{}')
         FROM unnest(ARRAY[
             'hold_slot', 'confirm_slot', 'cancel_slot', 'edit_slot', 'block_slot', 'import_slot', 'expire_slots',
             'hold_stock', 'confirm_stock', 'cancel_stock', 'expire_stock', 'receive_stock', 'adjust_stock',
             'sweep_turn', 'changes_since', 'check_site'
         ]) AS wanted
         WHERE NOT EXISTS (
             SELECT FROM pg_proc WHERE proname = wanted AND obj_description(oid, 'pg_proc') LIKE '%' || wanted || '(%'
         )",
    )
    .await;
    assert_eq!(silent, [""; 0]);
}
