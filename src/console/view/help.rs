//! Paints the help page.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::console::actions::help_page::{self, KEYS, Line, Sign};
use crate::console::model::Model;
use crate::console::view::claim;
use crate::terminal::canvas::put;
use crate::terminal::text::{pad, truncate, width};
use crate::terminal::theme::Theme;

/// Paints the page into a frame, scrolled down by some lines.
pub(crate) fn draw(buffer: &mut Buffer, area: Rect, scroll: u16, model: &Model, theme: &Theme) {
    let lines = help_page::lines(model, area.width);
    for (y, page_line) in (area.top()..area.bottom()).zip(lines.iter().skip(scroll.into())) {
        line(
            buffer,
            Rect::new(area.x, y, area.width, 1),
            page_line,
            theme,
        );
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

fn line(buffer: &mut Buffer, area: Rect, line: &Line, theme: &Theme) {
    let x = area.x + u16::try_from(KEYS).unwrap_or(0) + 1;
    let room = area.right().saturating_sub(x);
    let (keys, words, style) = match line {
        Line::Keys(keys, words) => (spelled(keys, theme), words.clone(), theme.text),
        Line::WhyNot(reason) => {
            let reason = format!("{} now: {reason}", theme.glyphs.refused);
            let shown = truncate(&reason, room.into(), theme.glyphs.cut).into_owned();
            (String::new(), shown, theme.dim)
        }
        Line::Sign(sign, words) => {
            let glyph = glyph(*sign, theme).to_owned();
            (glyph, (*words).to_owned(), theme.text)
        }
    };
    let keys = pad(&keys, KEYS, theme.glyphs.cut);
    put(buffer, area.x, area.y, &keys, area.width, theme.key);
    put(buffer, x, area.y, &words, room, style);
}

fn glyph(sign: Sign, theme: &Theme) -> &'static str {
    let glyphs = &theme.glyphs;
    match sign {
        Sign::Claim(state) => claim::of_state(state, theme).glyph,
        Sign::Block => glyphs.block,
        Sign::Pending => glyphs.pending,
        Sign::Turnaround => glyphs.turnaround,
        Sign::Now => glyphs.now,
        Sign::Night => glyphs.night,
        Sign::Group => glyphs.group,
        Sign::RepeatedHour => "01a 01b",
    }
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
