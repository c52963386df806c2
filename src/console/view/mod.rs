//! What the person sees: pure functions of the model, one file per panel.

pub(crate) mod agenda;
pub(crate) mod axis;
pub(crate) mod claim;
pub(crate) mod day;
pub(crate) mod details;
pub(crate) mod dialog;
pub(crate) mod feed;
pub(crate) mod grid;
pub(crate) mod help;
pub(crate) mod lines;
pub(crate) mod stock;
pub(crate) mod tile;
pub(crate) mod title;
pub(crate) mod top;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::console::model::Model;
use crate::console::model::cursor::{Panel, ViewName};
use crate::console::model::layout::{Layout, Screen};
use crate::console::view::grid::Cells;
use crate::console::view::title::title;
use crate::terminal::canvas::{fill, in_ascii, put, restyle};
use crate::terminal::theme::Theme;

/// How the cells of each view are painted.
const CELLS: &[(ViewName, Cells)] = &[(ViewName::DAY, day::draw)];

/// Paints the model on a frame, which is its alone.
pub fn draw(frame: &mut Frame, model: &Model, theme: &Theme) {
    let cursor = paint(frame.buffer_mut(), model, theme);
    if let Some(position) = cursor {
        frame.set_cursor_position(position);
    }
}

/// Paints the model on a buffer of its size; says where the terminal's cursor is to stand, if text is typed.
pub fn paint(buffer: &mut Buffer, model: &Model, theme: &Theme) -> Option<Position> {
    let area = buffer.area;
    if (area.width, area.height) != model.size {
        return None; // The terminal has just been resized: the message that says so is on its way.
    }
    buffer.set_style(area, theme.text);
    match model.screen() {
        Screen::TooSmall => too_small(buffer, area, theme),
        Screen::Agenda(parts) => {
            top::draw(buffer, parts.top, model, theme);
            agenda::draw(buffer, parts.list, model, theme);
            lines::message(buffer, parts.message, model, theme, false);
            lines::hints(buffer, parts.hints, model, theme);
        }
        Screen::Full(layout) => full(buffer, &layout, model, theme),
    }
    let cursor = match model.screen() {
        Screen::TooSmall => None,
        _ => dialog::draw(buffer, area, model, theme),
    };
    if theme.glyphs.rule.is_ascii() {
        in_ascii(buffer);
    }
    cursor
}

fn full(buffer: &mut Buffer, layout: &Layout, model: &Model, theme: &Theme) {
    top::draw(buffer, layout.top, model, theme);
    let named = CELLS.iter().find(|(view, _)| *view == model.view);
    let (_, cells) = named.unwrap_or(&CELLS[0]);
    grid::draw(buffer, layout, model, *cells, theme);
    panels(buffer, layout, model, theme);
    if model.is_lost() {
        for area in [
            layout.ruler,
            layout.names,
            layout.grid,
            layout.details,
            layout.stock,
        ] {
            restyle(buffer, area, theme.away);
        }
        layout
            .feed
            .iter()
            .for_each(|area| restyle(buffer, *area, theme.away));
    }
    lines::message(
        buffer,
        layout.message,
        model,
        theme,
        layout.feed.is_none() && model.panel != Panel::Feed,
    );
    lines::hints(buffer, layout.hints, model, theme);
}

/// The rule beneath the grid with the panels' titles, and the panels.
fn panels(buffer: &mut Buffer, layout: &Layout, model: &Model, theme: &Theme) {
    let rule = layout.rule;
    fill(
        buffer,
        rule.x,
        rule.y,
        rule.width,
        theme.glyphs.rule,
        theme.rule,
    );
    put(
        buffer,
        layout.grid.x - 1,
        rule.y,
        theme.glyphs.tee_up,
        1,
        theme.rule,
    );
    grid::below(buffer, layout, model, theme);

    let feed_here = layout.feed.is_none() && model.panel == Panel::Feed;
    if feed_here {
        title(buffer, rule, layout.details.x, "Events", true, theme);
        feed::draw(buffer, layout.details, model, theme);
    } else {
        title(
            buffer,
            rule,
            layout.details.x,
            details::title(model),
            false,
            theme,
        );
        details::draw(buffer, layout.details, model, theme);
    }
    if let Some(area) = layout.feed {
        title(
            buffer,
            rule,
            area.x,
            "Events",
            model.panel == Panel::Feed,
            theme,
        );
        feed::draw(buffer, area, model, theme);
    }
    let head = if layout.stock_beside {
        let head = Rect {
            y: layout.stock.y - 1,
            height: 1,
            ..layout.stock
        };
        let start = head.x - 2;
        fill(
            buffer,
            start,
            head.y,
            head.width + 2,
            theme.glyphs.rule,
            theme.rule,
        );
        head
    } else {
        Rect {
            y: rule.y,
            height: 1,
            ..layout.stock
        }
    };
    title(
        buffer,
        head,
        head.x,
        "Stock",
        model.panel == Panel::Stock,
        theme,
    );
    stock::head(buffer, head, layout.stock, model, theme);
    stock::draw(buffer, layout.stock, model, theme);
}

fn too_small(buffer: &mut Buffer, area: Rect, theme: &Theme) {
    let words = if area.width < 24 {
        ["Too small.", "At least", "40 by 10.", "q quits."]
    } else {
        [
            "Too small for a console.",
            "Make the window larger:",
            "at least 40 by 10.",
            "q quits.",
        ]
    };
    let first = area.height.saturating_sub(4) / 2;
    for (y, line) in (first..area.height).zip(words) {
        let x = area
            .width
            .saturating_sub(u16::try_from(line.len()).unwrap_or(0))
            / 2;
        put(buffer, x, y, line, area.width, theme.text);
    }
}
