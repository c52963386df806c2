//! The heart of the console: what a message does to the model, and what is to be done about it.
//!
//! Synchronous and pure: no tasks, no SQL, no clock, no random numbers. Effects are returned as data.

mod act;
mod answer;
mod converse;

use crate::domain::{Command, Request};

use super::effect::Effect;
use super::keys::{self, Action};
use super::layout::Screen;
use super::message::{Message, Press};
use super::model::{Clock, Connection, Model, Panel, Pending, Tone};

/// Lets a message act on the model.
pub fn update(model: &mut Model, message: Message) -> Vec<Effect> {
    let window = model.window();
    let mut effects = change(model, message);
    if model.window() != window {
        effects.push(Effect::LookAt(model.window()));
    }
    effects
}

fn change(model: &mut Model, message: Message) -> Vec<Effect> {
    match message {
        Message::Key(press) => key(model, press),
        Message::Paste(text) => converse::paste(model, &text),
        Message::Click { column, row } => click(model, column, row),
        Message::Drag { column } => drag(model, column),
        Message::Wheel { column, row, lines } => wheel(model, column, row, lines),
        Message::Resized { width, height } => {
            model.size = (width, height);
            model.keep_in_view();
            vec![Effect::Draw]
        }
        Message::Tick { uptime } => {
            model.clock.tick(uptime);
            model.forget_old_news();
            model.cursor.surprised = false;
            vec![Effect::Draw]
        }
        Message::Alive {
            now,
            latency,
            uptime,
        } => {
            let was_lost = model.is_lost();
            model.clock = Clock::new(now, uptime);
            model.connection = Connection::Live {
                latency: Some(latency),
            };
            alive(model, was_lost)
        }
        Message::Picture(picture) => {
            model.accept(picture);
            vec![Effect::Draw]
        }
        Message::Lost { sentence } => {
            let since = match &model.connection {
                Connection::Lost { since, .. } => *since,
                Connection::Live { .. } => model.clock.answered(),
            };
            if !model.is_lost() {
                model.notice = None;
            }
            model.connection = Connection::Lost { since, sentence };
            vec![Effect::Draw]
        }
        Message::Checking(request) => {
            for pending in model
                .pending
                .iter_mut()
                .filter(|pending| pending.request.id == request)
            {
                pending.checking = true;
            }
            vec![Effect::Draw]
        }
        Message::Answered { request, result } => answer::answered(model, request, result),
        Message::Resumed => vec![Effect::Redraw],
        Message::Ended => vec![Effect::Quit],
    }
}

/// The database is there: what was left in the open is asked again, under its own id (R24).
fn alive(model: &mut Model, was_lost: bool) -> Vec<Effect> {
    let mut effects = Vec::new();
    for pending in model.pending.iter_mut().filter(|pending| pending.ask_again) {
        pending.ask_again = false;
        effects.push(Effect::Execute(pending.request.clone()));
    }
    if was_lost {
        model.say(Tone::Good, "The database is back.");
        effects.push(Effect::Draw);
    }
    effects
}

fn key(model: &mut Model, press: Press) -> Vec<Effect> {
    model.clock.tick(press.at);
    let action = model.keymap.action(press.key);
    match action {
        Some(Action::Suspend) => return vec![Effect::Suspend],
        // With an open dialog this closes the dialog first: there may be text in it.
        Some(Action::Quit) if model.dialog.is_none() => return vec![Effect::Quit],
        _ => {}
    }
    if model.screen() == Screen::TooSmall {
        return Vec::new();
    }
    if model.dialog.is_some() {
        return converse::press(model, press);
    }
    let Some(action) = action else {
        return Vec::new();
    };
    if let Some(reason) = (keys::binding_of(action).unavailable)(model) {
        model.cursor.surprised = false;
        model.count = None;
        model.say(Tone::Refused, &reason);
        return vec![Effect::Draw];
    }
    act::act(model, action, press)
}

/// Sends a command under the id of the press that asked for it.
fn ask(model: &mut Model, press: Press, command: Command) -> Effect {
    let request = Request {
        id: press.id,
        desk: model.desk.clone(),
        command,
    };
    model.pending.push(Pending {
        request: request.clone(),
        checking: false,
        ask_again: false,
    });
    Effect::Execute(request)
}

fn click(model: &mut Model, column: u16, row: u16) -> Vec<Effect> {
    let (Screen::Full(layout), None) = (model.screen(), &model.dialog) else {
        return Vec::new();
    };
    let position = ratatui::layout::Position::new(column, row);
    if layout.grid.contains(position) || layout.names.contains(position) {
        model.panel = Panel::Rooms;
        let index =
            model.scroll.first_room + usize::from((row - layout.grid.y) / layout.row_height);
        let Some(board) = &model.board else {
            return Vec::new();
        };
        let Some(room) = board.rooms().get(index) else {
            return Vec::new();
        };
        model.cursor.room = Some(room.id);
        model.cursor.anchor = None;
        model.cursor.stretching = false;
        let at = layout
            .scale
            .instant(model.scroll.first, column.saturating_sub(layout.grid.x));
        let at = if layout.grid.contains(position) {
            at
        } else {
            model.cursor.at
        };
        model.place_cursor(at);
    } else if layout.stock.contains(position) {
        model.panel = Panel::Stock;
        model.carried = None;
        let rows = model.stock_rows();
        let first = super::view::stock::first_row(model, &rows, layout.stock);
        if let Some(cursor) = rows.get(first + usize::from(row - layout.stock.y)) {
            model.stock_cursor = Some(*cursor);
        }
    } else {
        return Vec::new();
    }
    vec![Effect::Draw]
}

/// Stretches the period from where the button went down, in the same room.
fn drag(model: &mut Model, column: u16) -> Vec<Effect> {
    let (Screen::Full(layout), None, Panel::Rooms) = (model.screen(), &model.dialog, model.panel)
    else {
        return Vec::new();
    };
    let column = column.clamp(layout.grid.left(), layout.grid.right() - 1);
    let at = layout
        .scale
        .instant(model.scroll.first, column - layout.grid.x);
    if model.room().is_none() || model.is_in_cell(at) && model.cursor.anchor.is_none() {
        return Vec::new();
    }
    if model.cursor.anchor.is_none() && model.carried.is_none() {
        model.begin_stretch();
    }
    model.place_cursor(at);
    vec![Effect::Draw]
}

fn wheel(model: &mut Model, column: u16, row: u16, lines: i32) -> Vec<Effect> {
    if model.dialog.is_some() {
        return Vec::new();
    }
    let position = ratatui::layout::Position::new(column, row);
    let lines = isize::try_from(lines).unwrap_or(0);
    match model.screen() {
        Screen::Full(layout) if layout.stock.contains(position) => model.step_stock(lines),
        Screen::Full(layout) if layout.feed.is_some_and(|feed| feed.contains(position)) => {
            model.step_feed(lines)
        }
        _ => model.step_room(lines),
    }
    vec![Effect::Draw]
}
