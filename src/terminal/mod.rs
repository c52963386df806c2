//! A terminal: its input, signals, screen and colours, and how wide text is on it.
//!
//! The console, the demo and the command line draw with it. This module must not know about bookings.

pub(crate) mod canvas;
pub(crate) mod detect;
pub(crate) mod input;
pub(crate) mod screen;
pub(crate) mod signals;
pub(crate) mod text;
pub mod theme;
