//! Each statement stays in its site (R34): read from the functions of the migrated database, as they are in force.
//!
//! The statements are found by a reader of our own ([`source`]), which knows as much of SQL as the rules ask for. It is
//! tested too: for each rule with a function that breaks it, and with one that only looks like it.

mod planted;
mod rules;
mod source;
mod tokens;

use std::collections::BTreeSet;

use rules::{Complaint, Function, Names, Rule};
use sqlx::postgres::PgConnection;

use crate::support::Database;
use crate::value;

/// What may be as it is, and why. An exception that nothing needs any more is a mistake as well.
const EXCEPTIONS: [(&str, &[Rule], &str); 19] = [
    ("add_site", &[Rule::Site], "there is no site yet"),
    (
        "apply_house",
        &[Rule::Site],
        "there may be no site yet; it is found by its name",
    ),
    ("open_demo_site", &[Rule::Site], "there is no site yet"),
    (
        "begin_server_request",
        &[Rule::Site],
        "a request that comes before there is a site is found by its id alone",
    ),
    ("finish_server_request", &[Rule::Site], "the same"),
    (
        "default_site",
        &[Rule::Site],
        "looks for the site that was the default before",
    ),
    (
        "list_sites",
        &[Rule::Site],
        "every site is what is asked for",
    ),
    ("open_site", &[Rule::Site], "finds a site by its name"),
    (
        "remove_abandoned_demo_sites",
        &[Rule::Site],
        "looks after all that demos left",
    ),
    (
        "check_site",
        &[Rule::Site, Rule::LateralAggregate, Rule::ValuesLeftJoin],
        "no command: it proves the rules in large queries, whose inner ones are tied to the site of the outer",
    ),
    (
        "keyrack_step.default_site",
        &[Rule::Site],
        "the same source once more",
    ),
    (
        "keyrack_step.add_site",
        &[Rule::Site],
        "the same source once more",
    ),
    (
        "keyrack_step.apply_house",
        &[Rule::Site],
        "the same source once more",
    ),
    (
        "keyrack_step.open_demo_site",
        &[Rule::Site],
        "the same source once more",
    ),
    (
        "guard_time_zone",
        &[Rule::Site],
        "whether the server knows a zone is no matter of one site",
    ),
    (
        "put_view",
        &[Rule::Unread],
        "makes views while the text is put in force; no command calls it",
    ),
    (
        "drop_left_over",
        &[Rule::Unread],
        "drops what the text no longer names while it is put in force; no command calls it",
    ),
    (
        "keyrack_step.copy_entries",
        &[Rule::Unread],
        "copies entry functions while the text is put in force; no command calls it",
    ),
    (
        "keyrack_step.put_gate",
        &[Rule::Unread],
        "makes the gates while the text is put in force; no command calls it",
    ),
];

/// Everything that is read here, and what the names in it stand for.
async fn functions_and_names(connection: &mut PgConnection) -> (Vec<Function>, Names) {
    let functions: serde_json::Value = value(
        connection,
        "SELECT jsonb_agg(jsonb_build_array(
             CASE n.nspname WHEN 'keyrack' THEN '' ELSE n.nspname || '.' END || p.proname, l.lanname,
             -- A body that was parsed when it was made has no source.
             CASE p.prosrc WHEN '' THEN pg_get_functiondef(p.oid) ELSE p.prosrc END
         ) ORDER BY p.oid)
         FROM pg_proc AS p
         JOIN pg_namespace AS n ON n.oid = p.pronamespace
         JOIN pg_language AS l ON l.oid = p.prolang
         WHERE n.nspname IN ('keyrack', 'keyrack_step')
             AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.objid = p.oid AND d.deptype = 'e')",
    )
    .await;
    let functions: Vec<(String, String, String)> = serde_json::from_value(functions).unwrap();
    let functions: Vec<Function> = functions
        .into_iter()
        .map(|(name, language, body)| Function {
            name,
            language,
            body,
        })
        .collect();

    let relations: serde_json::Value = value(
        connection,
        "SELECT jsonb_object_agg(c.relname, EXISTS (
             SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'site_id'
         ))
         FROM pg_class AS c
         WHERE c.relnamespace = 'keyrack'::regnamespace AND c.relkind IN ('r', 'p', 'v')",
    )
    .await;
    let mut names = Names {
        relations: serde_json::from_value(relations).unwrap(),
        tables: named(
            connection,
            "SELECT relname FROM pg_class WHERE relnamespace = 'keyrack'::regnamespace AND relkind IN ('r', 'p')",
        )
        .await,
        volatile: named(
            connection,
            "SELECT proname FROM pg_proc WHERE provolatile = 'v' AND pronamespace::regnamespace::text IN
                 ('pg_catalog', 'keyrack', 'keyrack_step')",
        )
        .await,
        aggregates: named(connection, "SELECT proname FROM pg_proc WHERE prokind = 'a'").await,
        reading: BTreeSet::new(),
    };
    names.find_reading(&functions);
    (functions, names)
}

async fn named(connection: &mut PgConnection, query: &str) -> BTreeSet<String> {
    let names: Vec<String> = value(
        connection,
        &format!("SELECT array_agg(DISTINCT name::text) FROM ({query}) AS found (name)"),
    )
    .await;
    names.into_iter().collect()
}

/// What is wrong with the functions of a database, exceptions included.
async fn complaints(connection: &mut PgConnection) -> Vec<Complaint> {
    let (functions, names) = functions_and_names(connection).await;
    functions
        .iter()
        .flat_map(|function| names.complaints(function))
        .collect()
}

fn is_excepted(complaint: &Complaint) -> bool {
    EXCEPTIONS.iter().any(|(function, rules, _)| {
        *function == complaint.function && rules.contains(&complaint.rule)
    })
}

#[tokio::test]
async fn r34_each_statement_stays_in_its_site() {
    let database = Database::migrated().await;
    let mut reader = database.connect().await;
    let found = complaints(&mut reader).await;
    let broken: Vec<String> = found
        .iter()
        .filter(|complaint| !is_excepted(complaint))
        .map(
            |Complaint {
                 function,
                 rule,
                 statement,
             }| format!("{function} breaks {rule:?}: {statement}"),
        )
        .collect();
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));

    for (function, rules, reason) in EXCEPTIONS {
        for rule in rules {
            let is_needed = found
                .iter()
                .any(|complaint| complaint.function == function && complaint.rule == *rule);
            assert!(
                is_needed,
                "{function} needs no exception from {rule:?} any more ({reason})"
            );
        }
    }
}

#[tokio::test]
async fn r34_the_reader_knows_the_protocol() {
    let database = Database::migrated().await;
    let mut reader = database.connect().await;
    let (functions, names) = functions_and_names(&mut reader).await;
    // If nothing were read, nothing would be found wrong.
    for reading in [
        "place_slot",
        "take_stock",
        "as_it_is",
        "check_site",
        "finish",
        "hold_slot",
        "note_change",
    ] {
        assert!(names.reading.contains(reading), "{reading}");
    }
    for clean in [
        "site_time",
        "refuse",
        "period_problem",
        "site_clock",
        "occupied_span",
    ] {
        assert!(!names.reading.contains(clean), "{clean}");
    }
    let mut written: BTreeSet<String> = BTreeSet::new();
    for function in &functions {
        for statement in source::statements(&function.body) {
            for arm in source::arms(&statement) {
                written.extend(
                    source::relations(arm)
                        .into_iter()
                        .map(|relation| relation.name),
                );
            }
        }
    }
    let unread: Vec<&String> = names
        .relations
        .keys()
        .filter(|name| !written.contains(*name) && *name != "_sqlx_migrations")
        .collect();
    assert!(unread.is_empty(), "no statement was found on {unread:?}");
    let counted: usize = functions
        .iter()
        .map(|function| source::statements(&function.body).len())
        .sum();
    assert!(counted > 1000, "only {counted} statements were found");
}

#[tokio::test]
async fn r34_views_call_no_function_that_reads() {
    let database = Database::migrated().await;
    let mut reader = database.connect().await;
    let (_, names) = functions_and_names(&mut reader).await;
    let views: Vec<String> = value(
        &mut reader,
        "SELECT array_agg(pg_get_viewdef(oid)) FROM pg_class
         WHERE relnamespace = 'keyrack'::regnamespace AND relkind = 'v'",
    )
    .await;
    for view in views {
        let broken = names.broken(&tokens::read(&view));
        assert!(
            !broken.contains(&Rule::ReadsWithin) && !broken.contains(&Rule::WholeRow),
            "{view}"
        );
    }
}
