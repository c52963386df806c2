//! The text of the help page: the key table, why a key can't be used at the moment, and what the signs mean.

use crate::console::actions::ACTIONS;
use crate::console::model::{Model, layout};
use crate::domain::ClaimState;
use crate::terminal::text::wrap;

/// The cells of the keys.
pub(crate) const KEYS: usize = 13;

/// A line of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// Keys, and what they do; of a longer help the next lines have no keys.
    Keys(String, String),
    /// Why it is not possible now.
    WhyNot(String),
    /// A sign on the screen, and what it means.
    Sign(Sign, &'static str),
}

/// A sign that the page explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// A claim in this state.
    Claim(ClaimState),
    /// A block.
    Block,
    /// A command under way.
    Pending,
    /// A turnaround.
    Turnaround,
    /// The present moment.
    Now,
    /// A room by the night.
    Night,
    /// A member of a group.
    Group,
    /// The two halves of a repeated hour.
    RepeatedHour,
}

const SIGNS: &[(Sign, &str)] = &[
    (Sign::Claim(ClaimState::Held), "held, with the time left"),
    (
        Sign::Claim(ClaimState::Confirmed),
        "confirmed, with the guest",
    ),
    (Sign::Block, "taken by the house itself"),
    (Sign::Pending, "asked, not answered yet"),
    (Sign::Turnaround, "being made ready for the next"),
    (Sign::Now, "now, by the database's clock"),
    (Sign::Night, "booked by the night"),
    (
        Sign::Group,
        "one of a group, which is confirmed and renewed as a whole",
    ),
    (Sign::Claim(ClaimState::Cancelled), "cancelled or expired"),
    (Sign::RepeatedHour, "an hour that the clocks show twice"),
];

/// The page, for so many cells.
pub(crate) fn lines(model: &Model, cells: u16) -> Vec<Line> {
    let room = usize::from(cells).saturating_sub(KEYS + 1);
    let mut lines = Vec::new();
    for action in ACTIONS {
        let mut keys = model.keymap.all(action.name);
        for words in wrap(action.help, room) {
            lines.push(Line::Keys(std::mem::take(&mut keys), words));
        }
        lines.extend((action.why_not)(model).map(Line::WhyNot));
    }
    lines.push(Line::Keys(String::new(), String::new()));
    lines.extend(SIGNS.iter().map(|(sign, words)| Line::Sign(*sign, words)));
    lines
}

/// How far the page can be scrolled.
pub(crate) fn most_scroll(model: &Model) -> u16 {
    let area = layout::page(model.size);
    let lines = u16::try_from(lines(model, area.width).len()).unwrap_or(u16::MAX);
    lines.saturating_sub(area.height)
}
