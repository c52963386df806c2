//! Keyrack's own PostgreSQL: found on the machine or downloaded, started on a private Unix socket, shared
//! by every console of one user, stopped by the last one out.
//!
//! [`join`] is the way in. It hands back a [`Server`], which is a membership: while one is alive, the server
//! is kept. Membership is an advisory file lock, so that the kernel gives it back for a console that dies.
//!
//! This module must not know what the database holds: no schema, no migrations, no queries. It knows files,
//! processes and locks, and it hands out connect options.

mod account;
mod binaries;
mod cluster;
mod connection;
mod control;
mod download;
mod error;
mod home;
mod membership;
mod server;

pub use error::PostgresError;
pub use server::{Progress, Server, Settings, Status, Stopped, destroy, join, status, stop};

/// The role that clients log in as, and the name of the database that it owns.
pub const NAME: &str = "keyrack";

type Result<T> = std::result::Result<T, PostgresError>;
