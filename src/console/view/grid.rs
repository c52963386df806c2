//! The frame of the grid: the rule above, the rooms' names, and how many more there are. What stands in the cells is
//! painted by the painter of the view.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::console::model::Model;
use crate::console::model::cursor::Panel;
use crate::console::model::layout::Layout;
use crate::console::view::title::title;
use crate::domain::{BookedBy, Room};
use crate::terminal::canvas::{fill, put};
use crate::terminal::text::{pad, width};
use crate::terminal::theme::Theme;

/// Paints a view's labels on the rule above, and its cells.
pub(crate) type Cells = fn(&mut Buffer, &Layout, &Model, &Theme);

/// Paints ruler, names and cells.
pub(crate) fn draw(
    buffer: &mut Buffer,
    layout: &Layout,
    model: &Model,
    cells: Cells,
    theme: &Theme,
) {
    ruler(buffer, layout, model, theme);
    cells(buffer, layout, model, theme);
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
    for (y, index, room) in rows(layout, model) {
        name(
            buffer,
            layout.names,
            y,
            (indexed.room_name(index), room),
            model,
            theme,
        );
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

/// The rooms that can be seen: each with the line where it begins and its place in the order.
pub(crate) fn rows<'a>(
    layout: &Layout,
    model: &'a Model,
) -> impl Iterator<Item = (u16, usize, &'a Room)> + use<'a> {
    let rooms = model.indexed.iter().flat_map(|indexed| indexed.rooms());
    let tops = (layout.names.top()..layout.names.bottom()).step_by(layout.row_height.into());
    tops.zip(rooms.enumerate().skip(model.scroll.first_room))
        .map(|(y, (index, room))| (y, index, room))
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

fn ruler(buffer: &mut Buffer, layout: &Layout, model: &Model, theme: &Theme) {
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
