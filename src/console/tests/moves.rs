//! Claims that are renewed, moved and stretched, and what is offered instead of what was refused.

use chrono::TimeDelta;
use crokey::key;

use crate::console::message::Message;
use crate::console::model::cursor::{Panel, Target};
use crate::console::model::grab::GrabKind;
use crate::console::model::notice::Tone;
use crate::console::tests::fixtures::{at, now, period};
use crate::console::tests::{Desk, commands};
use crate::domain::refusal::SlotTaken;
use crate::domain::{
    Alternative, ClaimState, Command, Group, GroupId, Period, Purpose, Refusal, RoomId, SlotHold,
    SlotHoldId, StockHoldId, Success, Version,
};

/// With the cursor on a claim.
fn on(claim: i64) -> Desk {
    let mut desk = Desk::new();
    let claim = known(&desk, claim);
    desk.model.cursor.room = Some(claim.room);
    desk.model.place_cursor(claim.period.start());
    desk
}

fn known(desk: &Desk, claim: i64) -> SlotHold {
    let indexed = desk.model.indexed.as_ref().unwrap();
    indexed.claim(SlotHoldId(claim)).unwrap().clone()
}

fn go_to(desk: &mut Desk, room: i64) {
    while desk.model.cursor.room != Some(RoomId(room)) {
        desk.press(key!(down));
    }
}

fn moved(asked: &[Command]) -> (SlotHoldId, Option<RoomId>, Option<Period>) {
    let [
        Command::MoveSlot {
            hold,
            expect_version: Some(Version(1)),
            to_room,
            from,
            to,
        },
    ] = asked
    else {
        panic!("{asked:?}")
    };
    let period = from
        .zip(*to)
        .map(|(from, to)| Period::new(from, to).unwrap());
    (*hold, *to_room, period)
}

#[test]
fn a_claim_is_taken_along_and_put_down_in_another_room_at_another_time() {
    let mut desk = on(2);
    assert_eq!(desk.asks(key!(m)).len(), 0);
    go_to(&mut desk, 8);
    desk.press(key!(right));
    let asked = desk.asks(key!(enter));
    let there = (
        SlotHoldId(2),
        Some(RoomId(8)),
        Some(period("14:30", "16:30")),
    );
    assert_eq!(moved(&asked), there);
    assert!(desk.model.grab.is_none());
    // Asked is not moved.
    assert_eq!(known(&desk, 2).room, RoomId(1));
    let answered = SlotHold {
        room: RoomId(8),
        room_name: "Cellar".into(),
        period: period("14:30", "16:30"),
        version: Version(2),
        ..known(&desk, 2)
    };
    desk.done(desk.last(), answered);
    assert!(matches!(desk.model.target(), Target::Claim(claim) if claim.id == SlotHoldId(2)));
    assert!(desk.notice().starts_with("Moved: "), "{}", desk.notice());
}

#[test]
fn the_key_that_takes_a_claim_along_puts_it_down_too() {
    let mut desk = on(2);
    desk.press(key!(m));
    desk.press(key!(right));
    let asked = desk.asks(key!(m));
    // R14: a claim is not in its own way.
    let there = (
        SlotHoldId(2),
        Some(RoomId(1)),
        Some(period("14:30", "16:30")),
    );
    assert_eq!(moved(&asked), there);
}

#[test]
fn a_claim_that_comes_back_to_its_place_asks_for_nothing() {
    let mut desk = on(2);
    desk.press(key!(m));
    assert_eq!(desk.asks(key!(m)).len(), 0);
    assert_eq!(desk.notice(), "It stays where it was.");
    assert!(desk.model.grab.is_none());
}

#[test]
fn escape_and_another_panel_let_go() {
    for key in [key!(esc), key!(tab)] {
        let mut desk = on(2);
        desk.press(key!(m));
        go_to(&mut desk, 8);
        desk.press(key);
        assert!(desk.model.grab.is_none());
        assert_eq!(known(&desk, 2).period, period("14:00", "16:00"));
    }
}

#[test]
fn with_a_claim_in_hand_other_commands_wait_and_say_why() {
    let mut desk = on(2);
    desk.press(key!(m));
    for key in [
        key!(c),
        key!(x),
        key!(e),
        key!(b),
        key!('+'),
        key!(v),
        key!(shift - right),
    ] {
        assert_eq!(desk.asks(key).len(), 0);
        assert!(desk.model.dialog.is_none());
        assert!(desk.notice().contains("in hand"), "{}", desk.notice());
        assert!(desk.model.grab.is_some());
    }
}

#[test]
fn a_claim_is_not_put_down_on_another_nor_from_hours_to_nights() {
    let mut desk = on(8);
    desk.press(key!(m));
    desk.press(key!(right));
    assert_eq!(desk.asks(key!(enter)).len(), 0);
    assert!(desk.notice().contains("Ana"), "{}", desk.notice());
    assert!(desk.model.grab.is_some(), "and stays in hand");
    let mut desk = on(2);
    desk.press(key!(m));
    go_to(&mut desk, 6);
    assert_eq!(desk.asks(key!(enter)).len(), 0);
    assert!(desk.notice().contains("by the night"), "{}", desk.notice());
}

#[test]
fn r7_a_stay_is_moved_by_nights() {
    let mut desk = on(11);
    desk.press(key!(m));
    // It began the day before yesterday.
    assert_eq!(desk.model.date().to_string(), "2026-12-01");
    for _ in 0..2 {
        desk.press(key!(n));
    }
    desk.snapshot(|_| ());
    let asked = desk.asks(key!(enter));
    let (_, _, there) = moved(&asked);
    let stay = Period::new(at("2026-12-03T15:00"), at("2026-12-05T11:00")).unwrap();
    assert_eq!(there, Some(stay));
}

#[test]
fn a_claim_that_ends_while_it_is_in_hand_is_gone() {
    let mut desk = on(2);
    desk.press(key!(m));
    desk.snapshot(|snapshot| {
        let mut event = snapshot.events[0].clone();
        event.id = 99;
        event.kind = crate::domain::EventKind::Cancelled;
        event.subject = crate::domain::EventSubject::SlotHold(SlotHoldId(2), RoomId(1));
        snapshot.events.insert(0, event);
        snapshot.claims.retain(|claim| claim.id != SlotHoldId(2));
    });
    assert!(desk.model.grab.is_none());
}

#[test]
fn stretching_a_claim_moves_its_end() {
    let mut desk = on(2);
    desk.press(key!(shift - right));
    desk.press(key!(shift - right));
    assert_eq!(
        desk.model.grab.as_ref().map(|grab| grab.kind),
        Some(GrabKind::Stretch)
    );
    let asked = desk.asks(key!(enter));
    let [
        Command::MoveSlot {
            hold: SlotHoldId(2),
            to_room: None,
            from: None,
            to: Some(end),
            ..
        },
    ] = asked[..]
    else {
        panic!("{asked:?}")
    };
    assert_eq!(end, period("14:00", "17:00").end());

    let mut desk = on(2);
    desk.press(key!(v));
    desk.press(key!(left));
    let asked = desk.asks(key!(enter));
    assert!(
        matches!(asked[..], [Command::MoveSlot { to: Some(end), .. }] if end == period("14:00", "15:30").end())
    );
}

#[test]
fn the_end_of_a_claim_stays_after_its_start_and_a_plain_arrow_lets_go() {
    let mut desk = on(2);
    for _ in 0..4 {
        desk.press(key!(shift - left));
    }
    assert_eq!(desk.asks(key!(enter)).len(), 0);
    assert!(
        desk.notice().contains("ends after it begins"),
        "{}",
        desk.notice()
    );
    desk.press(key!(right));
    assert!(desk.model.grab.is_none() && desk.model.cursor.anchor.is_none());
}

#[test]
fn dragging_a_claim_moves_its_end() {
    let mut desk = on(2);
    let column = |cells: u16| 18 + 1 + cells;
    desk.tell(Message::Click {
        column: column(38),
        row: 2,
    });
    assert!(matches!(desk.model.target(), Target::Claim(claim) if claim.id == SlotHoldId(2)));
    desk.tell(Message::Drag { column: column(50) });
    let asked = desk.asks(key!(enter));
    let [Command::MoveSlot { to: Some(end), .. }] = asked[..] else {
        panic!("{asked:?} {}", desk.notice())
    };
    assert_eq!(end, period("14:00", "16:30").end());
}

#[test]
fn r13_a_hold_is_renewed_with_the_version_that_was_seen() {
    let mut desk = on(2);
    let asked = desk.asks(key!('+'));
    assert!(
        matches!(
            asked[..],
            [Command::RenewSlot {
                hold: SlotHoldId(2),
                expect_version: Some(Version(1)),
                ttl: None,
            }]
        ),
        "{asked:?}"
    );
    assert_eq!(desk.asks(key!('+')).len(), 0, "the first is on its way");
    let answered = SlotHold {
        expires_at: Some(now() + TimeDelta::minutes(10)),
        version: Version(2),
        ..known(&desk, 2)
    };
    desk.done(super::request(1), answered);
    assert!(
        desk.notice().starts_with("Renewed: Blue room") && desk.notice().contains("10:34:00"),
        "{}",
        desk.notice()
    );
    assert_eq!(on(1).asks(key!('+')).len(), 0, "confirmed");

    let mut desk = Desk::new();
    desk.press(key!(tab));
    desk.press(key!(down));
    let asked = desk.asks(key!('+'));
    assert!(
        matches!(
            asked[..],
            [Command::RenewStock {
                hold: StockHoldId(1),
                ..
            }]
        ),
        "{asked:?}"
    );
}

#[test]
fn r20_a_member_of_a_group_is_confirmed_and_renewed_with_all_the_others() {
    let group = GroupId(3);
    let mut desk = on(2);
    desk.snapshot(|snapshot| {
        snapshot.claims[1].group = Some(group);
        snapshot.claims[7].group = Some(group);
        snapshot.stock_claims[0].group = Some(group);
    });
    let asked = desk.asks(key!('+'));
    assert_eq!(asked, [Command::RenewGroup { group, ttl: None }]);
    assert_eq!(desk.asks(key!(c)).len(), 0, "the first is on its way");
    desk.refuse(super::request(1), Refusal::RenewalsUsedUp { limit: 3 });
    let asked = desk.asks(key!(c));
    assert_eq!(asked, [Command::ConfirmGroup { group }]);
    // From stock it is the same group.
    desk.press(key!(tab));
    desk.press(key!(down));
    assert_eq!(desk.asks(key!(c)).len(), 0, "that is on its way too");
    let confirmed = |claim: SlotHold| SlotHold {
        state: ClaimState::Confirmed,
        version: Version(2),
        ..claim
    };
    let whole = Group {
        id: group,
        state: ClaimState::Confirmed,
        slots: vec![confirmed(known(&desk, 2)), confirmed(known(&desk, 8))],
        stock: Vec::new(),
    };
    desk.tell(Message::Answered {
        request: crate::console::tests::request(3),
        result: Ok(Box::new(super::answer(Ok(Success::Group(whole))))),
    });
    assert_eq!(desk.notice(), "Confirmed: group 3, 2 claims.");
    assert_eq!(known(&desk, 2).state, ClaimState::Confirmed);
    assert_eq!(known(&desk, 8).state, ClaimState::Confirmed);
}

/// A console that was refused the cellar at ten, with three choices.
pub(super) fn refused() -> Desk {
    let mut desk = Desk::new();
    go_to(&mut desk, 8);
    desk.press(key!(enter));
    let free = |room, name: &str, period| Alternative {
        room: RoomId(room),
        room_name: name.into(),
        period,
        capacity: None,
        nights: None,
    };
    let tomorrow = Period::new(at("2026-12-04T10:00"), at("2026-12-04T10:30")).unwrap();
    let taken = SlotTaken {
        room_id: RoomId(8),
        room: "Cellar".into(),
        hold_id: Some(SlotHoldId(50)),
        period: Some(period("10:00", "11:00")),
        occupied_until: Some(period("10:00", "11:00").end()),
        state: Some(ClaimState::Held),
        purpose: Some(Purpose::Guest),
        guest: Some("Brandt".into()),
        desk: Some("bo".into()),
        expires_at: Some(now() + TimeDelta::seconds(600)),
        choices: vec![
            free(10, "Projector", period("10:00", "10:30")),
            free(8, "Cellar", period("11:00", "11:30")),
            free(8, "Cellar", tomorrow),
        ],
    };
    let id = desk.last();
    desk.refuse(id, Refusal::SlotTaken(Box::new(taken)));
    desk
}

#[test]
fn on_a_conflict_one_key_holds_what_is_free_instead() {
    let mut desk = refused();
    let notice = desk.model.notice.as_ref().unwrap();
    assert_eq!(notice.tone, Tone::Refused);
    assert_eq!(
        notice.alternatives_in_words,
        "Free instead: press 1 for Projector 10:00–10:30, 2 for Cellar 11:00–11:30, 3 for Cellar \
         10:00–10:30 on Fri 4 Dec 2026."
    );
    let requests = commands(desk.press(key!('2')));
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].id, desk.last(), "a fresh question (R21)");
    assert!(matches!(
        requests[0].command,
        Command::HoldSlot { room: RoomId(8), period: asked, ttl: None, .. } if asked == period("11:00", "11:30")
    ));
    assert_eq!(desk.cursor_at(), period("11:00", "11:30").start());
    assert!(desk.model.notice.is_none(), "taken up");
    let mut desk = refused();
    desk.press(key!('3'));
    assert_eq!(desk.model.date().to_string(), "2026-12-04");
}

#[test]
fn an_offer_stands_until_another_key() {
    for key in [key!(esc), key!(left), key!(n)] {
        let mut desk = refused();
        desk.press(key);
        assert_eq!(desk.asks(key!('1')).len(), 0);
    }
    let mut desk = refused();
    assert_eq!(desk.asks(key!('7')).len(), 0, "there is no seventh");
    assert_eq!(desk.asks(key!('1')).len(), 1, "and the first still stands");
}

#[test]
fn in_stock_digits_count_whatever_was_offered() {
    let mut desk = refused();
    desk.model.panel = Panel::Stock;
    assert_eq!(desk.asks(key!('1')).len(), 0);
    assert_eq!(desk.model.count, Some(1));
}

#[test]
fn a_refused_move_offers_other_places_for_the_same_claim() {
    let mut desk = on(2);
    desk.press(key!(m));
    go_to(&mut desk, 8);
    desk.press(key!(enter));
    let taken = SlotTaken {
        room_id: RoomId(8),
        room: "Cellar".into(),
        hold_id: None,
        period: None,
        occupied_until: None,
        state: None,
        purpose: None,
        guest: None,
        desk: None,
        expires_at: None,
        choices: vec![Alternative {
            room: RoomId(10),
            room_name: "Projector".into(),
            period: period("14:00", "16:00"),
            capacity: None,
            nights: None,
        }],
    };
    let id = desk.last();
    desk.refuse(id, Refusal::SlotTaken(Box::new(taken)));
    let asked = desk.asks(key!('1'));
    let there = (
        SlotHoldId(2),
        Some(RoomId(10)),
        Some(period("14:00", "16:00")),
    );
    assert_eq!(moved(&asked), there);
}
