//! What a command reads does not grow with what the house holds: the room or item is locked meanwhile, and others wait.

use sqlx::postgres::PgConnection;

use crate::support::TestHouse;
use crate::{at, run, value};

/// Claims that are in the way of a command that reads the whole room or item.
const CLAIMS: i64 = 2000;

const GROUPS: i64 = 200;

/// PostgreSQL makes up its mind about a prepared statement's plan at the sixth call.
const CALLS: i64 = 12;

/// Many times what a command reads, and a fraction of what is there.
const ENOUGH: i64 = 100;

#[tokio::test]
async fn r11_what_a_command_reads_does_not_grow_with_what_the_house_holds() {
    let test = TestHouse::new().await;
    let mut connection = test.database.connect().await;
    let (site, room, item) = (test.site(), test.blue.0, test.breakfast.0);
    let second = |n: &str| format!("{} + {n} * interval '1 second'", at(0));
    let (from, to) = (second("2 * n"), second("(2 * n + 1)"));
    let line = format!("'room', {}, 'from', {from}, 'to', {to}", test.garden.0);
    for statement in [
        format!(
            "SELECT receive_stock({site}, gen_random_uuid(), 'anna', {item}, 1000000, 'delivery')"
        ),
        format!(
            "SELECT hold_slot({site}, gen_random_uuid(), 'anna', {room}, {from}, {to}, '2 hours')
             FROM generate_series(1, {CLAIMS}) AS n"
        ),
        format!(
            "SELECT hold_stock({site}, gen_random_uuid(), 'anna', {item} + 0 * n, 1, '2 hours')
             FROM generate_series(1, {CLAIMS}) AS n"
        ),
        format!(
            "SELECT hold_group({site}, gen_random_uuid(), 'anna', jsonb_build_array(jsonb_build_object({line})),
                 '[{{\"item\": {item}, \"quantity\": 1}}]', '2 hours')
             FROM generate_series(1, {GROUPS}) AS n"
        ),
        "VACUUM ANALYZE".into(),
    ] {
        run(&mut connection, &statement).await;
    }
    let first = |table: &str| format!("SELECT min(hold_id) FROM {table} WHERE site_id = {site}");
    let slot: i64 = value(&mut connection, &first("slot_hold")).await;
    let stock: i64 = value(&mut connection, &first("stock_hold")).await;
    // A group, its room and its item take a number each.
    let group: i64 = value(&mut connection, "SELECT min(group_id) FROM claim_group").await;

    let free = 3 * CLAIMS;
    let group_line = format!(
        "jsonb_build_array(jsonb_build_object('room', {room}, 'from', {}, 'to', {})),
         '[{{\"item\": {item}, \"quantity\": 1}}]', '1 hour'",
        second(&format!("(2 * {{n}} + {})", 3 * free)),
        second(&format!("(2 * {{n}} + {} + 1)", 3 * free)),
    );
    let commands = [
        format!(
            "hold_slot({{k}}, {room}, {}, {})",
            second(&format!("(2 * {{n}} + {free})")),
            second(&format!("(2 * {{n}} + {free} + 1)"))
        ),
        format!(
            "block_slot({{k}}, {room}, {}, {}, 'paint')",
            second(&format!("(2 * {{n}} + {})", 2 * free)),
            second(&format!("(2 * {{n}} + {} + 1)", 2 * free))
        ),
        format!("renew_slot({{k}}, {slot} + {{n}}, '3 hours')"),
        format!("edit_slot({{k}}, {slot} + {{n}}, 'Müller')"),
        format!("confirm_slot({{k}}, {slot} + {{n}})"),
        format!(
            "move_slot({{k}}, {slot} + {{n}}, NULL, {}, {})",
            second("(2 * {n} + 1)"),
            second("(2 * {n} + 2)")
        ),
        format!("swap_slots({{k}}, {slot} + 2 * {{n}} + 100, {slot} + 2 * {{n}} + 101)"),
        format!("cancel_slot({{k}}, {slot} + {{n}})"),
        format!("hold_stock({{k}}, {item}, 1)"),
        format!("receive_stock({{k}}, {item}, 1, 'delivery')"),
        format!("adjust_stock({{k}}, {item}, -1, 'spoilt')"),
        format!("renew_stock({{k}}, {stock} + {{n}}, '3 hours')"),
        format!("confirm_stock({{k}}, {stock} + {{n}})"),
        format!("cancel_stock({{k}}, {stock} + 100 + {{n}})"),
        format!("hold_group({{k}}, {group_line})"),
        format!("renew_group({{k}}, {group} + 3 * {{n}}, '3 hours')"),
        format!("confirm_group({{k}}, {group} + 3 * {{n}})"),
        format!("cancel_group({{k}}, {group} + 300 + 3 * {{n}})"),
    ];
    for command in commands {
        let read = rows_read(&mut connection, site, &command).await;
        assert!(read <= ENOUGH, "{command} reads {read} rows");
    }
    test.assert_all_is_well().await;
}

/// How many rows of claims one call reads, plan settled; each call must do something.
async fn rows_read(connection: &mut PgConnection, site: i64, command: &str) -> i64 {
    const READ: &str = "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint
        FROM pg_stat_xact_user_tables WHERE relname IN ('slot_hold', 'stock_hold')";
    run(connection, "BEGIN").await;
    let mut last = 0;
    for n in 0..CALLS {
        let call = command
            .replace("{k}", &format!("{site}, gen_random_uuid(), 'anna'"))
            .replace("{n}", &n.to_string());
        let before: i64 = value(connection, READ).await;
        let refused: Option<String> =
            value(connection, &format!("SELECT {call} ->> 'refusal'")).await;
        assert_eq!(refused, None, "{call}");
        last = value::<i64>(connection, READ).await - before;
    }
    run(connection, "COMMIT").await;
    last
}
