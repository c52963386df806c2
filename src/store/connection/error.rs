//! What can go wrong below a refusal, in sentences for the person: no SQLSTATE reaches a desk.

use crate::domain::RequestId;

/// A fault: not an answer of the site, but no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The server can't be reached, or went away. Exit code 4.
    #[error("The database is out of reach: {reason}. Nothing is lost; try again when it is back.")]
    OutOfReach {
        /// Short, harmless, without codes.
        reason: String,
    },
    /// A command was sent and its outcome could not be learnt, though the request id was asked again (R24). Exit
    /// code 4.
    #[error(
        "The connection broke while the command was under way, and the database could not be asked what became of it. \
         Ask again with request id {request_id}: it is done at most once."
    )]
    Unknown {
        /// The id to ask again with.
        request_id: RequestId,
    },
    /// Others worked on the same thing until patience ended; nothing was done. The refusal `busy`, exit code 3.
    #[error("Others are working on this at the moment and nothing was done. Try again.")]
    Busy,
    /// The schema is newer than this program.
    #[error(
        "This database was set up by a newer Keyrack (schema {found}; this program knows {known}). Update Keyrack."
    )]
    SchemaTooNew {
        /// The number of its text.
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
    /// The schema is older than this program, or absent.
    #[error(
        "This database is not set up for this Keyrack yet. Run `keyrack db migrate`, then try again."
    )]
    SchemaTooOld,
    /// The schema was made by a build from before the numbering began anew.
    #[error(
        "This database was set up by an earlier build of Keyrack, whose bookings this one can't read. Use that build, or a \
         new database."
    )]
    EarlierBuild,
    /// The site asked for does not exist, or none was named where there are several.
    #[error("{0}")]
    Site(String),
    /// Something that the site's file or arguments ask for can't be, in a full sentence. Exit code 2.
    #[error("{0}")]
    Usage(String),
    /// Anything else, in a sentence; the log has the details.
    #[error("{0}")]
    Fault(String),
}
