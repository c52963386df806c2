//! Four attacks that worked when nothing was pinned, with what anybody may make who has a schema of his own.

use serde_json::Value;
use sqlx::postgres::PgConnection;

use super::telling::hear;
use super::{STRANGER, let_the_stranger_write, stranger};
use crate::support::{TestHouse, hours};
use crate::{BRIEF, run, until_due, value};

/// No state is confirmed or expired, none differs from another, and it is the beginning of 2020.
const LIES: [&str; 6] = [
    "CREATE SCHEMA lies",
    "CREATE FUNCTION lies.equal(text, text) RETURNS boolean LANGUAGE sql
     AS $$ SELECT pg_catalog.texteq($1, $2) AND NOT pg_catalog.texteq($2, 'confirmed') AND NOT pg_catalog.texteq($2, 'expired') $$",
    "CREATE FUNCTION lies.differ(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT false'",
    "CREATE OPERATOR lies.= (LEFTARG = text, RIGHTARG = text, FUNCTION = lies.equal)",
    "CREATE OPERATOR lies.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = lies.differ)",
    "CREATE FUNCTION lies.clock_timestamp() RETURNS timestamptz LANGUAGE sql
     AS $$ SELECT timestamptz '2020-01-01 00:00+00' $$",
];

const LYING: &str = "lies, pg_catalog, keyrack, pg_temp";
const TWINS_FIRST: &str = "pg_temp, pg_catalog, keyrack";

/// What is tried, and what is heard.
struct Attack {
    path: &'static str,
    sql: String,
    refused: &'static str,
    done: &'static str,
}

/// A house with a sale and a claim that has expired.
struct Scene {
    test: TestHouse,
    sale: i64,
    expired: i64,
}

impl Scene {
    async fn new() -> Self {
        let test = TestHouse::new().await;
        let sale = test.hold_stock(test.ticket, 1, None).await.id.0;
        let expired = test.hold(test.blue, hours(0, 1), BRIEF).await.id.0;
        let mut desk = test.database.connect().await;
        until_due(&mut desk, "slot_hold", expired).await;
        let site = test.site();
        run(
            &mut desk,
            &format!("SELECT confirm_stock({site}, gen_random_uuid(), 'anna', {sale})"),
        )
        .await;
        run(&mut desk, &format!("SELECT expire_slots({site})")).await;
        let_the_stranger_write(&test).await;
        let mut superuser = test.database.connect_as_superuser().await;
        let database: String = value(&mut superuser, "SELECT current_database()::text").await;
        run(
            &mut superuser,
            &format!("GRANT CREATE ON DATABASE {database} TO {STRANGER}"),
        )
        .await;
        Self {
            test,
            sale,
            expired,
        }
    }

    /// A session of somebody who lies.
    async fn liar(&self) -> PgConnection {
        let mut session = stranger(&self.test).await;
        for lie in LIES {
            run(&mut session, lie).await;
        }
        run(&mut session, "GRANT USAGE ON SCHEMA lies TO PUBLIC").await;
        run(
            &mut session,
            "CREATE TEMP TABLE site AS SELECT * FROM keyrack.site",
        )
        .await;
        run(&mut session, "UPDATE site SET demo_lock = 1").await;
        run(&mut session, "GRANT ALL ON site TO PUBLIC").await;
        session
    }

    /// What is tried, what it says where it is refused, and where it goes through.
    fn attacks(&self) -> [Attack; 6] {
        let Self {
            test,
            sale,
            expired,
        } = self;
        let (site, blue) = (test.site(), test.blue);
        let id = "pg_catalog.gen_random_uuid()";
        let statement = |sql: String, refused| Attack {
            path: LYING,
            sql,
            refused,
            done: "1 row",
        };
        let call = |call: String, refused| Attack {
            path: LYING,
            sql: format!(
                "SELECT pg_catalog.to_jsonb(answer)::pg_catalog.text FROM keyrack.{call} AS answer"
            ),
            refused,
            done: "done",
        };
        [
            statement(
                format!("UPDATE keyrack.stock_hold SET state = 'cancelled' WHERE hold_id = {sale}"),
                "stock_hold_edge",
            ),
            call(
                format!("cancel_stock({site}, {id}, 'mallory', {sale})"),
                "sale_is_final",
            ),
            statement(
                format!("UPDATE keyrack.slot_hold SET state = 'held' WHERE hold_id = {expired}"),
                "slot_hold_ended",
            ),
            call(
                format!(
                    "hold_slot({site}, {id}, 'mallory', {blue}, '2020-01-02 10:00+00', '2020-01-02 12:00+00')"
                ),
                "in_the_past",
            ),
            Attack {
                path: TWINS_FIRST,
                ..statement(
                    "DELETE FROM keyrack.hold_event WHERE event_id = 1".into(),
                    "hold_event_append_only",
                )
            },
            Attack {
                path: TWINS_FIRST,
                done: "true",
                ..call(format!("remove_demo_site({site})"), "false")
            },
        ]
    }

    async fn attack(&self, session: &mut PgConnection, attack: &Attack) -> String {
        let sql = &attack.sql;
        run(session, "BEGIN").await;
        run(session, &format!("SET LOCAL search_path = {}", attack.path)).await;
        let is_call = sql.starts_with("SELECT");
        let heard = hear(session, sql, is_call).await;
        run(session, "ROLLBACK").await;
        match (&heard["constraint"], &heard["rows"], &heard[0]) {
            (Value::String(rule), ..) => rule.clone(),
            (_, Value::Number(rows), _) => format!("{rows} row"),
            (.., Value::Bool(said)) => said.to_string(),
            (.., answer) if answer["refusal"].is_string() => {
                answer["refusal"].as_str().unwrap().into()
            }
            (.., answer) if answer["now"].is_string() => "done".into(),
            _ => heard.to_string(),
        }
    }
}

#[tokio::test]
async fn r33_the_four_attacks_are_refused() {
    let scene = Scene::new().await;
    let mut liar = scene.liar().await;
    for attack in scene.attacks() {
        assert_eq!(
            scene.attack(&mut liar, &attack).await,
            attack.refused,
            "{}",
            attack.sql
        );
    }
    scene.test.assert_all_is_well().await;
}

/// They are attacks: where nothing is pinned they go through.
#[tokio::test]
async fn r33_the_four_attacks_go_through_where_nothing_is_pinned() {
    let scene = Scene::new().await;
    let mut liar = scene.liar().await;
    let mut superuser = scene.test.database.connect_as_superuser().await;
    run(
        &mut superuser,
        "DO $$
         DECLARE v_function regprocedure;
         BEGIN
             FOR v_function IN
                 SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'keyrack'::regnamespace AND prosecdef
             LOOP
                 EXECUTE format('ALTER FUNCTION %s RESET search_path', v_function);
             END LOOP;
         END $$",
    )
    .await;
    for attack in scene.attacks() {
        assert_eq!(
            scene.attack(&mut liar, &attack).await,
            attack.done,
            "{}",
            attack.sql
        );
    }
}
