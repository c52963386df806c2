//! Stretch a period, or the claim under the cursor by its end: with the plain arrows after `stretch`, or a cell at a time.

use crokey::key;

use crate::console::actions::action::Action;
use crate::console::actions::reasons::{grab_under_way, rooms_only};
use crate::console::effect::Effect;
use crate::console::message::Press;
use crate::console::model::Model;
use crate::console::model::grab::GrabKind;
use crate::console::model::keymap::ActionName;

pub(super) const STRETCH: Action = Action {
    name: ActionName("stretch"),
    keys: &[key!(v)],
    hint: |_| "stretch",
    help: "Stretch the period, or the claim under the cursor by its end, with the plain arrows; Enter does it, Escape lets go",
    why_not,
    act,
    ..Action::PLAIN
};

pub(super) const LEFT: Action = Action {
    name: ActionName("stretch_left"),
    fixed: &[key!(shift - left)],
    keys: &[key!(shift - h)],
    help: "Stretch the period to earlier, or shrink it; of a claim, its end",
    why_not,
    act: |model, _| {
        model.step_time(false, true);
        Vec::new()
    },
    ..Action::PLAIN
};

pub(super) const RIGHT: Action = Action {
    name: ActionName("stretch_right"),
    fixed: &[key!(shift - right)],
    keys: &[key!(shift - l)],
    help: "Stretch the period to later; of a claim, its end",
    why_not,
    act: |model, _| {
        model.step_time(true, true);
        Vec::new()
    },
    ..Action::PLAIN
};

fn why_not(model: &Model) -> Option<String> {
    rooms_only(model)
        .or_else(|| {
            let no_room = model.room().is_none();
            no_room.then(|| "There is no room here yet.".into())
        })
        .or_else(|| match &model.grab {
            Some(grab) if grab.kind == GrabKind::Move => grab_under_way(model),
            _ => None,
        })
}

fn act(model: &mut Model, _: Press) -> Vec<Effect> {
    let stretching = !model.cursor.stretching;
    model.let_go();
    model.cursor.stretching = stretching;
    if stretching {
        model.begin_stretch();
    }
    model.place_cursor(model.cursor.at);
    Vec::new()
}
