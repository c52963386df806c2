//! What a command prints: for people aligned text that can't harm a terminal (R26), for programs one JSON value.
//!
//! This module must not know how the values were got.

mod alternatives;
mod catalogue;
mod claims;
mod events;
mod free;
mod lab;
mod race;
mod refusal;
mod result;
mod table;

pub(crate) use alternatives::alternatives;
pub(crate) use catalogue::{
    SiteJson, item, item_json, items, items_table, room, rooms, site_json, sites,
};
pub(crate) use claims::ClaimPrinter;
pub(crate) use events::events;
pub(crate) use free::free;
pub(crate) use lab::{Paper, lab, strategies};
pub(crate) use race::{Client, Reply, race};
pub(crate) use refusal::refusal_json;
pub(crate) use result::Output;
pub(crate) use table::table;

#[cfg(test)]
mod tests;
