//! The time axis of the grid: which column an instant has, and where labels stand.

use chrono::{DateTime, TimeDelta, Timelike, Utc};
use ratatui::layout::Rect;

use crate::console::model::Model;
use crate::console::model::layout::{Layout, Scale};
use crate::domain::Period;
use crate::domain::calendar::Tick;

/// The columns of a period, as far as they can be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Columns {
    /// The first.
    pub from: u16,
    /// The one after the last.
    pub to: u16,
    /// Whether the period begins before.
    pub earlier: bool,
    /// Whether it goes on after.
    pub later: bool,
}

impl Columns {
    /// How many there are.
    pub(crate) fn cells(&self) -> u16 {
        self.to - self.from
    }
}

/// The time axis as it is scrolled now.
pub(crate) struct Axis {
    /// The cells on the screen.
    pub area: Rect,
    /// The instant of the first column.
    pub first: DateTime<Utc>,
    /// The day that is shown.
    pub day: Period,
    /// How many columns an hour takes.
    pub scale: Scale,
    /// The column of the present moment, if it can be seen.
    pub now: Option<u16>,
    /// The present moment.
    pub now_at: DateTime<Utc>,
    /// The lines of a room.
    pub row_height: u16,
    /// Those of a tile.
    pub lines: u16,
    /// Where labels stand.
    pub marks: Vec<(u16, Tick)>,
}

impl Axis {
    /// The axis of a frame.
    pub(crate) fn new(layout: &Layout, model: &Model) -> Self {
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

    /// Where labels stand: whole hours of the site's clocks, and wherever the clocks jump.
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
    pub(crate) fn columns(&self, period: &Period) -> Option<Columns> {
        let right = i64::from(self.area.width).min(self.scale.column(self.first, self.day.end()));
        let from = self.scale.column(self.first, period.start());
        let to = self.scale.column(self.first, period.end()).max(from + 1);
        if to <= 0 || from >= right {
            return None;
        }
        let inside = |column: i64| self.area.x + u16::try_from(column.clamp(0, right)).unwrap_or(0);
        Some(Columns {
            from: inside(from),
            to: inside(to),
            earlier: from < 0,
            later: to > right,
        })
    }
}
