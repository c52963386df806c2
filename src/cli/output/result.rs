//! The result of a command.

use serde::Serialize;

/// The result of a command, ready for either reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output {
    /// For people.
    pub(crate) text: String,
    /// For programs: one JSON value.
    pub(crate) json: String,
    /// Whether a check failed: printed as usual, exit code 1.
    pub(crate) failed: bool,
}

impl Output {
    /// A result that both readers get.
    pub(crate) fn new(text: impl Into<String>, json: &impl Serialize) -> Self {
        Self {
            text: text.into(),
            json: to_json(json),
            failed: false,
        }
    }
}

pub(crate) fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value)
        .unwrap_or_else(|error| unreachable!("these shapes have string keys only: {error}"))
}

pub(crate) fn to_value(value: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(value)
        .unwrap_or_else(|error| unreachable!("these shapes have string keys only: {error}"))
}
