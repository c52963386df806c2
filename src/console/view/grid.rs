//! The grid: rooms by hours. What a frame costs is what is visible.

use chrono::Timelike;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::console::model::Model;
use crate::console::model::cursor::Panel;
use crate::console::model::layout::Layout;
use crate::console::model::snapshot_index::SnapshotIndex;
use crate::console::view::axis::{Axis, Columns};
use crate::console::view::title::title;
use crate::console::view::{claim, tile};
use crate::domain::calendar::{Showing, Tick};
use crate::domain::{BookedBy, Period, Room};
use crate::terminal::canvas::{fill, put};
use crate::terminal::text::{pad, width};
use crate::terminal::theme::Theme;

/// Paints ruler, names and cells.
pub(crate) fn draw(buffer: &mut Buffer, layout: &Layout, model: &Model, theme: &Theme) {
    let axis = Axis::new(layout, model);
    ruler(buffer, layout, &axis, model, theme);
    let Some(indexed) = &model.indexed else {
        put(
            buffer,
            layout.grid.x + 1,
            layout.grid.y,
            "Reading the house…",
            layout.grid.width,
            theme.dim,
        );
        return;
    };
    if indexed.rooms().is_empty() {
        empty(buffer, layout, theme);
        return;
    }
    let rooms = indexed
        .rooms()
        .iter()
        .enumerate()
        .skip(model.scroll.first_room);
    let tops = (layout.names.top()..layout.names.bottom()).step_by(layout.row_height.into());
    for (y, (index, room)) in tops.zip(rooms) {
        name(
            buffer,
            layout.names,
            y,
            (indexed.room_name(index), room),
            model,
            theme,
        );
        row(buffer, y, room, &axis, (model, indexed), theme);
    }
    for y in layout.names.top()..layout.names.bottom() {
        put(
            buffer,
            layout.grid.x - 1,
            y,
            theme.glyphs.bar,
            1,
            theme.rule,
        );
    }
    if !model.is_day_known() {
        let x = layout.grid.x + layout.grid.width / 2 - 7;
        put(
            buffer,
            x,
            layout.grid.y,
            " reading the day ",
            17,
            theme.pending,
        );
    }
}

fn empty(buffer: &mut Buffer, layout: &Layout, theme: &Theme) {
    let words = [
        "This house has no rooms yet. Describe it in a file and apply it:",
        "keyrack site apply house.toml",
        "or add one: keyrack room add \"Blue room\" --capacity 8",
    ];
    for (y, line) in (layout.grid.top()..layout.grid.bottom()).zip(words) {
        put(
            buffer,
            layout.grid.x + 1,
            y,
            line,
            layout.grid.width.saturating_sub(1),
            theme.dim,
        );
    }
}

fn ruler(buffer: &mut Buffer, layout: &Layout, axis: &Axis, model: &Model, theme: &Theme) {
    let (y, glyphs) = (layout.ruler.y, &theme.glyphs);
    let all = layout.ruler.width;
    fill(buffer, layout.ruler.x, y, all, glyphs.rule, theme.rule);
    put(buffer, layout.grid.x - 1, y, glyphs.tee_down, 1, theme.rule);
    title(
        buffer,
        layout.ruler,
        0,
        "Rooms",
        model.panel == Panel::Rooms,
        theme,
    );
    if model.scroll.first_room > 0 {
        let words = format!("{} {} ", glyphs.above, model.scroll.first_room);
        let x = layout
            .grid
            .x
            .saturating_sub(2 + u16::try_from(width(&words)).unwrap_or(0));
        put(buffer, x, y, &words, 8, theme.title);
    }
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

fn name(
    buffer: &mut Buffer,
    area: Rect,
    y: u16,
    (shown, room): (&str, &Room),
    model: &Model,
    theme: &Theme,
) {
    let here = model.cursor.room == Some(room.id);
    let style = if here { theme.current } else { theme.text };
    let sign = if here { theme.glyphs.cursor } else { " " };
    put(buffer, area.x, y, sign, 1, theme.title_focused);
    let cells = usize::from(area.width) - 7;
    put(
        buffer,
        area.x + 1,
        y,
        &pad(shown, cells, theme.glyphs.cut),
        area.width,
        style,
    );
    let night = if room.booked_by == BookedBy::Night {
        theme.glyphs.night
    } else {
        " "
    };
    let capacity = format!("{night}{:>4}", room.capacity);
    put(buffer, area.right() - 6, y, &capacity, 5, theme.dim);
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

/// On the rule beneath the grid: how many more rooms there are.
pub(crate) fn below(buffer: &mut Buffer, layout: &Layout, model: &Model, theme: &Theme) {
    let Some(indexed) = &model.indexed else {
        return;
    };
    let shown = model.scroll.first_room + layout.rooms();
    let more = indexed.rooms().len().saturating_sub(shown);
    if more > 0 {
        let words = format!("{} {more} ", theme.glyphs.below);
        let x = layout
            .grid
            .x
            .saturating_sub(2 + u16::try_from(width(&words)).unwrap_or(0));
        put(buffer, x, layout.rule.y, &words, 8, theme.title);
    }
}
