//! The lab's tables: strategies against double booking, right and wrong, in a schema of their own.
//!
//! A [`Lab`] is a scratch schema with a name of its own, which nothing else of the database can see into or be seen
//! from: its connections have no other schema on their path. [`Lab::referee`] prepares a strategy in it and counts
//! afterwards what went wrong, from the rows; a [`Client`] asks. Who asks when, and how often, is not known here.

mod client;
mod referee;
mod schema;
mod scratch;
mod strategies;

pub use client::{Again, Client, Reply, Wish};
pub use referee::Referee;
pub use scratch::{Lab, Server};
pub use strategies::{STRATEGIES, Strategy, Subject, strategy};
