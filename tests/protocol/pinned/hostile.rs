//! The hostile session: everything it could plant is planted, and it hears what an innocent session hears.

use std::collections::BTreeSet;

use sqlx::postgres::PgConnection;

use super::story::GUARDS;
use super::telling::{Told, entries, hear, normalise, rows, tell};
use super::{let_the_stranger_write, stranger};
use crate::support::{TestHouse, hour};
use crate::{run, value};

/// What a trap says.
const TRAPPED: &str = "cannot accept a value of type trigger";

/// Where a hostile session looks first.
const PATH: &str = "trap, pg_temp, pg_catalog, keyrack_step, keyrack, public";

/// Settings of a session that are its own to choose, and odd.
const ODD: [&[(&str, &str)]; 2] = [
    &[
        ("TimeZone", "Asia/Kolkata"),
        ("DateStyle", "Postgres, DMY"),
        ("IntervalStyle", "sql_standard"),
        ("extra_float_digits", "-15"),
        ("bytea_output", "escape"),
        ("quote_all_identifiers", "on"),
        ("standard_conforming_strings", "off"),
        ("escape_string_warning", "off"),
        ("transform_null_equals", "on"),
        ("array_nulls", "off"),
        ("xmloption", "document"),
        ("plpgsql.extra_errors", "all"),
        ("plan_cache_mode", "force_custom_plan"),
    ],
    &[
        ("TimeZone", "America/St_Johns"),
        ("DateStyle", "SQL, MDY"),
        ("IntervalStyle", "iso_8601"),
        ("timezone_abbreviations", "India"),
        ("extra_float_digits", "0"),
        ("quote_all_identifiers", "on"),
        ("enable_indexscan", "off"),
        ("enable_bitmapscan", "off"),
        ("plan_cache_mode", "force_generic_plan"),
    ],
];

async fn set_traps(test: &TestHouse) {
    let mut superuser = test.database.connect_as_superuser().await;
    run(&mut superuser, include_str!("traps.sql")).await;
}

/// Temporary twins of every table, view and sequence, which spring a trap or say what is not so.
async fn plant_twins(session: &mut PgConnection) {
    let kinds: Vec<String> = value(
        session,
        "SELECT array_agg(relname::text || CASE relkind WHEN 'S' THEN ' sequence' ELSE '' END) FROM pg_catalog.pg_class
         WHERE relnamespace = 'keyrack'::regnamespace AND relkind IN ('r', 'v', 'S') AND relname <> '_sqlx_migrations'",
    )
    .await;
    for name in kinds {
        let twin = match name.strip_suffix(" sequence") {
            Some(sequence) => format!("CREATE TEMP SEQUENCE {sequence} START 5000"),
            None => format!(
                "CREATE TEMP VIEW {name} AS SELECT real.* FROM keyrack.{name} AS real WHERE trap.spring();
                 GRANT ALL ON pg_temp.{name} TO PUBLIC"
            ),
        };
        run(session, &twin).await;
    }
    // What a guard of whole statements reads from.
    run(
        session,
        "CREATE TEMP TABLE touched AS SELECT 77::bigint AS site_id, 1::bigint AS hold_id, 1::bigint AS room_id,
             1::bigint AS item_id",
    )
    .await;
}

/// A session with twins, odd settings, and its own schema in front of everything.
async fn hostile(test: &TestHouse, settings: &[(&str, &str)]) -> PgConnection {
    let mut session = stranger(test).await;
    plant_twins(&mut session).await;
    for (setting, odd) in settings {
        run(&mut session, &format!("SET {setting} = '{odd}'")).await;
    }
    run(&mut session, &format!("SET search_path = {PATH}")).await;
    session
}

/// Two houses alike, with a plain session in one and a hostile one in the other.
async fn two_houses(settings: &[(&str, &str)]) -> [(TestHouse, PgConnection); 2] {
    let here = TestHouse::new().await;
    let there = TestHouse::new().await;
    for test in [&here, &there] {
        let_the_stranger_write(test).await;
    }
    set_traps(&there).await;
    let innocent = stranger(&here).await;
    let mut hostile = hostile(&there, settings).await;
    // Or else nothing is proved.
    for statement in ["SELECT clock_timestamp()", "SELECT FROM site"] {
        assert_eq!(hear(&mut hostile, statement, false).await["said"], TRAPPED);
    }
    [(here, innocent), (there, hostile)]
}

async fn assert_the_same_is_heard(schema: &str, settings: &[(&str, &str)]) {
    let [(here, mut innocent), (there, mut hostile)] = two_houses(settings).await;
    let zero = hour(0);
    let heard_here = tell(&here, &mut innocent, schema, zero).await;
    let heard_there = tell(&there, &mut hostile, schema, zero).await;
    assert_eq!(heard_here.len(), heard_there.len());
    for (innocent, hostile) in heard_here.iter().zip(&heard_there) {
        let mut expected = innocent.heard.clone();
        let mut heard = hostile.heard.clone();
        normalise(&mut expected, false);
        normalise(&mut heard, false);
        assert_eq!(heard.to_string(), expected.to_string(), "{}", hostile.sql);
    }
    let (rows_here, rows_there) = (rows(&here).await, rows(&there).await);
    for (table, expected) in &rows_here {
        assert_eq!(&rows_there[table], expected, "{table}");
        assert!(!expected.is_empty(), "{table} was never written to");
    }

    // What the story asks is answered, but for these.
    let raised: Vec<&str> = heard_here
        .iter()
        .filter(|told| told.sql.starts_with("SELECT") && told.heard.get("raised").is_some())
        .map(|told| told.heard["constraint"].as_str().unwrap())
        .collect();
    assert_eq!(
        raised,
        ["request_id_given", "room_name_unique", "site_time_zone"]
    );
    // Nothing was left out.
    let asked: BTreeSet<String> = heard_here.iter().map(|told| told.name.clone()).collect();
    let mut superuser = here.database.connect_as_superuser().await;
    for schema in ["keyrack", schema] {
        for entry in entries(&mut superuser, schema).await {
            assert!(
                asked.contains(&entry),
                "the story does not ask {schema}.{entry}"
            );
        }
    }
    assert_guards_were_met(&mut superuser, &heard_there).await;
}

/// A double booking, as only the owner can make one.
async fn corrupt(test: &TestHouse) {
    let mut owner = test.database.connect().await;
    run(
        &mut owner,
        "ALTER TABLE slot_hold DROP CONSTRAINT slot_hold_no_overlap",
    )
    .await;
    for hold in [800, 801] {
        run(
            &mut owner,
            &format!(
                "INSERT INTO slot_hold (site_id, hold_id, room_id, period, expires_at) VALUES
                     ({}, {hold}, {}, '[2027-01-01 10:00+00,2027-01-01 12:00+00)', '9000-01-01 00:00+00')",
                test.site(),
                test.blue
            ),
        )
        .await;
    }
}

async fn assert_guards_were_met(superuser: &mut PgConnection, told: &[Told]) {
    let guards: Vec<String> = value(
        superuser,
        "SELECT array_agg(proname::text) FROM pg_proc
         WHERE pronamespace = 'keyrack'::regnamespace AND prorettype = 'trigger'::regtype",
    )
    .await;
    for guard in guards {
        assert!(
            GUARDS.iter().any(|(known, ..)| *known == guard),
            "the story does not run into {guard}"
        );
    }
    for (guard, step, rule) in GUARDS {
        let heard = &told.iter().find(|told| told.name == *step).unwrap().heard;
        let named = heard["constraint"].as_str().unwrap_or("");
        assert_eq!(named, *rule, "{guard}, {step}: {heard}");
    }
}

#[tokio::test]
async fn r33_a_hostile_session_hears_and_leaves_what_an_innocent_one_does() {
    assert_the_same_is_heard("keyrack", ODD[0]).await;
}

#[tokio::test]
async fn r33_and_so_it_does_in_step_mode() {
    assert_the_same_is_heard("keyrack_step", ODD[1]).await;
}

#[tokio::test]
async fn r33_what_is_wrong_is_said_in_the_same_words() {
    let mut said = Vec::new();
    for (test, mut session) in two_houses(ODD[0]).await {
        corrupt(&test).await;
        let check = format!(
            "SELECT pg_catalog.to_jsonb(wrong)::pg_catalog.text FROM keyrack.check_site({}) AS wrong",
            test.site()
        );
        said.push(hear(&mut session, &check, true).await.to_string());
    }
    assert_eq!(said[0], said[1]);
    assert!(
        said[0].contains("claims 800 and 801 overlap"),
        "{}",
        said[0]
    );
}

/// What can't be trapped: guards that only raise, and call nothing.
const NOTHING_TO_TRAP: [&str; 2] = ["guard_demo_lock()", "guard_stock_quantity()"];

/// The other way round: each of them, were it not pinned, would run what was planted. So there is a trap for each.
#[tokio::test]
async fn r33_whatever_is_not_pinned_falls_into_a_trap() {
    let test = TestHouse::new().await;
    let_the_stranger_write(&test).await;
    let told = tell(&test, &mut stranger(&test).await, "keyrack", hour(0)).await;
    set_traps(&test).await;
    let mut superuser = test.database.connect_as_superuser().await;
    let pinned: Vec<String> = value(
        &mut superuser,
        "SELECT array_agg(oid::regprocedure::text || '|' || proname) FROM pg_proc
         WHERE pronamespace = 'keyrack'::regnamespace AND prosecdef",
    )
    .await;
    for function in pinned {
        let (function, name) = function.split_once('|').unwrap();
        let meets: Vec<&str> = GUARDS
            .iter()
            .filter(|(guard, ..)| *guard == name)
            .map(|(_, step, _)| *step)
            .chain([name])
            .collect();
        let step = told
            .iter()
            .find(|told| meets.contains(&told.name.as_str()))
            .unwrap();

        let mut owner = test.database.connect_as_superuser().await;
        plant_twins(&mut owner).await;
        run(&mut owner, "BEGIN").await;
        run(
            &mut owner,
            &format!("ALTER FUNCTION keyrack.{function} RESET search_path"),
        )
        .await;
        run(&mut owner, &format!("SET LOCAL search_path = {PATH}")).await;
        let mut heard = hear(&mut owner, &step.sql, step.sql.starts_with("SELECT")).await;
        if heard.get("said").is_none() {
            // What looks when the transaction ends.
            heard = hear(&mut owner, "SET CONSTRAINTS ALL IMMEDIATE", false).await;
        }
        run(&mut owner, "ROLLBACK").await;
        let is_trapped = heard["said"] == TRAPPED || heard["constraint"] == "trapped";
        assert_eq!(
            is_trapped,
            !NOTHING_TO_TRAP.contains(&function),
            "{function}: {heard}"
        );
    }
}
