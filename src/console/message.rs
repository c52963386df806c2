//! What can happen to a console: everything that the session hands to `update`.

use std::time::Duration;

use crokey::KeyCombination;

use crate::domain::{Answer, RequestId};
use crate::store::WatchEvent;

/// One press of a key, with the request id that it will use if it asks the site for something (R21).
///
/// The id comes with the press, so that `update` needs no source of ids and one press can't ask twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Press {
    /// The key, with its exact modifiers.
    pub key: KeyCombination,
    /// An id that was never used.
    pub id: RequestId,
    /// When, on the console's monotonic clock.
    pub at: Duration,
}

/// Something that happened.
#[derive(Debug, Clone)]
pub enum Message {
    /// A key was pressed.
    Key(Press),
    /// Text was pasted.
    Paste(String),
    /// The mouse was clicked in a cell of the terminal.
    Click {
        /// The column.
        column: u16,
        /// The row.
        row: u16,
    },
    /// The mouse was moved with its button down.
    Drag {
        /// The column.
        column: u16,
    },
    /// The wheel was turned over a cell: up is negative.
    Wheel {
        /// The column.
        column: u16,
        /// The row.
        row: u16,
        /// Lines.
        lines: i32,
    },
    /// The terminal has another size.
    Resized {
        /// Columns.
        width: u16,
        /// Rows.
        height: u16,
    },
    /// Time has passed; the console's monotonic clock shows this.
    Tick {
        /// Since the console started.
        uptime: Duration,
    },
    /// What the watch says: the database's clock, a new snapshot, or that the database is away.
    Watch {
        /// What it says.
        event: WatchEvent,
        /// When it came, on the console's monotonic clock.
        at: Duration,
    },
    /// A command's outcome is unknown and is being asked again (R24).
    Checking(RequestId),
    /// A command came back.
    Answered {
        /// Which.
        request: RequestId,
        /// With what.
        result: Result<Box<Answer>, Fault>,
    },
    /// The terminal is ours again after a pause: everything must be drawn anew.
    Resumed,
    /// The process was told to end.
    Ended,
}

/// Why a command has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// A full sentence for the person.
    pub sentence: String,
    /// Whether the command may have been done all the same; then its id is asked again (R24).
    pub outcome_unknown: bool,
}
