//! What every function of the protocol has in common.

use crate::support::{TestHouse, hours};
use crate::{at, guard, run, try_run, value};

/// Every command with arguments that would work.
fn commands(test: &TestHouse, slot: i64, stock: i64) -> Vec<String> {
    let (site, blue, ticket) = (test.site(), test.blue, test.ticket);
    let id = "gen_random_uuid()";
    let (from, to) = (at(4), at(5));
    vec![
        format!("hold_slot({site}, {id}, 'anna', {blue}, {from}, {to})"),
        format!("block_slot({site}, {id}, 'anna', {blue}, {from}, {to}, 'paint')"),
        format!("import_slot({site}, {id}, 'anna', {blue}, {from}, {to})"),
        format!("confirm_slot({site}, {id}, 'anna', {slot})"),
        format!("cancel_slot({site}, {id}, 'anna', {slot})"),
        format!("edit_slot({site}, {id}, 'anna', {slot}, 'Okafor')"),
        format!("hold_stock({site}, {id}, 'anna', {ticket}, 1)"),
        format!("confirm_stock({site}, {id}, 'anna', {stock})"),
        format!("cancel_stock({site}, {id}, 'anna', {stock})"),
        format!("receive_stock({site}, {id}, 'anna', {ticket}, 1, 'delivery')"),
        format!("adjust_stock({site}, {id}, 'anna', {ticket}, 1, 'count')"),
        format!("renew_slot({site}, {id}, 'anna', {slot})"),
        format!("move_slot({site}, {id}, 'anna', {slot}, {blue})"),
        format!("swap_slots({site}, {id}, 'anna', {slot}, {slot})"),
        format!("renew_stock({site}, {id}, 'anna', {stock})"),
        format!(
            "hold_group({site}, {id}, 'anna', '[]', '[{{\"item\": {ticket}, \"quantity\": 1}}]')"
        ),
        format!("confirm_group({site}, {id}, 'anna', 1)"),
        format!("renew_group({site}, {id}, 'anna', 1)"),
        format!("cancel_group({site}, {id}, 'anna', 1)"),
        format!("add_room({site}, {id}, 'anna', 'Attic')"),
        format!("retire_room({site}, {id}, 'anna', {blue})"),
        format!("add_item({site}, {id}, 'anna', 'Parking day', 1)"),
        format!("retire_item({site}, {id}, 'anna', {ticket})"),
        format!("expire_slots({site})"),
        format!("expire_stock({site})"),
        format!("add_site({id}, 'anna', 'Annex', 'Europe/Paris')"),
        format!("default_site({id}, 'anna', {site})"),
        format!(
            "apply_house({id}, 'anna', '{{\"site\": {{\"name\": \"Test House\", \"time_zone\": \"Europe/London\"}}}}')"
        ),
    ]
}

fn name(call: &str) -> String {
    call.split('(').next().unwrap().to_owned()
}

#[tokio::test]
async fn every_command_raises_under_another_isolation_level() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let slot = test.hold(test.garden, hours(0, 1), None).await.id.0;
    let stock = test.hold_stock(test.breakfast, 1, None).await.id.0;
    let commands = commands(&test, slot, stock);

    // No command is left out of the list above: whatever takes a request id and says how it is called, and is no step.
    let mut known: Vec<String> = commands.iter().map(|call| name(call)).collect();
    known.sort();
    let found: Vec<String> = value(
        &mut desk,
        "SELECT array_agg(DISTINCT proname::text ORDER BY proname::text) FROM pg_proc AS p
         WHERE pronamespace = 'keyrack'::regnamespace AND 'p_request' = ANY (proargnames)
             AND prosecdef AND provolatile = 'v' AND obj_description(oid, 'pg_proc') IS NOT NULL",
    )
    .await;
    assert_eq!(known, found);

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
    // And the other way round: the list is of calls that work.
    for call in &commands[..commands.len() - 1] {
        run(&mut desk, "BEGIN").await;
        run(&mut desk, &format!("SELECT * FROM {call}")).await;
        run(&mut desk, "ROLLBACK").await;
    }
}

#[tokio::test]
async fn r21_a_command_needs_a_request_id() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    for call in commands(&test, 1, 1) {
        if !call.contains("gen_random_uuid()") || call.starts_with("apply_house") {
            continue;
        }
        let call = call.replace("gen_random_uuid()", "NULL");
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
