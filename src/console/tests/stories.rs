//! Commands, answers, and what stands between them.

use chrono::TimeDelta;
use crokey::key;

use crate::console::effect::{Effect, TerminalEffect};
use crate::console::message::Message;
use crate::console::model::cursor::{Panel, StockCursor, Target};
use crate::console::model::notice::Tone;
use crate::console::tests::fixtures::{claim, now, period, request, sample_snapshot};
use crate::console::tests::{Desk, commands};
use crate::domain::refusal_details::SlotTaken;
use crate::domain::{
    ClaimState, Command, ItemId, Refusal, RoomId, SlotHold, SlotHoldId, StockHoldId, Version,
};

/// At the free 10:00 of the cellar.
fn in_the_cellar() -> Desk {
    let mut desk = Desk::new();
    for _ in 0..7 {
        desk.press(key!(down));
    }
    assert_eq!(desk.model.cursor.room, Some(RoomId(8)));
    desk
}

fn cellar_hold(desk: &Desk) -> SlotHold {
    let indexed = desk.model.indexed.as_ref().unwrap();
    let cellar = indexed.room(RoomId(8)).unwrap();
    claim(99, cellar, period("10:00", "10:30"), ClaimState::Held, "")
}

#[test]
fn enter_holds_the_cell_at_once_under_the_id_of_the_press() {
    let mut desk = in_the_cellar();
    let requests = commands(desk.press(key!(enter)));
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].id, desk.last());
    assert_eq!(requests[0].desk.0, "anna");
    let Command::HoldSlot {
        room,
        period: asked,
        ttl: None,
        ..
    } = &requests[0].command
    else {
        panic!("{requests:?}");
    };
    assert_eq!((*room, *asked), (RoomId(8), period("10:00", "10:30")));
}

#[test]
fn a_second_enter_sends_nothing_while_the_first_is_pending() {
    let mut desk = in_the_cellar();
    assert_eq!(desk.asks(key!(enter)).len(), 1);
    assert_eq!(desk.asks(key!(enter)).len(), 0);
    assert!(
        desk.notice().contains("answer is on its way"),
        "{}",
        desk.notice()
    );
    assert_eq!(desk.model.pending.len(), 1);
}

#[test]
fn a_claim_is_won_only_when_the_house_has_said_so() {
    let mut desk = in_the_cellar();
    desk.press(key!(enter));
    let id = desk.last();
    assert!(
        matches!(desk.model.target(), Target::Free(..)),
        "asked is not won"
    );
    let hold = cellar_hold(&desk);
    desk.done(id, hold);
    assert!(matches!(desk.model.target(), Target::Claim(claim) if claim.id == SlotHoldId(99)));
    assert!(desk.model.pending.is_empty());
    assert!(
        desk.notice().starts_with("Held: Cellar"),
        "{}",
        desk.notice()
    );
    // And Enter again, held down, asks for nothing.
    assert_eq!(desk.asks(key!(enter)).len(), 0);
}

#[test]
fn a_picture_that_was_read_before_the_answer_does_not_take_the_claim_away() {
    let mut desk = in_the_cellar();
    desk.press(key!(enter));
    let (id, hold) = (desk.last(), cellar_hold(&desk));
    desk.done(id, hold);
    desk.snapshot(|snapshot| {
        snapshot.read_at = now() - TimeDelta::milliseconds(5);
        snapshot.claims.retain(|claim| claim.id != SlotHoldId(99));
    });
    assert!(matches!(desk.model.target(), Target::Claim(_)));
    desk.snapshot(|snapshot| {
        snapshot.read_at = now() + TimeDelta::milliseconds(5);
        snapshot.claims.retain(|claim| claim.id != SlotHoldId(99));
    });
    assert!(
        matches!(desk.model.target(), Target::Free(..)),
        "a later picture decides"
    );
}

#[test]
fn a_late_or_unknown_answer_is_ignored() {
    let mut desk = in_the_cellar();
    desk.press(key!(enter));
    let (id, hold) = (desk.last(), cellar_hold(&desk));
    desk.done(id, hold.clone());
    desk.model.notice = None;
    let effects = desk.refuse(id, Refusal::Busy {});
    assert!(effects.is_empty() && desk.model.notice.is_none());
    desk.done(
        request(4711),
        SlotHold {
            guest: "stranger".into(),
            ..hold
        },
    );
    let indexed = desk.model.indexed.as_ref().unwrap();
    assert_eq!(indexed.claim(SlotHoldId(99)).unwrap().guest, "");
}

#[test]
fn a_conflict_says_who_has_it_and_until_when_and_reads_anew() {
    let mut desk = in_the_cellar();
    desk.press(key!(enter));
    let taken = SlotTaken {
        room_id: RoomId(8),
        room: "Cellar".into(),
        hold_id: Some(SlotHoldId(50)),
        period: Some(period("10:00", "11:00")),
        occupied_until: Some(period("10:00", "11:00").end()),
        state: Some(ClaimState::Held),
        purpose: Some(crate::domain::Purpose::Guest),
        guest: Some("Brandt\u{1b}[2J".into()),
        desk: Some("bo".into()),
        expires_at: Some(now() + TimeDelta::seconds(600)),
        choices: Vec::new(),
    };
    let id = desk.last();
    let effects = desk.refuse(id, Refusal::SlotTaken(Box::new(taken)));
    assert!(effects.contains(&crate::console::tests::Effect::Refresh));
    for part in ["Brandt", "desk bo", "10:00–11:00", "held until 10:34:00"] {
        assert!(desk.notice().contains(part), "{part} in {}", desk.notice());
    }
    assert!(!desk.notice().contains('\u{1b}'));
    assert_eq!(desk.model.notice.as_ref().unwrap().tone, Tone::Refused);
}

#[test]
fn enter_on_a_claim_that_can_be_seen_says_whose_it_is() {
    let mut desk = Desk::new();
    assert_eq!(desk.asks(key!(enter)).len(), 0);
    assert!(
        desk.notice().contains("Müller") && desk.notice().contains("confirmed"),
        "{}",
        desk.notice()
    );
}

#[test]
fn r11_a_hold_that_is_due_does_not_keep_enter_from_asking() {
    let mut desk = Desk::new();
    for _ in 0..3 {
        desk.press(key!(down));
    }
    desk.press(key!(right));
    assert!(matches!(desk.model.target(), Target::Claim(claim) if claim.id == SlotHoldId(5)));
    assert_eq!(desk.asks(key!(enter)).len(), 0);
    desk.alive(now() + TimeDelta::seconds(253));
    assert_eq!(
        desk.asks(key!(c)).len(),
        0,
        "what is due is not confirmed from here"
    );
    let asked = desk.asks(key!(enter));
    assert!(
        matches!(
            asked[..],
            [Command::HoldSlot {
                room: RoomId(4),
                ..
            }]
        ),
        "{asked:?}"
    );
}

#[test]
fn confirm_carries_the_version_that_was_seen() {
    let mut desk = Desk::new();
    desk.press(key!(t));
    (0..8).for_each(|_| _ = desk.press(key!(right)));
    assert!(matches!(desk.model.target(), Target::Claim(claim) if claim.id == SlotHoldId(2)));
    let asked = desk.asks(key!(c));
    let hold = SlotHoldId(2);
    assert_eq!(
        asked,
        [Command::ConfirmSlot {
            hold,
            expect_version: Some(Version(1))
        }]
    );
    assert_eq!(desk.asks(key!(c)).len(), 0, "once is enough");
}

#[test]
fn what_is_confirmed_is_not_confirmed_again() {
    let mut desk = Desk::new();
    assert_eq!(desk.asks(key!(c)).len(), 0);
    assert!(
        desk.notice().contains("confirmed already"),
        "{}",
        desk.notice()
    );
}

#[test]
fn r24_an_unknown_outcome_is_checked_and_asked_again_under_the_same_id() {
    let mut desk = in_the_cellar();
    let sent = commands(desk.press(key!(enter)));
    desk.tell(Message::Checking(sent[0].id));
    assert!(desk.model.pending[0].checking);
    desk.fail(sent[0].id, true);
    assert!(desk.model.pending[0].checking, "neither won nor lost");
    desk.lose();
    let effects = desk.alive(now());
    assert_eq!(commands(effects), sent);
    let hold = cellar_hold(&desk);
    desk.done(sent[0].id, hold);
    assert!(desk.model.pending.is_empty());
}

#[test]
fn while_the_database_is_away_commands_are_refused_and_moving_works() {
    let mut desk = in_the_cellar();
    desk.lose();
    for key in [key!(enter), key!(c), key!(x), key!(e), key!(b)] {
        assert_eq!(desk.asks(key).len(), 0);
        assert!(desk.model.dialog.is_none());
        assert!(
            desk.notice().contains("away since 10:24:00"),
            "{}",
            desk.notice()
        );
    }
    let before = desk.cursor_at();
    desk.press(key!(right));
    assert_eq!(
        desk.cursor_at(),
        before - TimeDelta::minutes(24) + TimeDelta::minutes(30)
    );
    desk.find();
    assert_eq!(desk.notice(), "The database is back.");
    assert_eq!(desk.asks(key!(enter)).len(), 1);
}

#[test]
fn digits_before_enter_hold_that_many() {
    let mut desk = Desk::new();
    desk.press(key!(tab));
    assert_eq!(desk.model.panel, Panel::Stock);
    desk.press(key!('1'));
    desk.press(key!('2'));
    let asked = desk.asks(key!(enter));
    let [Command::HoldStock { item, quantity, .. }] = &asked[..] else {
        panic!("{asked:?}")
    };
    assert_eq!((*item, *quantity), (ItemId(1), 12));
    assert_eq!(desk.model.count, None);
    assert_eq!(desk.asks(key!(enter)).len(), 0, "once while it is pending");
}

#[test]
fn without_digits_enter_holds_one_and_another_key_forgets_them() {
    let mut desk = Desk::new();
    desk.press(key!(tab));
    desk.press(key!('7'));
    for _ in 0..4 {
        desk.press(key!(down));
    }
    let asked = desk.asks(key!(enter));
    assert!(
        matches!(
            asked[..],
            [Command::HoldStock {
                item: ItemId(4),
                quantity: 1,
                ..
            }]
        ),
        "{asked:?}"
    );
}

#[test]
fn a_hold_on_stock_is_confirmed_from_its_own_line() {
    let mut desk = Desk::new();
    desk.press(key!(tab));
    assert_eq!(desk.asks(key!(c)).len(), 0);
    desk.press(key!(down));
    assert_eq!(
        desk.model.stock_cursor,
        Some(StockCursor::Claim(StockHoldId(1), ItemId(1)))
    );
    let asked = desk.asks(key!(c));
    assert!(
        matches!(
            asked[..],
            [Command::ConfirmStock {
                hold: StockHoldId(1),
                ..
            }]
        ),
        "{asked:?}"
    );
}

#[test]
fn digits_in_the_grid_are_explained() {
    let mut desk = Desk::new();
    desk.press(key!('3'));
    assert_eq!(desk.model.count, None);
    assert!(desk.notice().contains("counts units of stock"));
}

#[test]
fn the_selection_stays_on_its_room_and_claim_when_others_come_and_go() {
    let mut desk = Desk::new();
    assert!(matches!(desk.model.target(), Target::Claim(claim) if claim.id == SlotHoldId(1)));
    desk.snapshot(|snapshot| {
        let mut first = snapshot.rooms[0].clone();
        first.id = RoomId(77);
        first.name = "A new first room".into();
        snapshot.rooms.insert(0, first);
        snapshot.claims.reverse();
    });
    assert_eq!(desk.model.cursor.room, Some(RoomId(1)));
    assert!(matches!(desk.model.target(), Target::Claim(claim) if claim.id == SlotHoldId(1)));
}

#[test]
fn a_key_never_hits_another_claim_than_the_one_that_was_seen() {
    let mut desk = Desk::new();
    desk.snapshot(|snapshot| snapshot.claims[0].id = SlotHoldId(500));
    assert_eq!(desk.asks(key!(c)).len(), 0);
    desk.press(key!(x));
    assert!(desk.model.dialog.is_some(), "the second look is enough");
}

#[test]
fn a_claim_that_comes_to_a_free_cell_is_not_cancelled_by_a_key_meant_for_nothing() {
    let mut desk = in_the_cellar();
    let hold = cellar_hold(&desk);
    desk.snapshot(|snapshot| snapshot.claims.push(hold));
    assert!(matches!(desk.model.target(), Target::Claim(_)));
    assert_eq!(desk.asks(key!(enter)).len(), 0, "taken: {}", desk.notice());
    assert!(desk.notice().contains("desk bo"), "{}", desk.notice());
}

#[test]
fn when_the_room_is_gone_the_cursor_takes_the_one_in_its_place() {
    let mut desk = in_the_cellar();
    desk.snapshot(|snapshot| snapshot.rooms.retain(|room| room.id != RoomId(8)));
    assert_eq!(desk.model.cursor.room, Some(RoomId(9)));
    desk.snapshot(|snapshot| snapshot.rooms.clear());
    assert_eq!(desk.model.cursor.room, None);
    assert_eq!(desk.asks(key!(enter)).len(), 0);
}

#[test]
fn a_stock_hold_that_ends_gives_the_cursor_back_to_its_item() {
    let mut desk = Desk::new();
    desk.press(key!(tab));
    desk.press(key!(down));
    desk.snapshot(|snapshot| snapshot.stock_claims.clear());
    assert_eq!(desk.model.stock_cursor, Some(StockCursor::Item(ItemId(1))));
}

#[test]
fn a_past_period_is_explained_and_not_asked_for() {
    let mut desk = in_the_cellar();
    desk.press(key!(left));
    assert_eq!(desk.asks(key!(enter)).len(), 0);
    assert!(desk.notice().contains("ended at"), "{}", desk.notice());
}

#[test]
fn too_small_a_window_takes_no_commands() {
    let mut desk = in_the_cellar();
    desk.tell(Message::Resized {
        width: 39,
        height: 24,
    });
    assert_eq!(desk.asks(key!(enter)).len(), 0);
    assert_eq!(
        desk.press(key!(q)),
        [Effect::Terminal(TerminalEffect::Quit)]
    );
    desk.tell(Message::Resized {
        width: 80,
        height: 24,
    });
    assert_eq!(desk.asks(key!(enter)).len(), 1);
}

#[test]
fn another_claim_under_the_cursor_is_safe_until_the_next_key_however_long_that_takes() {
    let mut desk = Desk::new();
    desk.snapshot(|snapshot| {
        let winner = SlotHold {
            id: SlotHoldId(99),
            ..snapshot.claims[0].clone()
        };
        snapshot.claims[0] = winner;
    });
    for seconds in 1..60 {
        let uptime = std::time::Duration::from_secs(seconds);
        desk.tell(Message::Tick { uptime });
    }
    desk.press(key!(x));
    assert!(desk.model.dialog.is_none(), "it was meant for another");
    assert!(desk.notice().contains("has changed"), "{}", desk.notice());
    desk.press(key!(x));
    assert!(desk.model.dialog.is_some(), "it has been seen now");
}

#[test]
fn an_answer_from_the_database_draws_only_when_something_can_be_seen() {
    let mut desk = Desk::new();
    assert!(desk.alive(now()).is_empty());
}

#[test]
fn an_empty_house_can_be_looked_at() {
    let mut snapshot = sample_snapshot();
    snapshot.rooms.clear();
    snapshot.claims.clear();
    snapshot.items.clear();
    snapshot.stock_claims.clear();
    snapshot.events.clear();
    let mut desk = Desk::at(snapshot);
    for key in [
        key!(enter),
        key!(down),
        key!(right),
        key!(tab),
        key!(enter),
        key!(tab),
        key!(down),
        key!(c),
    ] {
        assert_eq!(desk.asks(key).len(), 0);
    }
}
