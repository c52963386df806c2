//! Where everything is on the screen: a pure function of the terminal's size and how much there is to show.

use chrono::{DateTime, TimeDelta, Utc};
use ratatui::layout::Rect;

/// Below this the console shows nothing but a request for room, and commands are off.
pub(crate) const SMALLEST: (u16, u16) = (40, 10);
/// Below this there is one room's agenda instead of the grid.
pub(crate) const SMALLEST_GRID: (u16, u16) = (59, 16);
/// From here on stock has a column of its own beside the grid.
const STOCK_BESIDE: u16 = 150;
/// From here on a cell is a quarter of an hour, and the feed has a place of its own.
const WIDE: u16 = 110;

/// The time axis: how many columns an hour takes, and how fine the cells are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scale {
    /// The length of a cell.
    pub slot: TimeDelta,
    /// Its width.
    pub columns: u16,
}

impl Scale {
    /// Half hours of three columns.
    pub(crate) const NARROW: Self = Self {
        slot: TimeDelta::minutes(30),
        columns: 3,
    };
    /// Quarter hours of two columns.
    pub(crate) const WIDE: Self = Self {
        slot: TimeDelta::minutes(15),
        columns: 2,
    };

    /// The column of an instant, counted from the column of `first`; may lie outside the screen.
    pub(crate) fn column(&self, first: DateTime<Utc>, at: DateTime<Utc>) -> i64 {
        let slot = self.slot.num_seconds();
        let columns = (at - first).num_seconds() * i64::from(self.columns);
        (2 * columns + slot).div_euclid(2 * slot)
    }

    /// The instant at which a column begins.
    pub(crate) fn instant(&self, first: DateTime<Utc>, column: u16) -> DateTime<Utc> {
        first + self.slot * i32::from(column) / i32::from(self.columns)
    }

    /// The time that so many columns show.
    pub(crate) fn span(&self, columns: u16) -> TimeDelta {
        self.slot * i32::from(columns) / i32::from(self.columns)
    }
}

/// What there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Screen {
    /// Nothing.
    TooSmall,
    /// One room's day as a list.
    Agenda(Agenda),
    /// The grid and its panels.
    Full(Layout),
}

/// The parts of the agenda.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Agenda {
    /// The status line.
    pub top: Rect,
    /// The list.
    pub list: Rect,
    /// The message line.
    pub message: Rect,
    /// The hint line.
    pub hints: Rect,
}

/// The parts of the full screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The status line.
    pub top: Rect,
    /// The hours, over names and grid.
    pub ruler: Rect,
    /// The rooms' names.
    pub names: Rect,
    /// The cells.
    pub grid: Rect,
    /// The rule beneath the grid, with the titles of the panels.
    pub rule: Rect,
    /// The claim under the cursor.
    pub details: Rect,
    /// The stock.
    pub stock: Rect,
    /// Whether stock stands beside the grid and not beneath it.
    pub stock_beside: bool,
    /// The events, where they have a place of their own.
    pub feed: Option<Rect>,
    /// The message line.
    pub message: Rect,
    /// The hint line.
    pub hints: Rect,
    /// The lines of a room: the last of several stays empty.
    pub row_height: u16,
    /// The time axis.
    pub scale: Scale,
}

impl Layout {
    /// How many rooms can be seen at once.
    pub(crate) fn rooms(&self) -> usize {
        usize::from(self.names.height / self.row_height).max(1)
    }
}

/// The rows that a message has at most.
pub(crate) const MESSAGE_ROWS: u16 = 4;

/// Lays the screen out.
pub(crate) fn screen(width: u16, height: u16, rooms: usize, message_rows: u16) -> Screen {
    if width < SMALLEST.0 || height < SMALLEST.1 {
        return Screen::TooSmall;
    }
    let message_rows = message_rows.clamp(1, MESSAGE_ROWS);
    let bottom = height - 1 - message_rows;
    let top = Rect::new(0, 0, width, 1);
    let message = Rect::new(0, bottom, width, message_rows);
    let hints = Rect::new(0, height - 1, width, 1);
    if width < SMALLEST_GRID.0 || height < SMALLEST_GRID.1 {
        let list = Rect::new(0, 1, width, bottom - 1);
        return Screen::Agenda(Agenda {
            top,
            list,
            message,
            hints,
        });
    }
    Screen::Full(full(width, height, rooms, bottom, [top, message, hints]))
}

fn full(
    width: u16,
    height: u16,
    rooms: usize,
    bottom: u16,
    [top, message, hints]: [Rect; 3],
) -> Layout {
    let between = bottom - 3;
    let panel_rows = if height < 22 {
        6
    } else {
        (between * 3 / 10).max(8)
    };
    let rooms = u16::try_from(rooms).unwrap_or(u16::MAX).max(1);
    let most = between.saturating_sub(panel_rows);
    let row_height = (most / rooms).clamp(1, 3);
    let room_rows = rooms.saturating_mul(row_height).min(most).max(3);
    let rule_row = 2 + room_rows;
    let panels = Rect::new(0, rule_row + 1, width, bottom - rule_row - 1);

    let stock_beside = width >= STOCK_BESIDE;
    let stock_width = if stock_beside { 44 } else { 0 };
    let names_width = if width < WIDE { 18 } else { 22 };
    let grid_width = width - names_width - 1 - stock_width;
    let column = |x: u16, width: u16| Rect { x, width, ..panels };

    let (details, stock, feed) = if stock_beside {
        let half = width / 2;
        (
            column(0, half - 1),
            Rect::new(width - stock_width + 2, 2, stock_width - 2, room_rows),
            Some(column(half, width - half)),
        )
    } else if width >= WIDE {
        let third = width / 3;
        (
            column(0, third),
            column(third + 1, third),
            Some(column(2 * third + 2, width - 2 * third - 2)),
        )
    } else {
        let left = width / 2;
        (column(0, left - 1), column(left, width - left), None)
    };
    Layout {
        top,
        ruler: Rect::new(0, 1, width - stock_width, 1),
        names: Rect::new(0, 2, names_width, room_rows),
        grid: Rect::new(names_width + 1, 2, grid_width, room_rows),
        rule: Rect::new(0, rule_row, width, 1),
        details,
        stock,
        stock_beside,
        feed,
        message,
        hints,
        row_height,
        scale: if width < WIDE {
            Scale::NARROW
        } else {
            Scale::WIDE
        },
    }
}

/// Where a page of text is, above everything else.
pub(crate) fn page((width, height): (u16, u16)) -> Rect {
    let (cells, rows) = (width.saturating_sub(8).min(88), height.saturating_sub(4));
    Rect::new((width - cells) / 2, (height - rows) / 2, cells, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(layout: &Layout) -> Vec<Rect> {
        let mut parts = vec![
            layout.top,
            layout.ruler,
            layout.names,
            layout.grid,
            layout.rule,
            layout.details,
            layout.stock,
            layout.message,
            layout.hints,
        ];
        parts.extend(layout.feed);
        parts
    }

    #[test]
    fn nothing_overlaps_and_nothing_sticks_out_at_any_size() {
        for width in (1..260)
            .step_by(7)
            .chain([40, 58, 59, 60, 80, 109, 110, 120, 149, 150, 200])
        {
            for height in (1..80).step_by(3).chain([10, 15, 16, 21, 22, 24, 40, 60]) {
                for rooms in [0, 1, 10, 200] {
                    let Screen::Full(layout) = screen(width, height, rooms, 1) else {
                        continue;
                    };
                    let whole = Rect::new(0, 0, width, height);
                    let parts = parts(&layout);
                    for (index, part) in parts.iter().enumerate() {
                        assert_eq!(part.intersection(whole), *part, "{width}x{height}: {part}");
                        for other in &parts[index + 1..] {
                            assert!(
                                !part.intersects(*other),
                                "{width}x{height}: {part} and {other}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn columns_and_instants_belong_together() {
        let first = DateTime::from_timestamp(1_800_000_000, 0).unwrap_or_default();
        for scale in [Scale::NARROW, Scale::WIDE] {
            for column in 0..200 {
                assert_eq!(
                    scale.column(first, scale.instant(first, column)),
                    i64::from(column)
                );
            }
            assert_eq!(
                scale.column(first, first - scale.slot),
                -i64::from(scale.columns)
            );
        }
    }
}
