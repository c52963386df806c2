//! Text on a grid of cells: what a stranger typed, shown so that it takes exactly the cells that we count (R26).
//!
//! Terminals disagree about emoji sequences, variation selectors and joiners; a grid that trusts them is torn apart.
//! So a sequence is shown by its parts, each of which every terminal draws alike. What is stored is never changed.
//! This module knows nothing of the model or of colours.

use std::borrow::Cow;

use ratatui::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;

use crate::domain::text::harmless;

/// More marks than these on one letter are left out: they would be drawn over the neighbouring rows.
const MOST_MARKS: usize = 3;

/// The text as it is shown: harmless, and of characters whose width is beyond doubt.
///
/// `👩‍❤️‍👨` becomes `👩❤👨`, a flag its two letters, a coloured hand a hand.
pub(crate) fn display(text: &str) -> String {
    if text.is_ascii() && !text.bytes().any(|byte| byte.is_ascii_control()) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    let mut marks = 0;
    for character in harmless(text).chars() {
        match character {
            '\u{1f1e6}'..='\u{1f1ff}' => {
                let letter = b'A' + (character as u32 - 0x1f1e6) as u8;
                shown.push(char::from(letter));
                marks = 0;
            }
            character if is_dropped(character) => {}
            character if is_mark(character) => {
                marks += 1;
                if !shown.is_empty() && marks <= MOST_MARKS {
                    shown.push(character);
                }
            }
            character => {
                marks = 0;
                shown.push(character);
            }
        }
    }
    shown
}

/// Invisible characters that change how others are drawn, and about whose width terminals differ.
fn is_dropped(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{206f}' | '\u{20e3}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0000}'..='\u{e0fff}')
}

fn is_mark(character: char) -> bool {
    let mut buffer = [0; 4];
    let symbol: &str = character.encode_utf8(&mut buffer);
    symbol.cell_width() == 0
}

/// How many cells the terminal gives to what [`display`] returned.
pub(crate) fn width(shown: &str) -> usize {
    if is_simple(shown) {
        return shown.chars().count();
    }
    shown.graphemes(true).map(grapheme_width).sum()
}

fn grapheme_width(grapheme: &str) -> usize {
    usize::from(grapheme.cell_width())
}

/// Whether each character is a grapheme of one cell: Latin letters, dashes, lines and blocks. Most text is, and needs
/// no segmentation.
pub(crate) fn is_simple(shown: &str) -> bool {
    shown.chars().all(
        |character| matches!(character, ' '..='~' | '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{2ff}' | '‐'..='‧' | '─'..='◼'),
    )
}

/// The text, cut between graphemes so that it takes at most so many cells, with `sign` where something is missing.
pub(crate) fn truncate<'a>(shown: &'a str, cells: usize, sign: &str) -> Cow<'a, str> {
    if is_simple(shown) && shown.chars().count() <= cells {
        return shown.into();
    }
    let room = cells.saturating_sub(width(sign));
    let (mut used, mut kept) = (0, 0);
    for (index, grapheme) in shown.grapheme_indices(true) {
        used += grapheme_width(grapheme);
        if used > cells {
            let cut = shown[..kept].trim_end();
            let sign = if cells >= width(sign) { sign } else { "" };
            return format!("{cut}{sign}").into();
        }
        if used <= room {
            kept = index + grapheme.len();
        }
    }
    shown.into()
}

/// The last part of the text that fits: for a field that is being typed in.
pub(crate) fn tail(shown: &str, cells: usize) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut used = 0;
    for grapheme in shown.graphemes(true).rev() {
        used += grapheme_width(grapheme);
        if used > cells {
            break;
        }
        kept.push(grapheme);
    }
    kept.iter().rev().copied().collect()
}

/// Cut or filled up with spaces to exactly so many cells.
pub(crate) fn pad(shown: &str, cells: usize, sign: &str) -> String {
    let mut padded = truncate(shown, cells, sign).into_owned();
    let missing = cells.saturating_sub(width(&padded));
    padded.extend(std::iter::repeat_n(' ', missing));
    padded
}

/// The text in lines of at most so many cells, broken at spaces where that is possible.
pub(crate) fn wrap(shown: &str, cells: usize) -> Vec<String> {
    let cells = cells.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in shown.split(' ') {
        let joint = usize::from(!line.is_empty());
        if width(&line) + joint + width(word) <= cells {
            if joint == 1 {
                line.push(' ');
            }
            line.push_str(word);
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        for grapheme in word.graphemes(true) {
            if width(&line) + grapheme_width(grapheme) > cells && !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            line.push_str(grapheme);
        }
    }
    lines.push(line);
    lines
}

/// Whether the text runs from right to left somewhere: a terminal that reorders must be told where it ends.
pub(crate) fn runs_right_to_left(shown: &str) -> bool {
    shown.chars().any(|character| {
        matches!(character, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}'
            | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r26_a_sequence_is_shown_by_its_parts() {
        assert_eq!(display("👩\u{200d}❤\u{fe0f}\u{200d}👨 محمد"), "👩❤👨 محمد");
        assert_eq!(width("👩❤👨 محمد"), 2 + 1 + 2 + 1 + 4);
        assert_eq!(display("🇩🇪 1\u{fe0f}\u{20e3} 👋🏽"), "DE 1 👋");
        assert_eq!(display("a\u{1b}[2Jb\u{202e}c"), "a␛[2Jb�c");
    }

    #[test]
    fn r26_every_shown_character_has_the_width_that_a_simple_terminal_gives_it() {
        use unicode_width::UnicodeWidthChar;
        for hostile in [
            "👩\u{200d}❤\u{fe0f}\u{200d}👨 محمد",
            "e\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}!",
            "\u{301}leading mark",
            "김철수 東京 Ａ",
            "a\u{ad}b\u{200b}c\u{feff}d",
            "نمی\u{200c}خواهم لا",
        ] {
            let shown = display(hostile);
            let simple: usize = shown.chars().map(|c| c.width().unwrap_or(0)).sum();
            assert_eq!(width(&shown), simple, "{shown:?}");
        }
    }

    #[test]
    fn marks_do_not_pile_up() {
        let shown = display(&format!("a{}b", "\u{301}".repeat(40)));
        assert_eq!(shown.chars().count(), 2 + MOST_MARKS);
    }

    #[test]
    fn cuts_between_graphemes_and_fills_up() {
        assert_eq!(truncate("Okafor", 6, "…"), "Okafor");
        assert_eq!(truncate("Okafor", 4, "…"), "Oka…");
        assert_eq!(truncate("東京タワー", 4, "…"), "東…");
        assert_eq!(pad("東京", 5, "…"), "東京 ");
        assert_eq!(pad("東京タワー", 4, "…"), "東… ");
        assert_eq!(truncate("abc", 0, "…"), "");
        assert_eq!(tail("東京タワー", 5), "ワー");
    }

    #[test]
    fn what_is_simple_is_as_wide_as_it_has_characters() {
        for code in 0..0x3000 {
            let Some(character) = char::from_u32(code) else {
                continue;
            };
            let text = format!("a{character}b");
            if is_simple(&text) {
                let graphemes: Vec<&str> = text.graphemes(true).collect();
                assert_eq!(graphemes.len(), 3, "U+{code:04X}");
                assert_eq!(graphemes[1].cell_width(), 1, "U+{code:04X}");
            }
        }
    }

    #[test]
    fn wraps_at_spaces_and_inside_words_that_are_too_long() {
        assert_eq!(wrap("Blue room is taken", 10), ["Blue room", "is taken"]);
        assert_eq!(wrap("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("", 4), [""]);
    }
}
