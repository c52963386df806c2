//! A claim that the person has grabbed: moved as a whole, or stretched by its end (R14). Where it would come to is what
//! the cursor says; nothing is asked of the database before it is put down.

use crate::domain::SlotHold;

/// What the cursor does to the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrabKind {
    /// All of it goes with the cursor.
    Move,
    /// Its end does.
    Stretch,
}

/// A claim that goes with the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grab {
    /// As it was seen when it was grabbed.
    pub claim: SlotHold,
    /// As a whole or by its end.
    pub kind: GrabKind,
}
