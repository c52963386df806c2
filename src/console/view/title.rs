//! The titles of panels.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::terminal::canvas::put;
use crate::terminal::theme::Theme;

/// A panel's title, set into a rule.
pub(crate) fn title(
    buffer: &mut Buffer,
    rule: Rect,
    x: u16,
    words: &str,
    focused: bool,
    theme: &Theme,
) {
    let style = if focused {
        theme.title_focused
    } else {
        theme.title
    };
    let sign = if focused { theme.glyphs.cursor } else { " " };
    put(
        buffer,
        x + 1,
        rule.y,
        &format!("{sign}{words} "),
        rule.width,
        style,
    );
}
