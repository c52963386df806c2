//! Bugs that are planted into the functions of a test's own database, each of which some round must find.

use std::time::Duration;

use sqlx::{AssertSqlSafe, Executor};

use crate::play;
use crate::support::Database;

/// Short rounds: these bugs are not subtle.
const ROUND: Duration = Duration::from_millis(700);

/// Plants a bug and plays until it is found; says what was found.
async fn found(function: &str, right: &str, wrong: &str) -> String {
    let database = Database::migrated().await;
    let mut connection = database.connect().await;
    let text: String = sqlx::query_scalar("SELECT pg_get_functiondef($1::regproc)")
        .bind(function)
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert!(text.contains(right), "{function} does not say {right}");
    connection
        .execute(AssertSqlSafe(text.replacen(right, wrong, 1)))
        .await
        .unwrap();
    for round in 0..60 {
        let rng = fastrand::Rng::with_seed(round as u64);
        if let Err(why) = play(&database, round, ROUND, rng).await {
            println!("{function}, found in round {round}: {why:.200}");
            return why;
        }
    }
    panic!("{function}: {wrong} was not found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_is_over_and_confirmed_all_the_same_is_found() {
    found("change_slot", "v_hold.expires_at > v_now", "true").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_forgotten_and_done_twice_is_found() {
    let why = found(
        "begin_request",
        "VALUES (p_site, p_request,",
        "VALUES (p_site, gen_random_uuid(),",
    )
    .await;
    assert!(
        why.contains("twice") || why.contains("refused, and yet"),
        "{why}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_is_lost_is_found() {
    let why = found("record_stock", "BEGIN", "BEGIN RETURN;").await;
    assert!(why.starts_with("acknowledged, and no event"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn r17_what_is_not_given_back_is_found() {
    found("expire_item", "available + v_units", "available").await;
}
