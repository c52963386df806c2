//! What a console wants done: effects as data, carried out by the session and by whoever owns the terminal.

use crate::domain::{Period, Request};

/// Something to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// For whoever owns the terminal.
    Terminal(TerminalEffect),
    /// Send a command; its answer comes back as a message with the same id.
    Execute(Request),
    /// Keep the snapshot of this window fresh from now on.
    LookAt(Period),
    /// Read everything now.
    Refresh,
}

/// Something to be done with the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalEffect {
    /// Paint the model.
    Draw,
    /// Paint it on a terminal whose contents are not known.
    Redraw,
    /// Hand the terminal back to the shell until it continues us.
    Suspend,
    /// End.
    Quit,
}

impl Effect {
    /// Paint the model.
    pub const DRAW: Self = Self::Terminal(TerminalEffect::Draw);
}
