//! What shows how conflicts are decided (design section 8).
//!
//! - [`desks`] needs no terminal: two consoles on one house, the moves that can be made with them, and what happened.
//!   The house is a demo's own ([`crate::store::DemoSite`]).
//! - [`scenario`] is one text that can be watched, taken over, or played as a test.
//! - [`lab`] runs the same race against each known strategy.
//!
//! This module must not know SQL, nor arguments.

pub mod desks;
pub mod lab;
pub mod scenario;
mod switch;
pub mod transcript;
mod volley;
mod words;

pub use desks::{Context, Desks, Happening, Which};
pub use transcript::Transcript;
pub use volley::{Shot, Verdict};
