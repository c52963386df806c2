//! How a claim is called and counted, in every panel alike: a glyph, a word and a style for each state.

use chrono::{DateTime, Utc};
use ratatui::style::Style;

use crate::domain::{ClaimState, Purpose, SlotHold, StockHold};
use crate::terminal::text::display;
use crate::terminal::theme::Theme;

/// What a claim looks like: its glyph, its word, the style of its tile and of its texture.
pub(crate) struct ClaimStyle {
    /// The glyph.
    pub glyph: &'static str,
    /// The word.
    pub word: &'static str,
    /// The tile.
    pub tile: Style,
    /// The texture.
    pub fill: Style,
}

/// The look of a claim on a room.
pub(crate) fn slot(
    claim: &SlotHold,
    pending: bool,
    now: DateTime<Utc>,
    theme: &Theme,
) -> ClaimStyle {
    if pending {
        return waiting(theme);
    }
    let mut look = match (claim.purpose, claim.state) {
        (Purpose::Block, state) if state.is_active() => ClaimStyle {
            glyph: theme.glyphs.block,
            word: "blocked",
            tile: theme.block,
            fill: theme.block_fill,
        },
        (_, state) => of_state(state, theme),
    };
    if claim.period.end() <= now {
        (look.tile, look.fill) = (theme.past, theme.past);
    }
    if claim.is_due(now) {
        look.word = "expiring";
    }
    look
}

/// The look of a claim on stock.
pub(crate) fn stock(
    claim: &StockHold,
    pending: bool,
    now: DateTime<Utc>,
    theme: &Theme,
) -> ClaimStyle {
    if pending {
        return waiting(theme);
    }
    let mut look = of_state(claim.state, theme);
    if claim.state == ClaimState::Confirmed {
        look.word = "sold";
    }
    if claim.is_due(now) {
        look.word = "expiring";
    }
    look
}

/// The look of a command that is under way.
pub(crate) fn waiting(theme: &Theme) -> ClaimStyle {
    ClaimStyle {
        glyph: theme.glyphs.pending,
        word: "asking",
        tile: theme.pending,
        fill: theme.pending,
    }
}

/// The look of a state.
pub(crate) fn of_state(state: ClaimState, theme: &Theme) -> ClaimStyle {
    let (glyph, tile, fill) = match state {
        ClaimState::Held => (theme.glyphs.held, theme.held, theme.held_fill),
        ClaimState::Confirmed => (
            theme.glyphs.confirmed,
            theme.confirmed,
            theme.confirmed_fill,
        ),
        ClaimState::Cancelled | ClaimState::Expired => (theme.glyphs.ended, theme.past, theme.past),
    };
    ClaimStyle {
        glyph,
        word: state.word(),
        tile,
        fill,
    }
}

/// The time left, in at most so many cells; `expiring…` when none is left.
pub(crate) fn countdown(seconds: i64, cells: usize, cut: &str) -> String {
    if seconds <= 0 {
        return crate::terminal::text::truncate("expiring…", cells, cut).replace('…', cut);
    }
    let minutes = (seconds + 59) / 60;
    let exact = || {
        if seconds < 3600 {
            format!("{:02}:{:02}", seconds / 60, seconds % 60)
        } else {
            format!("{}h{:02}", seconds / 3600, seconds % 3600 / 60)
        }
    };
    let rough = || match seconds {
        ..60 => format!("{seconds}s"),
        60..5941 => format!("{minutes}m"),
        _ => format!("{}h", seconds / 3600),
    };
    let digit = || match seconds {
        ..10 => format!("{seconds}s"),
        10..541 => format!("{minutes}m"),
        _ => String::new(),
    };
    let choices: [&dyn Fn() -> String; 3] = [&exact, &rough, &digit];
    choices
        .iter()
        .map(|choice| choice())
        .find(|choice| choice.len() <= cells)
        .unwrap_or_default()
}

/// Whom a claim is for, in a word or two; empty if nobody has said.
pub(crate) fn whom<'a>(claim: &'a SlotHold, guest: &'a str) -> std::borrow::Cow<'a, str> {
    match claim.purpose {
        Purpose::Guest => guest.into(),
        Purpose::Block if !claim.note.is_empty() => display(&claim.note).into(),
        Purpose::Block if !guest.is_empty() => guest.into(),
        Purpose::Block => "blocked".into(),
    }
}

/// The same, marked where the claim is one of a group.
pub(crate) fn whom_marked<'a>(
    claim: &'a SlotHold,
    guest: &'a str,
    theme: &Theme,
) -> std::borrow::Cow<'a, str> {
    let whom = whom(claim, guest);
    match claim.group {
        Some(_) => format!("{} {whom}", theme.glyphs.group)
            .trim_end()
            .to_owned()
            .into(),
        None => whom,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_countdown_fits_and_never_says_zero() {
        for (seconds, cells, shown) in [
            (252, 5, "04:12"),
            (252, 4, "5m"),
            (600, 3, "10m"),
            (600, 2, ""),
            (540, 2, "9m"),
            (42, 3, "42s"),
            (42, 2, "1m"),
            (9, 2, "9s"),
            (3900, 5, "1h05"),
            (86_400 * 30, 4, "720h"),
            (1, 5, "00:01"),
            (0, 9, "expiring…"),
            (0, 4, "exp…"),
            (-5, 9, "expiring…"),
        ] {
            assert_eq!(
                countdown(seconds, cells, "…"),
                shown,
                "{seconds} s in {cells}"
            );
        }
        assert_eq!(countdown(0, 9, "~"), "expiring~");
    }
}
