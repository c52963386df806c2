//! The help page: the key table, with why a key can't be used at the moment.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::keys::BINDINGS;
use super::super::model::Model;
use super::super::text::{pad, truncate, width, wrap};
use super::super::theme::Theme;
use super::put;

/// The cells of the keys.
const KEYS: usize = 13;

/// Paints the page into a frame, scrolled down by some lines.
pub fn draw(buffer: &mut Buffer, area: Rect, scroll: u16, model: &Model, theme: &Theme) {
    let lines = lines(model, theme, area.width.into());
    for (y, (keys, words, reason)) in
        (area.top()..area.bottom()).zip(lines.iter().skip(scroll.into()))
    {
        put(
            buffer,
            area.x,
            y,
            &pad(keys, KEYS, theme.glyphs.cut),
            area.width,
            theme.key,
        );
        let x = area.x + u16::try_from(KEYS).unwrap_or(0) + 1;
        let style = if *reason { theme.dim } else { theme.text };
        put(buffer, x, y, words, area.right().saturating_sub(x), style);
    }
    let hidden = lines
        .len()
        .saturating_sub(usize::from(scroll) + usize::from(area.height));
    if hidden > 0 {
        let words = format!(" {} {hidden} more ", theme.glyphs.below);
        let cells = u16::try_from(width(&words)).unwrap_or(0);
        put(
            buffer,
            area.right().saturating_sub(cells),
            area.bottom(),
            &words,
            cells,
            theme.title,
        );
    }
}

/// Keys, words, and whether the words say why it is not possible now.
fn lines(model: &Model, theme: &Theme, cells: usize) -> Vec<(String, String, bool)> {
    let room = cells.saturating_sub(KEYS + 1);
    let mut lines = Vec::new();
    for binding in &BINDINGS {
        let keys = spelled(&model.keymap.all(binding.action), theme);
        for (index, words) in wrap(binding.help, room).into_iter().enumerate() {
            let keys = if index == 0 {
                keys.clone()
            } else {
                String::new()
            };
            lines.push((keys, words, false));
        }
        if let Some(reason) = (binding.unavailable)(model) {
            let reason = format!("{} now: {reason}", theme.glyphs.refused);
            lines.push((
                String::new(),
                truncate(&reason, room, theme.glyphs.cut).into_owned(),
                true,
            ));
        }
    }
    lines.push((String::new(), String::new(), false));
    for words in wrap("Signs: ", room) {
        lines.push((String::new(), words, true));
    }
    lines.pop();
    let glyphs = &theme.glyphs;
    for (glyph, words) in [
        (glyphs.held, "held, with the time left"),
        (glyphs.confirmed, "confirmed, with the guest"),
        (glyphs.block, "taken by the house itself"),
        (glyphs.pending, "asked, not answered yet"),
        (glyphs.turnaround, "being made ready for the next"),
        (glyphs.now, "now, by the database's clock"),
        (glyphs.night, "booked by the night"),
        (
            glyphs.group,
            "one of a group, which is confirmed and renewed as a whole",
        ),
        (glyphs.ended, "cancelled or expired"),
    ] {
        lines.push((glyph.to_owned(), words.to_owned(), false));
    }
    lines.push((
        "01a 01b".into(),
        "an hour that the clocks show twice".into(),
        false,
    ));
    lines
}

fn spelled(keys: &str, theme: &Theme) -> String {
    if theme.glyphs.rule.is_ascii() {
        keys.replace('←', "Left")
            .replace('→', "Right")
            .replace('↑', "Up")
            .replace('↓', "Down")
            .replace('…', "-")
    } else {
        keys.to_owned()
    }
}

/// How far the page can be scrolled.
pub fn most_scroll(model: &Model) -> u16 {
    let area = super::dialog::help_area(model.size);
    let theme = Theme::new(
        super::super::theme::Background::Dark,
        super::super::theme::Colours::None,
        false,
    );
    let lines = u16::try_from(lines(model, &theme, area.width.into()).len()).unwrap_or(u16::MAX);
    lines.saturating_sub(area.height)
}
