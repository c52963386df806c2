//! The text waits for whoever is working on the bookings, says for whom, and lets everybody else go on meanwhile.

use std::time::{Duration, Instant};

use keyrack::store::{Store, StoreError};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection, Executor};
use tokio::sync::mpsc;

use crate::support::{TestHouse, backend, hold_slot, hours};
use crate::{text_like_ours, value, with_step};

/// A session of that name which has done this in a transaction that it has not ended.
async fn holding(test: &TestHouse, name: &str, sql: String) -> PgConnection {
    let options = test.database.options().application_name(name);
    let mut connection = PgConnection::connect_with(&options).await.unwrap();
    connection
        .execute("BEGIN; SET search_path = keyrack")
        .await
        .unwrap();
    connection.execute(AssertSqlSafe(sql)).await.unwrap();
    connection
}

#[tokio::test(flavor = "multi_thread")]
async fn it_says_who_holds_the_bookings_and_goes_on_when_they_let_go() {
    let test = TestHouse::new().await;
    let held = test.hold(test.blue, hours(0, 1), None).await.id;
    // A desk in the middle of a command, psql in the middle of something, and somebody who says nothing of himself.
    let change = format!("UPDATE slot_hold SET note = 'x' WHERE hold_id = {held}");
    let mut desk = holding(&test, "keyrack/Zo%C3%AB", change).await;
    let change = format!(
        "UPDATE inventory SET name = 'Lunch' WHERE item_id = {}",
        test.breakfast
    );
    let mut psql = holding(&test, "psql", change).await;
    let mut nameless = holding(
        &test,
        "",
        "LOCK TABLE hold_event IN ROW EXCLUSIVE MODE".into(),
    )
    .await;
    // Whoever only looks is in nobody's way.
    let mut reader = holding(&test, "reader", "SELECT * FROM slot_claim".into()).await;
    let mut expected = Vec::new();
    for (who, connection) in [
        ("desk Zoë (backend ", &mut desk),
        ("psql (backend ", &mut psql),
        ("backend ", &mut nameless),
    ] {
        let end = if who.contains('(') { ")" } else { "" };
        expected.push(format!(
            "Waiting for {who}{}{end},",
            backend(connection).await
        ));
    }

    let text = text_like_ours(1, |ours| with_step(ours, "place_slot", "PERFORM 1;"));
    let (tell, mut told) = mpsc::unbounded_channel();
    let applier = Store::connect(test.database.options()).await.unwrap();
    let applying = tokio::spawn(async move {
        let tell = move |sentence| tell.send(sentence).unwrap();
        applier.put_in_force(&text, &tell).await
    });
    for _ in 0..3 {
        let sentence = told.recv().await.unwrap();
        let place = expected
            .iter()
            .position(|start| sentence.starts_with(start.as_str()));
        let place = place.unwrap_or_else(|| panic!("{sentence}"));
        expected.remove(place);
    }

    // Others go on between the tries: more commands than there were tries till now.
    for hour in 2..6 {
        let asked_at = Instant::now();
        test.ask(hold_slot(test.garden, hours(hour, hour + 1), None))
            .await
            .outcome
            .unwrap();
        let waited = asked_at.elapsed();
        assert!(waited < Duration::from_secs(6), "{waited:?}");
    }
    assert!(!applying.is_finished());

    for connection in [&mut desk, &mut psql, &mut nameless] {
        connection.execute("ROLLBACK").await.unwrap();
    }
    applying.await.unwrap().unwrap();
    // Everybody was named once, and nobody else was.
    let besides = told.recv().await;
    assert!(besides.is_none(), "{besides:?}");
    reader.execute("ROLLBACK").await.unwrap();
    test.hold(test.blue, hours(7, 8), None).await;
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_only_reads_is_named_where_that_is_in_the_way() {
    let test = TestHouse::new().await;
    let mut reader = holding(&test, "keyrack/bert", "SELECT * FROM hold_event".into()).await;
    // A trigger of another definition is dropped, which readers keep one from.
    let text = text_like_ours(1, |ours| {
        ours.replace(
            "'hold_event', 'hold_event_kept', '', 'BEFORE DELETE'",
            "'hold_event', 'hold_event_kept', '', 'BEFORE DELETE OR UPDATE'",
        )
    });
    let (tell, mut told) = mpsc::unbounded_channel();
    let store = test.store.clone();
    let applying = tokio::spawn(async move {
        let tell = move |sentence| tell.send(sentence).unwrap();
        store.put_in_force(&text, &tell).await
    });
    let sentence = told.recv().await.unwrap();
    assert!(sentence.contains("desk bert"), "{sentence}");
    reader.execute("ROLLBACK").await.unwrap();
    applying.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn its_patience_ends_with_a_sentence_and_the_text_that_was_there() {
    let test = TestHouse::new().await;
    let mut admin = test.database.connect().await;
    let before: i64 = value(&mut admin, "SELECT revision FROM keyrack.protocol_text").await;
    let mut holder = holding(
        &test,
        "psql",
        "LOCK TABLE hold_event IN ROW EXCLUSIVE MODE".into(),
    )
    .await;
    let text = text_like_ours(1, |ours| with_step(ours, "place_slot", "PERFORM 1;"));
    let error = test.store.put_in_force(&text, &|_| ()).await.unwrap_err();
    assert_eq!(error, StoreError::BookingsLocked);
    let sentence = error.sentence();
    assert!(sentence.contains("Nothing was done"), "{sentence}");
    let after: i64 = value(&mut admin, "SELECT revision FROM keyrack.protocol_text").await;
    assert_eq!(after, before);
    holder.execute("ROLLBACK").await.unwrap();
    test.store.put_in_force(&text, &|_| ()).await.unwrap();
}
