//! What is said to people, in one place a kind.

mod refusal;
