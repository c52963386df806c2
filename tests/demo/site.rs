//! The demo's own site: made for one run, never in the way of another, gone without a trace.

use keyrack::domain::SiteFile;
use keyrack::domain::{Desk, RequestId, ServerCommand, ServerRequest};
use keyrack::store::Store;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Executor};

use crate::support::{Database, HOUSE, TestHouse, hold_slot, hours};

const TABLES: [&str; 8] = [
    "site",
    "room",
    "slot_hold",
    "inventory",
    "stock_hold",
    "stock_movement",
    "hold_event",
    "request",
];

/// Every row of the tables that belongs to a site, or to any other than it.
async fn rows(connection: &mut PgConnection, which: &str, site: i64) -> Vec<String> {
    let mut rows = Vec::new();
    for table in TABLES {
        let sql = format!(
            "SELECT '{table} ' || t::text FROM {table} AS t WHERE site_id {which} {site} ORDER BY 1"
        );
        let found: Vec<String> = sqlx::query_scalar(AssertSqlSafe(sql))
            .fetch_all(&mut *connection)
            .await
            .unwrap();
        rows.extend(found);
    }
    rows
}

fn anna() -> Desk {
    Desk("anna".into())
}

fn file() -> SiteFile {
    SiteFile::parse(HOUSE).unwrap()
}

/// The name of the guard that refused a statement.
async fn refused(connection: &mut PgConnection, sql: &str) -> String {
    let outcome = connection.execute(AssertSqlSafe(sql.to_owned())).await;
    let error = outcome.expect_err(sql);
    let database = error.as_database_error().unwrap();
    database.constraint().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_demo_s_site_goes_with_every_row_and_others_stay_as_they_are() {
    let test = TestHouse::new().await;
    test.hold(test.blue, hours(0, 1), None).await;
    test.hold_stock(test.ticket, 1, None).await;
    let mut look = test.database.connect().await;

    let demo = test.store.open_demo_site(&anna(), &file()).await.unwrap();
    let site = demo.site_store().site().clone();
    assert!(site.is_demo);
    let before = rows(&mut look, "<>", site.id.0).await;

    let house = demo.site_store();
    let room = house.room_named("Blue room").await.unwrap().unwrap().id;
    let item = house.item_named("Breakfast").await.unwrap().unwrap().id;
    for command in [
        hold_slot(room, hours(0, 1), None),
        hold_slot(room, hours(0, 1), None),
        crate::support::hold_stock(item, 2, None),
        keyrack::domain::Command::AdjustStock {
            item,
            change: -1,
            reason: "counted".into(),
        },
    ] {
        let request = keyrack::domain::Request::fresh(anna(), command);
        house.execute(request).await.unwrap();
    }
    assert!(rows(&mut look, "=", site.id.0).await.len() > 15);
    assert_eq!(house.check().await.unwrap(), []);

    demo.remove().await.unwrap();
    assert_eq!(rows(&mut look, "=", site.id.0).await, [] as [String; 0]);
    let changes: i64 = sqlx::query_scalar("SELECT count(*) FROM change_log WHERE site_id = $1")
        .bind(site.id.0)
        .fetch_one(&mut look)
        .await
        .unwrap();
    assert_eq!(changes, 0);
    assert_eq!(rows(&mut look, "<>", site.id.0).await, before);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn a_demo_s_site_never_counts_as_one_to_choose() {
    let test = TestHouse::new().await;
    let demo = test.store.open_demo_site(&anna(), &file()).await.unwrap();
    let name = demo.site_store().site().name.clone();
    assert!(name.starts_with("Test House (demo "), "{name}");
    // The only one, still.
    assert_eq!(test.store.site(None).await.unwrap(), *test.house.site());
    assert_eq!(test.store.sites().await.unwrap().len(), 1);
    // By its name it is found.
    assert_eq!(
        test.store.site(Some(&name)).await.unwrap().id,
        demo.site_store().site().id
    );
    let site = demo.site_store().site().id;
    let choose = ServerRequest::fresh(anna(), ServerCommand::DefaultSite { site });
    let told = test.store.execute_server(choose).await.unwrap_err();
    assert!(told.to_string().contains("is a demo's"), "{told}");
    let mut stray = test.database.connect().await;
    assert_eq!(
        refused(
            &mut stray,
            "UPDATE site SET is_default = true WHERE demo_lock IS NOT NULL"
        )
        .await,
        "site_demo_is_no_default"
    );
    demo.remove().await.unwrap();
}

#[tokio::test]
async fn a_database_with_nothing_but_a_demo_has_no_site() {
    let database = Database::migrated().await;
    let store = Store::connect(database.options()).await.unwrap();
    let demo = store.open_demo_site(&anna(), &file()).await.unwrap();
    assert!(store.sites().await.unwrap().is_empty());
    assert!(store.site(None).await.is_err());
    demo.remove().await.unwrap();
}

#[tokio::test]
async fn what_a_killed_demo_left_is_removed_by_the_next_and_a_running_one_is_not() {
    let test = TestHouse::new().await;
    let running = test.store.open_demo_site(&anna(), &file()).await.unwrap();
    let killed = test.store.open_demo_site(&anna(), &file()).await.unwrap();
    let left = killed.site_store().site().id.0;
    let room = killed.site_store().room_named("Blue room").await.unwrap();
    let request =
        keyrack::domain::Request::fresh(anna(), hold_slot(room.unwrap().id, hours(0, 1), None));
    killed.site_store().execute(request).await.unwrap();

    // The session that keeps it ends, and nobody is there to take its lock again.
    let mut hands = test.database.connect().await;
    let ended: bool = sqlx::query_scalar(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks
         JOIN site ON site_id = $1 AND demo_lock = objid::bigint
         WHERE locktype = 'advisory' AND classid::bigint = demo_lock_class()",
    )
    .bind(left)
    .fetch_one(&mut hands)
    .await
    .unwrap();
    assert!(ended);

    let next = test.store.open_demo_site(&anna(), &file()).await.unwrap();
    assert_eq!(rows(&mut hands, "=", left).await, [] as [String; 0]);
    let still: Vec<i64> =
        sqlx::query_scalar("SELECT site_id FROM site WHERE demo_lock IS NOT NULL ORDER BY site_id")
            .fetch_all(&mut hands)
            .await
            .unwrap();
    assert_eq!(
        still,
        [
            running.site_store().site().id.0,
            next.site_store().site().id.0
        ]
    );
    test.assert_all_is_well().await;
    running.remove().await.unwrap();
    next.remove().await.unwrap();
}

#[tokio::test]
async fn r25_nobody_can_declare_a_house_a_demo_s_to_be_rid_of_its_records() {
    let test = TestHouse::new().await;
    test.hold(test.blue, hours(0, 1), None).await;
    test.hold_stock(test.ticket, 1, None).await;
    let mut stray = test.database.connect().await;
    let site = test.site();
    assert_eq!(
        refused(&mut stray, "UPDATE site SET demo_lock = 7").await,
        "site_demo_lock_is_kept"
    );
    for (table, guard) in [
        ("hold_event", "hold_event_append_only"),
        ("stock_movement", "stock_movement_append_only"),
        ("slot_hold", "slot_hold_is_kept"),
        ("stock_hold", "stock_hold_is_kept"),
    ] {
        assert_eq!(
            refused(&mut stray, &format!("DELETE FROM {table}")).await,
            guard
        );
    }
    let removed: bool = sqlx::query_scalar("SELECT remove_demo_site($1)")
        .bind(site)
        .fetch_one(&mut stray)
        .await
        .unwrap();
    assert!(!removed);
    // A demo's site can't be made an ordinary one either: its rows could not be removed any more.
    let demo = test.store.open_demo_site(&anna(), &file()).await.unwrap();
    assert_eq!(
        refused(&mut stray, "UPDATE site SET demo_lock = NULL").await,
        "site_demo_lock_is_kept"
    );
    // Its records are written once all the same.
    assert_eq!(
        refused(&mut stray, "UPDATE hold_event SET reason = 'another'").await,
        "hold_event_append_only"
    );
    demo.remove().await.unwrap();
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn check_misses_the_guards_that_came_with_demos() {
    let test = TestHouse::new().await;
    let mut hands = test.database.connect().await;
    for (table, trigger) in [
        ("hold_event", "hold_event_kept"),
        ("stock_movement", "stock_movement_kept"),
        ("site", "site_demo_lock_guard"),
    ] {
        let disable = format!("ALTER TABLE {table} DISABLE TRIGGER {trigger}");
        hands.execute(AssertSqlSafe(disable)).await.unwrap();
        let problems = test.house.check().await.unwrap();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].subject, trigger);
        let enable = format!("ALTER TABLE {table} ENABLE TRIGGER {trigger}");
        hands.execute(AssertSqlSafe(enable)).await.unwrap();
    }
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn making_ready_does_nothing() {
    let test = TestHouse::new().await;
    let mut look = test.database.connect().await;
    let before = rows(&mut look, ">", 0).await;
    let command = hold_slot(test.blue, hours(0, 1), None);
    let request = keyrack::domain::Request {
        id: RequestId::fresh(),
        desk: anna(),
        command,
    };
    test.house.make_ready(&request).await.unwrap();
    assert_eq!(rows(&mut look, ">", 0).await, before);
    // And the connection is as good as before.
    let answer = test.house.execute(request).await.unwrap();
    assert!(answer.outcome.is_ok() && !answer.repeated, "{answer:?}");
}
