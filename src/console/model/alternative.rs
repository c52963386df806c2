//! What the database said is free instead of what was refused.

use crate::domain::{Alternative, Command};

/// Something that can be had with one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlternativeCommand {
    /// Where and when.
    pub alternative: Alternative,
    /// What asks for it.
    pub command: Command,
}
