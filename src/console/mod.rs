//! The console: rooms by hour, stock, and the keys that hold, confirm and cancel.
//!
//! The rooms, in the order in which a key passes through them:
//!
//! - [`run`]: a session carries out what the model wants of the database, a terminal shows it;
//! - [`update`]: what a message does to the model, by kind of message; pure;
//! - [`actions`]: what keys do, one file an action;
//! - [`model`]: plain data, and what can be read from it;
//! - [`view`]: painters, functions of the model.
//!
//! This module must not know SQL, arguments or where the database runs.

pub mod actions;
pub(crate) mod effect;
pub(crate) mod message;
pub mod model;
pub(crate) mod run;
pub mod update;
pub mod view;

#[cfg(test)]
#[allow(clippy::unwrap_used, missing_docs)]
pub(crate) mod tests;
