//! The help page: the demo's key table.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::demo::keys::{BINDINGS, Binding};
use crate::terminal::canvas::{fill, put};
use crate::terminal::text::{display, truncate, wrap};
use crate::terminal::theme::Theme;

const INTRO: &str = "Everything else is the console's own: ? shows its keys. After Ctrl-g a letter does the same as a \
                     function key.";

/// The lines above and below.
const RULES: usize = 2;

const KEYS: u16 = 8;
const LETTERS: u16 = 13;

/// A key, the other way to press it, and what it does.
type Row = (String, String, String);

/// The table, in so many cells for what a key does.
fn rows(room: usize, words: fn(&Binding) -> &'static str) -> Vec<Row> {
    let row = |binding: &Binding| -> Vec<Row> {
        let key = binding.key.map_or(String::new(), |_| binding.keys());
        let lines = wrap(words(binding), room.max(12)).into_iter();
        let mut rows: Vec<Row> = lines
            .map(|words| (String::new(), String::new(), words))
            .collect();
        if let Some(first) = rows.first_mut() {
            (first.0, first.1) = (key, binding.with_leader());
        }
        rows
    };
    BINDINGS.iter().flat_map(row).collect()
}

/// Paints the page over everything.
pub(super) fn draw(buffer: &mut Buffer, whole: Rect, theme: &Theme) {
    let columns = whole.width.saturating_sub(2).min(100);
    let room = usize::from(columns.saturating_sub(KEYS + LETTERS + 1));
    let intro = wrap(INTRO, usize::from(columns.saturating_sub(2)));
    let long = rows(room, |binding| binding.help);
    // In fewer words rather than not at all.
    let (intro, rows) = [
        (intro, long.clone()),
        (Vec::new(), long),
        (Vec::new(), rows(room, |binding| binding.hint)),
    ]
    .into_iter()
    .reduce(|before, next| {
        if before.0.len() + before.1.len() + RULES <= usize::from(whole.height) {
            before
        } else {
            next
        }
    })
    .unwrap_or_default();
    let height = u16::try_from(rows.len() + intro.len() + RULES).unwrap_or(u16::MAX);
    let height = height.min(whole.height);
    let area = Rect::new(
        (whole.width - columns) / 2,
        (whole.height - height) / 2,
        columns,
        height,
    );
    for y in area.top()..area.bottom() {
        fill(buffer, area.x, y, area.width, " ", theme.dialog);
    }
    fill(
        buffer,
        area.x,
        area.y,
        area.width,
        theme.glyphs.rule,
        theme.rule,
    );
    put(
        buffer,
        area.x + 2,
        area.y,
        " The demo's keys ",
        area.width,
        theme.title_focused,
    );
    let mut y = area.y + 1;
    for line in intro {
        if y < area.bottom() {
            put(buffer, area.x + 1, y, &line, area.width - 2, theme.dialog);
        }
        y += 1;
    }
    for (key, letter, words) in rows {
        if y + 1 >= area.bottom() {
            break;
        }
        put(buffer, area.x + 1, y, &key, KEYS, theme.key);
        put(buffer, area.x + 1 + KEYS, y, &letter, LETTERS, theme.key);
        let words = truncate(&display(&words), room, theme.glyphs.cut).into_owned();
        put(
            buffer,
            area.x + 1 + KEYS + LETTERS,
            y,
            &words,
            area.width,
            theme.dialog,
        );
        y += 1;
    }
    let last = area.bottom() - 1;
    fill(
        buffer,
        area.x,
        last,
        area.width,
        theme.glyphs.rule,
        theme.rule,
    );
    put(
        buffer,
        area.x + 2,
        last,
        " any key closes ",
        area.width,
        theme.title,
    );
}
