//! The text in force is this one, whole, and nothing besides; or it is the one that was there before.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use keyrack::store::{ProtocolText, Store, StoreError};
use sqlx::Executor;
use sqlx::postgres::PgConnection;

use crate::support::{Database, TestHouse, hours};
use crate::{text_like_ours, value, with_step};

/// What a database has of Keyrack, and of everything else.
fn dump(database: &Database) -> String {
    // The server's own, or the one on PATH.
    let program = database
        .client_program("pg_dump")
        .unwrap_or_else(|| PathBuf::from("pg_dump"));
    let output = Command::new(&program)
        .arg("--schema-only")
        .arg(database.url())
        .output()
        .unwrap_or_else(|error| {
            panic!(
                "{} could not be run ({error}): this test needs PostgreSQL's client programs, as old as the server or newer",
                program.display()
            )
        });
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    // Another word in every dump.
    let lines = text
        .lines()
        .filter(|line| !line.starts_with("\\restrict ") && !line.starts_with("\\unrestrict "));
    lines.collect::<Vec<_>>().join("\n")
}

/// A text with more than ours, and with other things under the names of ours.
fn earlier() -> ProtocolText {
    text_like_ours(0, |ours| {
        let change = |sql: String, from: &str, to: &str| {
            assert!(sql.contains(from), "{from}");
            sql.replacen(from, to, 1)
        };
        let sql = with_step(ours, "expire_room", "PERFORM was_here(1);");
        let sql = change(
            sql,
            "CALL put_view('site_line'",
            "CREATE OR REPLACE FUNCTION was_here(p_number bigint) RETURNS bigint LANGUAGE plpgsql
             AS $$ BEGIN RETURN p_number; END $$;
             CREATE OR REPLACE FUNCTION was_asked(p_request uuid) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER
             SET search_path = pg_catalog, keyrack, pg_temp AS $$ BEGIN RETURN NULL; END $$;
             CREATE OR REPLACE PROCEDURE was_done() LANGUAGE plpgsql AS $$ BEGIN NULL; END $$;
             COMMENT ON FUNCTION deadline_from(site, timestamptz, interval) IS 'Something else.';
             CALL put_view('was_seen', $$ SELECT was_here(site_id) AS number FROM site $$);
             CALL put_view('was_seen_again', $$ SELECT number FROM was_seen $$);
             CREATE OR REPLACE FUNCTION was_told(p_seen was_seen_again) RETURNS bigint LANGUAGE plpgsql
             AS $$ BEGIN RETURN p_seen.number; END $$;
             CALL put_view('a_last_one', $$ SELECT was_told(w) AS number FROM was_seen_again AS w $$);
             CALL put_view('site_line'",
        );
        let sql = change(
            sql,
            "demo_lock IS NOT NULL AS is_demo",
            "demo_lock > 0 AS is_demo",
        );
        // A step and a command that have other parameters.
        let sql = change(
            sql,
            "p_group bigint DEFAULT NULL\n) RETURNS bigint\nLANGUAGE plpgsql\nAS $$\nDECLARE\n    v_hold bigint;\nBEGIN\n    INSERT INTO slot_hold",
            "p_group bigint DEFAULT NULL, p_was integer DEFAULT 0\n) RETURNS bigint\nLANGUAGE plpgsql\nAS $$\nDECLARE\n    v_hold bigint;\nBEGIN\n    INSERT INTO slot_hold",
        );
        let command = "FUNCTION cancel_slot(\n    p_site bigint, p_request uuid, p_desk text,";
        let sql = change(sql, command, &command.replace("p_desk text", "p_desk name"));
        let sql = change(
            sql,
            "cancel_slot(bigint, uuid, text,",
            "cancel_slot(bigint, uuid, name,",
        );
        let sql = change(
            sql,
            "FUNCTION elapsed(p_length interval) RETURNS interval\nLANGUAGE sql IMMUTABLE",
            "FUNCTION elapsed(p_length interval) RETURNS interval\nLANGUAGE sql STABLE STRICT PARALLEL SAFE COST 7",
        );
        let sql = change(
            sql,
            "'hold_event', 'hold_event_kept', '', 'BEFORE DELETE'",
            "'room', 'room_was_kept', '', 'BEFORE DELETE',
             'FOR EACH ROW EXECUTE FUNCTION keyrack.guard_kept()'),
             ('hold_event', 'hold_event_kept', '', 'BEFORE DELETE OR UPDATE'",
        );
        let sql = change(
            sql,
            "'slot_hold', 'slot_hold_between_places', 'CONSTRAINT ', 'AFTER INSERT OR UPDATE'",
            "'slot_hold', 'slot_hold_between_places', 'CONSTRAINT ', 'AFTER INSERT'",
        );
        let sql = change(
            sql,
            "FROM (VALUES\n        ('begin_request',",
            "FROM (VALUES\n        ('elapsed', 'Reckon.'), ('begin_request',",
        );
        format!(
            "{sql}\nGRANT EXECUTE ON FUNCTION elapsed(interval) TO PUBLIC; REVOKE USAGE ON SCHEMA keyrack FROM PUBLIC;"
        )
    })
}

#[tokio::test]
async fn a_database_that_had_an_earlier_text_is_dumped_like_a_fresh_one() {
    let fresh = Database::migrated().await;
    let brought = Database::migrated().await;
    let store = Store::connect(brought.options()).await.unwrap();
    store.put_in_force(&earlier(), &|_| ()).await.unwrap();
    let between = dump(&brought);
    for of_earlier in [
        "FUNCTION keyrack.was_here(",
        "PROCEDURE keyrack.was_done(",
        "VIEW keyrack.was_seen_again ",
        "VIEW keyrack.a_last_one ",
        "FUNCTION keyrack_step.elapsed(",
        "FUNCTION keyrack_step.was_asked(",
        "TRIGGER room_was_kept BEFORE DELETE",
        "TRIGGER hold_event_kept BEFORE DELETE OR UPDATE",
        "TRIGGER slot_hold_between_places AFTER INSERT ON",
        "demo_lock > 0",
        "STRICT COST 7",
        "Something else.",
    ] {
        assert!(between.contains(of_earlier), "{of_earlier}");
    }
    assert!(store.check_schema().await.is_err());
    store.migrate().await.unwrap();
    store.check_schema().await.unwrap();
    let (fresh, brought) = (dump(&fresh), dump(&brought));
    assert!(fresh.contains("FUNCTION keyrack.hold_slot("));
    let differing = fresh
        .lines()
        .zip(brought.lines())
        .find(|(one, other)| one != other);
    assert!(fresh == brought, "the first difference: {differing:?}");
}

/// Of the relations, those that autovacuum writes nothing about.
const VIEWS: &str = "pg_class AS c WHERE relkind = 'v'";

/// Rows of catalogues, with the transaction that wrote each.
async fn written(connection: &mut PgConnection, catalogues: &[&str]) -> BTreeSet<String> {
    let mut rows = BTreeSet::new();
    for catalogue in catalogues {
        let from = match catalogue.contains(" AS c ") {
            true => (*catalogue).to_owned(),
            false => format!("{catalogue} AS c"),
        };
        let of_one: Vec<String> = value(
            connection,
            &format!("SELECT coalesce(array_agg(concat_ws(' ', c.tableoid::regclass, c, c.xmin)), '{{}}') FROM {from}"),
        )
        .await;
        assert!(!of_one.is_empty(), "{catalogue}");
        rows.extend(of_one);
    }
    rows
}

/// Asserts that nobody has written there since.
async fn assert_written(
    connection: &mut PgConnection,
    catalogues: &[&str],
    before: &BTreeSet<String>,
) {
    let after = written(connection, catalogues).await;
    let changed: Vec<_> = before.symmetric_difference(&after).collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

#[tokio::test]
async fn a_trigger_or_view_that_is_as_it_should_be_is_not_touched() {
    let test = TestHouse::new().await;
    let mut admin = test.database.connect().await;
    let untouched = ["pg_trigger", "pg_rewrite", VIEWS, "pg_constraint"];
    let before = written(&mut admin, &untouched).await;
    let text = text_like_ours(1, |ours| with_step(ours, "place_slot", "PERFORM 1;"));
    test.store.put_in_force(&text, &|_| ()).await.unwrap();
    assert_written(&mut admin, &untouched, &before).await;
    // One that somebody has switched off is put right, and only that one.
    admin
        .execute("ALTER TABLE keyrack.hold_event DISABLE TRIGGER hold_event_kept")
        .await
        .unwrap();
    let before = written(&mut admin, &["pg_trigger"]).await;
    let text = text_like_ours(2, |ours| with_step(ours, "place_slot", "PERFORM 2;"));
    test.store.put_in_force(&text, &|_| ()).await.unwrap();
    let after = written(&mut admin, &["pg_trigger"]).await;
    let anew: Vec<&String> = after.difference(&before).collect();
    assert_eq!(anew.len(), 1, "{anew:?}");
    assert!(
        anew[0].contains("hold_event_kept") && anew[0].contains(",O,"),
        "{anew:?}"
    );
}

#[tokio::test]
async fn the_same_text_a_second_time_does_nothing_at_all_and_waits_for_nobody() {
    let test = TestHouse::new().await;
    let mut admin = test.database.connect().await;
    // A copied database lacks what is said about databases.
    test.store.migrate().await.unwrap();
    let catalogues = [
        "pg_proc",
        "pg_trigger",
        "pg_rewrite",
        VIEWS,
        "pg_description",
        "pg_namespace",
        "keyrack.protocol_text",
        "pg_db_role_setting AS c WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())",
    ];
    let before = written(&mut admin, &catalogues).await;
    let mut other = test.database.connect().await;
    other
        .execute("BEGIN; LOCK TABLE request, slot_hold IN ACCESS EXCLUSIVE MODE")
        .await
        .unwrap();
    let told = std::sync::Mutex::new(Vec::new());
    let tell = |sentence| told.lock().unwrap().push(sentence);
    test.store.migrate_telling(&tell).await.unwrap();
    let ours = ProtocolText::ours();
    test.store.put_in_force(ours, &tell).await.unwrap();
    assert!(told.lock().unwrap().is_empty());
    other.execute("ROLLBACK").await.unwrap();
    assert_written(&mut admin, &catalogues, &before).await;
}

#[tokio::test]
async fn what_the_text_no_longer_names_goes_unless_something_of_somebody_else_hangs_on_it() {
    let test = TestHouse::new().await;
    let mut admin = test.database.connect().await;
    let first = text_like_ours(1, |ours| {
        format!(
            "CREATE OR REPLACE FUNCTION was_here(bigint) RETURNS bigint LANGUAGE sql AS $$ SELECT $1 $$;\n{}",
            with_step(ours, "place_slot", "PERFORM was_here(1);")
        )
    });
    test.store.put_in_force(&first, &|_| ()).await.unwrap();
    admin
        .execute("CREATE VIEW public.theirs AS SELECT keyrack.was_here(site_id) FROM keyrack.site")
        .await
        .unwrap();
    let everything = [
        "pg_proc",
        "pg_trigger",
        "pg_rewrite",
        VIEWS,
        "keyrack.protocol_text",
    ];
    let before = written(&mut admin, &everything).await;

    let second = text_like_ours(2, |ours| with_step(ours, "place_slot", "PERFORM 2;"));
    let error = test.store.put_in_force(&second, &|_| ()).await.unwrap_err();
    assert!(matches!(error, StoreError::StillUsed { .. }), "{error:?}");
    let sentence = error.sentence();
    assert!(
        sentence.contains("theirs") && sentence.contains("Nothing was done"),
        "{sentence}"
    );
    assert_written(&mut admin, &everything, &before).await;
    // The text that was there is whole.
    test.hold(test.blue, hours(0, 1), None).await;
    test.assert_all_is_well().await;

    admin.execute("DROP VIEW public.theirs").await.unwrap();
    test.store.put_in_force(&second, &|_| ()).await.unwrap();
    test.hold(test.blue, hours(1, 2), None).await;
    let left: i64 = value(
        &mut admin,
        "SELECT count(*) FROM pg_proc WHERE proname = 'was_here'",
    )
    .await;
    assert_eq!(left, 0);
}

#[tokio::test]
async fn a_table_of_somebody_else_in_the_schema_and_their_data_stay() {
    let test = TestHouse::new().await;
    let mut admin = test.database.connect().await;
    admin
        .execute("CREATE TABLE keyrack.theirs AS SELECT 17 AS number; CREATE SEQUENCE keyrack.their_numbers")
        .await
        .unwrap();
    let text = text_like_ours(1, |ours| with_step(ours, "place_slot", "PERFORM 1;"));
    test.store.put_in_force(&text, &|_| ()).await.unwrap();
    let number: i32 = value(&mut admin, "SELECT number FROM keyrack.theirs").await;
    assert_eq!(number, 17);
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_that_set_one_database_up_at_once_all_find_it_set_up() {
    for _ in 0..3 {
        let database = Database::empty().await;
        let programs = (0..6).map(async |_| {
            let store = Store::connect(database.options()).await.unwrap();
            store.migrate().await.unwrap();
            store.check_schema().await.unwrap();
            store.close().await;
        });
        futures_util::future::join_all(programs).await;
    }
}
