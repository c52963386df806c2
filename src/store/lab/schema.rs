//! How a scratch schema is made, and how it is known again.

/// Written on the schema, so that a schema of somebody else that happens to be called like one is left alone.
pub(super) const MARK: &str =
    "A scratch schema of `keyrack lab`; the next lab removes it if it was left behind.";

/// The schema, empty. Several statements sent as one are one transaction.
pub(super) fn making(schema: &str) -> String {
    format!("CREATE SCHEMA {schema}; COMMENT ON SCHEMA {schema} IS '{MARK}'")
}
