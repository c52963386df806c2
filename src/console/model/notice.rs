//! The line to the person: what was said last, and what can be had instead.

use chrono::{DateTime, TimeDelta, Utc};

use crate::console::model::alternative::AlternativeCommand;
use crate::console::model::layout;
use crate::terminal::text;

/// How long good news stays; a refusal stays until a key is pressed.
const GOOD_NEWS: TimeDelta = TimeDelta::seconds(20);

/// What a line to the person is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// For information.
    Plain,
    /// Done.
    Good,
    /// The rules, or the console, said no.
    Refused,
    /// Something broke.
    Fault,
}

/// A line to the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// What kind.
    pub tone: Tone,
    /// A full sentence, made for the screen.
    pub text: String,
    /// When it was said, by the database's clock.
    pub said_at: DateTime<Utc>,
    /// What can be had instead, with one key each.
    pub alternatives: Vec<AlternativeCommand>,
    /// The same in words; empty if there are none.
    pub alternatives_in_words: String,
}

impl Notice {
    /// A sentence, made harmless for the screen.
    pub(crate) fn new(tone: Tone, sentence: &str, said_at: DateTime<Utc>) -> Self {
        Self {
            tone,
            text: text::display(sentence),
            said_at,
            alternatives: Vec::new(),
            alternatives_in_words: String::new(),
        }
    }

    /// The text in lines of so many cells, and the alternatives, which are shown in any case.
    pub(crate) fn lines(&self, cells: usize) -> Vec<String> {
        let mut lines = text::wrap(&self.text, cells);
        if !self.alternatives_in_words.is_empty() {
            let alternatives = text::wrap(&self.alternatives_in_words, cells);
            lines.truncate(
                usize::from(layout::MESSAGE_ROWS)
                    .saturating_sub(alternatives.len())
                    .max(1),
            );
            lines.extend(alternatives);
        }
        lines
    }

    /// How many rows of a screen so wide it takes.
    pub(crate) fn rows(&self, width: u16) -> u16 {
        let cells = usize::from(width).saturating_sub(3);
        if self.alternatives.is_empty() && text::width(&self.text) <= cells {
            return 1;
        }
        u16::try_from(self.lines(cells).len()).unwrap_or(layout::MESSAGE_ROWS)
    }

    /// Whether it is good news that has been read by now.
    pub(crate) fn is_read(&self, now: DateTime<Utc>) -> bool {
        matches!(self.tone, Tone::Good | Tone::Plain) && now - self.said_at > GOOD_NEWS
    }
}
