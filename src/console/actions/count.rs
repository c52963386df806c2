//! Digits: in stock how many units the next hold takes, after a conflict which alternative to take.

use crokey::key;

use crate::console::actions::action::{Action, ask};
use crate::console::actions::{names, reasons};
use crate::console::effect::Effect;
use crate::console::message::Press;
use crate::console::model::Model;
use crate::console::model::alternative::AlternativeCommand;
use crate::console::model::cursor::Panel;
use crate::domain::Command;

/// The most units that a typed number can mean.
const MOST: i32 = 9_999;

pub(super) const ACTION: Action = Action {
    name: names::COUNT,
    keys: &[
        key!('0'),
        key!('1'),
        key!('2'),
        key!('3'),
        key!('4'),
        key!('5'),
        key!('6'),
        key!('7'),
        key!('8'),
        key!('9'),
    ],
    help: "In stock: how many units the next hold takes; after a conflict: 1, 2 or 3 takes what is free instead",
    why_not,
    is_part_of_a_number: true,
    act,
    ..Action::PLAIN
};

fn why_not(model: &Model) -> Option<String> {
    match model.panel {
        Panel::Stock => None,
        _ if !model.alternatives().is_empty() => reasons::out_of_reach(model),
        _ => Some("A number counts units of stock; Tab goes there.".into()),
    }
}

fn act(model: &mut Model, press: Press) -> Vec<Effect> {
    // The first key of the action is 0, the next 1, and so on.
    let Some(digit) = model.keymap.index(names::COUNT, press.key) else {
        return Vec::new();
    };
    if model.panel == Panel::Stock {
        let digit = i32::try_from(digit).unwrap_or(MOST);
        model.count = Some((model.count.unwrap_or(0) * 10 + digit).min(MOST));
        return Vec::new();
    }
    take_alternative(model, digit, press)
}

/// Takes what is free in place of what was refused, and goes there.
fn take_alternative(model: &mut Model, number: usize, press: Press) -> Vec<Effect> {
    let chosen = number
        .checked_sub(1)
        .and_then(|index| model.alternatives().get(index).cloned());
    let Some(AlternativeCommand {
        alternative,
        command,
    }) = chosen
    else {
        return Vec::new();
    };
    model.notice = None;
    model.panel = Panel::Rooms;
    model.let_go();
    model.cursor.room = Some(alternative.room);
    model.place_cursor(alternative.period.start());
    let action = match command {
        Command::MoveSlot { .. } => names::MOVE,
        _ => names::HOLD,
    };
    vec![ask(model, action, press, command)]
}
