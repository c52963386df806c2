//! Keyrack: a booking console for the terminal that can't double-book, because PostgreSQL decides every conflict.
//!
//! The map; each module may use those below it and nothing above:
//!
//! - `cli`: the command line, one file per noun.
//! - [`demo`]: two desks side by side, and the lab: what shows how conflicts are decided.
//! - [`console`]: the screen: model, actions, update, view, run.
//! - [`terminal`]: input, signals, screen, colours and text widths; knows no booking.
//! - [`config`]: what the user's configuration file says.
//! - [`store`]: the only place that knows SQL: commands, reads, change log, refusal mapping, clock.
//! - [`postgres`]: the embedded server.
//! - [`domain`]: periods, the site's calendar, rooms, holds, stock, refusals; no I/O, no async, no SQL.

#![warn(unreachable_pub)]

pub mod cli;
pub mod config;
pub mod console;
pub mod demo;
pub mod domain;
pub mod postgres;
pub mod store;
pub mod terminal;
