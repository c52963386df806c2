//! Whatever the caller's search_path, temporary tables, operators and settings, functions and guards do what they were
//! written to do (R33).

mod catalogue;
