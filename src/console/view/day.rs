//! The cells of a day: rooms by the hour. What a frame costs is what is visible.

use chrono::Timelike;
use ratatui::buffer::Buffer;

use crate::console::model::Model;
use crate::console::model::cursor::Panel;
use crate::console::model::layout::Layout;
use crate::console::model::snapshot_index::SnapshotIndex;
use crate::console::view::axis::{Axis, Columns};
use crate::console::view::{claim, grid, tile};
use crate::domain::calendar::{Showing, Tick};
use crate::domain::{Period, Room};
use crate::terminal::canvas::{fill, put};
use crate::terminal::theme::Theme;

/// Paints the hours above and the claims of each room.
pub(crate) fn draw(buffer: &mut Buffer, layout: &Layout, model: &Model, theme: &Theme) {
    let axis = Axis::new(layout, model);
    hours(buffer, layout, &axis, theme);
    let Some(indexed) = &model.indexed else {
        return;
    };
    for (y, _, room) in grid::rows(layout, model) {
        row(buffer, y, room, &axis, (model, indexed), theme);
    }
}

fn hours(buffer: &mut Buffer, layout: &Layout, axis: &Axis, theme: &Theme) {
    let (y, glyphs) = (layout.ruler.y, &theme.glyphs);
    let mut taken = axis.area.x;
    for (column, tick) in &axis.marks {
        let label = hour(tick);
        let cells = u16::try_from(label.len()).unwrap_or(5);
        if *column >= taken && column + cells <= axis.area.right() {
            let style = if tick.showing == Showing::Once {
                theme.title
            } else {
                theme.warning
            };
            taken = put(buffer, *column, y, &label, cells, style);
        }
    }
    if let Some(now) = axis.now {
        // The marker steps aside for a label: the line beneath it is exact.
        let beside = axis.marks.iter().find_map(|(column, tick)| {
            let end = column + u16::try_from(hour(tick).len()).unwrap_or(2);
            (*column <= now && now < end).then_some(end)
        });
        put(
            buffer,
            beside.unwrap_or(now).min(axis.area.right() - 1),
            y,
            glyphs.now,
            1,
            theme.now,
        );
    }
}

/// `09`; in a repeated hour `01a` and `01b`; only the minutes where the clocks jump to an odd time.
fn hour(tick: &Tick) -> String {
    let label = tick.label();
    match label.split_once(':') {
        Some((hours, minutes)) if tick.local.minute() == 0 => {
            format!("{hours}{}", minutes.trim_start_matches('0'))
        }
        Some((_, minutes)) => minutes.to_owned(),
        None => label,
    }
}

fn row(
    buffer: &mut Buffer,
    y: u16,
    room: &Room,
    axis: &Axis,
    (model, indexed): (&Model, &SnapshotIndex),
    theme: &Theme,
) {
    let glyphs = &theme.glyphs;
    for (column, tick) in &axis.marks {
        if tick.at >= axis.now_at {
            fill(buffer, *column, y, 1, glyphs.hour, theme.free);
        }
    }
    if let Some(now) = axis.now {
        (y..(y + axis.row_height).min(axis.area.bottom()))
            .for_each(|y| _ = fill(buffer, now, y, 1, glyphs.now_column, theme.now));
    }
    let end = axis.first + axis.scale.span(axis.area.width);
    for (claim, guest) in indexed.touching(room.id, axis.first, end) {
        if let Ok(cleaning) = Period::new(claim.period.end(), claim.occupied_until)
            && let Some(columns) = axis.columns(&cleaning)
        {
            fill(
                buffer,
                columns.from,
                y,
                columns.cells(),
                glyphs.turnaround,
                theme.turnaround,
            );
        }
        tile::draw(buffer, y, (claim, guest), axis, model, theme);
    }
    for (pending, period) in model.pending_in(room.id) {
        if let Some(columns) = axis.columns(&period) {
            let words = if pending.checking {
                "checking"
            } else {
                "asking"
            };
            tile::paint(buffer, y, columns, &claim::waiting(theme), words, theme);
            if axis.lines > 1 {
                tile::paint(buffer, y + 1, columns, &claim::waiting(theme), "", theme);
            }
        }
    }
    if let (Some(grab), Some((there, period))) = (&model.grab, model.destination())
        && there.id == room.id
        && let Some(columns) = axis.columns(&period)
    {
        tile::ghost(buffer, y, columns, grab, axis, theme);
    }
    if model.cursor.room == Some(room.id) {
        selection(buffer, y, &model.selected(room), axis, model, theme);
    }
}

fn selection(
    buffer: &mut Buffer,
    y: u16,
    period: &Period,
    axis: &Axis,
    model: &Model,
    theme: &Theme,
) {
    let Some(columns) = axis.columns(period) else {
        return;
    };
    let Columns {
        from,
        to,
        earlier,
        later,
    } = columns;
    if model.panel == Panel::Rooms {
        for (x, y) in (y..y + axis.lines).flat_map(|y| (from..to).map(move |x| (x, y))) {
            buffer[(x, y)].set_style(theme.selected);
        }
    }
    let free = model.cursor.on.is_none() || model.cursor.anchor.is_some() || model.grab.is_some();
    if free && to - from >= 2 {
        let style = if model.panel == Panel::Rooms {
            theme.selected
        } else {
            theme.dim
        };
        for y in y..y + axis.lines {
            put(
                buffer,
                from,
                y,
                if earlier { theme.glyphs.earlier } else { "[" },
                1,
                style,
            );
            put(
                buffer,
                to - 1,
                y,
                if later { theme.glyphs.later } else { "]" },
                1,
                style,
            );
        }
    }
}
