//! What keeps consoles fresh: a watch that polls the change log, and hints that let it look at once. Nothing depends on
//! a hint. Must not know what a console does with what it hears.

pub(super) mod hint;
mod watch;

pub use watch::{Revive, Watch, WatchEvent};
