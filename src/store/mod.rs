//! The store: the only place that knows SQL. What others may use of it stands here.
//!
//! - `connection`: the way to the server: connections, what an error means, and which schema the database has.
//! - `command`: one autocommit statement each, spawned so that nobody can cancel a write halfway.
//! - `read`: what is stored, as values of the domain.
//! - `live`: keeps a console's snapshot fresh.
//! - [`stepping`]: a command that stops between the protocol's own steps.
//! - `sandbox`: what demos and scenarios need besides: a site that goes with them, psql prompts, who waits for whom.
//! - [`lab`]: strategies against double booking, in a schema of their own.
//!
//! `handle` is what their methods hang on. This module must not know about screens, keys or arguments.

mod command;
mod connection;
mod handle;
pub mod lab;
mod live;
mod read;
mod sandbox;
pub mod stepping;

pub use command::Progress;
pub(crate) use connection::SchemaState;
pub use connection::{ProtocolText, StoreError};
pub use handle::{SiteStore, Store};
pub use live::{Revive, Watch, WatchEvent};
pub use read::{FreeSearch, HistoryOf, Problem, SiteOpening, SlotFilter, Snapshot, StockFilter};
pub use sandbox::DemoSite;
pub(crate) use sandbox::{Prompt, PromptAnswer};
pub use stepping::{StepLimits, StepPlace, StepView, Stepwise};
