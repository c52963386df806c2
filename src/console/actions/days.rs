//! The day before, the next day, and the present moment.

use crokey::key;

use crate::console::actions::action::Action;
use crate::console::effect::Effect;
use crate::console::message::Press;
use crate::console::model::Model;
use crate::console::model::keymap::ActionName;

pub(super) const PREVIOUS: Action = Action {
    name: ActionName("previous_day"),
    keys: &[key!(p)],
    help: "The day before",
    act: |model, _| {
        model.show_date(model.calendar().previous_date(model.date()));
        Vec::new()
    },
    ..Action::PLAIN
};

pub(super) const NEXT: Action = Action {
    name: ActionName("next_day"),
    keys: &[key!(n)],
    hint: |_| "next day",
    help: "The next day",
    act: |model, _| {
        model.show_date(model.calendar().next_date(model.date()));
        Vec::new()
    },
    ..Action::PLAIN
};

pub(super) const NOW: Action = Action {
    name: ActionName("now"),
    keys: &[key!(t)],
    hint: |_| "now",
    help: "The present moment",
    act: now,
    ..Action::PLAIN
};

fn now(model: &mut Model, _: Press) -> Vec<Effect> {
    model.cursor.unstretch();
    model.place_cursor(model.now());
    model.scroll_to_business();
    Vec::new()
}
