//! What is said to people, in one place a kind.

pub mod fault;
mod refusal;
pub mod session;
