//! The two lines at the bottom: what was said last, and the keys that can be used now.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::console::actions;
use crate::console::model::Model;
use crate::console::model::clock::Connection;
use crate::console::model::notice::Tone;
use crate::console::view::feed;
use crate::terminal::canvas::put;
use crate::terminal::text::{display, truncate, width};
use crate::terminal::theme::Theme;

/// The message; without one, what the connection says; else the newest event if it has no other place.
pub(crate) fn message(
    buffer: &mut Buffer,
    area: Rect,
    model: &Model,
    theme: &Theme,
    with_event: bool,
) {
    if let Some(notice) = &model.notice {
        let (glyph, style) = match notice.tone {
            Tone::Plain => (theme.glyphs.hour, theme.dim),
            Tone::Good => (theme.glyphs.done, theme.good),
            Tone::Refused => (theme.glyphs.refused, theme.warning),
            Tone::Fault => (theme.glyphs.refused, theme.fault),
        };
        put(buffer, area.x + 1, area.y, glyph, 1, style);
        let lines = notice.lines(usize::from(area.width).saturating_sub(3));
        for (y, line) in (area.top()..area.bottom()).zip(lines) {
            put(buffer, area.x + 3, y, &line, area.width - 3, style);
        }
        return;
    }
    if let Connection::Lost { sentence, .. } = &model.connection {
        let cells = area.width.saturating_sub(4);
        let whole = display(sentence);
        let shown = truncate(&whole, cells.into(), theme.glyphs.cut);
        put(
            buffer,
            area.x + 1,
            area.y,
            theme.glyphs.away,
            1,
            theme.fault,
        );
        put(buffer, area.x + 3, area.y, &shown, cells, theme.dim);
        return;
    }
    let newest = model
        .indexed
        .as_ref()
        .and_then(|indexed| indexed.snapshot().events.first());
    if let Some(event) = newest.filter(|_| with_event) {
        feed::line(buffer, area, event, model, theme);
    }
}

/// The keys, the most useful first, as many as there is room for; help and quit always.
pub(crate) fn hints(buffer: &mut Buffer, area: Rect, model: &Model, theme: &Theme) {
    let hints = if model.dialog.is_some() {
        Vec::new()
    } else {
        actions::hints(model)
    };
    let cells = |(key, words): &(String, &str)| width(key) + 1 + width(words) + 3;
    let (first, last) = hints.split_at(hints.len().saturating_sub(2));
    let mut room =
        usize::from(area.width).saturating_sub(1 + last.iter().map(cells).sum::<usize>());
    let mut x = area.x + 1;
    let mut full = false;
    let fitting = first.iter().filter(|hint| {
        full = full || cells(hint) > room;
        room = room.saturating_sub(cells(hint));
        !full
    });
    for (key, words) in fitting.chain(last) {
        x = put(
            buffer,
            x,
            area.y,
            key,
            area.right().saturating_sub(x),
            theme.key,
        ) + 1;
        x = put(
            buffer,
            x,
            area.y,
            words,
            area.right().saturating_sub(x),
            theme.dim,
        ) + 3;
    }
}
