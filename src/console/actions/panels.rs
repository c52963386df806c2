//! From rooms to stock to the events, and back.

use crokey::key;

use crate::console::actions::action::Action;
use crate::console::effect::Effect;
use crate::console::model::Model;
use crate::console::model::cursor::Panel;
use crate::console::model::keymap::ActionName;

pub(super) const NEXT: Action = Action {
    name: ActionName("next_panel"),
    keys: &[key!(tab)],
    hint: |_| "panel",
    help: "From rooms to stock to the feed",
    act: |model, _| turn(model, true),
    ..Action::PLAIN
};

pub(super) const PREVIOUS: Action = Action {
    name: ActionName("previous_panel"),
    keys: &[key!(shift - backtab)],
    help: "And the other way round",
    act: |model, _| turn(model, false),
    ..Action::PLAIN
};

fn turn(model: &mut Model, forwards: bool) -> Vec<Effect> {
    model.panel = match (model.panel, forwards) {
        (Panel::Rooms, true) | (Panel::Feed, false) => Panel::Stock,
        (Panel::Stock, true) | (Panel::Rooms, false) => Panel::Feed,
        (Panel::Feed, true) | (Panel::Stock, false) => Panel::Rooms,
    };
    model.grab = None;
    Vec::new()
}
