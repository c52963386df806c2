//! Nothing is ever dropped with CASCADE; and if it were, neither the tables nor their constraints hang on the text, and
//! `check` says what is gone.

use std::fs;
use std::path::Path;

use keyrack::domain::{Command, Request};

use crate::support::{TestHouse, hold_stock, hours};
use crate::{superuser, text_like_ours, value};

fn nothing_but_statements(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            nothing_but_statements(&path, found);
        } else if path.extension().is_some_and(|end| end == "sql") {
            let text = fs::read_to_string(&path).unwrap();
            let lines = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("--"));
            found.extend(lines.map(str::to_uppercase));
        }
    }
}

#[test]
fn no_statement_says_cascade() {
    let mut lines = Vec::new();
    nothing_but_statements(
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations")),
        &mut lines,
    );
    assert!(lines.len() > 3000);
    let cascading: Vec<&String> = lines
        .iter()
        .filter(|line| line.contains("CASCADE"))
        .collect();
    assert!(cascading.is_empty(), "{cascading:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_planted_cascade_takes_no_column_with_it_and_check_finds_what_it_takes() {
    let test = TestHouse::new().await;
    test.hold(test.blue, hours(0, 1), None).await;
    let mut desk = test.database.connect().await;
    let planted = text_like_ours(1, |ours| {
        format!(
            "{ours}
             SET LOCAL search_path = keyrack;
             DROP FUNCTION occupied_span(tstzrange, interval) CASCADE;
             DROP FUNCTION guard_claim() CASCADE;"
        )
    });
    test.store.put_in_force(&planted, &|_| ()).await.unwrap();
    // With a column that asked a function of the text these were gone, with a NOTICE.
    let whole: bool = value(
        &mut desk,
        "SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'slot_hold'::regclass AND attname = 'occupied'
                 AND NOT attisdropped)
             AND EXISTS (SELECT FROM pg_constraint WHERE conname = 'slot_hold_no_overlap')",
    )
    .await;
    assert!(whole);
    // The guards are; what proves the rules says so.
    let ours = text_like_ours(2, |ours| format!("{ours}\n"));
    let guards: i64 = value(
        &mut desk,
        "SELECT count(*) FROM pg_trigger WHERE tgname IN ('slot_hold_guard', 'stock_hold_guard')",
    )
    .await;
    assert_eq!(guards, 0);
    // `check` asks for what an exclusion is reckoned with, which is gone: it must not say that all is well.
    let checked = test.house.check().await;
    assert!(!matches!(checked, Ok(problems) if problems.is_empty()));
    // The text again is whole again.
    test.store.put_in_force(&ours, &|_| ()).await.unwrap();
    let guards: i64 = value(
        &mut desk,
        "SELECT count(*) FROM pg_trigger WHERE tgname IN ('slot_hold_guard', 'stock_hold_guard')",
    )
    .await;
    assert_eq!(guards, 2);
    let problems: i64 = value(
        &mut desk,
        &format!("SELECT count(*) FROM check_site({})", test.site()),
    )
    .await;
    assert_eq!(problems, 0);
}

/// The database says that the text is there, and somebody has taken a part of it: who asks for it in so many words gets it
/// back.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_dropped_or_changed_by_hand_is_there_again_when_it_is_asked_for() {
    let test = TestHouse::new().await;
    let hold = test.hold(test.blue, hours(0, 1), None).await.id;
    let mut hands = superuser(&test.database).await;
    for broken in [
        "DROP FUNCTION keyrack.cancel_slot(bigint, uuid, text, bigint, text, bigint)",
        "CREATE OR REPLACE FUNCTION keyrack.take_stock(p_site bigint, p_item bigint, p_quantity integer) RETURNS boolean
         LANGUAGE sql AS 'SELECT true'",
        "ALTER TABLE keyrack.slot_hold DISABLE TRIGGER slot_hold_guard",
    ] {
        sqlx::query(broken).execute(&mut hands).await.unwrap();
    }
    let cancel = Command::CancelSlot {
        hold,
        expect_version: None,
        reason: String::new(),
    };
    let request = Request::fresh(test.desk.clone(), cancel);
    let missing = test.house.execute(request.clone()).await.unwrap_err();
    assert!(
        missing.to_string().contains("keyrack db migrate"),
        "{missing}"
    );
    test.store.migrate().await.unwrap();
    assert!(test.house.execute(request.clone()).await.is_err());

    test.store.migrate_again(&|_| ()).await.unwrap();
    test.house.execute(request).await.unwrap().outcome.unwrap();
    let refused = test.ask(hold_stock(test.ticket, 99, None)).await.outcome;
    assert!(refused.is_err());
    test.assert_all_is_well().await;
}
