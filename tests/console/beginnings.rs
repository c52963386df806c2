//! The first start on a database that the user named: asked before it is touched, and greeted when it is empty.

use sqlx::Executor;

use crate::desk::program;
use crate::support::{Database, TestHouse};

#[tokio::test(flavor = "multi_thread")]
async fn a_strange_database_is_not_touched_without_a_yes_and_an_empty_house_is_greeted() {
    let database = Database::empty().await;
    let tables = async || -> i64 {
        sqlx::query_scalar(
            "SELECT count(*) FROM pg_tables WHERE schemaname IN ('public', 'keyrack')",
        )
        .fetch_one(&mut database.connect().await)
        .await
        .unwrap()
    };
    let mut careful = program(&database, "anna").start();
    careful.shows("[y/N]");
    careful.says("not set up for Keyrack yet");
    careful.press(&["Enter"]);
    assert_eq!(careful.ends(), 1);
    careful.says("keyrack db migrate");
    careful.is_given_back();
    assert_eq!(tables().await, 0);

    let willing = program(&database, "anna").start();
    willing.shows("[y/N]");
    willing.type_text("y\r");
    willing.shows("keyrack site apply FILE.toml");
    willing.says("Welcome to Keyrack.");
    assert!(tables().await > 0);
    assert!(!willing.has_written("\x1b[?1049h"));
    willing.ends_well();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_schema_gets_a_clear_answer() {
    let test = TestHouse::new().await;
    let mut newer = test.database.connect().await;
    newer
        .execute("UPDATE protocol_text SET revision = 9999, checksum = '\\x00'")
        .await
        .unwrap();
    let mut console = program(&test.database, "anna").start();
    console.says("set up by a newer Keyrack (schema 9999;");
    console.says("Update Keyrack.");
    assert_eq!(console.ends(), 1);
    assert!(!console.has_written("\x1b[?1049h"));
    console.is_given_back();
}
