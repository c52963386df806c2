//! Scenarios that are wrong, or play where a guard is missing: what does not hold is found, so that no scenario is a
//! test which can't fail.

use keyrack::demo::scenario::library::{LIBRARY, built_in};
use keyrack::demo::scenario::{Report, Scenario, headless};
use keyrack::store::Store;
use sqlx::Executor;

use crate::support::Database;

const HOUSE: &str = r#"
title = "A test"
shows = "Whether a wrong expectation is found."

[[room]]
name = "Blue room"

[[item]]
name = "Breakfast"
total = 3

[[claim]]
desk = "carla"
hold = "Blue room, 9:00-10:00"
name = "hers"
"#;

async fn played(database: &Database, text: &str) -> Report {
    let scenario = Scenario::parse(text).unwrap();
    let store = Store::connect(database.options()).await.unwrap();
    let report = headless::play(&store, &scenario, std::future::pending())
        .await
        .unwrap()
        .unwrap();
    store.close().await;
    report
}

/// The one problem of a scenario, which must have one in this line.
async fn problem(database: &Database, rest: &str, line: Option<usize>) -> String {
    let report = played(database, &format!("{HOUSE}{rest}")).await;
    assert!(!report.ok, "{rest}");
    let [problem] = &report.problems[..] else {
        panic!("{rest}: {report:?}");
    };
    let from = HOUSE.matches('\n').count();
    assert_eq!(
        problem.line,
        line.map(|line| from + line),
        "{rest}: {problem:?}"
    );
    problem.problem.clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_as_expected_is_found_and_said() {
    let database = Database::migrated().await;
    for (rest, line, words) in [
        // A refusal that does not come, and one that does.
        (
            "[[step]]\nwho = \"anna\"\ngo = \"Blue room, 11:00-12:00\"\npress = \"Enter\"\nexpect = { anna = \"slot_taken\" }\n",
            1,
            "anna was expected to have “slot_taken”, and “done” was seen.",
        ),
        (
            "[[step]]\nwho = \"dora\"\nask = { hold = \"Blue room, 9:30-10:30\" }\nexpect = { dora = \"done\" }\n",
            1,
            "dora was expected to have “done”, and “slot_taken” was seen. Blue room is taken (desk carla)",
        ),
        // Who wins.
        (
            "[[step]]\nwho = [\"anna\", \"bert\"]\ngo = \"Blue room, 11:00-12:00\"\n[[step]]\nwho = [\"anna\", \"bert\"]\npress = \"Enter\"\nwinners = 2\nothers = \"slot_taken\"\n",
            4,
            "2 were expected to have it done and the others “slot_taken”",
        ),
        // The console's own no.
        (
            "[[step]]\nwho = \"anna\"\ngo = \"Blue room, 9:00\"\npress = \"Enter\"\nexpect = { anna = \"done\" }\n",
            1,
            "“not asked” was seen",
        ),
        // Where a transaction stands.
        (
            "[[step]]\nwho = \"dora\"\nask = { hold = \"Breakfast\" }\nstop = \"before place_slot\"\nexpect = { dora = \"done\" }\n[[step]]\nwho = \"dora\"\nmove = \"roll back\"\nexpect = { dora = \"done\" }\n",
            1,
            "dora was expected to have “done”",
        ),
        (
            "[[step]]\nwho = \"dora\"\nask = { hold = \"Breakfast\" }\nstop = \"after lock_item\"\n[[step]]\nwho = \"dora\"\nmove = \"roll back\"\nexpect = { dora = \"done\" }\n",
            5,
            "“rolled back” was seen",
        ),
        (
            "[[step]]\nwho = \"dora\"\nmove = \"commit\"\n",
            1,
            "has no transaction in step mode",
        ),
        // psql.
        (
            "[[step]]\nwho = \"psql\"\nsql = \"SELECT 1\"\nreturns = \"2\"\n",
            1,
            "was expected to return 2, and returned 1",
        ),
        (
            "[[step]]\nwho = \"psql\"\nsql = \"SELECT 1/0\"\nexpect = { psql = \"done\" }\n",
            1,
            "“error 22012” was seen",
        ),
        // What there is at the end.
        (
            "[[rows]]\nroom = \"Blue room\"\nheld = 2\n",
            1,
            "Blue room should have 2 held, 0 confirmed, 0 cancelled, 0 expired and has 1 held",
        ),
        (
            "[[rows]]\nitem = \"Breakfast\"\navailable = 2\nheld = 1\n",
            1,
            "Breakfast should have 2 available, 1 held, 0 sold and has 3 available",
        ),
        // What the house says no to from the beginning.
        (
            "[[claim]]\ndesk = \"dora\"\nhold = \"Blue room, 9:30-10:30\"\n",
            1,
            "Blue room is taken (desk carla)",
        ),
        (
            "[[step]]\nwho = \"anna\"\ngo = \"Blue room, 10:07\"\n",
            1,
            "10:07",
        ),
    ] {
        let said = problem(&database, rest, Some(line)).await;
        assert!(said.contains(words), "{rest}: {said}");
    }
    let unfounded = played(&database, &format!("finds = [\"R1\"]\n{HOUSE}")).await;
    assert!(unfounded.problems[0].problem.contains(
        "was expected to find R1 at the end, and found nothing. R1: Active claims on one room never overlap"
    ));
}

/// A state that does not come is given up, and what was seen instead is said.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_never_comes_is_given_up() {
    let database = Database::migrated().await;
    let rest = "[[step]]\nwait = \"hers is expired\"\n";
    let said = problem(&database, rest, Some(1)).await;
    assert!(
        said.contains("hers was expected to be expired and is held"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_slot_fails_where_neither_lock_nor_constraint_is() {
    let database = Database::migrated().await;
    let mut vandal = database.connect().await;
    vandal
        .execute(
            "ALTER TABLE slot_hold DROP CONSTRAINT slot_hold_no_overlap;
             CREATE OR REPLACE FUNCTION lock_room(p_site bigint, p_room bigint) RETURNS room LANGUAGE sql
             AS $$ SELECT r FROM room AS r WHERE r.site_id = p_site AND r.room_id = p_room $$;",
        )
        .await
        .unwrap();
    let report = played(&database, built_in("the-same-slot").unwrap().text).await;
    assert!(!report.ok, "{}", report.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_of_a_play() {
    let database = Database::migrated().await;
    let scratch = built_in("without-the-protocol").unwrap();
    assert!(played(&database, scratch.text).await.ok);
    let wrong = format!("{HOUSE}scratch = \"CREATE TABLE t ()\"\n");
    assert!(
        Scenario::parse(&wrong).is_err(),
        "scratch belongs before the tables"
    );
    let broken = format!("scratch = \"nonsense\"\n{HOUSE}");
    assert!(!played(&database, &broken).await.ok);

    let mut connection = database.connect().await;
    let sites: i64 = sqlx::query_scalar("SELECT count(*) FROM site")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    let schemas: i64 =
        sqlx::query_scalar("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'keyrack_lab%'")
            .fetch_one(&mut connection)
            .await
            .unwrap();
    assert_eq!((sites, schemas), (0, 0));
    assert_eq!(LIBRARY.len(), 13);
}
