//! The events of the site, newest first.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::console::model::Model;
use crate::console::view::claim;
use crate::domain::{Event, EventKind};
use crate::terminal::canvas::put;
use crate::terminal::text::{display, truncate};
use crate::terminal::theme::Theme;

/// Paints the list.
pub(crate) fn draw(buffer: &mut Buffer, area: Rect, model: &Model, theme: &Theme) {
    let Some(indexed) = &model.indexed else {
        return;
    };
    let events = &indexed.snapshot().events;
    if events.is_empty() {
        put(
            buffer,
            area.x + 1,
            area.y,
            "Nothing has happened yet.",
            area.width - 1,
            theme.dim,
        );
    }
    let first = model
        .scroll
        .feed
        .and_then(|id| events.iter().position(|event| event.id == id))
        .unwrap_or(0);
    for (y, event) in (area.top()..area.bottom()).zip(&events[first..]) {
        line(
            buffer,
            Rect {
                y,
                height: 1,
                ..area
            },
            event,
            model,
            theme,
        );
    }
}

/// One event in one line: time, glyph, word, subject, guest, desk.
pub(crate) fn line(buffer: &mut Buffer, area: Rect, event: &Event, model: &Model, theme: &Theme) {
    let (glyph, style) = look(event.kind, theme);
    let calendar = model.calendar();
    let time = if calendar.date(event.at) == calendar.date(model.now()) {
        calendar.local(event.at).format("%H:%M:%S").to_string()
    } else {
        calendar.local(event.at).format("%e %b   ").to_string()
    };
    let x = put(buffer, area.x + 1, area.y, &time, 9, theme.dim) + 1;
    let x = put(buffer, x, area.y, glyph, 1, style) + 1;
    let room = area.right().saturating_sub(x);
    put(
        buffer,
        x,
        area.y,
        &truncate(&words(event), room.into(), theme.glyphs.cut),
        room,
        theme.text,
    );
}

fn words(event: &Event) -> String {
    let subject = display(&event.subject_name);
    let quantity = match (event.kind, event.quantity) {
        (EventKind::Adjusted, Some(change)) => format!(" {change:+}"),
        (_, Some(quantity)) => format!(" {quantity} ×"),
        _ => String::new(),
    };
    let mut words = format!("{}{quantity} {subject}", event.kind.word());
    for part in [&event.guest, &event.reason] {
        if !part.is_empty() {
            words.push_str(", ");
            words.push_str(&display(part));
        }
    }
    if !event.desk.0.is_empty() {
        words.push_str(" · ");
        words.push_str(&display(&event.desk.0));
    }
    words
}

fn look(kind: EventKind, theme: &Theme) -> (&'static str, Style) {
    let glyphs = &theme.glyphs;
    match (kind, kind.state()) {
        (EventKind::Blocked, _) => (glyphs.block, theme.block_fill),
        (_, Some(state)) if state.is_active() => {
            let look = claim::of_state(state, theme);
            (look.glyph, look.fill)
        }
        (_, Some(_)) => (glyphs.ended, theme.dim),
        (_, None) => (glyphs.hour, theme.dim),
    }
}
