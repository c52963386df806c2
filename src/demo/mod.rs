//! What shows how conflicts are decided: the lab runs the same race against each known strategy.
//!
//! This module must not know SQL, nor arguments.

pub mod lab;
