//! Reads: what is stored, as values of the domain. Every statement here may be asked twice. Must not change anything.

mod catalogue;
mod check;
mod claims;
mod clock;
pub(super) mod decode;
mod events;
mod free;
pub(super) mod rows;
mod sites;
mod snapshot;

pub use check::Problem;
pub use claims::{SlotFilter, StockFilter};
pub use events::HistoryOf;
pub use free::FreeSearch;
pub use sites::SiteOpening;
pub use snapshot::Snapshot;
