//! What a database has of Keyrack: its tables, made by numbered migrations that go forward only, and the text of the
//! protocol, which is replaced whole when it is another one. Every program says clearly when it is the wrong one.

mod aside;
mod migrate;
mod set_up;
pub(in crate::store) mod state;
pub(in crate::store) mod text;

pub(crate) use state::SchemaState;
pub use text::ProtocolText;
