//! Give the claim under the cursor back; asks first, with a reason.

use crokey::key;

use crate::console::actions::action::{Action, Form, Submission};
use crate::console::actions::{names, reasons, words};
use crate::console::effect::Effect;
use crate::console::message::Press;
use crate::console::model::Model;
use crate::console::model::cursor::Target;
use crate::console::model::dialog::{Dialog, Field, Subject};
use crate::domain::{ClaimState, Command, Purpose, Refusal, Request, SlotHold, StockHold, Success};
use crate::terminal::text::display;

const REASON: &str = "Reason";

pub(super) const ACTION: Action = Action {
    name: names::CANCEL,
    keys: &[key!(x)],
    hint: |_| "cancel",
    help: "Give the claim under the cursor back; asks first, with a reason",
    why_not,
    act,
    form: Some(&Form {
        title: "Give back",
        keys: |dialog| match dialog.focused_button() {
            Some(_) => "y gives back   Enter does what is marked   Esc keeps",
            None => "Enter goes on   Esc keeps",
        },
        submit,
        is_page: false,
    }),
    done,
    ..Action::PLAIN
};

fn why_not(model: &Model) -> Option<String> {
    let reason = reasons::command_here(model).or_else(|| reasons::claim_pending(model));
    reason.or_else(|| match reasons::claim_target(model) {
        Target::Claim(_) => None,
        Target::StockClaim(claim) if claim.state == ClaimState::Confirmed => {
            Some(Refusal::SaleIsFinal {}.sentence(&model.calendar()))
        }
        Target::StockClaim(_) => None,
        Target::Item(_) => {
            Some("Choose one of the holds beneath the item, then give it back.".into())
        }
        _ => Some("There is no claim under the cursor to cancel.".into()),
    })
}

fn act(model: &mut Model, press: Press) -> Vec<Effect> {
    let (subject, heading) = match model.target() {
        Target::Claim(claim) => (
            Subject::Slot(claim.id, claim.version),
            slot_heading(model, claim),
        ),
        Target::StockClaim(claim) => (
            Subject::Stock(claim.id, claim.version),
            stock_heading(claim),
        ),
        _ => return Vec::new(),
    };
    let fields = vec![Field::new(REASON, "")];
    let dialog = Dialog::open(names::CANCEL, subject, display(&heading), fields, press)
        .with_buttons(&["Keep it", "Give it back"]);
    model.dialog = Some(dialog);
    Vec::new()
}

fn slot_heading(model: &Model, claim: &SlotHold) -> String {
    let what = match (claim.purpose, claim.state) {
        (Purpose::Block, _) => "Lift the block on".to_owned(),
        (_, ClaimState::Held) => "Let go of the hold on".to_owned(),
        (_, state) => format!("Cancel the {state} booking of"),
    };
    let (room, guest) = (&claim.room_name, for_guest(&claim.guest));
    let when = model.calendar().span(&claim.period);
    format!("{what} {room}{guest}, {when}?")
}

fn stock_heading(claim: &StockHold) -> String {
    format!(
        "Give back {}{}?",
        words::stock(claim),
        for_guest(&claim.guest)
    )
}

fn for_guest(guest: &str) -> String {
    if guest.is_empty() {
        String::new()
    } else {
        format!(" for {guest}")
    }
}

fn submit(_: &mut Model, dialog: &Dialog) -> Submission {
    let reason = dialog.text(REASON).to_owned();
    match dialog.subject {
        Subject::Slot(hold, version) => Submission::Ask(Command::CancelSlot {
            hold,
            expect_version: Some(version),
            reason,
        }),
        Subject::Stock(hold, version) => Submission::Ask(Command::CancelStock {
            hold,
            expect_version: Some(version),
            reason,
        }),
        Subject::Nothing | Subject::Place(..) => Submission::Close,
    }
}

fn done(model: &mut Model, _: &Request, done: &Success) -> String {
    let (what, guest) = match done {
        Success::Slot(claim) => (words::slot(model, claim), &claim.guest),
        Success::Stock(claim) => (words::stock(claim), &claim.guest),
        _ => return String::new(),
    };
    format!("Given back: {what}{}.", words::guest(guest))
}
