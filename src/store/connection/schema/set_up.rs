//! What setting a database up needs at several places: the path of a psql prompt, and what a failed step means.

use sqlx::Executor;
use sqlx::postgres::{PgConnection, PgDatabaseError};

use crate::store::connection::error::StoreError;
use crate::store::connection::faults::fault;

/// Sees to it that a psql prompt finds everything unqualified, where this user may say so for the database. Behind
/// everything else, so that whatever else lives in this database finds what it found before.
pub(super) async fn find_unqualified(connection: &mut PgConnection) {
    let outcome = connection
        .execute(
            r#"
            DO $$
            DECLARE
                v_path text;
            BEGIN
                SELECT coalesce(
                    (
                        SELECT split_part(setting, '=', 2)
                        FROM pg_db_role_setting AS s
                        CROSS JOIN unnest(s.setconfig) AS setting
                        WHERE s.setdatabase = d.oid AND s.setrole = 0 AND setting LIKE 'search\_path=%'
                    ),
                    '"$user", public'
                ) INTO v_path
                FROM pg_database AS d
                WHERE d.datname = current_database() AND pg_has_role(d.datdba, 'USAGE');
                IF v_path !~ '\mkeyrack\M' THEN
                    EXECUTE format('ALTER DATABASE %I SET search_path = %s, keyrack', current_database(), v_path);
                END IF;
            END
            $$
            "#,
        )
        .await;
    if let Err(error) = outcome {
        tracing::info!(%error, "the database's search_path stays as it is");
    }
}

/// A set-up step failed; the usual reasons have a sentence of their own.
pub(super) fn set_up_failed(error: &sqlx::Error) -> StoreError {
    if let sqlx::Error::Database(database) = error {
        match database.code().as_deref() {
            // The extension's files are not installed.
            Some("0A000" | "58P01") => {
                return StoreError::ExtensionMissing;
            }
            Some("42501") => {
                return StoreError::SetUpDenied;
            }
            Some("2BP01") => {
                let what = database
                    .try_downcast_ref::<PgDatabaseError>()
                    .and_then(PgDatabaseError::detail)
                    .unwrap_or_else(|| database.message());
                return StoreError::StillUsed {
                    what: what.to_owned(),
                };
            }
            Some("55P03" | "40P01") => {
                return StoreError::BookingsLocked;
            }
            _ => {}
        }
        tracing::error!(
            message = database.message(),
            "the database could not be set up"
        );
    }
    fault(error)
}
