//! What is said to people, in one place a kind.

pub mod fault;
pub(crate) mod refusal;
pub mod session;
