//! Contention and lost connections, as a desk meets them through the store.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use keyrack::domain::{Command, Desk, Refusal, Request, ServerCommand, SiteCalendar};
use keyrack::postgres::{self, Settings};
use keyrack::store::{HistoryOf, Progress, Store, StoreError};
use sqlx::postgres::PgConnection;

use crate::support::{TestHouse, change_site, hold_slot, hours, until_blocked};
use crate::{open_transaction, run, value};

/// The backend of a store that waits for a lock.
pub async fn waiting_backend(observer: &mut PgConnection) -> i32 {
    let started = Instant::now();
    loop {
        let waiting: Vec<i32> = value(
            observer,
            "SELECT coalesce(array_agg(pid), '{}') FROM pg_stat_activity
             WHERE datname = current_database() AND application_name = 'keyrack' AND wait_event_type = 'Lock'",
        )
        .await;
        if let [backend] = waiting[..] {
            return backend;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "nobody waits");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn lock(test: &TestHouse) -> String {
    format!("SELECT lock_room({}, {})", test.site(), test.blue)
}

#[tokio::test]
async fn r23_contention_is_asked_again_and_then_busy_and_works_when_it_is_over() {
    let test = TestHouse::new().await;
    let (mut holder, _) = open_transaction(&test, &lock(&test)).await;
    let request = Request::fresh(test.desk.clone(), hold_slot(test.blue, hours(0, 2), None));
    let (progress, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let answer = test
        .house
        .execute_reporting(request.clone(), move |what| progress.send(what).unwrap())
        .await
        .unwrap();
    assert_eq!(answer.refusal(), Some(&Refusal::Busy {}));
    assert!(!answer.repeated);
    let mut retries = 0;
    while let Some(what) = heard.recv().await {
        assert_eq!(what, Progress::Retrying);
        retries += 1;
    }
    assert!((1..10).contains(&retries), "few times: {retries}");
    run(&mut holder, "COMMIT").await;
    // Busy is no answer that would be remembered: the same request works now.
    let answer = test.house.execute(request).await.unwrap();
    assert!(answer.outcome.is_ok());
    assert!(!answer.repeated);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r24_a_command_whose_caller_goes_away_is_done_all_the_same() {
    let test = TestHouse::new().await;
    // With a connection at hand, which has not prepared the statement: it takes two messages, and an answer between them.
    let house = test.another_desk().await;
    let request = Request::fresh(test.desk.clone(), hold_slot(test.blue, hours(0, 2), None));
    // Polled once, so that it is under way, and dropped.
    assert!(house.execute(request.clone()).now_or_never().is_none());
    let started = Instant::now();
    while test
        .house
        .history(HistoryOf::Request(request.id))
        .await
        .unwrap()
        .is_empty()
    {
        assert!(
            started.elapsed() < Duration::from_secs(10),
            "it is not done"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let answer = test.house.execute(request).await.unwrap();
    assert!(answer.outcome.is_ok() && answer.repeated);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r23_a_contended_change_to_the_house_itself_is_busy_and_works_when_it_is_over() {
    let test = TestHouse::new().await;
    let (mut holder, _) = open_transaction(&test, &lock(&test)).await;
    let retire = Command::RetireRoom { room: test.blue };
    let request = Request::fresh(test.desk.clone(), retire);
    let answer = test.house.execute(request.clone()).await.unwrap();
    assert_eq!(answer.refusal(), Some(&Refusal::Busy {}));
    run(&mut holder, "COMMIT").await;
    let answer = test.house.execute(request).await.unwrap();
    assert!(answer.outcome.is_ok());
    assert!(!answer.repeated);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r23_contention_that_ends_in_time_is_not_noticed() {
    let test = TestHouse::new().await;
    let mut observer = test.database.connect().await;
    let (mut holder, holder_backend) = open_transaction(&test, &lock(&test)).await;
    let (house, desk) = (test.another_desk().await, test.desk.clone());
    let (progress, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let request = Request::fresh(desk, hold_slot(test.blue, hours(0, 2), None));
    let command = tokio::spawn(async move {
        house
            .execute_reporting(request, move |what| progress.send(what).unwrap())
            .await
    });
    // Past one lock time-out.
    assert_eq!(heard.recv().await, Some(Progress::Retrying));
    let waiting = waiting_backend(&mut observer).await;
    until_blocked(&mut observer, waiting, &[holder_backend]).await;
    run(&mut holder, "COMMIT").await;
    assert!(command.await.unwrap().unwrap().outcome.is_ok());
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r23_an_answer_is_never_asked_again() {
    let test = TestHouse::new().await;
    test.hold(test.blue, hours(0, 2), None).await;
    let (progress, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let request = Request::fresh(test.desk.clone(), hold_slot(test.blue, hours(0, 2), None));
    let answer = test
        .house
        .execute_reporting(request, move |what| progress.send(what).unwrap())
        .await
        .unwrap();
    assert!(answer.outcome.is_err());
    assert_eq!(heard.recv().await, None);
}

#[tokio::test]
async fn r24_a_command_whose_backend_dies_is_asked_again_and_done_once() {
    let test = TestHouse::new().await;
    let mut observer = test.database.connect().await;
    let (mut holder, holder_backend) = open_transaction(&test, &lock(&test)).await;
    let house = test.another_desk().await;
    let (progress, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let request = Request::fresh(test.desk.clone(), hold_slot(test.blue, hours(0, 2), None));
    let sent = request.clone();
    let command = tokio::spawn(async move {
        house
            .execute_reporting(sent, move |what| progress.send(what).unwrap())
            .await
    });
    let waiting = waiting_backend(&mut observer).await;
    until_blocked(&mut observer, waiting, &[holder_backend]).await;
    run(
        &mut observer,
        &format!("SELECT pg_terminate_backend({waiting})"),
    )
    .await;
    // R24: the desk sees that it is being checked.
    assert_eq!(heard.recv().await, Some(Progress::Checking));
    let again = waiting_backend(&mut observer).await;
    assert_ne!(again, waiting);
    run(&mut holder, "COMMIT").await;
    let answer = command.await.unwrap().unwrap();
    assert!(answer.outcome.is_ok());
    // The same id still asks for the same outcome.
    assert!(test.house.execute(request).await.unwrap().repeated);
    let claims: i64 = value(&mut observer, "SELECT count(*) FROM slot_hold").await;
    assert_eq!(claims, 1);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r24_a_command_that_was_done_before_its_connection_died_is_not_done_again() {
    let test = TestHouse::new().await;
    let mut observer = test.database.connect().await;
    let request = Request::fresh(test.desk.clone(), hold_slot(test.blue, hours(0, 2), None));
    // The first answer never reached the desk: somebody sent it, and here is a desk that only knows its id.
    let answer = test
        .another_desk()
        .await
        .execute(request.clone())
        .await
        .unwrap();
    let again = test.house.execute(request).await.unwrap();
    assert!(again.repeated);
    assert_eq!(answer.slot(), again.slot());
    let claims: i64 = value(&mut observer, "SELECT count(*) FROM slot_hold").await;
    assert_eq!(claims, 1);
}

#[tokio::test]
async fn r24_an_idle_connection_that_died_does_not_disturb_the_next_command() {
    let test = TestHouse::new().await;
    let mut observer = test.database.connect().await;
    let kill = "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity
                WHERE datname = current_database() AND application_name = 'keyrack'";
    test.hold(test.blue, hours(0, 1), None).await;
    assert!(value::<i64>(&mut observer, kill).await > 0);
    test.hold(test.blue, hours(1, 2), None).await;
    assert!(value::<i64>(&mut observer, kill).await > 0);
    assert_eq!(test.house.rooms().await.unwrap().len(), 4);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r24_a_server_that_is_gone_is_out_of_reach_in_a_sentence() {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o711)).unwrap();
    let settings = Settings {
        data_dir: Some(directory.path().join("keyrack")),
        postgres_bin: std::env::var_os("KEYRACK_POSTGRES_BIN").map(Into::into),
    };
    let server = postgres::join(&settings, &mut |_| ()).await.unwrap();
    let options = server.connect_options();
    let store = Store::connect(options.clone()).await.unwrap();
    store.migrate().await.unwrap();
    let desk = Desk("anna".into());
    let add = ServerCommand::AddSite {
        name: "Annex".into(),
        time_zone: "Europe/Paris".into(),
    };
    let house = store.site_store(change_site(&store, &desk, add).await.site);
    // The last one out stops it.
    server.leave().await.unwrap();

    let command = hold_slot(keyrack::domain::RoomId(1), hours(0, 1), None);
    let read = house.rooms().await.unwrap_err();
    // Nothing was sent, so that the desk need not wonder.
    let asked = house
        .execute(Request::fresh(desk, command))
        .await
        .unwrap_err();
    let opened = Store::connect(options).await.unwrap_err();
    for error in [read, asked, opened] {
        assert!(matches!(error, StoreError::OutOfReach { .. }), "{error:?}");
        let sentence = error.to_string();
        assert!(
            sentence.starts_with("The database is out of reach: "),
            "{sentence}"
        );
        assert!(
            !sentence.contains("57P") && !sentence.contains("Error"),
            "{sentence}"
        );
    }
    // A refusal and an outage are told apart by their codes.
    let calendar = SiteCalendar::new("Europe/Paris".parse().unwrap());
    assert!(
        !Refusal::Busy {}
            .sentence(&calendar)
            .contains("out of reach")
    );
}
