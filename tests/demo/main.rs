//! Two desks side by side: the core over a real PostgreSQL, and stories in a real pseudo-terminal.
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

#[allow(dead_code)]
#[path = "../console/terminal.rs"]
mod terminal;

#[allow(dead_code)]
#[path = "../console/svg.rs"]
mod svg;

mod desks;
mod picture;
mod scenarios;
mod shows;
mod site;
mod stories;
