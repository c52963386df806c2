//! Every end of a transaction, at every gate: without a COMMIT nothing of it remains, and whoever waits goes on.

use keyrack::demo::steps;
use keyrack::domain::sentences::fault::Rollback;
use keyrack::domain::{Command, Refusal, Request, SlotDetails, SlotLine, StockLine};
use keyrack::store::stepping::Ending;
use keyrack::store::{StepPlace, StepView, Stepwise, StoreError};
use sqlx::Executor;

use crate::support::{TestHouse, hold_slot, hold_stock, hours};
use crate::{answered, ask, at_gate, begin, rows, slot, value};

/// How a transaction is ended without a COMMIT.
#[derive(Debug, Clone, Copy)]
enum End {
    RollBack,
    Cut,
    Kill,
    Forget,
}

impl End {
    async fn of(self, stepwise: Stepwise) {
        let view = match self {
            Self::RollBack => stepwise.roll_back().await,
            Self::Cut => stepwise.cut().await,
            Self::Kill => stepwise.kill().await,
            Self::Forget => {
                let mut changes = stepwise.changes();
                drop(stepwise);
                changes.wait_for(StepView::is_over).await.unwrap().clone()
            }
        };
        let ending = match self {
            Self::RollBack | Self::Forget => Ending::RolledBack(Rollback::Wanted),
            Self::Cut => Ending::RolledBack(Rollback::Cut),
            Self::Kill => Ending::RolledBack(Rollback::Killed),
        };
        assert_eq!(view.place, StepPlace::Ended(ending.clone()));
        assert!(
            steps::ending(&ending).ends_with("Nothing of it remains."),
            "{}",
            steps::ending(&ending)
        );
    }
}

/// Ends a command at every one of its gates and in its open transaction. After each nothing has changed, and another
/// desk's command on the same room or item is answered at once.
async fn nothing_remains(test: &TestHouse, end: End, command: Command, rival: &str) {
    let mut observer = test.database.connect().await;
    observer.execute("SET lock_timeout = '5s'").await.unwrap();
    let before = rows(&mut observer).await;
    let mut gates = 0;
    loop {
        let stepwise = begin(&test.house, "anna", command.clone()).await;
        for _ in 0..gates {
            stepwise.step().await;
        }
        let view = stepwise.look();
        let where_it_stood = view.step().map(|step| step.name.clone());
        let last = matches!(view.place, StepPlace::Answered(_));
        assert!(
            last || matches!(view.place, StepPlace::AtGate(_)),
            "{:?}",
            view.place
        );
        end.of(stepwise).await;
        assert_eq!(rows(&mut observer).await, before, "{where_it_stood:?}");
        observer.execute("BEGIN").await.unwrap();
        let refusal: Option<String> =
            value(&mut observer, &format!("SELECT {rival} ->> 'refusal'")).await;
        observer.execute("ROLLBACK").await.unwrap();
        assert_eq!(refusal, None, "{where_it_stood:?}");
        gates += 1;
        if last {
            break;
        }
    }
    assert!(gates >= 7, "{gates} gates");
    test.assert_all_is_well().await;
}

async fn nothing_remains_of_any(end: End) {
    let test = TestHouse::new().await;
    let held = test.hold(test.blue, hours(0, 2), None).await;
    let site = test.site();
    let on_blue = format!(
        "hold_slot({site}, gen_random_uuid(), 'bert', {}, '{}', '{}')",
        test.blue,
        hours(5, 6).start(),
        hours(5, 6).end()
    );
    let on_tickets = format!(
        "hold_stock({site}, gen_random_uuid(), 'bert', {}, 3)",
        test.ticket
    );
    let expect_version = None;
    let hold = hold_slot(test.blue, hours(2, 4), None);
    nothing_remains(&test, end, hold, &on_blue).await;
    let confirm = Command::ConfirmSlot {
        hold: held.id,
        expect_version,
    };
    nothing_remains(&test, end, confirm, &on_blue).await;
    let cancel = Command::CancelSlot {
        hold: held.id,
        expect_version,
        reason: "guest called".into(),
    };
    nothing_remains(&test, end, cancel, &on_blue).await;
    let to_another_room = Command::MoveSlot {
        hold: held.id,
        expect_version,
        to_room: Some(test.garden),
        from: None,
        to: None,
    };
    nothing_remains(&test, end, to_another_room, &on_blue).await;
    let tickets = hold_stock(test.ticket, 2, None);
    nothing_remains(&test, end, tickets, &on_tickets).await;
    let group = Command::HoldGroup {
        rooms: vec![SlotLine {
            room: test.blue,
            period: hours(2, 4),
        }],
        stock: vec![StockLine {
            item: test.ticket,
            quantity: 1,
        }],
        ttl: None,
        details: SlotDetails::default(),
    };
    nothing_remains(&test, end, group, &on_tickets).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rolled_back_at_any_gate_nothing_remains() {
    nothing_remains_of_any(End::RollBack).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cut_at_any_gate_nothing_remains() {
    nothing_remains_of_any(End::Cut).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_gate_nothing_remains() {
    nothing_remains_of_any(End::Kill).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forgotten_at_any_gate_nothing_remains() {
    nothing_remains_of_any(End::Forget).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_goes_on_when_the_other_is_ended() {
    for end in [End::RollBack, End::Cut, End::Kill, End::Forget] {
        let test = TestHouse::new().await;
        let anna = begin(&test.house, "anna", hold_slot(test.blue, hours(0, 2), None)).await;
        anna.run_on_to("record_slot").await;
        let bert = begin(&test.house, "bert", hold_slot(test.blue, hours(0, 2), None)).await;
        crate::waiting(&bert.run_on().await);
        end.of(anna).await;
        let view = bert
            .until(|view| matches!(view.place, StepPlace::Answered(_)))
            .await;
        assert!(answered(&view).outcome.is_ok(), "{end:?}");
        bert.commit().await.unwrap();
        test.assert_all_is_well().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_can_be_ended_too() {
    let test = TestHouse::new().await;
    let anna = begin(&test.house, "anna", hold_slot(test.blue, hours(0, 2), None)).await;
    anna.run_on_to("record_slot").await;
    for end in [End::RollBack, End::Cut, End::Kill, End::Forget] {
        let bert = begin(&test.house, "bert", hold_slot(test.blue, hours(0, 2), None)).await;
        crate::waiting(&bert.run_on().await);
        end.of(bert).await;
    }
    assert_eq!(at_gate(&anna.look()).name, "record_slot");
    anna.run_on().await;
    anna.commit().await.unwrap();
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_makes_it_visible_and_nothing_before_does() {
    let test = TestHouse::new().await;
    let stepwise = begin(&test.house, "anna", hold_slot(test.blue, hours(0, 2), None)).await;
    let hold = slot(answered(&stepwise.run_on().await).clone());
    assert_eq!(test.house.slot_hold(hold.id).await.unwrap(), None);
    stepwise.commit().await.unwrap();
    assert_eq!(test.house.slot_hold(hold.id).await.unwrap(), Some(hold));
    // Over is over.
    for view in [
        stepwise.roll_back().await,
        stepwise.cut().await,
        stepwise.kill().await,
    ] {
        assert!(matches!(view.place, StepPlace::Done(_)), "{:?}", view.place);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r24_cut_during_the_commit_the_request_id_tells_what_became_of_it() {
    let test = TestHouse::new().await;
    let request = Request::fresh(test.desk.clone(), hold_slot(test.blue, hours(0, 2), None));
    let stepwise = ask(&test.house, request.clone()).await;
    stepwise.run_on().await;
    assert_eq!(
        stepwise.commit_and_cut().await,
        Err(StoreError::Unknown {
            request_id: request.id
        })
    );
    assert_eq!(
        stepwise.look().place,
        StepPlace::Ended(Ending::CommitUnknown)
    );
    // Whatever became of it, the question has one answer, and the house one claim.
    slot(test.house.execute(request).await.unwrap());
    let holds: i64 = value(
        &mut test.database.connect().await,
        "SELECT count(*) FROM slot_hold",
    )
    .await;
    assert_eq!(holds, 1);
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_that_nobody_waits_for_happens_all_the_same() {
    let test = TestHouse::new().await;
    let stepwise = begin(&test.house, "anna", hold_slot(test.blue, hours(0, 2), None)).await;
    let abandoned = stepwise.clone();
    // Polled once, so that the order is given, and dropped.
    assert!(futures_util::FutureExt::now_or_never(abandoned.step()).is_none());
    let view = stepwise
        .until(|view| view.step().is_some_and(|step| step.name == "lock_room"))
        .await;
    assert_eq!(at_gate(&view).name, "lock_room");
    stepwise.roll_back().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_fails_says_so_and_leaves_nothing() {
    let test = TestHouse::new().await;
    let mut connection = test.database.connect().await;
    connection
        .execute("ALTER TABLE hold_event RENAME COLUMN desk TO who")
        .await
        .unwrap();
    let stepwise = begin(&test.house, "anna", hold_slot(test.blue, hours(0, 2), None)).await;
    let view = stepwise.run_on().await;
    match &view.place {
        StepPlace::Ended(Ending::Failed(StoreError::SchemaTooOld)) => {}
        other => panic!("{other:?}"),
    }
    connection
        .execute("ALTER TABLE hold_event RENAME COLUMN who TO desk")
        .await
        .unwrap();
    let claims: i64 = value(&mut connection, "SELECT count(*) FROM slot_hold").await;
    assert_eq!(claims, 0);
    // The request id is free: asked anew it works.
    let answer = test
        .house
        .execute(stepwise.request().clone())
        .await
        .unwrap();
    assert!(!matches!(answer.refusal(), Some(Refusal::Busy {})));
    assert!(!answer.repeated);
}
