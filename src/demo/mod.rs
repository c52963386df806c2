//! What shows how conflicts are decided.
//!
//! - [`desks`] needs no terminal: two consoles on one site, the moves that can be made with them, and what happened.
//!   The site is a demo's own ([`crate::store::DemoSite`]).
//! - [`scenario`] is one text that can be watched, taken over, or played as a test.
//! - [`runtime`] shows both in one terminal; a [`script`] can play along.
//! - [`lab`] runs the same race against each known strategy.
//!
//! This module must not know SQL, nor arguments.

pub mod desks;
mod diary;
pub mod file;
pub mod keys;
pub mod lab;
pub mod layout;
pub mod runtime;
pub mod scenario;
pub mod script;
pub mod state;
pub mod steps;
mod switch;
pub mod transcript;
pub mod view;
mod volley;
mod words;

pub use desks::{Context, Desks, Happening, Which};
pub use runtime::run;
pub use transcript::Transcript;
pub use volley::{Shot, Verdict};
