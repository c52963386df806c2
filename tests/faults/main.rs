//! What happens when something breaks at the worst moment: connections cut, reset, silent or late at every message of
//! every command, backends, servers and desks killed at every step, a full disk, a standby that takes over, writers
//! that go around the protocol.
//!
//! After each: done exactly once by request id, nothing half-done, an unknown outcome is learnt by asking again, and
//! the desk carries on. Bounded by default; `KEYRACK_FAULTS=all` runs the whole space. Choices come from a seed, which
//! every test prints; `KEYRACK_SEED` repeats them.
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod broken;
mod change_log;
mod disk;
mod house;
mod killed;
mod place;
mod proxy;
mod standby;
mod stray;
mod victim;

use std::env;

/// Whether to run the whole space and not only the bounded part.
pub fn whole_space() -> bool {
    env::var("KEYRACK_FAULTS").is_ok_and(|what| what == "all")
}

/// The choices of this run; the seed is printed, so that a failure can be repeated.
pub fn seed() -> fastrand::Rng {
    let seed = env::var("KEYRACK_SEED")
        .ok()
        .map_or_else(|| fastrand::u64(..), |seed| seed.parse().unwrap());
    println!("KEYRACK_SEED={seed}");
    fastrand::Rng::with_seed(seed)
}
