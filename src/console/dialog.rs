//! Dialogs: a closed set. A dialog takes all keys, its default is the harmless choice, and the key that opened it,
//! held down, neither confirms it nor types into it.

use std::time::Duration;

use crokey::KeyCombination;
use tui_input::Input;

use crate::domain::{Period, RequestId, RoomId, SlotHoldId, StockHoldId, Version};

use super::message::Press;

/// Held-down keys repeat faster than this.
const REPEAT: Duration = Duration::from_millis(700);

/// What a dialog is about. What it will act on is fixed when it opens, by identity and version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// All the keys.
    Help {
        /// Lines scrolled away.
        scroll: u16,
    },
    /// Which day to show.
    GoTo,
    /// Guest, note and party of a claim.
    Edit {
        /// The claim.
        hold: SlotHoldId,
        /// As it was seen.
        version: Version,
    },
    /// Giving a claim on a room back.
    CancelSlot {
        /// The claim.
        hold: SlotHoldId,
        /// As it was seen.
        version: Version,
    },
    /// Giving held units back.
    CancelStock {
        /// The claim.
        hold: StockHoldId,
        /// As it was seen.
        version: Version,
    },
    /// Taking a room for the house.
    Block {
        /// The room.
        room: RoomId,
        /// The period.
        period: Period,
    },
}

/// One line to type in.
#[derive(Debug, Clone)]
pub struct Field {
    /// What is asked for.
    pub label: &'static str,
    /// What has been typed, exactly.
    pub input: Input,
    /// What it was when the dialog opened.
    pub before: String,
}

impl Field {
    /// A field with a text to begin with.
    pub fn new(label: &'static str, text: &str) -> Self {
        Self {
            label,
            input: Input::new(text.to_owned()),
            before: text.to_owned(),
        }
    }

    /// The text, if it was changed.
    pub fn changed(&self) -> Option<String> {
        (self.input.value() != self.before).then(|| self.input.value().to_owned())
    }
}

/// An open dialog.
#[derive(Debug, Clone)]
pub struct Dialog {
    /// What it is about.
    pub subject: Subject,
    /// One line that says what is at stake.
    pub heading: String,
    /// The fields.
    pub fields: Vec<Field>,
    /// The buttons after the fields: the harmless one first.
    pub buttons: &'static [&'static str],
    /// What has the keys: a field, or after them a button.
    pub focus: usize,
    /// The command that was sent and is not answered yet.
    pub sent: Option<RequestId>,
    /// Why the last try did not work; what was typed stays.
    pub complaint: Option<String>,
    opener: Option<(KeyCombination, Duration)>,
}

impl Dialog {
    /// Opens a dialog.
    pub fn open(subject: Subject, heading: String, fields: Vec<Field>, opener: Press) -> Self {
        let buttons: &[&str] = match subject {
            Subject::CancelSlot { .. } | Subject::CancelStock { .. } => {
                &["Keep it", "Give it back"]
            }
            _ => &[],
        };
        Self {
            subject,
            heading,
            fields,
            buttons,
            focus: 0,
            sent: None,
            complaint: None,
            opener: Some((opener.key, opener.at)),
        }
    }

    /// Whether the press is the opening key still held down; any other key, or a pause, ends that.
    pub fn is_opener_repeating(&mut self, press: &Press) -> bool {
        match &mut self.opener {
            Some((key, at)) if *key == press.key && press.at.saturating_sub(*at) < REPEAT => {
                *at = press.at;
                true
            }
            _ => {
                self.opener = None;
                false
            }
        }
    }

    /// The field that has the keys.
    pub fn field(&mut self) -> Option<&mut Field> {
        self.fields.get_mut(self.focus)
    }

    /// The button that has the keys, counted from the harmless one.
    pub fn button(&self) -> Option<usize> {
        self.focus
            .checked_sub(self.fields.len())
            .filter(|index| *index < self.buttons.len())
    }

    /// Moves the keys to the next field or button, or the one before.
    pub fn turn(&mut self, forwards: bool) {
        let count = self.fields.len() + self.buttons.len();
        if count > 0 {
            self.focus = (self.focus + if forwards { 1 } else { count - 1 }) % count;
        }
    }

    /// What a field holds.
    pub fn text(&self, index: usize) -> &str {
        self.fields
            .get(index)
            .map_or("", |field| field.input.value())
    }
}
