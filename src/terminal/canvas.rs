//! What painters share: text and glyphs put into the cells of a buffer.
//!
//! Knows widths and styles; must not know what is painted.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::terminal::text;

/// Nothing but ASCII: punctuation by its twin, and a question mark for what has none.
pub(crate) fn in_ascii(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if !cell.symbol().is_ascii() {
            let twin = match cell.symbol() {
                "–" | "·" | "─" => "-",
                "…" => "~",
                "“" | "”" => "\"",
                "’" => "'",
                "×" => "x",
                "µ" => "u",
                _ => "?",
            };
            cell.set_symbol(twin);
        }
    }
}

/// Takes colours and weight from what is painted: it may be old.
pub(crate) fn restyle(buffer: &mut Buffer, area: Rect, style: Style) {
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            let cell = &mut buffer[(x, y)];
            cell.modifier = ratatui::style::Modifier::empty();
            cell.set_style(Style::reset().patch(style));
        }
    }
}

/// Writes a glyph into so many cells.
pub(crate) fn fill(
    buffer: &mut Buffer,
    x: u16,
    y: u16,
    cells: u16,
    glyph: &str,
    style: Style,
) -> u16 {
    let end = x.saturating_add(cells).min(buffer.area.right());
    if y < buffer.area.bottom() {
        for x in x..end {
            buffer[(x, y)].set_symbol(glyph).set_style(style);
        }
    }
    end
}

/// Writes text that is made for the screen, in at most so many cells; returns the column after it.
///
/// Where it runs from right to left, its end is marked: else a terminal that reorders would draw the rest of the row
/// into it.
pub(crate) fn put(
    buffer: &mut Buffer,
    x: u16,
    y: u16,
    shown: &str,
    cells: u16,
    style: Style,
) -> u16 {
    if y >= buffer.area.bottom() || x >= buffer.area.right() {
        return x;
    }
    if text::is_simple(shown) {
        let end = x.saturating_add(cells).min(buffer.area.right());
        let mut after = x;
        for (x, character) in (x..end).zip(shown.chars()) {
            buffer[(x, y)].set_char(character).set_style(style);
            after = x + 1;
        }
        return after;
    }
    let (after, _) = buffer.set_stringn(x, y, shown, cells.into(), style);
    if after > x && text::runs_right_to_left(shown) {
        let last = &mut buffer[(after - 1, y)];
        let marked = format!("{}\u{200e}", last.symbol());
        last.set_symbol(&marked);
    }
    after
}
