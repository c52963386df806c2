//! What a console wants done: effects as data, carried out by the runtime.

use crate::domain::{Period, Request};

/// Something for the runtime to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Paint the model.
    Draw,
    /// Paint the model on a terminal whose contents are not known.
    Redraw,
    /// Send a command; its answer comes back as a message with the same id.
    Execute(Request),
    /// Keep the picture of this window fresh from now on.
    LookAt(Period),
    /// Read everything now.
    Refresh,
    /// Hand the terminal back to the shell until it continues us.
    Suspend,
    /// End.
    Quit,
}
