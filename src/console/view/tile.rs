//! A claim in the grid: a tile of its state's texture, with the words that fit.

use ratatui::buffer::Buffer;
use ratatui::style::Style;

use crate::console::model::Model;
use crate::console::model::grab::{Grab, GrabKind};
use crate::console::view::axis::{Axis, Columns};
use crate::console::view::claim::{self, ClaimStyle};
use crate::domain::SlotHold;
use crate::terminal::canvas::{fill, put};
use crate::terminal::text::{display, truncate, width};
use crate::terminal::theme::Theme;

/// Paints a claim into its row.
pub(crate) fn draw(
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
    let mut look = claim::slot(
        slot,
        model.pending_on(slot.id).is_some(),
        axis.now_at,
        theme,
    );
    let room = inside(columns);
    if let Some(grab) = &model.grab
        && grab.claim.id == slot.id
        && grab.kind == GrabKind::Move
    {
        (look.tile, look.fill) = (theme.past, theme.past);
    }
    let whom = claim::whom_marked(slot, guest, theme);
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

/// Where a grabbed claim would come to: its own texture, and what would become of it.
pub(crate) fn ghost(
    buffer: &mut Buffer,
    y: u16,
    columns: Columns,
    grab: &Grab,
    axis: &Axis,
    theme: &Theme,
) {
    let look = ClaimStyle {
        tile: theme.pending,
        fill: theme.pending,
        ..claim::slot(&grab.claim, false, axis.now_at, theme)
    };
    let verb = match grab.kind {
        GrabKind::Move => "move",
        GrabKind::Stretch => "stretch",
    };
    let guest = display(&grab.claim.guest);
    let words = format!("{verb} {}", claim::whom(&grab.claim, &guest));
    paint(buffer, y, columns, &look, words.trim_end(), theme);
    if axis.lines > 1 {
        paint(buffer, y + 1, columns, &look, "", theme);
    }
}

/// What a tile of two lines says on the second: when, and for how many.
fn second_line(slot: &SlotHold, model: &Model, with_party: bool) -> String {
    let calendar = model.calendar();
    let when = match slot.nights {
        Some(1) => "1 night".to_owned(),
        Some(nights) => format!("{nights} nights"),
        None => {
            let (start, end) = (slot.period.start(), slot.period.end());
            let from = calendar.tick(start).label();
            let to = if calendar.ends_day(calendar.date(start), end) {
                "24:00".to_owned()
            } else {
                calendar.tick(end).label()
            };
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
fn inside(columns: Columns) -> usize {
    match usize::from(columns.cells()) {
        wide @ 8.. => wide - 3,
        narrow => narrow.saturating_sub(1),
    }
}

/// A tile: its texture from end to end, words in the middle, arrows where it goes on.
pub(crate) fn paint(
    buffer: &mut Buffer,
    y: u16,
    columns: Columns,
    look: &ClaimStyle,
    words: &str,
    theme: &Theme,
) {
    let Columns {
        from,
        to,
        earlier,
        later,
    } = columns;
    let cells = columns.cells();
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
