//! Step by step or at once: the same answers, the same rows.

use chrono::{DateTime, TimeDelta, Utc};
use keyrack::domain::{
    Answer, Change, Claim, Command, Desk, Group, Refusal, RefusalAnswer, Request, SlotDetails,
    SlotEdit, SlotHold, SlotLine, StockHold, StockLine, Success, Version,
};
use keyrack::store::StepPlace;

use crate::support::{Database, TestHouse, hold_slot, hold_stock, hour, hours};
use crate::{answered, ask, rows, value};

const MINUTE: TimeDelta = TimeDelta::minutes(1);

/// What is asked, one after the other; each may use what the answers before it said.
fn story(test: &TestHouse, so_far: &[Answer]) -> Option<Command> {
    let claim = |n: usize| match so_far[n].outcome.as_ref().unwrap() {
        Success::Slot(hold) => hold.id,
        other => panic!("{n}: {other:?}"),
    };
    let stock = |n: usize| match so_far[n].outcome.as_ref().unwrap() {
        Success::Stock(hold) => hold.id,
        other => panic!("{n}: {other:?}"),
    };
    let group = |n: usize| match so_far[n].outcome.as_ref().unwrap() {
        Success::Group(group) => group.id,
        other => panic!("{n}: {other:?}"),
    };
    let hold_group = |from, to, tickets| Command::HoldGroup {
        rooms: vec![
            SlotLine {
                room: test.studio,
                period: hours(from, to),
            },
            SlotLine {
                room: test.blue,
                period: hours(from, to),
            },
        ],
        stock: vec![StockLine {
            item: test.ticket,
            quantity: tickets,
        }],
        ttl: Some(MINUTE * 5),
        details: SlotDetails {
            guest: "Okafor".into(),
            party: Some(3),
            ..SlotDetails::default()
        },
    };
    let expect_version = None;
    Some(match so_far.len() {
        0 => Command::HoldSlot {
            room: test.blue,
            period: hours(0, 2),
            ttl: Some(MINUTE * 7),
            details: SlotDetails::new("Müller, \"Max\"".into(), "it's\nquiet".into(), Some(4)),
        },
        1 => Command::BlockSlot {
            room: test.garden,
            period: hours(0, 1),
            reason: "paint".into(),
        },
        2 => Command::ImportSlot {
            room: test.garden,
            period: hours(-400, -399),
            details: SlotDetails {
                guest: "Long ago".into(),
                ..SlotDetails::default()
            },
        },
        3 => Command::RenewSlot {
            hold: claim(0),
            expect_version: Some(Version(1)),
            ttl: Some(MINUTE * 20),
        },
        4 => Command::EditSlot {
            hold: claim(0),
            expect_version,
            edit: SlotEdit {
                guest: Some("Moss".into()),
                party: Change::Set(5),
                ..SlotEdit::default()
            },
        },
        5 => Command::MoveSlot {
            hold: claim(0),
            expect_version,
            to_room: Some(test.studio),
            from: Some(hour(1)),
            to: Some(hour(3)),
        },
        6 => Command::SwapSlots {
            first: claim(0),
            second: claim(1),
            expect_version,
        },
        7 => Command::ConfirmSlot {
            hold: claim(0),
            expect_version,
        },
        8 => Command::CancelSlot {
            hold: claim(1),
            expect_version,
            reason: "dry by now".into(),
        },
        9 => hold_stock(test.ticket, 2, None),
        10 => Command::RenewStock {
            hold: stock(9),
            expect_version,
            ttl: None,
        },
        11 => Command::ConfirmStock {
            hold: stock(9),
            expect_version,
        },
        12 => hold_stock(test.breakfast, 3, None),
        13 => Command::CancelStock {
            hold: stock(12),
            expect_version,
            reason: "no appetite".into(),
        },
        14 => Command::ReceiveStock {
            item: test.ticket,
            quantity: 5,
            reason: "delivery".into(),
        },
        15 => Command::AdjustStock {
            item: test.ticket,
            change: -1,
            reason: "torn".into(),
        },
        16 => hold_group(10, 12, 2),
        17 => Command::RenewGroup {
            group: group(16),
            ttl: None,
        },
        18 => Command::ConfirmGroup { group: group(16) },
        19 => Command::CancelGroup {
            group: group(16),
            reason: "rain".into(),
            rooms_only: true,
        },
        // And refusals: taken by a confirmed claim, sold out, no such claim, ended, stale, not allowed.
        20 => hold_slot(test.garden, hours(0, 1), None),
        21 => hold_stock(test.ticket, 100, None),
        22 => Command::ConfirmSlot {
            hold: keyrack::domain::SlotHoldId(4711),
            expect_version,
        },
        23 => Command::ConfirmSlot {
            hold: claim(1),
            expect_version,
        },
        24 => Command::MoveSlot {
            hold: claim(0),
            expect_version: Some(Version(1)),
            to_room: None,
            from: None,
            to: Some(hour(4)),
        },
        25 => Command::CancelStock {
            hold: stock(9),
            expect_version,
            reason: String::new(),
        },
        // A group whose stock is not there: its rooms were placed already, and are taken back (R20).
        26 => hold_group(20, 22, 100),
        // One that runs out, and a hold that finds it due (R11).
        27 => hold_slot(test.blue, hours(30, 31), Some(TimeDelta::milliseconds(1))),
        28 => hold_slot(test.blue, hours(30, 31), None),
        29 => Command::ConfirmSlot {
            hold: claim(27),
            expect_version,
        },
        _ => return None,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_comes_to_the_same_step_by_step_and_at_once() {
    let (at_once, step_by_step) = (TestHouse::new().await, TestHouse::new().await);
    let mut commands: Vec<&str> = Vec::new();
    let mut answers: Vec<Answer> = Vec::new();
    while let Some(command) = story(&at_once, &answers) {
        let request = Request::fresh(Desk("anna".into()), command);
        let plain = at_once.house.execute(request.clone()).await.unwrap();

        let stepwise = ask(&step_by_step.house, request.clone()).await;
        let mut view = stepwise.look();
        let called = format!("p_command => '{}'", view.command);
        let step = crate::at_gate(&view);
        assert!(step.call.contains(&called), "{called}: {}", step.call);
        commands.push(view.command);
        while let StepPlace::AtGate(_) = &view.place {
            view = stepwise.step().await;
        }
        let stepped = answered(&view).clone();
        assert_eq!(stepwise.commit().await.unwrap(), stepped);

        assert_eq!(
            timeless(plain.clone()),
            timeless(stepped),
            "{:?}",
            request.command
        );
        assert_eq!(
            rows(&mut at_once.database.connect().await).await,
            rows(&mut step_by_step.database.connect().await).await,
            "{:?}",
            request.command
        );
        // Asked once more, it hears the same and is told that it asked before (R21).
        let stepwise = ask(&step_by_step.house, request.clone()).await;
        let again = answered(&stepwise.run_on().await).clone();
        assert!(again.repeated, "{:?}", request.command);
        stepwise.commit().await.unwrap();
        answers.push(plain);
    }
    step_by_step.assert_all_is_well().await;

    commands.sort_unstable();
    commands.dedup();
    assert_eq!(commands, commands_of_desks(&at_once.database).await);
}

/// The functions that take a request of a site, without those that build the house.
async fn commands_of_desks(database: &Database) -> Vec<String> {
    value(
        &mut database.connect().await,
        "SELECT array_agg(proname::text ORDER BY proname::text) FROM pg_proc
         WHERE pronamespace = 'keyrack'::regnamespace AND prosecdef AND provolatile = 'v'
             AND proargnames @> '{p_site,p_request}'
             AND proname !~ '^(add|retire|expire|default)_'",
    )
    .await
}

/// An answer without what depends on the moment.
fn timeless(mut answer: Answer) -> Answer {
    answer.now = DateTime::<Utc>::MIN_UTC;
    answer.outcome = match answer.outcome {
        Ok(Success::Slot(hold)) => Ok(Success::Slot(timeless_slot(hold))),
        Ok(Success::Stock(hold)) => Ok(Success::Stock(timeless_stock(hold))),
        Ok(Success::Group(group)) => Ok(Success::Group(Group {
            slots: group.slots.into_iter().map(timeless_slot).collect(),
            stock: group.stock.into_iter().map(timeless_stock).collect(),
            ..group
        })),
        Ok(other) => Ok(other),
        Err(refused) => Err(RefusalAnswer {
            refusal: match refused.refusal {
                Refusal::HoldExpired { .. } => Refusal::Busy {},
                other => other,
            },
            claim: refused.claim.map(|claim| match claim {
                Claim::Slot(hold) => Claim::Slot(timeless_slot(hold)),
                Claim::Stock(hold) => Claim::Stock(timeless_stock(hold)),
            }),
            ..refused
        }),
    };
    answer
}

fn timeless_slot(hold: SlotHold) -> SlotHold {
    SlotHold {
        expires_at: hold.expires_at.map(|_| DateTime::<Utc>::MIN_UTC),
        created_at: DateTime::<Utc>::MIN_UTC,
        changed_at: DateTime::<Utc>::MIN_UTC,
        ..hold
    }
}

fn timeless_stock(hold: StockHold) -> StockHold {
    StockHold {
        expires_at: hold.expires_at.map(|_| DateTime::<Utc>::MIN_UTC),
        created_at: DateTime::<Utc>::MIN_UTC,
        changed_at: DateTime::<Utc>::MIN_UTC,
        ..hold
    }
}
