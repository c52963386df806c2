//! The store: the only place that knows SQL.
//!
//! Commands are one autocommit statement each (design section 4), spawned so that nobody can cancel a write halfway;
//! reads are functions of the site; [`watch`] keeps a console's picture fresh. This module must not know about
//! screens, keys or arguments.

pub mod error;
pub mod picture;
pub mod watch;

pub use error::StoreError;
pub use picture::Picture;
pub use watch::{Watch, WatchEvent};
