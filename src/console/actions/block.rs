//! Take the selected period for the site itself, with a reason.

use crokey::key;

use crate::console::actions::action::{Action, Form, Submission};
use crate::console::actions::{reasons, words};
use crate::console::effect::Effect;
use crate::console::message::Press;
use crate::console::model::Model;
use crate::console::model::cursor::{Panel, Target};
use crate::console::model::dialog::{Dialog, Field, Subject};
use crate::console::model::keymap::ActionName;
use crate::domain::{Command, Purpose, Request, Success};
use crate::terminal::text::display;

const REASON: &str = "Reason";

pub(super) const ACTION: Action = Action {
    name: ActionName("block"),
    keys: &[key!(b)],
    hint: |_| "block",
    help: "Take the selected period for the house itself, with a reason",
    why_not,
    act,
    form: Some(&Form {
        title: "Block",
        keys: |_| "Enter blocks   Esc leaves",
        submit,
        is_page: false,
    }),
    done,
    ..Action::PLAIN
};

fn why_not(model: &Model) -> Option<String> {
    reasons::command_here(model).or_else(|| match model.target() {
        Target::Free(room, period) if model.panel == Panel::Rooms => {
            reasons::room_free(model, room, period, None)
        }
        Target::Claim(claim) if model.panel == Panel::Rooms => {
            let whose = match claim.purpose {
                Purpose::Block => "is blocked already",
                Purpose::Guest => "is taken",
            };
            Some(format!(
                "This time {whose}; cancel that first, or choose another time."
            ))
        }
        _ => Some("Only a room can be blocked; Tab goes to the rooms.".into()),
    })
}

fn act(model: &mut Model, press: Press) -> Vec<Effect> {
    let Target::Free(room, period) = model.target() else {
        return Vec::new();
    };
    let when = model.calendar().span(&period);
    let heading = format!("Take {} for the house, {when}", room.name);
    let subject = Subject::Place(room.id, period);
    let fields = vec![Field::new(REASON, "")];
    model.dialog = Some(Dialog::open(
        ACTION.name,
        subject,
        display(&heading),
        fields,
        press,
    ));
    Vec::new()
}

fn submit(_: &mut Model, dialog: &Dialog) -> Submission {
    let Subject::Place(room, period) = dialog.subject else {
        return Submission::Close;
    };
    let reason = dialog.text(REASON);
    if reason.trim().is_empty() {
        let complaint = "Say why, so that the next desk knows; then Enter.";
        return Submission::Complain(complaint.into());
    }
    Submission::Ask(Command::BlockSlot {
        room,
        period,
        reason: reason.to_owned(),
    })
}

fn done(model: &mut Model, _: &Request, done: &Success) -> String {
    let Success::Slot(claim) = done else {
        return String::new();
    };
    model.cursor.unstretch();
    model.cursor_moved();
    format!("Blocked: {}.", words::slot(model, claim))
}
