//! Where both desks are on the screen: side by side, one above the other, or one with the other as a line.

use ratatui::layout::Rect;

use crate::console::model::layout::{SMALLEST, SMALLEST_GRID};
use crate::demo::desks::Which;

/// Fewer rows of a panel than these say too little.
const SMALLEST_PANEL: u16 = 5;

/// The rows of what just happened, where there is room.
const NOTICE: u16 = 3;

/// The same from this height on.
const TALL: u16 = 38;
const TALL_NOTICE: u16 = 4;

/// Where one desk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its title.
    pub title: Rect,
    /// Its console; none where there is room for one only.
    pub console: Option<Rect>,
    /// What its stopped transaction is about; beneath the console or, where that would leave too little of it, over its
    /// lower part.
    pub panel: Option<Rect>,
}

/// Where everything is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Both desks.
    pub desks: [Place; 2],
    /// Between them, if they are side by side.
    pub bar: Option<Rect>,
    /// What just happened.
    pub notice: Rect,
    /// The demo's keys.
    pub hints: Rect,
}

/// Lays the screen out; none if it is too small for one desk. The panels want so many rows. Alone, the desk in focus has
/// all the room, and the other is a line.
pub fn layout(
    (width, height): (u16, u16),
    focus: Which,
    alone: bool,
    panels: [u16; 2],
) -> Option<Layout> {
    let most = if height < TALL { NOTICE } else { TALL_NOTICE };
    let with = |notice_rows| arrangement(width, height.checked_sub(notice_rows + 1)?, alone);
    // What just happened has one row at least, and more where that costs no desk its place or its grid.
    let arranged = with(1)?;
    let notice_rows = (2..=most)
        .take_while(|rows| with(*rows) == Some(arranged))
        .last()
        .unwrap_or(1);
    let above = height - notice_rows - 1;
    let half = (width - 1) / 2;

    let mut bar = None;
    let areas = match (arranged.kind, focus) {
        (Kind::Beside, _) => {
            bar = Some(Rect::new(half, 0, 1, above));
            [
                Rect::new(0, 0, half, above),
                Rect::new(half + 1, 0, width - half - 1, above),
            ]
        }
        (Kind::Stacked, _) => {
            let upper = above / 2;
            [
                Rect::new(0, 0, width, upper),
                Rect::new(0, upper, width, above - upper),
            ]
        }
        (Kind::One, Which::First) => [
            Rect::new(0, 0, width, above - 1),
            Rect::new(0, above - 1, width, 1),
        ],
        (Kind::One, Which::Second) => {
            [Rect::new(0, 0, width, 1), Rect::new(0, 1, width, above - 1)]
        }
    };
    Some(Layout {
        desks: [place(areas[0], panels[0]), place(areas[1], panels[1])],
        bar,
        notice: Rect::new(0, above, width, notice_rows),
        hints: Rect::new(0, height - 1, width, 1),
    })
}

/// How the desks stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Arrangement {
    kind: Kind,
    /// Whether a desk that is seen has a grid.
    grid: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Beside,
    Stacked,
    One,
}

/// How the desks stand in so many rows; none if there is no room for one.
fn arrangement(width: u16, rows: u16, alone: bool) -> Option<Arrangement> {
    let half = width.checked_sub(1)? / 2;
    let both = [(Kind::Beside, half, rows), (Kind::Stacked, width, rows / 2)];
    let one = (Kind::One, width, rows.saturating_sub(1));
    let fits = |width: u16, rows: u16, least: (u16, u16)| width >= least.0 && rows > least.1;
    let [beside, stacked] = both;
    let beside_with_grid = fits(beside.1, beside.2, SMALLEST_GRID).then_some(beside);
    let smaller = [stacked, beside]
        .into_iter()
        .find(|(_, width, rows)| fits(*width, *rows, SMALLEST));
    let (kind, width, rows) = beside_with_grid
        .or(smaller)
        .filter(|_| !alone)
        .or_else(|| fits(one.1, one.2, SMALLEST).then_some(one))?;
    let grid = fits(width, rows, SMALLEST_GRID);
    Some(Arrangement { kind, grid })
}

fn place(area: Rect, panel_rows: u16) -> Place {
    let title = Rect { height: 1, ..area };
    let below = Rect {
        y: area.y + 1,
        height: area.height - 1,
        ..area
    };
    if below.height == 0 {
        return Place {
            title,
            console: None,
            panel: None,
        };
    }
    if panel_rows == 0 {
        return Place {
            title,
            console: Some(below),
            panel: None,
        };
    }
    let spare = below.height.saturating_sub(SMALLEST_GRID.1);
    let (console_rows, rows) = if spare >= SMALLEST_PANEL.max(panel_rows.min(12)) {
        let rows = panel_rows.min(spare);
        (below.height - rows, rows)
    } else {
        (below.height, panel_rows.min(below.height.saturating_sub(3)))
    };
    Place {
        title,
        console: Some(Rect {
            height: console_rows,
            ..below
        }),
        panel: Some(Rect {
            y: below.bottom() - rows,
            height: rows,
            ..below
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_sticks_out_and_no_desk_lies_on_the_other_at_any_size() {
        for width in 1..240 {
            for height in (1..80).step_by(3).chain([12, 13, 24, 40, 60]) {
                for panels in [[0, 0], [9, 0], [20, 30]] {
                    for (focus, alone) in [(Which::First, false), (Which::Second, true)] {
                        let Some(layout) = layout((width, height), focus, alone, panels) else {
                            assert!(width < 40 || height < 14, "{width}x{height}");
                            continue;
                        };
                        let whole = Rect::new(0, 0, width, height);
                        let mut parts = vec![layout.notice, layout.hints];
                        parts.extend(layout.bar);
                        for desk in layout.desks {
                            parts.push(desk.title);
                            parts.extend(desk.console);
                            if let Some(panel) = desk.panel {
                                assert_eq!(panel.intersection(whole), panel);
                                assert!(!panel.intersects(desk.title));
                            }
                        }
                        for (index, part) in parts.iter().enumerate() {
                            assert_eq!(part.intersection(whole), *part, "{width}x{height}: {part}");
                            for other in &parts[index + 1..] {
                                assert!(
                                    !part.intersects(*other),
                                    "{width}x{height}: {part} {other}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_just_happened_has_more_rows_where_that_costs_no_desk_its_place() {
        let rows = |size, alone| {
            let layout = layout(size, Which::First, alone, [0, 0]);
            layout.map_or(0, |layout| layout.notice.height)
        };
        assert_eq!([rows((60, 20), false), rows((80, 24), false)], [1, 1]);
        assert_eq!([rows((80, 25), false), rows((80, 26), false)], [2, 3]);
        assert_eq!([rows((120, 24), false), rows((80, 24), true)], [3, 3]);
        assert_eq!([rows((60, 22), false), rows((120, 40), false)], [3, 4]);
    }

    #[test]
    fn desks_stand_as_it_is_legible() {
        let beside =
            |size| layout(size, Which::First, false, [0, 0]).is_some_and(|all| all.bar.is_some());
        assert!(beside((120, 40)) && beside((200, 60)));
        // One above the other.
        assert!(!beside((80, 24)) && !beside((100, 60)));
        let small = layout((80, 24), Which::Second, false, [0, 0]);
        assert!(small.is_some_and(|all| all.desks.iter().all(|desk| desk.console.is_some())));
        // One desk, and the other as a line.
        let smaller = layout((60, 18), Which::Second, false, [0, 0]);
        assert!(smaller.is_some_and(|all| all.desks[0].console.is_none()
            && all.desks[1].console.is_some()));
        let alone = layout((120, 40), Which::First, true, [0, 0]);
        assert!(alone.is_some_and(|all| all.desks[1].console.is_none()));
        assert_eq!(layout((39, 40), Which::First, false, [0, 0]), None);
    }
}
