//! Dialogs take all keys, default to the harmless, and never lose what was typed.

use crokey::key;

use crate::console::actions::names;
use crate::console::effect::{Effect, TerminalEffect};
use crate::console::message::{Message, Press};
use crate::console::model::dialog::Subject;
use crate::console::tests::fixtures::{press, request, sample_snapshot};
use crate::console::tests::{Desk, commands};
use crate::domain::{Change, Command, Refusal, SlotEdit, SlotHoldId, Version};

fn asks_to_cancel() -> Desk {
    let mut desk = Desk::new();
    desk.press(key!(x));
    let dialog = desk.model.dialog.as_ref().unwrap();
    assert_eq!(dialog.action, names::CANCEL);
    assert!(matches!(dialog.subject, Subject::Slot(..)));
    desk
}

#[test]
fn the_key_that_opens_it_held_down_neither_confirms_nor_types() {
    let mut desk = asks_to_cancel();
    let opened = press(key!(x), desk.presses).at;
    for repeat in 1..200u32 {
        let at = opened + std::time::Duration::from_millis(33) * repeat;
        let effects = desk.tell(Message::Key(Press {
            key: key!(x),
            id: request(1000 + repeat),
            at,
        }));
        assert!(effects.is_empty());
    }
    assert_eq!(desk.model.dialog.as_ref().unwrap().text("Reason"), "");
    desk.presses += 10;
    desk.type_text("x-ray");
    assert_eq!(desk.model.dialog.as_ref().unwrap().text("Reason"), "x-ray");
}

#[test]
fn enter_alone_never_gives_anything_back() {
    let mut desk = asks_to_cancel();
    for _ in 0..5 {
        assert_eq!(desk.asks(key!(enter)).len(), 0);
    }
    assert!(desk.model.dialog.is_none(), "kept");
}

#[test]
fn cancelling_takes_a_reason_and_a_yes_and_names_the_claim_and_its_version() {
    let mut desk = asks_to_cancel();
    desk.type_text("guest is ill");
    desk.press(key!(enter));
    let asked = desk.asks(key!(y));
    let reason = "guest is ill".to_owned();
    let wanted = Command::CancelSlot {
        hold: SlotHoldId(1),
        expect_version: Some(Version(1)),
        reason,
    };
    assert_eq!(asked, [wanted]);
    assert!(
        desk.model.dialog.is_some(),
        "open until the house has answered"
    );
    assert_eq!(desk.asks(key!(y)).len(), 0, "and sent once");
}

#[test]
fn the_second_button_can_be_reached_and_pressed() {
    let mut desk = asks_to_cancel();
    desk.press(key!(tab));
    desk.press(key!(right));
    assert_eq!(desk.asks(key!(enter)).len(), 1);
}

#[test]
fn it_acts_on_the_claim_that_it_opened_for_whatever_comes_under_the_cursor() {
    let mut desk = asks_to_cancel();
    desk.snapshot(|snapshot| snapshot.claims[0].id = SlotHoldId(500));
    desk.press(key!(enter));
    let asked = desk.asks(key!(y));
    assert!(
        matches!(
            asked[..],
            [Command::CancelSlot {
                hold: SlotHoldId(1),
                ..
            }]
        ),
        "{asked:?}"
    );
}

#[test]
fn keys_of_the_console_are_letters_in_a_dialog() {
    let mut desk = Desk::new();
    desk.press(key!(e));
    desk.press(key!(end));
    desk.type_text(" qcx?");
    assert_eq!(
        desk.model.dialog.as_ref().unwrap().text("Guest"),
        "Müller qcx?"
    );
    assert_eq!(
        desk.press(key!(ctrl - z)),
        [Effect::Terminal(TerminalEffect::Suspend)]
    );
}

#[test]
fn only_what_was_changed_is_written() {
    let mut desk = Desk::new();
    desk.press(key!(e));
    desk.type_text(" & Söhne");
    let asked = desk.asks(key!(enter));
    let guest = Some("Müller & Söhne".to_owned());
    let wanted = Command::EditSlot {
        hold: SlotHoldId(1),
        expect_version: Some(Version(1)),
        edit: SlotEdit {
            guest,
            ..SlotEdit::default()
        },
    };
    assert_eq!(asked, [wanted]);

    let mut desk = Desk::new();
    desk.press(key!(e));
    assert_eq!(
        desk.asks(key!(enter)).len(),
        0,
        "nothing changed, nothing asked"
    );
    assert!(desk.model.dialog.is_none());
}

#[test]
fn typed_text_survives_a_refusal_and_a_lost_connection() {
    let mut desk = Desk::new();
    desk.press(key!(e));
    desk.type_text("!");
    assert_eq!(desk.asks(key!(enter)).len(), 1);
    let id = desk.last();
    desk.refuse(
        id,
        Refusal::TextTooLong {
            field: "guest".into(),
            length: 300,
            limit: 200,
        },
    );
    let dialog = desk.model.dialog.as_ref().unwrap();
    assert_eq!(dialog.text("Guest"), "Müller!");
    assert!(dialog.complaint.as_ref().unwrap().contains("at most 200"));

    assert_eq!(desk.asks(key!(enter)).len(), 1);
    let id = desk.last();
    desk.fail(id, false);
    desk.lose();
    assert_eq!(desk.asks(key!(enter)).len(), 0, "the database is away");
    let dialog = desk.model.dialog.as_ref().unwrap();
    assert_eq!(dialog.text("Guest"), "Müller!");
    assert!(dialog.complaint.as_ref().unwrap().contains("away since"));
    desk.find();
    assert_eq!(
        desk.asks(key!(enter)).len(),
        1,
        "and once it is back, it is sent"
    );
}

#[test]
fn r22_after_stale_the_dialog_goes_on_with_what_the_claim_is_now() {
    let mut desk = Desk::new();
    desk.press(key!(e));
    desk.type_text("!");
    desk.press(key!(enter));
    let id = desk.last();
    let state = crate::domain::ClaimState::Confirmed;
    desk.refuse(
        id,
        Refusal::Stale {
            expected: Version(1),
            version: Version(4),
            state,
        },
    );
    let asked = desk.asks(key!(enter));
    assert!(
        matches!(
            asked[..],
            [Command::EditSlot {
                expect_version: Some(Version(4)),
                ..
            }]
        ),
        "{asked:?}"
    );
}

#[test]
fn it_closes_when_the_house_has_done_it() {
    let mut desk = Desk::new();
    desk.press(key!(e));
    desk.type_text("!");
    desk.press(key!(enter));
    let mut claim = desk
        .model
        .indexed
        .as_ref()
        .unwrap()
        .claim(SlotHoldId(1))
        .unwrap()
        .clone();
    claim.guest = "Müller!".into();
    claim.version = Version(2);
    let id = desk.last();
    desk.done(id, claim);
    assert!(desk.model.dialog.is_none());
    assert!(desk.notice().contains("Müller!"));
}

#[test]
fn a_party_is_a_number() {
    let mut desk = Desk::new();
    desk.press(key!(e));
    desk.press(key!(shift - backtab));
    desk.type_text("0x");
    assert_eq!(desk.asks(key!(enter)).len(), 0);
    let complaint = desk
        .model
        .dialog
        .as_ref()
        .unwrap()
        .complaint
        .clone()
        .unwrap();
    assert!(complaint.contains("“80x” is not a number"), "{complaint}");
    desk.press(key!(backspace));
    let asked = desk.asks(key!(enter));
    assert!(
        matches!(
            asked[..],
            [Command::EditSlot {
                edit: SlotEdit {
                    party: Change::Set(80),
                    ..
                },
                ..
            }]
        ),
        "{asked:?}"
    );
}

#[test]
fn a_party_that_was_written_down_can_be_cleared() {
    let mut snapshot = sample_snapshot();
    snapshot.claims[0].party = Some(8);
    let mut desk = Desk::at(snapshot);
    desk.press(key!(e));
    assert_eq!(desk.model.dialog.as_ref().unwrap().text("Party"), "8");
    desk.press(key!(tab));
    desk.press(key!(tab));
    desk.press(key!(backspace));
    let asked = desk.asks(key!(enter));
    assert!(
        matches!(
            asked[..],
            [Command::EditSlot {
                edit: SlotEdit {
                    party: Change::Clear,
                    ..
                },
                ..
            }]
        ),
        "{asked:?}"
    );
}

#[test]
fn a_block_needs_a_reason() {
    let mut desk = Desk::new();
    (0..7).for_each(|_| _ = desk.press(key!(down)));
    desk.press(key!(b));
    assert_eq!(desk.asks(key!(enter)).len(), 0);
    desk.type_text("wet floor");
    let asked = desk.asks(key!(enter));
    assert!(
        matches!(&asked[..], [Command::BlockSlot { reason, .. }] if reason == "wet floor"),
        "{asked:?}"
    );
}

#[test]
fn what_is_pasted_is_stored_exactly_and_presses_nothing() {
    let mut desk = Desk::new();
    desk.press(key!(e));
    desk.press(key!(tab));
    let before = desk.model.dialog.as_ref().unwrap().text("Note").to_owned();
    let pasted = "two\nlines and \u{1b}[31m red 👩\u{200d}❤\u{fe0f}\u{200d}👨";
    let effects = desk.tell(Message::Paste(pasted.into()));
    assert!(commands(effects).is_empty());
    assert_eq!(
        desk.model.dialog.as_ref().unwrap().text("Note"),
        format!("{before}{pasted}")
    );
    desk.press(key!(esc));
    assert!(
        desk.tell(Message::Paste("xc\n".into())).is_empty(),
        "outside a dialog it does nothing"
    );
}

#[test]
fn control_c_leaves_the_dialog_first() {
    let mut desk = Desk::new();
    desk.press(key!(e));
    desk.press(key!(ctrl - c));
    assert!(desk.model.dialog.is_none());
    assert_eq!(
        desk.press(key!(ctrl - c)),
        [Effect::Terminal(TerminalEffect::Quit)]
    );
}

#[test]
fn help_scrolls_and_any_other_key_closes_it() {
    let mut desk = Desk::new();
    desk.press(key!('?'));
    for _ in 0..500 {
        desk.press(key!(down));
    }
    let scroll = desk.model.dialog.as_ref().unwrap().scroll;
    assert!(scroll > 0 && scroll < 200, "{scroll}");
    assert_eq!(desk.asks(key!(enter)).len(), 0);
    assert!(desk.model.dialog.is_none());
}

#[test]
fn go_to_shows_the_date_and_keeps_what_is_no_date() {
    let mut desk = Desk::new();
    desk.press(key!(g));
    desk.type_text("someday");
    desk.press(key!(enter));
    let dialog = desk.model.dialog.as_ref().unwrap();
    assert_eq!(dialog.text("Date"), "someday");
    assert!(dialog.complaint.is_some());
    desk.press(key!(ctrl - u));
    desk.type_text("24 dec");
    let effects = desk.press(key!(enter));
    assert!(desk.model.dialog.is_none());
    assert_eq!(desk.model.date().to_string(), "2026-12-24");
    assert!(
        effects
            .iter()
            .any(|effect| matches!(effect, Effect::LookAt(_)))
    );
    assert!(!desk.model.is_day_known());
    desk.press(key!(down));
    desk.press(key!(down));
    assert_eq!(desk.asks(key!(enter)).len(), 0, "{}", desk.notice());
    assert!(
        desk.notice().contains("still being read"),
        "{}",
        desk.notice()
    );
}
