//! An older program that meets a newer text says "update Keyrack", at start and while it runs; and a text that is replaced
//! while a command is under way costs nothing but asking once more.

use std::process::{Command as Process, Stdio};
use std::time::Duration;

use keyrack::domain::{Command, Request, ServerCommand, ServerRequest, Success};
use keyrack::store::stepping::Ending;
use keyrack::store::{ProtocolText, StepLimits, StepPlace, Store, StoreError, WatchEvent};
use sqlx::Executor;
use tokio::sync::mpsc;

use crate::support::{Database, TestHouse, hold_slot, hours};
use crate::{superuser, text_like_ours, value, with_step};

/// A newer text, which calls these otherwise.
fn newer(renamed: &[&str]) -> ProtocolText {
    text_like_ours(1, |ours| {
        let sql = with_step(ours, "place_slot", "PERFORM 1;");
        renamed.iter().fold(sql, |sql, function| {
            assert!(sql.contains(&format!("FUNCTION {function}(")), "{function}");
            sql.replace(&format!(" {function}("), &format!(" {function}_anew("))
        })
    })
}

fn assert_says_update(error: &StoreError) {
    let known = ProtocolText::ours().revision();
    let found = known + 1;
    assert_eq!(error, &StoreError::SchemaTooNew { found, known });
    assert!(error.to_string().contains("Update Keyrack."), "{error}");
}

fn keyrack(database: &Database, arguments: &[&str]) -> (i32, String, String) {
    let output = Process::new(env!("CARGO_BIN_EXE_keyrack"))
        .args(arguments)
        .args(["--database-url", &database.url()])
        .stdin(Stdio::null())
        .env_remove("DATABASE_URL")
        .env_remove("KEYRACK_SITE")
        .env("KEYRACK_DESK", "anna")
        .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[tokio::test]
async fn an_older_program_says_update_keyrack_at_start() {
    // The question of the start is still there, or it is not.
    for renamed in [&["hold_slot"][..], &["open_site"]] {
        let test = TestHouse::new().await;
        let text = newer(renamed);
        test.store.put_in_force(&text, &|_| ()).await.unwrap();
        let fresh = Store::connect(test.database.options()).await.unwrap();
        for store in [&test.store, &fresh] {
            assert_says_update(&store.check_schema().await.unwrap_err());
            assert_says_update(&store.open_site(None).await.unwrap_err());
            assert_says_update(&store.migrate().await.unwrap_err());
            let ours = store.put_in_force(ProtocolText::ours(), &|_| ()).await;
            assert_says_update(&ours.unwrap_err());
        }
        for arguments in [
            &["list"][..],
            &["room", "hold", "Blue room", "2030-01-01T10:00", "11:00"],
            &["db", "migrate"],
            &["check"],
        ] {
            let (code, stdout, stderr) = keyrack(&test.database, arguments);
            assert_eq!((code, stdout.as_str()), (1, ""), "{arguments:?}: {stderr}");
            assert_eq!(stderr.lines().count(), 1, "{arguments:?}: {stderr}");
            assert!(
                stderr.contains("Update Keyrack."),
                "{arguments:?}: {stderr}"
            );
        }
        // Nobody went back.
        let mut admin = test.database.connect().await;
        let revision: i64 = value(&mut admin, "SELECT revision FROM keyrack.protocol_text").await;
        assert_eq!(revision, text.revision());
    }
}

#[tokio::test]
async fn an_older_program_says_update_keyrack_while_it_runs_where_it_can_go_on_no_longer() {
    let test = TestHouse::new().await;
    let before = test.hold(test.blue, hours(0, 1), None).await;
    let renamed = ["hold_slot", "add_site", "list_rooms", "snapshot"];
    test.store
        .put_in_force(&newer(&renamed), &|_| ())
        .await
        .unwrap();

    let hold = Request::fresh(test.desk.clone(), hold_slot(test.garden, hours(0, 1), None));
    assert_says_update(&test.house.execute(hold).await.unwrap_err());
    let add = ServerCommand::AddSite {
        name: "Annexe".into(),
        time_zone: "Europe/London".into(),
    };
    let add = ServerRequest::fresh(test.desk.clone(), add);
    assert_says_update(&test.store.execute_server(add).await.unwrap_err());
    assert_says_update(&test.house.rooms().await.unwrap_err());
    assert_says_update(&test.house.snapshot(hours(0, 1)).await.unwrap_err());
    // Step by step too, for a demo.
    let hold = Request::fresh(test.desk.clone(), hold_slot(test.garden, hours(0, 1), None));
    let stepwise = test
        .house
        .step_through(hold, StepLimits::default())
        .await
        .unwrap();
    match stepwise.settled().await.place {
        StepPlace::Ended(Ending::Failed(error)) => assert_says_update(&error),
        other => panic!("{other:?}"),
    }
    // What the newer text has kept still works.
    let confirm = Command::ConfirmSlot {
        hold: before.id,
        expect_version: None,
    };
    test.ask(confirm).await.outcome.unwrap();
    let held: i64 = value(
        &mut test.database.connect().await,
        "SELECT count(*) FROM slot_hold",
    )
    .await;
    assert_eq!(held, 1);
}

#[tokio::test]
async fn a_console_that_runs_says_update_keyrack_whichever_of_its_questions_is_gone() {
    for renamed in ["snapshot", "changes_since", "sweep_turn"] {
        let test = TestHouse::new().await;
        let (events, mut heard) = mpsc::unbounded_channel();
        let _watch = test
            .house
            .watch(test.desk.clone(), hours(0, 24), events, None);
        while !matches!(heard.recv().await.unwrap(), WatchEvent::Snapshot(_)) {}
        test.store
            .put_in_force(&newer(&[renamed]), &|_| ())
            .await
            .unwrap();
        let lost = async {
            loop {
                if let WatchEvent::Lost { sentence } = heard.recv().await.unwrap() {
                    return sentence;
                }
            }
        };
        let sentence = tokio::time::timeout(Duration::from_secs(20), lost)
            .await
            .unwrap_or_else(|_| panic!("nothing was said without {renamed}"));
        assert!(
            sentence.contains("Update Keyrack."),
            "{renamed}: {sentence}"
        );
        // As soon as the text is one that it knows, it goes on.
        let mut admin = superuser(&test.database).await;
        admin.execute("DELETE FROM protocol_text").await.unwrap();
        test.store.migrate().await.unwrap();
        while !matches!(heard.recv().await.unwrap(), WatchEvent::Snapshot(_)) {}
    }
}

#[tokio::test]
async fn a_command_that_meets_the_change_of_the_text_is_asked_again_on_a_new_connection_and_done_once()
 {
    for code in ["42883", "0A000", "XX000"] {
        let test = TestHouse::new().await;
        let mut admin = test.database.connect().await;
        admin
            .execute("CREATE SEQUENCE public.try_number; CREATE SEQUENCE public.backend_1; CREATE SEQUENCE public.backend_2")
            .await
            .unwrap();
        // Numbers are not rolled back.
        let fails_once = text_like_ours(1, |ours| {
            with_step(
                ours,
                "hold_slot",
                &format!(
                    "DECLARE v_try bigint := nextval('public.try_number');
                     BEGIN
                         PERFORM setval('public.backend_' || v_try, pg_backend_pid());
                         IF v_try = 1 THEN RAISE EXCEPTION 'cache lookup failed' USING ERRCODE = '{code}'; END IF;
                     END;"
                ),
            )
        });
        test.store.put_in_force(&fails_once, &|_| ()).await.unwrap();
        let request = Request::fresh(test.desk.clone(), hold_slot(test.blue, hours(0, 1), None));
        let answer = test.house.execute(request.clone()).await.unwrap();
        assert!(!answer.repeated, "{code}");
        let Ok(Success::Slot(hold)) = answer.outcome else {
            panic!("{code}: {answer:?}")
        };
        let tries: i64 = value(&mut admin, "SELECT last_value FROM try_number").await;
        assert_eq!(tries, 2, "{code}");
        let another_session: bool = value(
            &mut admin,
            "SELECT a.last_value <> b.last_value FROM backend_1 AS a, backend_2 AS b",
        )
        .await;
        assert!(another_session, "{code}");
        let of_request: Vec<i64> = value(
            &mut admin,
            &format!(
                "SELECT array_agg(hold_id) FROM slot_hold WHERE request_id = '{}'",
                request.id
            ),
        )
        .await;
        assert_eq!(of_request, [hold.id.0], "{code}");

        // Where it goes on like that, there is a sentence and no claim.
        let text = text_like_ours(2, |ours| {
            with_step(
                ours,
                "hold_slot",
                &format!("RAISE EXCEPTION 'no' USING ERRCODE = '{code}';"),
            )
        });
        test.store.put_in_force(&text, &|_| ()).await.unwrap();
        let request = Request::fresh(test.desk.clone(), hold_slot(test.garden, hours(0, 1), None));
        let error = test.house.execute(request).await.unwrap_err();
        assert!(
            error.to_string().contains("Update Keyrack."),
            "{code}: {error}"
        );
        test.assert_all_is_well().await;
    }
}
