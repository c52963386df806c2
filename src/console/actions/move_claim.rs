//! Take the claim under the cursor along and put it down elsewhere; also puts down what is stretched by its end (R14).

use crokey::key;

use crate::console::actions::action::{Action, ask};
use crate::console::actions::{names, reasons, words};
use crate::console::effect::Effect;
use crate::console::message::Press;
use crate::console::model::Model;
use crate::console::model::cursor::{Panel, Target};
use crate::console::model::grab::{Grab, GrabKind};
use crate::console::model::notice::Tone;
use crate::domain::{Command, Request, Success};

pub(crate) const ACTION: Action = Action {
    name: names::MOVE,
    keys: &[key!(m)],
    hint: |model| if model.grab.is_some() { "" } else { "move" },
    help: "Take the claim under the cursor along; the same key or Enter puts it down, Escape lets go",
    why_not,
    act,
    done,
    ..Action::PLAIN
};

fn why_not(model: &Model) -> Option<String> {
    if model.panel != Panel::Rooms {
        return Some("Claims are moved in the grid of rooms; Tab goes there.".into());
    }
    if model.grab.is_some() {
        return reasons::command(model).or_else(|| why_not_here(model));
    }
    reasons::command(model).or_else(|| match model.target() {
        Target::Claim(claim) if model.pending_on(claim.id).is_some() => {
            Some(reasons::asked_already())
        }
        Target::Claim(claim) => reasons::run_out(model, claim.state, claim.expires_at),
        _ => Some("There is no claim under the cursor to move.".into()),
    })
}

/// Why the grabbed claim can't be put down where the cursor is.
pub(crate) fn why_not_here(model: &Model) -> Option<String> {
    let Grab { claim, kind } = model.grab.as_ref()?;
    let Some((room, period)) = model.destination() else {
        return Some(match kind {
            GrabKind::Stretch => "A claim ends after it begins; go further to the right.".into(),
            GrabKind::Move => {
                "Of these two rooms one is booked by the hour and one by the night, so the claim can't come here.".into()
            }
        });
    };
    if model.pending_on(claim.id).is_some() {
        return Some(reasons::asked_already());
    }
    if (room.id, period) == (claim.room, claim.period) {
        return None;
    }
    reasons::run_out(model, claim.state, claim.expires_at)
        .or_else(|| reasons::room_free(model, room, period, Some(claim)))
}

fn act(model: &mut Model, press: Press) -> Vec<Effect> {
    if model.grab.is_some() {
        return put_down(model, press);
    }
    model.begin_move();
    Vec::new()
}

/// Asks for the grabbed claim to be where the cursor is; where it was already, nothing is asked.
pub(crate) fn put_down(model: &mut Model, press: Press) -> Vec<Effect> {
    let Some((room, period)) = model.destination().map(|(room, period)| (room.id, period)) else {
        return Vec::new();
    };
    let Some(Grab { claim, kind }) = model.grab.take() else {
        return Vec::new();
    };
    model.let_go();
    model.cursor_moved();
    if (room, period) == (claim.room, claim.period) {
        model.say(Tone::Plain, "It stays where it was.");
        return Vec::new();
    }
    let whole = kind == GrabKind::Move;
    let command = Command::MoveSlot {
        hold: claim.id,
        expect_version: Some(claim.version),
        to_room: whole.then_some(room),
        from: whole.then_some(period.start()),
        to: Some(period.end()),
    };
    vec![ask(model, names::MOVE, press, command)]
}

fn done(model: &mut Model, _: &Request, done: &Success) -> String {
    let Success::Slot(claim) = done else {
        return String::new();
    };
    model.cursor_moved();
    let guest = words::guest(&claim.guest);
    format!("Moved: {}{guest}.", words::slot(model, claim))
}
