//! The console: rooms by hour, stock, and the keys that hold, confirm and cancel (design section 7).
//!
//! `update(model, message) -> effects` is pure; views are functions of the model; the runtime alone knows terminals,
//! tasks and the store. This module must not know SQL, arguments or where the database runs.

pub mod alternative;
pub mod board;
pub mod carry;
pub mod config;
pub mod dates;
pub mod dialog;
pub mod effect;
pub mod input;
pub mod keys;
pub mod layout;
pub mod message;
pub mod model;
pub mod news;
pub mod reasons;
pub mod runtime;
pub mod selection;
pub mod signals;
pub mod station;
pub mod terminal;
pub mod text;
pub mod theme;
pub mod update;
pub mod view;

pub use config::Config;
pub use runtime::{Context, run};

#[cfg(test)]
#[allow(clippy::unwrap_used, missing_docs)]
pub(crate) mod fixtures;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
