//! What a transaction in step mode is about, in sentences: its locks, what it waits for, and what COMMIT and ROLLBACK
//! would bring. The store hands out plain values ([`crate::store::StepView`]); what they mean is said here. Texts in it are
//! harmless (R26); they name guests, so none of it belongs into a log (R27). Pure; must not know how it is painted.

mod consequences;
mod locks;
mod names;
mod phrases;

pub use consequences::{Consequences, consequences};
pub use locks::{HeldLock, KnownFrom, locks};
pub use phrases::{awaited, claim, ending, returned};
