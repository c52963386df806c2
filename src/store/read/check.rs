//! The proof of the rules.

use serde::Serialize;

use crate::store::connection::error::StoreError;
use crate::store::handle::SiteStore;

/// A rule that the rows do not keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Its number, like R5.
    pub rule: String,
    /// What is concerned.
    pub subject: String,
    /// What is wrong.
    pub problem: String,
}

impl SiteStore {
    /// Proves the rules from the rows; nothing means that all is well.
    ///
    /// # Errors
    /// As [`SiteStore::slot_hold`].
    pub async fn check(&self) -> Result<Vec<Problem>, StoreError> {
        self.store
            .ask_rows(|| {
                sqlx::query_as!(
                    Problem,
                    r#"
                    SELECT rule AS "rule!", subject AS "subject!", problem AS "problem!"
                    FROM check_site($1)
                    "#,
                    self.site.id.0
                )
            })
            .await
    }
}
