//! Where a transaction stands, and what can be seen of it there.

use keyrack::demo::steps::{KnownFrom, awaited, claim, consequences, locks, returned};
use keyrack::domain::sentences::fault::Rollback;
use keyrack::domain::{
    Answer, Command, Desk, Refusal, Request, SlotDetails, SlotHold, SlotLine, StockLine, Success,
};
use keyrack::store::stepping::Ending;
use keyrack::store::{StepPlace, StepView};
use sqlx::Connection;
use tokio::task::JoinHandle;

use crate::support::{TestHouse, hold_slot, hold_stock, hours, until_blocked};
use crate::{answered, ask, at_gate, begin, slot, stock, waiting};

fn confirm(hold: &SlotHold) -> Command {
    Command::ConfirmSlot {
        hold: hold.id,
        expect_version: None,
    }
}

fn has_lock(view: &StepView, known_from: KnownFrom, beginning: &str) -> bool {
    locks(view)
        .iter()
        .any(|lock| lock.known_from == known_from && lock.words.starts_with(beginning))
}

/// A desk that is not in step mode and has sent its command.
fn plainly(test: &TestHouse, command: Command) -> JoinHandle<Answer> {
    let house = test.house.clone();
    let request = Request::fresh(Desk("bert".into()), command);
    tokio::spawn(async move { house.execute(request).await.unwrap() })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_stops_before_each_of_its_steps() {
    let test = TestHouse::new().await;
    let stepwise = begin(&test.house, "anna", hold_slot(test.blue, hours(0, 2), None)).await;
    for step in [
        "begin_request",
        "lock_room",
        "expire_room",
        "find_slot_conflict",
        "place_slot",
        "record_slot",
        "remember_outcome",
    ] {
        let view = stepwise.look();
        let shown = at_gate(&view);
        assert_eq!(shown.name, step);
        // In words and in SQL.
        assert!(shown.words.ends_with('.'), "{}", shown.words);
        assert!(shown.source.contains(&format!("FUNCTION keyrack.{step}(")));
        let site = if step == "expire_room" {
            "site_row(1)"
        } else {
            "1"
        };
        assert!(
            shown
                .call
                .starts_with(&format!("{step}(p_site => {site}, ")),
            "{}",
            shown.call
        );
        stepwise.step().await;
    }
    let view = stepwise.look();
    let answer = answered(&view).clone();
    let passed: Vec<(i32, &str, String)> = view
        .passed()
        .map(|(passed, value)| {
            assert!(!passed.undone);
            let step = &passed.step;
            (step.gate, step.name.as_str(), returned(&value.result))
        })
        .collect();
    assert_eq!(
        passed[2..5],
        [
            (3, "expire_room", "0".into()),
            (4, "find_slot_conflict", "nothing".into()),
            (5, "place_slot", "1".into())
        ]
    );
    assert!(passed[1].2.contains("name Blue room"), "{}", passed[1].2);

    let view = stepwise.step().await;
    assert_eq!(view.place, StepPlace::Done(Box::new(answer.clone())));
    assert_eq!(stepwise.commit().await.unwrap(), answer);
    let hold = slot(answer);
    assert_eq!(test.house.slot_hold(hold.id).await.unwrap(), Some(hold));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_it_holds_and_what_commit_and_rollback_would_bring_grows_step_by_step() {
    let test = TestHouse::new().await;
    let stepwise = begin(&test.house, "anna", hold_slot(test.blue, hours(0, 2), None)).await;
    let view = stepwise.look();
    assert!(!has_lock(&view, KnownFrom::Steps, ""), "{:?}", locks(&view));
    assert_eq!(view.deadline, None);

    let view = stepwise.step().await;
    assert!(has_lock(&view, KnownFrom::Steps, "The request id"));
    assert!(has_lock(&view, KnownFrom::PgLocks, "Transaction"));
    assert!(has_lock(
        &view,
        KnownFrom::PgLocks,
        "Table request (RowExclusiveLock)"
    ));
    assert!(!has_lock(&view, KnownFrom::Steps, "Blue room"));

    let view = stepwise.step().await;
    assert!(has_lock(&view, KnownFrom::Steps, "Blue room"));
    assert!(
        consequences(&view)
            .on_commit
            .iter()
            .any(|words| words.contains("not answered yet"))
    );

    let view = stepwise.run_on_to("record_slot").await;
    assert_eq!(at_gate(&view).name, "record_slot");
    assert!(has_lock(
        &view,
        KnownFrom::Steps,
        "Room claim 1, new on Blue room"
    ));
    assert!(has_lock(&view, KnownFrom::PgLocks, "Table slot_hold"));
    // The claim is written, and its deadline set, before the step that records it.
    let deadline = view.deadline.clone().unwrap();
    assert_eq!(claim(deadline.claim), "room claim 1");
    assert!(deadline.at > view.clock);
    assert!(
        consequences(&view)
            .on_commit
            .contains(&"Room claim 1 is held for everybody to see.".into())
    );
    assert!(
        consequences(&view)
            .on_rollback
            .contains(&"Room claim 1 was never there.".into())
    );

    let view = stepwise.run_on().await;
    let answer = answered(&view).clone();
    assert!(
        consequences(&view).on_commit[1].starts_with("The answer is remembered"),
        "{:?}",
        consequences(&view).on_commit
    );
    let hold = slot(answer);
    assert_eq!(view.deadline.unwrap().at, hold.expires_at.unwrap());
    stepwise.commit().await.unwrap();

    // A command on that claim shows its deadline from the beginning, and what would become of it.
    let stepwise = begin(&test.house, "anna", confirm(&hold)).await;
    assert_eq!(
        stepwise.look().deadline.unwrap().at,
        hold.expires_at.unwrap()
    );
    let view = stepwise.run_on().await;
    assert!(
        consequences(&view)
            .on_commit
            .contains(&"Room claim 1 is confirmed for everybody to see.".into())
    );
    assert!(
        consequences(&view)
            .on_rollback
            .contains(&"Room claim 1 stays held, as it was.".into())
    );
    assert!(has_lock(&view, KnownFrom::Steps, "Room claim 1, its row"));
    let view = stepwise.roll_back().await;
    assert!(locks(&view).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_inside_a_step_are_shown_as_such() {
    let test = TestHouse::new().await;
    let hold = test.hold(test.blue, hours(0, 2), None).await;
    let stepwise = begin(&test.house, "anna", confirm(&hold)).await;
    let view = stepwise.step().await;
    assert_eq!(
        (at_gate(&view).name.as_str(), at_gate(&view).depth),
        ("lock_room_of_hold", 0)
    );
    let view = stepwise.step().await;
    assert_eq!(
        (at_gate(&view).name.as_str(), at_gate(&view).depth),
        ("lock_room", 1)
    );
    let view = stepwise.step().await;
    assert_eq!(
        (at_gate(&view).name.as_str(), at_gate(&view).depth),
        ("lock_slot_hold", 0)
    );
    let names: Vec<&str> = view.passed().map(|(p, _)| p.step.name.as_str()).collect();
    assert_eq!(names, ["begin_request", "lock_room_of_hold", "lock_room"]);
    stepwise.roll_back().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rival_in_step_mode_waits_for_a_desk_by_name_and_then_hears_who_was_first() {
    let test = TestHouse::new().await;
    let anna = begin(
        &test.house,
        "Zoë & Anna",
        hold_slot(test.blue, hours(0, 2), None),
    )
    .await;
    assert_eq!(
        at_gate(&anna.run_on_to("expire_room").await).name,
        "expire_room"
    );

    let bert = begin(&test.house, "bert", hold_slot(test.blue, hours(1, 3), None)).await;
    let view = bert.run_on().await;
    let wait = waiting(&view);
    assert_eq!(wait.step.as_ref().unwrap().name, "lock_room");
    assert_eq!(awaited(&view, wait), "the lock on Blue room");
    assert_eq!(wait.whom.len(), 1, "{:?}", wait.whom);
    assert_eq!(wait.whom[0].desk, Some(Desk("Zoë & Anna".into())));
    assert_eq!(wait.whom[0].backend, anna.look().backend);
    assert!(wait.since <= view.clock, "{} {}", wait.since, view.clock);
    assert_eq!(view.step().unwrap().name, "lock_room");

    // And the other way round.
    let view = anna.until(|view| !view.blocked.is_empty()).await;
    assert_eq!(view.blocked[0].desk, Some(Desk("bert".into())));
    assert_eq!(view.blocked[0].backend, bert.look().backend);

    // Its gates are still open: it goes on to its answer by itself.
    anna.run_on().await;
    anna.commit().await.unwrap();
    let view = bert
        .until(|view| matches!(view.place, StepPlace::Answered(_)))
        .await;
    match answered(&view).refusal() {
        Some(Refusal::SlotTaken { .. }) => {}
        other => panic!("{other:?}"),
    }
    assert!(
        consequences(&view).on_commit[0].starts_with("The refusal is remembered"),
        "{:?}",
        consequences(&view).on_commit
    );
    bert.commit().await.unwrap();
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rival_that_is_not_in_step_mode_waits_and_goes_on() {
    let test = TestHouse::new().await;
    let anna = begin(&test.house, "anna", hold_slot(test.blue, hours(0, 2), None)).await;
    anna.run_on_to("expire_room").await;
    let rival = plainly(&test, hold_slot(test.blue, hours(2, 4), None));
    let view = anna.until(|view| !view.blocked.is_empty()).await;
    let mut observer = test.database.connect().await;
    until_blocked(&mut observer, view.blocked[0].backend, &[view.backend]).await;
    anna.roll_back().await;
    // Back to back (R3).
    assert!(rival.await.unwrap().outcome.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_waited_for_is_said_in_words() {
    let test = TestHouse::new().await;
    // A twin of the same request (R21).
    let request = Request::fresh(test.desk.clone(), hold_stock(test.ticket, 1, None));
    let first = ask(&test.house, request.clone()).await;
    first.run_on_to("lock_item").await;
    let twin = ask(&test.house, request).await;
    let view = twin.run_on().await;
    assert_eq!(
        awaited(&view, waiting(&view)),
        "the answer to a twin of this request, which is under way"
    );
    // Another request for the same item.
    first.run_on_to("expire_item").await;
    let other = begin(&test.house, "carl", hold_stock(test.ticket, 3, None)).await;
    let view = other.run_on().await;
    assert_eq!(awaited(&view, waiting(&view)), "the lock on Museum ticket");
    first.run_on().await;
    let answer = first.commit().await.unwrap();
    let view = twin
        .until(|view| matches!(view.place, StepPlace::Answered(_)))
        .await;
    assert!(answered(&view).repeated);
    assert!(
        consequences(&view).on_commit[0].starts_with("Nothing changes"),
        "{:?}",
        consequences(&view).on_commit
    );
    twin.commit().await.unwrap();
    let view = other
        .until(|view| matches!(view.place, StepPlace::Answered(_)))
        .await;
    assert!(matches!(
        answered(&view).refusal(),
        Some(Refusal::SoldOut { .. })
    ));
    other.commit().await.unwrap();

    // A claim's row, locked by a writer that goes around the protocol.
    let hold = stock(answer);
    let mut stray = test.database.connect().await;
    sqlx::raw_sql("BEGIN; SELECT FROM stock_hold FOR UPDATE")
        .execute(&mut stray)
        .await
        .unwrap();
    let confirm = Command::ConfirmStock {
        hold: hold.id,
        expect_version: None,
    };
    let stepwise = begin(&test.house, "anna", confirm).await;
    let view = stepwise.run_on().await;
    let wait = waiting(&view);
    assert!(
        awaited(&view, wait).starts_with("the row of stock claim 1,"),
        "{}",
        awaited(&view, wait)
    );
    assert_eq!(wait.whom[0].desk, None);
    assert!(
        wait.whom[0].to_string().contains("backend"),
        "{}",
        wait.whom[0]
    );
    stepwise.roll_back().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_runs_at_once_have_gates_of_their_own() {
    let test = TestHouse::new().await;
    let blue = begin(&test.house, "anna", hold_slot(test.blue, hours(0, 2), None)).await;
    let garden = begin(
        &test.house,
        "bert",
        hold_slot(test.garden, hours(0, 2), None),
    )
    .await;
    // In turns: neither opens the other's gates, and neither hears the other's reports.
    for step in [
        "lock_room",
        "expire_room",
        "find_slot_conflict",
        "place_slot",
    ] {
        assert_eq!(at_gate(&blue.step().await).name, step);
        assert_ne!(at_gate(&garden.look()).name, step);
        assert_eq!(at_gate(&garden.step().await).name, step);
        assert_eq!(at_gate(&blue.look()).name, step);
    }
    assert_ne!(
        slot(answered(&blue.run_on().await).clone()).id,
        slot(answered(&garden.run_on().await).clone()).id
    );
    garden.commit().await.unwrap();
    blue.commit().await.unwrap();
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_failing_group_took_back_is_shown_as_undone() {
    let test = TestHouse::new().await;
    let command = Command::HoldGroup {
        rooms: vec![SlotLine {
            room: test.blue,
            period: hours(0, 2),
        }],
        stock: vec![StockLine {
            item: test.ticket,
            quantity: 100,
        }],
        ttl: None,
        details: SlotDetails::default(),
    };
    let stepwise = begin(&test.house, "anna", command).await;
    let view = stepwise.run_on_to("place_group_stock").await;
    assert_eq!(at_gate(&view).name, "place_group_stock");
    // The group itself has the first number.
    assert!(
        consequences(&view)
            .on_commit
            .contains(&"Room claim 2 is held for everybody to see.".into())
    );
    let view = stepwise.run_on().await;
    assert!(answered(&view).outcome.is_err());
    let undone: Vec<&str> = view
        .passed()
        .filter(|(passed, _)| passed.undone)
        .map(|(passed, _)| passed.step.name.as_str())
        .collect();
    assert!(undone.contains(&"place_slot"), "{undone:?}");
    assert!(!undone.contains(&"lock_room"), "{undone:?}");
    assert!(
        !consequences(&view)
            .on_commit
            .iter()
            .any(|words| words.contains("Room claim")),
        "{:?}",
        consequences(&view).on_commit
    );
    assert!(!has_lock(&view, KnownFrom::Steps, "Room claim"));
    assert!(has_lock(&view, KnownFrom::Steps, "Blue room"));
    stepwise.commit().await.unwrap();
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r26_what_a_guest_is_called_does_no_harm_to_the_view() {
    let test = TestHouse::new().await;
    let mut command = hold_slot(test.blue, hours(0, 2), None);
    if let Command::HoldSlot { details, .. } = &mut command {
        details.guest = "\u{1b}[31mred\u{202e}".into();
    }
    let stepwise = begin(&test.house, "anna", command).await;
    let view = stepwise.run_on().await;
    let shown: String = view
        .passed()
        .map(|(passed, value)| passed.step.call.clone() + &returned(&value.result))
        .collect();
    assert!(shown.contains("␛[31mred�"), "{shown}");
    assert!(
        !shown.contains('\u{1b}') && !shown.contains('\u{202e}'),
        "{shown}"
    );
    stepwise.roll_back().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn open_gates_can_be_shut_again_and_there_is_nothing_to_commit_before_the_answer() {
    let test = TestHouse::new().await;
    let anna = begin(&test.house, "anna", hold_slot(test.blue, hours(0, 2), None)).await;
    anna.run_on_to("expire_room").await;
    let refused = anna.commit().await.unwrap_err().to_string();
    assert!(refused.contains("has not answered yet"), "{refused}");
    assert_eq!(at_gate(&anna.look()).name, "expire_room");

    let bert = begin(&test.house, "bert", hold_slot(test.blue, hours(2, 4), None)).await;
    waiting(&bert.run_on().await);
    waiting(&bert.pause().await);
    anna.roll_back().await;
    let view = bert
        .until(|view| matches!(view.place, StepPlace::AtGate(_)))
        .await;
    assert_eq!(at_gate(&view).name, "expire_room");
    bert.roll_back().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_desk_whose_sessions_are_named_is_named_when_it_waits() {
    let test = TestHouse::new().await;
    let anna = begin(&test.house, "anna", hold_slot(test.blue, hours(0, 2), None)).await;
    anna.run_on_to("expire_room").await;
    let named = test
        .store
        .another_desk_named(&Desk("bert".into()))
        .await
        .unwrap();
    let house = named.site_store(test.house.site().clone());
    let request = Request::fresh(Desk("bert".into()), hold_slot(test.blue, hours(0, 2), None));
    let rival = tokio::spawn(async move { house.execute(request).await.unwrap() });
    let view = anna.until(|view| !view.blocked.is_empty()).await;
    assert_eq!(view.blocked[0].desk, Some(Desk("bert".into())));
    assert!(
        view.blocked[0]
            .to_string()
            .starts_with("desk bert (backend "),
        "{}",
        view.blocked[0]
    );
    anna.roll_back().await;
    assert!(matches!(rival.await.unwrap().outcome, Ok(Success::Slot(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_gives_way_in_a_deadlock_is_told_so() {
    let test = TestHouse::new().await;
    let command = Command::HoldGroup {
        rooms: vec![SlotLine {
            room: test.blue,
            period: hours(0, 2),
        }],
        stock: vec![StockLine {
            item: test.ticket,
            quantity: 1,
        }],
        ttl: None,
        details: SlotDetails::default(),
    };
    // PostgreSQL chooses; sooner or later it is the one in step mode.
    for _ in 0..20 {
        // Around the protocol: a writer that locks the item first and the room last.
        let mut stray = test.database.connect().await;
        sqlx::raw_sql("BEGIN; SELECT FROM inventory FOR UPDATE")
            .execute(&mut stray)
            .await
            .unwrap();
        let stepwise = begin(&test.house, "anna", command.clone()).await;
        let view = stepwise.run_on().await;
        assert_eq!(awaited(&view, waiting(&view)), "the lock on Museum ticket");
        let other = sqlx::raw_sql("SELECT FROM room FOR UPDATE; COMMIT")
            .execute(&mut stray)
            .await;
        if other.is_err() {
            stray.close().await.unwrap();
            stepwise.roll_back().await;
            continue;
        }
        let view = stepwise.until(|_| false).await;
        assert_eq!(
            view.place,
            StepPlace::Ended(Ending::RolledBack(Rollback::Deadlock))
        );
        return;
    }
    panic!("it was always the other");
}
