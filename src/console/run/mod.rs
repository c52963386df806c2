//! Runs consoles: a session carries out what the model wants of the database, and a terminal shows it.

pub(crate) mod session;
pub(crate) mod terminal;
