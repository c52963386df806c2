//! Which schema a database has, and going on only with the right one. Must not know how it gets there.

use crate::store::connection::error::StoreError;
use crate::store::connection::faults::{Kind, fault, kind};
use crate::store::connection::schema::text::{ProtocolText, TextInForce};
use crate::store::handle::Store;

/// What a database has, next to what this program knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaState {
    /// Nothing of Keyrack.
    Absent,
    /// Tables that were made before the numbering began anew; nothing leads from them to these.
    EarlierBuild,
    /// An earlier schema or text; `keyrack db migrate` brings it up.
    Older,
    /// The one that this program was built with.
    Current,
    /// A later one.
    Newer {
        /// The number of its text.
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
}

impl SchemaState {
    pub(super) fn of(text: Option<&TextInForce>) -> Self {
        let ours = ProtocolText::ours();
        match text {
            None => Self::Older,
            Some(text) if text.revision > ours.revision() => Self::Newer {
                found: text.revision,
                known: ours.revision(),
            },
            Some(text) if ours.is(text) => Self::Current,
            Some(_) => Self::Older,
        }
    }

    fn require_current(self) -> Result<(), StoreError> {
        match self {
            Self::Current => Ok(()),
            Self::Absent | Self::Older => Err(StoreError::SchemaTooOld),
            Self::EarlierBuild => Err(StoreError::EarlierBuild),
            Self::Newer { found, known } => Err(StoreError::SchemaTooNew { found, known }),
        }
    }
}

/// Goes on only with the text that this program was built with.
pub(crate) fn check_text(text: Option<&TextInForce>) -> Result<(), StoreError> {
    SchemaState::of(text).require_current()
}

impl Store {
    /// Which schema the database has. One statement where it is the right one.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`], and faults.
    pub(crate) async fn schema_state(&self) -> Result<SchemaState, StoreError> {
        let text = self
            .ask_patiently(&mut async |mut connection| {
                let text = sqlx::query_as!(
                    TextInForce,
                    r#"SELECT revision, encode(checksum, 'hex') AS "checksum!" FROM keyrack.protocol_text"#
                )
                .fetch_optional(&mut connection)
                .await;
                (connection, text)
            })
            .await;
        match text {
            Ok(text) => Ok(SchemaState::of(text.as_ref())),
            Err(error) if kind(&error) == Kind::Schema => self.state_without_text().await,
            Err(error) => Err(fault(&error)),
        }
    }

    async fn state_without_text(&self) -> Result<SchemaState, StoreError> {
        let found = self
            .ask_patiently(&mut async |mut connection| {
                let found = sqlx::query!(
                    r#"
                    SELECT
                        to_regclass('keyrack._sqlx_migrations') IS NOT NULL AS "begun!",
                        to_regclass('public._sqlx_migrations') IS NOT NULL
                            AND to_regclass('public.slot_hold') IS NOT NULL AS "earlier_build!"
                    "#
                )
                .fetch_one(&mut connection)
                .await;
                (connection, found)
            })
            .await
            .map_err(|error| fault(&error))?;
        Ok(if found.begun {
            SchemaState::Older
        } else if found.earlier_build {
            SchemaState::EarlierBuild
        } else {
            SchemaState::Absent
        })
    }

    /// Goes on only with the right schema.
    ///
    /// # Errors
    /// [`StoreError::SchemaTooOld`], [`StoreError::SchemaTooNew`], [`StoreError::EarlierBuild`], and what asking can give.
    pub async fn check_schema(&self) -> Result<(), StoreError> {
        self.schema_state().await?.require_current()
    }

    /// What to say to an error that speaks of things that are not in the database: mostly that the text is another one by
    /// now.
    pub(crate) async fn explain_missing(&self, error: &sqlx::Error) -> StoreError {
        match self.check_schema().await {
            Err(other) => other,
            Ok(()) => {
                // What it has to say besides is for the log, which has the code.
                let _ = fault(error);
                tracing::error!(%error, "the text of the protocol is not whole");
                StoreError::SchemaIncomplete
            }
        }
    }

    /// What there is to say if a newer program has put its text in force meanwhile.
    pub(crate) async fn newer_text(&self) -> Option<StoreError> {
        let newer = self.check_schema().await.err();
        newer.filter(|error| matches!(error, StoreError::SchemaTooNew { .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_a_larger_number_is_newer_and_any_other_one_is_older() {
        let ours = ProtocolText::ours();
        let of = |revision: i64, checksum: &str| {
            SchemaState::of(Some(&TextInForce {
                revision,
                checksum: checksum.into(),
            }))
        };
        let checksum = ours.checksum_in_hex();
        assert_eq!(of(ours.revision(), &checksum), SchemaState::Current);
        assert_eq!(of(ours.revision(), "00"), SchemaState::Older);
        assert_eq!(of(ours.revision() - 1, &checksum), SchemaState::Older);
        assert!(matches!(
            of(ours.revision() + 1, &checksum),
            SchemaState::Newer { .. }
        ));
        assert_eq!(SchemaState::of(None), SchemaState::Older);
    }
}
