//! Write down guest, note and party of the claim under the cursor.

use crokey::key;

use crate::console::actions::action::{Action, Form, Submission};
use crate::console::actions::{names, reasons, words};
use crate::console::effect::Effect;
use crate::console::message::Press;
use crate::console::model::Model;
use crate::console::model::cursor::Target;
use crate::console::model::dialog::{Dialog, Field, Subject};
use crate::domain::{Change, ClaimState, Command, Purpose, Request, SlotEdit, Success};
use crate::terminal::text::display;

const GUEST: &str = "Guest";
const NOTE: &str = "Note";
const PARTY: &str = "Party";

pub(super) const ACTION: Action = Action {
    name: names::EDIT,
    keys: &[key!(e)],
    hint: |_| "guest & note",
    help: "Write down guest, note and party of the claim under the cursor",
    why_not,
    act,
    form: Some(&Form {
        title: "Guest and note",
        keys: |_| "Enter writes down   Tab next   Esc leaves",
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
        Target::StockClaim(_) => {
            Some("Guest and note of a hold on stock are given when it is made.".into())
        }
        _ => Some("There is no claim under the cursor to write on.".into()),
    })
}

fn act(model: &mut Model, press: Press) -> Vec<Effect> {
    let Target::Claim(claim) = model.target() else {
        return Vec::new();
    };
    let when = model.calendar().span(&claim.period);
    let heading = format!("{}, {when}", claim.room_name);
    let party = claim.party.map_or(String::new(), |party| party.to_string());
    let fields = vec![
        Field::new(GUEST, &claim.guest),
        Field::new(NOTE, &claim.note),
        Field::new(PARTY, &party),
    ];
    let subject = Subject::Slot(claim.id, claim.version);
    model.dialog = Some(Dialog::open(
        names::EDIT,
        subject,
        display(&heading),
        fields,
        press,
    ));
    Vec::new()
}

fn submit(_: &mut Model, dialog: &Dialog) -> Submission {
    let Subject::Slot(hold, version) = dialog.subject else {
        return Submission::Close;
    };
    let party = match party(dialog) {
        Ok(party) => party,
        Err(complaint) => return Submission::Complain(complaint),
    };
    let [guest, note] = [GUEST, NOTE].map(|label| dialog.changed(label).map(str::to_owned));
    let edit = SlotEdit { guest, note, party };
    if edit == SlotEdit::default() {
        return Submission::Close;
    }
    Submission::Ask(Command::EditSlot {
        hold,
        expect_version: Some(version),
        edit,
    })
}

fn party(dialog: &Dialog) -> Result<Change<i32>, String> {
    let Some(typed) = dialog.changed(PARTY).map(str::trim) else {
        return Ok(Change::Keep);
    };
    if typed.is_empty() {
        return Ok(Change::Clear);
    }
    match typed.parse::<i32>() {
        Ok(party) if party > 0 => Ok(Change::Set(party)),
        _ => Err(format!(
            "“{}” is not a number of people; write a number like 8, or nothing.",
            display(typed)
        )),
    }
}

fn done(model: &mut Model, _: &Request, done: &Success) -> String {
    let Success::Slot(claim) = done else {
        return String::new();
    };
    let guest = words::guest(&claim.guest);
    let written = format!("Written down: {}{guest}.", words::slot(model, claim));
    if claim.state == ClaimState::Held && claim.purpose == Purpose::Guest {
        let key = model.keymap.first(names::CONFIRM);
        return format!("{written} {key} confirm");
    }
    written
}
