//! Keeps one console's picture of a site fresh: correct by polling the change log, fast by notice (design section 6).
//!
//! Runs as a task of its own and sends [`WatchEvent`]s; it also sweeps, so that a hold that runs out is written as
//! expired within a second while any console is open.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::Picture;

/// What a console hears.
#[derive(Debug, Clone)]
pub enum WatchEvent {
    /// The database answered: its clock, and how long the round trip took. About twice a second.
    Alive {
        /// The database's clock at the answer.
        now: DateTime<Utc>,
        /// The round trip.
        latency: Duration,
    },
    /// A new picture, because something changed, another window was asked for, or five seconds have passed.
    Picture(Arc<Picture>),
    /// The database is away. The last picture stays; the watch goes on trying, and says `Alive` and `Picture` when it
    /// is back.
    Lost {
        /// A full sentence for the person: what happened and what is being done.
        sentence: String,
    },
}

/// A handle on the task; dropping it ends the task.
#[derive(Debug)]
pub struct Watch {}
