//! Telling the story in a session, and what it heard.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;
use sqlx::postgres::PgConnection;

use super::story::{HOUSE, STORY};
use crate::support::TestHouse;
use crate::{until_due, value};

/// How the ids of the story's requests begin.
const REQUESTS: &str = "00000000-0000-4000-8000-";

/// Something that was asked, and what was heard.
pub struct Told {
    /// The function, or what of the story ran into a guard.
    pub name: String,
    pub sql: String,
    pub heard: Value,
}

/// Tells the story in a session. Functions that the schema does not have are asked in `keyrack`.
pub async fn tell(
    test: &TestHouse,
    session: &mut PgConnection,
    schema: &str,
    zero: DateTime<Utc>,
) -> Vec<Told> {
    let mut observer = test.database.connect_as_superuser().await;
    let in_schema = entries(&mut observer, schema).await;
    let mut kept = BTreeMap::new();
    let mut told = Vec::new();
    for (position, (keep, step)) in STORY.iter().enumerate() {
        if *step == "until due" {
            let hold: i64 = kept[*keep];
            for table in ["slot_hold", "stock_hold"] {
                let id =
                    format!("SELECT max(hold_id) FROM {table} WHERE {hold} IN (hold_id, group_id)");
                if let Some(hold) = value::<Option<i64>>(&mut observer, &id).await {
                    until_due(&mut observer, table, hold).await;
                }
            }
            continue;
        }
        let step = filled_in(test, step, position, &kept, zero);
        let is_call = !["UPDATE", "INSERT", "DELETE", "TRUNCATE"]
            .iter()
            .any(|word| step.starts_with(word));
        let (name, sql) = if is_call {
            let function = step.split('(').next().unwrap().to_owned();
            let schema = if in_schema.contains(&function) {
                schema
            } else {
                "keyrack"
            };
            // Nothing in it is looked for along the session's path.
            let sql = format!(
                "SELECT pg_catalog.to_jsonb(answer)::pg_catalog.text FROM {schema}.{step} AS answer"
            );
            (function, sql)
        } else {
            ((*keep).to_owned(), step)
        };
        let heard = hear(session, &sql, is_call).await;
        if let Some(number) = number(&heard)
            && !keep.is_empty()
        {
            kept.insert((*keep).to_owned(), number);
        }
        told.push(Told { name, sql, heard });
    }
    told
}

/// The names of what everybody may call in a schema.
pub async fn entries(connection: &mut PgConnection, schema: &str) -> BTreeSet<String> {
    let names: Vec<String> = value(
        connection,
        &format!(
            "SELECT array_agg(DISTINCT proname::text) FROM pg_proc
             WHERE pronamespace = '{schema}'::regnamespace AND prosecdef AND prorettype <> 'trigger'::regtype"
        ),
    )
    .await;
    names.into_iter().collect()
}

fn filled_in(
    test: &TestHouse,
    step: &str,
    position: usize,
    kept: &BTreeMap<String, i64>,
    zero: DateTime<Utc>,
) -> String {
    let id = |position: usize| format!("{REQUESTS}{position:012}");
    let mut step = step.replace("HOUSE", HOUSE);
    for (word, number) in [
        ("SITE", test.site()),
        ("BLUE", test.blue.0),
        ("GARDEN", test.garden.0),
        ("STUDIO", test.studio.0),
        ("LOFT", test.loft.0),
        ("BREAKFAST", test.breakfast.0),
        ("TICKET", test.ticket.0),
    ] {
        step = step.replace(word, &number.to_string());
    }
    for (name, number) in kept {
        step = step.replace(&format!("{{{name}}}"), &number.to_string());
    }
    for hours in (0..=48).rev() {
        step = step.replace(
            &format!("@{hours}"),
            &(zero + TimeDelta::hours(hours)).to_rfc3339(),
        );
    }
    // The request before this one, however long ago.
    let asks_anew =
        |position: &usize| STORY[*position].1.contains("ID,") || STORY[*position].1.contains("(ID");
    let last = (0..position).rev().find(asks_anew).unwrap_or_default();
    step.replace("SAME", &format!("'{}'", id(last)))
        .replace(" ID,", &format!(" '{}',", id(position)))
        .replace("(ID,", &format!("('{}',", id(position)))
        .replace("==", "OPERATOR(pg_catalog.=)")
}

/// What a statement says: its rows, or what was raised.
pub async fn hear(session: &mut PgConnection, sql: &str, has_rows: bool) -> Value {
    let statement = AssertSqlSafe(sql.to_owned());
    let heard = if has_rows {
        sqlx::query_scalar(statement)
            .fetch_all(session)
            .await
            .map(|rows: Vec<String>| {
                rows.iter()
                    .map(|row| serde_json::from_str(row).unwrap())
                    .collect::<Vec<Value>>()
                    .into()
            })
    } else {
        sqlx::query(statement)
            .execute(session)
            .await
            .map(|done| json!({ "rows": done.rows_affected() }))
    };
    heard.unwrap_or_else(|error| {
        let error = error.into_database_error().unwrap();
        json!({ "raised": error.code(), "constraint": error.constraint(), "said": error.message() })
    })
}

/// The number of what an answer is about.
fn number(heard: &Value) -> Option<i64> {
    let answer = heard.get(0)?;
    let subjects = [
        ("slot", "hold_id"),
        ("stock", "hold_id"),
        ("group", "group_id"),
        ("room", "room_id"),
        ("item", "item_id"),
        ("site", "site_id"),
    ];
    answer.as_i64().or_else(|| {
        subjects
            .iter()
            .find_map(|(subject, id)| answer.get(subject)?.get(id)?.as_i64())
    })
}

/// Every row of the protocol's tables.
pub async fn rows(test: &TestHouse) -> BTreeMap<String, Vec<Value>> {
    let mut reader = test.database.connect_as_superuser().await;
    let tables: Vec<String> = value(
        &mut reader,
        "SELECT array_agg(relname::text) FROM pg_class
         WHERE relnamespace = 'keyrack'::regnamespace AND relkind = 'r' AND relname <> '_sqlx_migrations'",
    )
    .await;
    let mut rows = BTreeMap::new();
    for table in tables {
        let query =
            format!("SELECT coalesce(jsonb_agg(to_jsonb(r)), '[]') FROM keyrack.{table} AS r");
        let Value::Array(mut found) = value::<Value>(&mut reader, &query).await else {
            unreachable!()
        };
        found.iter_mut().for_each(|row| normalise(row, false));
        found.sort_by_key(Value::to_string);
        rows.insert(table, found);
    }
    rows
}

/// Makes what differs between two tellings the same: moments of the telling, its transactions, and the zone in which a
/// session's times are said. What details say is in the site's zone, and stays so.
pub fn normalise(heard: &mut Value, in_details: bool) {
    match heard {
        Value::Object(fields) => {
            for (name, field) in fields {
                match name.as_str() {
                    // Of the house that the test begins with.
                    "request_id" if !field.as_str().is_some_and(|id| id.starts_with(REQUESTS)) => {
                        *field = name.as_str().into()
                    }
                    "seen" | "transaction_id" | "late_seconds" | "said" => {
                        *field = name.as_str().into()
                    }
                    _ => normalise(field, in_details || name == "details"),
                }
            }
        }
        Value::Array(parts) => parts
            .iter_mut()
            .for_each(|part| normalise(part, in_details)),
        Value::String(text) => {
            if let Ok(time) = DateTime::parse_from_rfc3339(text) {
                let is_of_the_telling = (time.to_utc() - Utc::now()).abs() < TimeDelta::days(2);
                *text = match (is_of_the_telling, in_details) {
                    (true, true) => format!("now{}", time.offset()),
                    (true, false) => "now".into(),
                    (false, true) => return,
                    (false, false) => time.to_utc().to_rfc3339(),
                };
            }
        }
        _ => {}
    }
}
