//! What the store answers where it has no answer of the site.

/// A fault, with its sentence in the domain's catalogue.
pub use crate::domain::sentences::fault::Fault as StoreError;
