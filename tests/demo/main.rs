//! Two desks side by side (design section 8): the core over a real PostgreSQL, and stories in a real pseudo-terminal.
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod desks;
mod scenarios;
mod site;
