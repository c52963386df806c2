//! The lab on a real server: what is right never goes wrong, what is wrong is caught, and nothing is left behind.
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod strategies;
mod traces;
