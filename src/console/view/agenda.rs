//! One room's day as a list, where there is no room for a grid: each claim, and each gap between them.

use chrono::{DateTime, Utc};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::console::model::Model;
use crate::console::view::claim;
use crate::domain::{Period, Room, SlotHold};
use crate::terminal::canvas::{put, restyle};
use crate::terminal::text::{display, truncate};
use crate::terminal::theme::Theme;

/// Paints the list.
pub(crate) fn draw(buffer: &mut Buffer, area: Rect, model: &Model, theme: &Theme) {
    let (Some(room), Some(indexed)) = (model.room(), &model.indexed) else {
        put(
            buffer,
            area.x + 1,
            area.y,
            "Reading the house…",
            area.width,
            theme.dim,
        );
        return;
    };
    let selected = model.selected(room);
    let index = indexed.room_index(room.id).unwrap_or(0);
    let head = format!(
        "{}  {} of {}",
        display(&room.name),
        index + 1,
        indexed.rooms().len()
    );
    put(
        buffer,
        area.x + 1,
        area.y,
        &head,
        area.width - 1,
        theme.strong,
    );
    let choice = format!(
        "{} {}",
        theme.glyphs.cursor,
        model.calendar().span(&selected)
    );
    put(
        buffer,
        area.x + 1,
        area.y + 1,
        &choice,
        area.width - 1,
        theme.title_focused,
    );

    let rows = rows(model, room, &selected);
    let list = Rect {
        y: area.y + 2,
        height: area.height.saturating_sub(2),
        ..area
    };
    let here = rows.iter().position(|row| row.selected).unwrap_or(0);
    let first = (here + 1).saturating_sub(list.height.into());
    for (y, row) in (list.top()..list.bottom()).zip(&rows[first..]) {
        line(
            buffer,
            Rect {
                y,
                height: 1,
                ..list
            },
            row,
            model,
            theme,
        );
    }
    if model.is_lost() {
        restyle(buffer, area, theme.away);
    }
}

struct Row<'a> {
    from: DateTime<Utc>,
    to: DateTime<Utc>,
    claim: Option<(&'a SlotHold, &'a str)>,
    asking: bool,
    selected: bool,
}

fn rows<'a>(model: &'a Model, room: &Room, selected: &Period) -> Vec<Row<'a>> {
    let day = model.day();
    let mut rows: Vec<Row> = Vec::new();
    let mut free_from = day.start();
    let free = |from: DateTime<Utc>, to: DateTime<Utc>, rows: &mut Vec<Row<'a>>| {
        if let Ok(gap) = Period::new(from, to) {
            let asking = model
                .pending_in(room.id)
                .any(|(_, asked)| asked.overlaps(&gap));
            rows.push(Row {
                from,
                to,
                claim: None,
                asking,
                selected: gap.overlaps(selected),
            });
        }
    };
    let Some(indexed) = &model.indexed else {
        return rows;
    };
    for (claim, guest) in indexed.touching(room.id, day.start(), day.end()) {
        free(free_from, claim.period.start(), &mut rows);
        let asking = model.pending_on(claim.id).is_some();
        let here = claim.period.overlaps(selected);
        rows.push(Row {
            from: claim.period.start(),
            to: claim.period.end(),
            claim: Some((claim, guest)),
            asking,
            selected: here,
        });
        free_from = free_from.max(claim.occupied_until);
    }
    free(free_from, day.end(), &mut rows);
    rows
}

fn line(buffer: &mut Buffer, area: Rect, row: &Row, model: &Model, theme: &Theme) {
    let calendar = model.calendar();
    let day = model.day();
    let time = |at: DateTime<Utc>| {
        if at >= day.end() {
            "24:00".to_owned()
        } else {
            calendar.tick(at.max(day.start())).label()
        }
    };
    let arrow = |cut: bool, glyph: &'static str| if cut { glyph } else { " " };
    let times = format!(
        "{}{}–{}{}",
        arrow(row.from < day.start(), theme.glyphs.earlier),
        time(row.from),
        time(row.to),
        arrow(row.to > day.end(), theme.glyphs.later)
    );
    let style = if row.selected {
        theme.selected
    } else {
        theme.text
    };
    let x = put(buffer, area.x, area.y, &times, 16, style) + 1;
    let room = area.right().saturating_sub(x);
    let (glyph, words, style) = match row.claim {
        Some((slot, guest)) => {
            let look = claim::slot(slot, row.asking, model.now(), theme);
            let left = slot.seconds_left(model.now());
            let left = left.map_or(String::new(), |left| {
                format!(" {}", claim::countdown(left, 9, theme.glyphs.cut))
            });
            (
                look.glyph,
                format!(
                    "{}{left} {}",
                    look.word,
                    claim::whom_marked(slot, guest, theme)
                ),
                look.tile,
            )
        }
        None if row.asking => (theme.glyphs.pending, "asking".into(), theme.pending),
        None if row.to <= model.now() => (theme.glyphs.hour, "over".into(), theme.dim),
        None => (theme.glyphs.hour, "free".into(), theme.dim),
    };
    let x = put(buffer, x, area.y, glyph, 1, style) + 1;
    put(
        buffer,
        x,
        area.y,
        &truncate(&words, room.saturating_sub(2).into(), theme.glyphs.cut),
        room.saturating_sub(2),
        style,
    );
}
