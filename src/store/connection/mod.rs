//! The way to the server: connections that are kept, what an error means, and which schema the database has. Must not
//! know what is booked there.

pub(super) mod clock;
pub(super) mod connections;
pub(super) mod error;
pub(super) mod faults;
pub(super) mod schema;

pub use error::StoreError;
pub use schema::ProtocolText;
pub(crate) use schema::SchemaState;
