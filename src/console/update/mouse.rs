//! The mouse: a click selects, a drag stretches, the wheel moves by lines.

use ratatui::layout::Position;

use crate::console::effect::Effect;
use crate::console::model::Model;
use crate::console::model::cursor::Panel;
use crate::console::model::layout::{Layout, Screen};

pub(super) fn click(model: &mut Model, column: u16, row: u16) -> Vec<Effect> {
    let (Screen::Full(layout), None) = (model.screen(), &model.dialog) else {
        return Vec::new();
    };
    let position = Position::new(column, row);
    let clicked = if layout.grid.contains(position) || layout.names.contains(position) {
        click_room(model, &layout, position)
    } else if layout.stock.contains(position) {
        click_stock(model, &layout, position);
        true
    } else {
        false
    };
    if clicked {
        vec![Effect::DRAW]
    } else {
        Vec::new()
    }
}

/// Whether there is a room.
fn click_room(model: &mut Model, layout: &Layout, position: Position) -> bool {
    model.panel = Panel::Rooms;
    let line = usize::from((position.y - layout.grid.y) / layout.row_height);
    let index = model.scroll.first_room + line;
    let Some(room) = model
        .indexed
        .as_ref()
        .and_then(|indexed| Some(indexed.rooms().get(index)?.id))
    else {
        return false;
    };
    model.cursor.room = Some(room);
    model.cursor.unstretch();
    let at = if layout.grid.contains(position) {
        model.instant(layout, position.x - layout.grid.x)
    } else {
        model.cursor.at
    };
    model.place_cursor(at);
    true
}

fn click_stock(model: &mut Model, layout: &Layout, position: Position) {
    model.panel = Panel::Stock;
    model.grab = None;
    let rows = model.stock_rows();
    let first = model.first_stock_row(&rows, layout.stock.height);
    let line = usize::from(position.y - layout.stock.y);
    if let Some(cursor) = rows.get(first + line) {
        model.stock_cursor = Some(*cursor);
    }
}

/// Stretches the period from where the button went down, in the same room.
pub(super) fn drag(model: &mut Model, column: u16) -> Vec<Effect> {
    let (Screen::Full(layout), None, Panel::Rooms) = (model.screen(), &model.dialog, model.panel)
    else {
        return Vec::new();
    };
    let column = column.clamp(layout.grid.left(), layout.grid.right() - 1);
    let at = model.instant(&layout, column - layout.grid.x);
    if model.room().is_none() || model.is_in_cell(at) && model.cursor.anchor.is_none() {
        return Vec::new();
    }
    if model.cursor.anchor.is_none() && model.grab.is_none() {
        model.begin_stretch();
    }
    model.place_cursor(at);
    vec![Effect::DRAW]
}

pub(super) fn wheel(model: &mut Model, column: u16, row: u16, lines: i32) -> Vec<Effect> {
    if model.dialog.is_some() {
        return Vec::new();
    }
    let position = Position::new(column, row);
    let lines = isize::try_from(lines).unwrap_or(0);
    match model.screen() {
        Screen::Full(layout) if layout.stock.contains(position) => model.step_stock(lines),
        Screen::Full(layout) if layout.feed.is_some_and(|feed| feed.contains(position)) => {
            model.step_feed(lines);
        }
        _ => model.step_room(lines),
    }
    vec![Effect::DRAW]
}
