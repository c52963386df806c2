//! Where both desks are on the screen: side by side, one above the other, or one with the other as a line.

use ratatui::layout::Rect;

use crate::console::layout::{SMALLEST, SMALLEST_GRID};

use super::desks::Which;

/// Fewer rows of a panel than these say too little.
const SMALLEST_PANEL: u16 = 5;

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
    let notice_rows = match height {
        0..32 => 1,
        32..38 => 3,
        _ => 4,
    };
    let above = height.checked_sub(notice_rows + 1)?;
    let half = width.checked_sub(1)? / 2;
    let fits = |width: u16, rows: u16, least: (u16, u16)| width >= least.0 && rows > least.1;
    let beside = |least| !alone && fits(half, above, least);
    let stacked = !alone && fits(width, above / 2, SMALLEST);

    let mut bar = None;
    let areas = if beside(SMALLEST_GRID) || (!stacked && beside(SMALLEST)) {
        bar = Some(Rect::new(half, 0, 1, above));
        [
            Rect::new(0, 0, half, above),
            Rect::new(half + 1, 0, width - half - 1, above),
        ]
    } else if stacked {
        let upper = above / 2;
        [
            Rect::new(0, 0, width, upper),
            Rect::new(0, upper, width, above - upper),
        ]
    } else if fits(width, above.checked_sub(1)?, SMALLEST) {
        match focus {
            Which::First => [
                Rect::new(0, 0, width, above - 1),
                Rect::new(0, above - 1, width, 1),
            ],
            Which::Second => [Rect::new(0, 0, width, 1), Rect::new(0, 1, width, above - 1)],
        }
    } else {
        return None;
    };
    Some(Layout {
        desks: [place(areas[0], panels[0]), place(areas[1], panels[1])],
        bar,
        notice: Rect::new(0, above, width, notice_rows),
        hints: Rect::new(0, height - 1, width, 1),
    })
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
