//! Runs consoles: a session carries out what the model wants of the database, and a terminal shows it.

pub mod session;
pub mod terminal;
