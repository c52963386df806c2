//! What is said to a person who asked for something: one catalogue for all who ask.

pub mod fault;
pub mod session;
