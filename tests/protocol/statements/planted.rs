//! Functions that break a rule each, and some that only look like it.

use std::collections::BTreeSet;

use super::rules::Rule;
use super::{complaints, is_excepted};
use crate::run;
use crate::support::Database;

/// A rule, and a body that breaks it and no other.
const BREAKING: [(Rule, &str); 22] = [
    (Rule::Site, "PERFORM FROM room WHERE room_id = p_id;"),
    (
        Rule::Site,
        "PERFORM FROM room WHERE site_id = p_site OR room_id = p_id;",
    ),
    (
        Rule::Site,
        "PERFORM FROM room AS r JOIN slot_hold AS s ON s.room_id = r.room_id WHERE r.site_id = p_site;",
    ),
    (
        Rule::Site,
        "UPDATE keyrack.room SET site_id = p_site WHERE room_id = p_id;",
    ),
    (
        Rule::Site,
        "INSERT INTO room (site_id, name) VALUES (p_site + 1, 'x');",
    ),
    (
        Rule::Site,
        "IF EXISTS (SELECT FROM slot_hold WHERE hold_id = p_id) THEN RETURN; END IF;",
    ),
    (
        Rule::Site,
        "PERFORM 1 FROM unnest(ARRAY[1]) AS n, site AS s;",
    ),
    (
        Rule::Site,
        "PERFORM 1 WHERE p_id IN (SELECT 1 UNION SELECT room_id FROM room);",
    ),
    (
        Rule::Volatile,
        "UPDATE room SET retired_at = clock_timestamp() WHERE site_id = p_site;",
    ),
    (
        Rule::Volatile,
        "DELETE FROM room WHERE site_id = p_site AND retired_at < site_clock(NULL);",
    ),
    (
        Rule::Volatile,
        "INSERT INTO room (site_id, name) VALUES (p_site, 'x')
         ON CONFLICT ON CONSTRAINT room_pkey DO UPDATE SET name = gen_random_uuid()::text;",
    ),
    (
        Rule::SimpleCase,
        "UPDATE room SET name = CASE p_id WHEN 1 THEN 'a' ELSE 'b' END WHERE site_id = p_site;",
    ),
    (
        Rule::Arithmetic,
        "UPDATE room SET retired_at = CASE WHEN p_id = 1 THEN now() - interval '1 day' END WHERE site_id = p_site;",
    ),
    (
        Rule::Arithmetic,
        "UPDATE room SET retired_at = coalesce(retired_at, (now() + interval '1 day')) WHERE site_id = p_site;",
    ),
    (
        Rule::ReadsWithin,
        "PERFORM group_state(p_site, group_id) FROM claim_group WHERE site_id = p_site;",
    ),
    (
        Rule::ReadsWithin,
        "PERFORM group_state(p_site, max(g)) FROM (SELECT group_id FROM slot_hold WHERE site_id = p_site) AS held (g);",
    ),
    (
        Rule::WholeRow,
        "PERFORM to_jsonb(r) FROM room AS r WHERE r.site_id = p_site;",
    ),
    (
        Rule::WholeRow,
        "PERFORM jsonb_agg(room.* ORDER BY room_id) FROM room WHERE site_id = p_site;",
    ),
    (
        Rule::InsertSelect,
        "INSERT INTO room (site_id, name) SELECT p_site, 'x';",
    ),
    (
        Rule::ValuesLeftJoin,
        "PERFORM FROM (VALUES (1)) AS v (id) LEFT JOIN room AS r ON r.room_id = v.id AND r.site_id = p_site;",
    ),
    (
        Rule::WritingWith,
        "WITH gone AS (DELETE FROM room WHERE site_id = p_site RETURNING room_id) SELECT count(*) INTO p_id FROM gone;",
    ),
    (
        Rule::LateralAggregate,
        "PERFORM FROM room AS r CROSS JOIN LATERAL (
             SELECT count(*) FROM slot_hold AS s WHERE s.site_id = p_site AND s.room_id = r.room_id
         ) AS claims WHERE r.site_id = p_site;",
    ),
];

/// What breaks no rule, and looks much like it.
const HARMLESS: &str = "
    -- UPDATE room SET name = 'x';
    /* DELETE FROM site; /* SELECT FROM room; */ */
    RAISE INFO 'DELETE FROM room; it''s a text' USING DETAIL = $text$SELECT FROM site;$text$;
    PERFORM FROM room WHERE site_id = p_site AND room_id = p_id FOR NO KEY UPDATE;
    IF p_id IS DISTINCT FROM p_site THEN
        p_id := extract(epoch FROM clock_timestamp())::bigint;
    END IF;
    p_id := CASE p_id WHEN 1 THEN p_id + 1 ELSE coalesce(p_id - 1, 0) END;
    CASE p_id
        WHEN 1 THEN UPDATE room SET name = coalesce(name, '-') WHERE site_id = p_site AND room_id = p_id - 1;
        ELSE NULL;
    END CASE;
    PERFORM to_jsonb(r.room_id), count(*) FROM room AS r JOIN slot_hold AS s
        ON s.site_id = r.site_id AND s.room_id = r.room_id WHERE r.site_id = p_site GROUP BY 1;
    PERFORM to_jsonb(page) FROM (SELECT * FROM room_line WHERE site_id = p_site) AS page;
    PERFORM place FROM jsonb_array_elements('[]') WITH ORDINALITY AS room (line, place);
    PERFORM group_state(p_site, p_id);
";

async fn plant(database: &Database, language: &str, body: &str) -> BTreeSet<Rule> {
    let mut owner = database.connect().await;
    let body = match language {
        "sql" => body.to_owned(),
        _ => format!("BEGIN {body} END"),
    };
    run(
        &mut owner,
        &format!(
            "CREATE OR REPLACE FUNCTION keyrack.planted(p_site bigint, p_id bigint) RETURNS void
             LANGUAGE {language} AS $planted${body}$planted$"
        ),
    )
    .await;
    let found = complaints(&mut owner).await;
    run(&mut owner, "DROP FUNCTION keyrack.planted").await;
    found
        .into_iter()
        .filter(|complaint| !is_excepted(complaint) && complaint.function == "planted")
        .map(|complaint| complaint.rule)
        .collect()
}

#[tokio::test]
async fn r34_the_reader_finds_what_breaks_a_rule() {
    let database = Database::migrated().await;
    for (rule, body) in BREAKING {
        let found = plant(&database, "plpgsql", body).await;
        assert!(
            found.contains(&rule),
            "{rule:?} was not found in {body}: {found:?}"
        );
        // INSERT … SELECT can't show where the site comes from.
        let besides: Vec<Rule> = found
            .into_iter()
            .filter(|other| *other != rule && (rule, *other) != (Rule::InsertSelect, Rule::Site))
            .collect();
        assert_eq!(besides, [], "besides {rule:?} in {body}");
    }
    assert_eq!(
        plant(
            &database,
            "sql",
            "SELECT FROM keyrack.room WHERE site_id = p_site"
        )
        .await,
        BTreeSet::from([Rule::SqlReads])
    );
    assert_eq!(
        plant(&database, "plpgsql", "EXECUTE 'DELETE FROM room';").await,
        BTreeSet::from([Rule::Unread])
    );
}

#[tokio::test]
async fn r34_the_reader_is_not_deceived_by_what_looks_like_it() {
    let database = Database::migrated().await;
    assert_eq!(plant(&database, "plpgsql", HARMLESS).await, BTreeSet::new());
}

/// Every rule is planted at least once.
#[test]
fn r34_no_rule_goes_unplanted() {
    let planted: BTreeSet<Rule> = BREAKING.iter().map(|(rule, _)| *rule).collect();
    let elsewhere = BTreeSet::from([Rule::SqlReads, Rule::Unread]);
    assert_eq!(planted.len() + elsewhere.len(), 12);
}
