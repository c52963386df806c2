//! What another session of the database is called.

use std::fmt;

use crate::domain::Desk;
use crate::domain::text::harmless;

/// Another session of the database, of whatever program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DatabaseSession {
    /// The process id of its backend; 0 if it has none, as a transaction that was prepared for two-phase commit.
    pub backend: i32,
    /// What it calls itself: a program's name, as a rule. Empty if it says nothing.
    pub program: String,
    /// Whose it is, if it says so.
    pub desk: Option<Desk>,
}

impl DatabaseSession {
    /// What is said of it to whoever waits for its work on the bookings to end.
    pub fn sentence_of_a_long_wait(&self) -> String {
        format!("Waiting for {self}, who has been working on the bookings for a while.")
    }
}

impl fmt::Display for DatabaseSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let backend = self.backend;
        match &self.desk {
            _ if backend == 0 => formatter.write_str("a prepared transaction"),
            Some(desk) => write!(formatter, "desk {} (backend {backend})", harmless(&desk.0)),
            None if self.program.is_empty() => write!(formatter, "backend {backend}"),
            None => write!(formatter, "{} (backend {backend})", harmless(&self.program)),
        }
    }
}
