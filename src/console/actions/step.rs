//! Move the cursor by a cell or by a line.

use crokey::key;

use crate::console::actions::action::Action;
use crate::console::actions::{names, reasons};
use crate::console::effect::Effect;
use crate::console::model::Model;
use crate::console::model::cursor::Panel;

pub(super) const LEFT: Action = Action {
    name: names::LEFT,
    fixed: &[key!(left)],
    keys: &[key!(h)],
    help: "One cell earlier; over midnight to the day before",
    why_not: reasons::rooms_only,
    act: |model, _| time(model, false),
    ..Action::PLAIN
};

pub(super) const RIGHT: Action = Action {
    name: names::RIGHT,
    fixed: &[key!(right)],
    keys: &[key!(l)],
    help: "One cell later; over midnight to the next day",
    why_not: reasons::rooms_only,
    act: |model, _| time(model, true),
    ..Action::PLAIN
};

pub(super) const UP: Action = Action {
    name: names::UP,
    fixed: &[key!(up)],
    keys: &[key!(k)],
    help: "One line up",
    act: |model, _| line(model, -1),
    ..Action::PLAIN
};

pub(super) const DOWN: Action = Action {
    name: names::DOWN,
    fixed: &[key!(down)],
    keys: &[key!(j)],
    help: "One line down",
    act: |model, _| line(model, 1),
    ..Action::PLAIN
};

fn time(model: &mut Model, forwards: bool) -> Vec<Effect> {
    model.step_time(forwards, model.cursor.stretching);
    Vec::new()
}

fn line(model: &mut Model, lines: isize) -> Vec<Effect> {
    match model.panel {
        Panel::Rooms => model.step_room(lines),
        Panel::Stock => model.step_stock(lines),
        Panel::Feed => model.step_feed(lines),
    }
    Vec::new()
}
