//! What the spectators see: both consoles, what each transaction does in step mode, what just happened, the keys.

mod help;
mod hints;
mod steps;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::console::model::Model;
use crate::console::view::paint as paint_console;
use crate::demo::desks::Which;
use crate::demo::layout::{Layout, Place, layout};
use crate::demo::state::{Notice, State, Tone};
use crate::terminal::canvas::{fill, in_ascii, put};
use crate::terminal::text::{display, truncate, width, wrap};
use crate::terminal::theme::Theme;

/// Where everything is, at a size of the terminal.
pub fn areas(size: (u16, u16), state: &State) -> Option<Layout> {
    let columns = size.0.saturating_sub(1) / 2;
    let rows = Which::BOTH.map(|which| {
        state.steps[which.index()].as_ref().map_or(0, |view| {
            u16::try_from(steps::height(view, columns, state.calendar)).unwrap_or(u16::MAX)
        })
    });
    layout(size, state.focus, state.alone, rows)
}

/// Paints everything; says where the terminal's cursor is to stand, if text is typed.
pub fn paint(
    buffer: &mut Buffer,
    models: [&Model; 2],
    state: &State,
    theme: &Theme,
) -> Option<Position> {
    let area = buffer.area;
    buffer.set_style(area, theme.text);
    let Some(layout) = areas((area.width, area.height), state) else {
        too_small(buffer, theme);
        return None;
    };
    let mut cursor = None;
    for which in Which::BOTH {
        let place = layout.desks[which.index()];
        title(buffer, place, which, models[which.index()], state, theme);
        let stands = console(buffer, place, models[which.index()], theme);
        if which == state.focus {
            cursor = stands;
        }
        if let (Some(area), Some(view)) = (place.panel, &state.steps[which.index()]) {
            let both_seen = layout.desks.iter().all(|desk| desk.console.is_some());
            steps::draw(buffer, area, view, state, theme, both_seen);
            cursor = cursor.filter(|cursor| !area.contains(*cursor));
        }
    }
    if let Some(bar) = layout.bar {
        for y in bar.top()..bar.bottom() {
            put(buffer, bar.x, y, theme.glyphs.bar, 1, theme.rule);
        }
    }
    notice(buffer, layout.notice, state, theme);
    hints::draw(buffer, layout.hints, state, theme);
    if state.help {
        help::draw(buffer, area, theme);
        cursor = None;
    }
    if theme.glyphs.rule.is_ascii() {
        in_ascii(buffer);
    }
    cursor
}

/// A console, painted by itself and put where it belongs.
fn console(buffer: &mut Buffer, place: Place, model: &Model, theme: &Theme) -> Option<Position> {
    let area = place.console?;
    let mut own = Buffer::empty(Rect::new(0, 0, area.width, area.height));
    let cursor = paint_console(&mut own, model, theme);
    for y in 0..area.height {
        for x in 0..area.width {
            buffer[(area.x + x, area.y + y)] = own[(x, y)].clone();
        }
    }
    cursor.map(|cursor| Position::new(area.x + cursor.x, area.y + cursor.y))
}

/// Whose desk it is, whether it has the keys, and what it is doing.
fn title(
    buffer: &mut Buffer,
    place: Place,
    which: Which,
    model: &Model,
    state: &State,
    theme: &Theme,
) {
    let area = place.title;
    let focused = state.focus == which && !state.watching;
    let has_keys = focused || state.both;
    let style = if has_keys { theme.button } else { theme.title };
    fill(buffer, area.x, area.y, area.width, " ", style);
    let sign = if has_keys { theme.glyphs.cursor } else { " " };
    let name = display(&state.names[which.index()].0);
    let mut words = format!("{sign} {name}");
    if state.both {
        words.push_str("  keys go to both desks");
    } else if focused {
        words.push_str("  has the keys");
    }
    let after = put(
        buffer,
        area.x + 1,
        area.y,
        &words,
        area.width.saturating_sub(2),
        style,
    );
    let doing = doing(which, model, state);
    let at = |words: &String| {
        let cells = u16::try_from(width(words)).unwrap_or(u16::MAX);
        area.right().saturating_sub(cells.saturating_add(1))
    };
    if let Some(words) = doing.iter().find(|words| at(words) > after) {
        put(buffer, at(words), area.y, words, area.width, style);
    }
}

/// What a desk is doing, in as many words as there may be room for, and in fewer.
fn doing(which: Which, model: &Model, state: &State) -> Vec<String> {
    let stopped = state.steps[which.index()].as_ref();
    match stopped {
        Some(view) => {
            let left = format!("ends in {} s", view.left_at(state.moment).as_secs());
            vec![format!("transaction open, {left}"), left]
        }
        None if !model.pending.is_empty() => vec!["asking".into()],
        None if state.step_mode[which.index()] => vec!["step mode".into()],
        None => Vec::new(),
    }
}

/// What just happened, or what a scenario says.
fn notice(buffer: &mut Buffer, area: Rect, state: &State, theme: &Theme) {
    fill(buffer, area.x, area.y, area.width, " ", theme.text);
    let cells = usize::from(area.width).saturating_sub(4);
    let mut lines: Vec<(&str, Style, String)> = Vec::new();
    let mut add = |glyph, style, text: &str| {
        for (index, line) in wrap(text, cells).into_iter().enumerate() {
            lines.push((if index == 0 { glyph } else { " " }, style, line));
        }
    };
    // Where there is one line, a scenario's words go first as long as it plays, and the notice afterwards.
    let one_of_both = area.height == 1 && state.notice.is_some() && state.caption.is_some();
    if let Some(caption) = state
        .caption
        .as_ref()
        .filter(|_| !one_of_both || state.watching)
    {
        add(theme.glyphs.cursor, theme.strong, caption);
    }
    if let Some(notice) = state
        .notice
        .as_ref()
        .filter(|_| !one_of_both || !state.watching)
    {
        let (glyph, style) = match notice.tone {
            Tone::Plain => (theme.glyphs.hour, theme.text),
            Tone::Good => (theme.glyphs.done, theme.good),
            Tone::Refused => (theme.glyphs.refused, theme.warning),
        };
        let sentences = sentences(notice, cells, area.height.into());
        for (index, line) in sentences.iter().enumerate() {
            add(
                if index == 0 { glyph } else { " " },
                if index == 0 { style } else { theme.dim },
                line,
            );
        }
    }
    let hidden = lines.len() > usize::from(area.height);
    let last = area.bottom().saturating_sub(1);
    for (y, (glyph, style, line)) in (area.top()..area.bottom()).zip(lines) {
        put(buffer, area.x + 1, y, glyph, 1, style);
        let line = if hidden && y == last {
            truncate(&format!("{line} {}", "\u{2026}"), cells, theme.glyphs.cut).into_owned()
        } else {
            line
        };
        put(buffer, area.x + 3, y, &line, area.width - 3, style);
    }
}

/// All sentences; where there is no room for the first one, it alone in as many words as there is room for.
fn sentences(notice: &Notice, cells: usize, rows: usize) -> &[String] {
    let fits = |line: &&String| wrap(line, cells).len() <= rows;
    let Some(first) = notice.lines.first().filter(|first| !fits(first)) else {
        return &notice.lines;
    };
    let shorter = notice.in_short.iter().find(fits);
    std::slice::from_ref(shorter.or(notice.in_short.last()).unwrap_or(first))
}

fn too_small(buffer: &mut Buffer, theme: &Theme) {
    let area = buffer.area;
    let words = [
        "Too small for two desks.",
        "Make the window larger:",
        "at least 40 by 14.",
        "q ends the demo.",
    ];
    let first = area.height.saturating_sub(4) / 2;
    for (y, line) in (first..area.height).zip(words) {
        let line = truncate(line, area.width.into(), theme.glyphs.cut);
        let x = area
            .width
            .saturating_sub(u16::try_from(width(&line)).unwrap_or(0))
            / 2;
        put(buffer, x, y, &line, area.width, theme.text);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
