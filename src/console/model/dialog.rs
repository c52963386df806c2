//! An open dialog: what it is about, what was typed, and which part of it has the keys.
//!
//! A dialog takes all keys, its default is the harmless choice, and the key that opened it, held down, neither confirms
//! it nor types into it. What it asks for is said by the action that opened it.

use std::time::Duration;

use crokey::KeyCombination;
use tui_input::Input;

use crate::console::message::Press;
use crate::console::model::keymap::ActionName;
use crate::domain::{Period, RequestId, RoomId, SlotHoldId, StockHoldId, Version};

/// Held-down keys repeat faster than this.
const REPEAT: Duration = Duration::from_millis(700);

/// What a dialog will act on: fixed when it opens, by identity and version (R22).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Nothing in the database.
    Nothing,
    /// A claim on a room, as it was seen.
    Slot(SlotHoldId, Version),
    /// A claim on stock, as it was seen.
    Stock(StockHoldId, Version),
    /// A period of a room.
    Place(RoomId, Period),
}

/// One line to type in.
#[derive(Debug, Clone)]
pub struct Field {
    /// What is asked for; the field's name within its dialog.
    pub label: &'static str,
    /// What has been typed, exactly.
    pub input: Input,
    /// What it was when the dialog opened.
    pub before: String,
}

impl Field {
    /// A field with a text to begin with.
    pub(crate) fn new(label: &'static str, text: &str) -> Self {
        Self {
            label,
            input: Input::new(text.to_owned()),
            before: text.to_owned(),
        }
    }
}

/// An open dialog.
#[derive(Debug, Clone)]
pub struct Dialog {
    /// The action that opened it; its form says the rest.
    pub action: ActionName,
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
    /// Lines of a page scrolled away.
    pub scroll: u16,
    /// The command that was sent and is not answered yet.
    pub sent: Option<RequestId>,
    /// Why the last try did not work; what was typed stays.
    pub complaint: Option<String>,
    opener: Option<(KeyCombination, Duration)>,
}

impl Dialog {
    /// Opens a dialog.
    pub(crate) fn open(
        action: ActionName,
        subject: Subject,
        heading: String,
        fields: Vec<Field>,
        opener: Press,
    ) -> Self {
        Self {
            action,
            subject,
            heading,
            fields,
            buttons: &[],
            focus: 0,
            scroll: 0,
            sent: None,
            complaint: None,
            opener: Some((opener.key, opener.at)),
        }
    }

    /// With buttons after the fields, the harmless one first.
    pub(crate) fn with_buttons(mut self, buttons: &'static [&'static str]) -> Self {
        self.buttons = buttons;
        self
    }

    /// Whether the press is the opening key still held down; any other key, or a pause, ends that.
    pub(crate) fn is_opener_repeating(&mut self, press: &Press) -> bool {
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
    pub(crate) fn focused_field(&mut self) -> Option<&mut Field> {
        self.fields.get_mut(self.focus)
    }

    /// The button that has the keys, counted from the harmless one.
    pub(crate) fn focused_button(&self) -> Option<usize> {
        self.focus
            .checked_sub(self.fields.len())
            .filter(|index| *index < self.buttons.len())
    }

    /// Moves the keys to the next field or button, or the one before.
    pub(crate) fn turn(&mut self, forwards: bool) {
        let count = self.fields.len() + self.buttons.len();
        if count > 0 {
            self.focus = (self.focus + if forwards { 1 } else { count - 1 }) % count;
        }
    }

    /// What a field holds.
    pub(crate) fn text(&self, label: &str) -> &str {
        self.field(label).map_or("", |field| field.input.value())
    }

    /// What a field holds, if it was changed.
    pub(crate) fn changed(&self, label: &str) -> Option<&str> {
        let field = self.field(label)?;
        (field.input.value() != field.before).then(|| field.input.value())
    }

    fn field(&self, label: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.label == label)
    }
}
