//! A terminal: its input, signals, screen and colours, and how wide text is on it.
//!
//! The console, the demo and the command line draw with it. This module must not know about bookings.

pub mod canvas;
pub mod detect;
pub mod input;
pub mod screen;
pub mod signals;
pub mod text;
pub mod theme;
