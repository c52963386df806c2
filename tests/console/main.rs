//! Stories at the front desk: the compiled console in a real terminal, on a real database, told from what a person
//! does to what the person sees and what the rows say.
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod beginnings;
mod desk;
mod guests;
mod holds;
mod manners;
mod moves;
mod others;
mod picture;
mod server;
mod stock;
mod svg;
mod terminal;
