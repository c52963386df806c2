//! The grid: rooms by hours. What a frame costs is what is visible.

use chrono::{DateTime, TimeDelta, Timelike, Utc};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::domain::calendar::{Showing, Tick};
use crate::domain::{BookedBy, Period, Room, SlotHold};

use super::super::board::Board;
use super::super::layout::Layout;
use super::super::model::{Model, Panel};
use super::super::text::{pad, truncate, width};
use super::super::theme::Theme;
use super::claim::{self, Look};
use super::{fill, put};

/// The time axis as it is scrolled now.
struct Axis {
    area: Rect,
    first: DateTime<Utc>,
    day: Period,
    scale: super::super::layout::Scale,
    now: Option<u16>,
    now_at: DateTime<Utc>,
    row_height: u16,
    lines: u16,
    marks: Vec<(u16, Tick)>,
}

impl Axis {
    fn new(layout: &Layout, model: &Model) -> Self {
        let day = model.day();
        let first = model.scroll.first;
        let mut axis = Self {
            area: layout.grid,
            first,
            day,
            scale: layout.scale,
            now: None,
            now_at: model.now(),
            row_height: layout.row_height,
            lines: layout.row_height.saturating_sub(1).max(1),
            marks: Vec::new(),
        };
        let end = (first + layout.scale.span(layout.grid.width)).min(day.end());
        if let Ok(visible) = Period::new(first, end) {
            axis.marks = axis.hours(model, &visible);
        }
        axis.now = axis
            .column(model.now())
            .filter(|_| day.contains(model.now()));
        axis
    }

    /// Where labels stand: whole hours of the house's clocks, and wherever the clocks jump.
    fn hours(&self, model: &Model, visible: &Period) -> Vec<(u16, Tick)> {
        let calendar = model.calendar();
        let quarter = TimeDelta::minutes(15);
        let mut before: Option<Tick> = None;
        let mut marks = Vec::new();
        for tick in calendar.ticks(*visible, quarter) {
            let jumped = before.is_some_and(|before| tick.local - before.local != quarter);
            if (tick.local.minute() == 0 || jumped)
                && let Some(column) = self.column(tick.at)
            {
                marks.push((column, tick));
            }
            before = Some(tick);
        }
        marks
    }

    /// The screen's column of an instant, if it can be seen.
    fn column(&self, at: DateTime<Utc>) -> Option<u16> {
        let column = u16::try_from(self.scale.column(self.first, at)).ok()?;
        (column < self.area.width).then(|| self.area.x + column)
    }

    /// The columns of a period, as far as they can be seen, and whether it goes on to the left and to the right.
    fn columns(&self, period: &Period) -> Option<(u16, u16, bool, bool)> {
        let right = i64::from(self.area.width).min(self.scale.column(self.first, self.day.end()));
        let from = self.scale.column(self.first, period.start());
        let to = self.scale.column(self.first, period.end()).max(from + 1);
        if to <= 0 || from >= right {
            return None;
        }
        let inside = |column: i64| self.area.x + u16::try_from(column.clamp(0, right)).unwrap_or(0);
        Some((inside(from), inside(to), from < 0, to > right))
    }
}

/// Paints ruler, names and cells.
pub fn draw(buffer: &mut Buffer, layout: &Layout, model: &Model, theme: &Theme) {
    let axis = Axis::new(layout, model);
    ruler(buffer, layout, &axis, model, theme);
    let Some(board) = &model.board else {
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
    if board.rooms().is_empty() {
        empty(buffer, layout, theme);
        return;
    }
    let rooms = board
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
            (board.room_name(index), room),
            model,
            theme,
        );
        row(buffer, y, room, &axis, (model, board), theme);
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
    super::title(
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
    (model, board): (&Model, &Board),
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
    for (claim, guest) in board.touching(room.id, axis.first, end) {
        if let Ok(cleaning) = Period::new(claim.period.end(), claim.occupied_until)
            && let Some((from, to, ..)) = axis.columns(&cleaning)
        {
            fill(
                buffer,
                from,
                y,
                to - from,
                glyphs.turnaround,
                theme.turnaround,
            );
        }
        tile(buffer, y, (claim, guest), axis, model, theme);
    }
    for (pending, period) in model.pending_in(room.id) {
        if let Some(columns) = axis.columns(&period) {
            let words = if pending.checking {
                "checking"
            } else {
                "asking"
            };
            paint(buffer, y, columns, &claim::waiting(theme), words, theme);
            if axis.lines > 1 {
                paint(buffer, y + 1, columns, &claim::waiting(theme), "", theme);
            }
        }
    }
    if model.cursor.room == Some(room.id) {
        selection(buffer, y, &model.selected(room), axis, model, theme);
    }
}

fn tile(
    buffer: &mut Buffer,
    y: u16,
    (slot, guest): (&SlotHold, &str),
    axis: &Axis,
    model: &Model,
    theme: &Theme,
) {
    let Some(columns) = axis.columns(&slot.period) else {
        return;
    };
    let look = claim::slot(
        slot,
        model.pending_on(slot.id).is_some(),
        axis.now_at,
        theme,
    );
    let room = inside(columns);
    let whom = claim::whom(slot, guest);
    let words = match slot.seconds_left(axis.now_at) {
        Some(seconds) => {
            let left = claim::countdown(seconds, room, theme.glyphs.cut);
            let with_guest = if whom.is_empty() {
                format!("held {left}")
            } else {
                format!("{left} {whom}")
            };
            if width(&left) + 2 < room {
                with_guest
            } else {
                left
            }
        }
        None if whom.is_empty() => look.word.to_owned(),
        None => whom.into_owned(),
    };
    paint(buffer, y, columns, &look, &words, theme);
    if axis.lines > 1 {
        let more = [
            second_line(slot, model, true),
            second_line(slot, model, false),
            String::new(),
        ];
        let fitting = more.iter().find(|words| width(words) <= room);
        paint(
            buffer,
            y + 1,
            columns,
            &look,
            fitting.map_or("", String::as_str),
            theme,
        );
    }
}

/// What a tile of two lines says on the second: when, and for how many.
fn second_line(slot: &SlotHold, model: &Model, with_party: bool) -> String {
    let calendar = model.calendar();
    let when = match slot.nights {
        Some(1) => "1 night".to_owned(),
        Some(nights) => format!("{nights} nights"),
        None => {
            let [from, to] =
                [slot.period.start(), slot.period.end()].map(|at| calendar.tick(at).label());
            format!("{from}–{to}")
        }
    };
    let party = slot
        .party
        .filter(|_| with_party)
        .map_or(String::new(), |party| format!(", party of {party}"));
    when + &party
}

/// The cells that a tile has for words.
fn inside((from, to, ..): (u16, u16, bool, bool)) -> usize {
    match usize::from(to - from) {
        wide @ 8.. => wide - 3,
        narrow => narrow.saturating_sub(1),
    }
}

/// A tile: its texture from end to end, words in the middle, arrows where it goes on.
fn paint(
    buffer: &mut Buffer,
    y: u16,
    columns @ (from, to, earlier, later): (u16, u16, bool, bool),
    look: &Look,
    words: &str,
    theme: &Theme,
) {
    let cells = to - from;
    fill(buffer, from, y, cells, look.glyph, look.fill);
    // Brighter than the rest, so that back-to-back claims can be told apart.
    fill(buffer, from, y, 1, look.glyph, look.tile);
    let room = inside(columns);
    let cut = if room > 4 { theme.glyphs.cut } else { "" };
    let words = truncate(words, room, cut);
    let inside = u16::try_from(width(&words)).unwrap_or(0);
    if inside > 0 && cells >= 8 {
        put(buffer, from + 1, y, " ", 1, look.tile);
        put(buffer, from + 2, y, &words, inside, look.tile);
        if from + 3 + inside < to {
            put(buffer, from + 2 + inside, y, " ", 1, look.tile);
        }
    } else if inside > 0 {
        put(buffer, from + 1, y, &words, inside, look.tile);
    }
    let arrow = |style: Style| style.patch(look.tile);
    if earlier {
        put(
            buffer,
            from,
            y,
            theme.glyphs.earlier,
            1,
            arrow(theme.strong),
        );
    }
    if later {
        put(
            buffer,
            to - 1,
            y,
            theme.glyphs.later,
            1,
            arrow(theme.strong),
        );
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
    let Some((from, to, earlier, later)) = axis.columns(period) else {
        return;
    };
    if model.panel == Panel::Rooms {
        for (x, y) in (y..y + axis.lines).flat_map(|y| (from..to).map(move |x| (x, y))) {
            buffer[(x, y)].set_style(theme.selected);
        }
    }
    let free = model.cursor.on.is_none() || model.cursor.anchor.is_some();
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
pub fn below(buffer: &mut Buffer, layout: &Layout, model: &Model, theme: &Theme) {
    let Some(board) = &model.board else { return };
    let shown = model.scroll.first_room + layout.rooms();
    let more = board.rooms().len().saturating_sub(shown);
    if more > 0 {
        let words = format!("{} {more} ", theme.glyphs.below);
        let x = layout
            .grid
            .x
            .saturating_sub(2 + u16::try_from(width(&words)).unwrap_or(0));
        put(buffer, x, layout.rule.y, &words, 8, theme.title);
    }
}
