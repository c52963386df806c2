//! Keyrack: arguments in, exit code out.

fn main() {}
