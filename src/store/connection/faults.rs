//! What a database error means: ask again, out of reach, a rule of the site, or a fault. By SQLSTATE and by the name of
//! the constraint, never by the message; neither reaches a desk.

use std::io::ErrorKind;

use sqlx::Error;

use crate::domain::sentences::fault::{Guard, Unreachable};
use crate::store::connection::error::StoreError;

/// What to do about an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Serialisation failure, deadlock or a time-out: rolled back, ask again with the same request id (R23).
    Contended,
    /// The connection is gone, or the server is going or coming: unknown until asked again (R24).
    Lost,
    /// A named guard said no to a writer that reached it.
    Guard(String),
    /// No room on the server's disk.
    DiskFull,
    /// The schema lacks what was asked for, or has it in another form: it is older or newer than this program. While the
    /// text is being replaced a session may hear this once and never again (R23).
    Schema,
    /// Somebody has the database open.
    InUse,
    /// The server lets nobody in under this name, or there is no such database.
    Denied,
    /// A text has a character that PostgreSQL can't store: U+0000.
    Unstorable,
    Other,
}
pub(crate) fn kind(error: &Error) -> Kind {
    match error {
        Error::Database(database) => {
            let code = database.code().unwrap_or_default();
            if let Some(constraint) = database.constraint() {
                return Kind::Guard(constraint.to_owned());
            }
            match &*code {
                // 57014: the statement time-out, or somebody cancelled it: rolled back as well.
                "40001" | "40P01" | "55P03" | "57014" => Kind::Contended,
                "57P01" | "57P02" | "57P03" | "57P05" | "25P03" | "25P04" | "53300" => Kind::Lost,
                "53100" | "53200" => Kind::DiskFull,
                "42P01" | "42883" | "42703" | "3F000" | "0A000" | "XX000" => Kind::Schema,
                "55006" => Kind::InUse,
                "28000" | "28P01" | "3D000" | "42501" => Kind::Denied,
                "22021" => Kind::Unstorable,
                code if code.starts_with("08") => Kind::Lost,
                _ => Kind::Other,
            }
        }
        Error::Io(_)
        | Error::Tls(_)
        | Error::Protocol(_)
        | Error::PoolTimedOut
        | Error::PoolClosed
        | Error::WorkerCrashed => Kind::Lost,
        _ => Kind::Other,
    }
}

/// The fault that an error is to those who do not act on it any further. The log has the rest, without the row (R27).
pub(crate) fn fault(error: &Error) -> StoreError {
    let kind = kind(error);
    match error {
        Error::Database(database) => {
            tracing::error!(code = ?database.code(), constraint = ?database.constraint(), ?kind, "the database refused a statement");
        }
        other => tracing::error!(error = %other, ?kind, "a statement failed"),
    }
    match kind {
        Kind::Lost => StoreError::OutOfReach {
            reason: reason(error),
        },
        Kind::Contended => StoreError::Busy,
        Kind::Guard(name) => StoreError::Guard(guard(&name)),
        Kind::DiskFull => StoreError::DiskFull,
        Kind::Schema => StoreError::SchemaTooOld,
        Kind::InUse => StoreError::DatabaseInUse,
        Kind::Denied => StoreError::OutOfReach {
            reason: Unreachable::Denied,
        },
        Kind::Unstorable => StoreError::Unstorable,
        Kind::Other => StoreError::Unexplained,
    }
}

fn reason(error: &Error) -> Unreachable {
    match error {
        Error::Io(io) => match io.kind() {
            ErrorKind::NotFound => Unreachable::NoSocket,
            ErrorKind::ConnectionRefused => Unreachable::NoServer,
            ErrorKind::TimedOut => Unreachable::TimedOut,
            ErrorKind::PermissionDenied => Unreachable::MayNotEnter,
            // A handshake that failed, a certificate that is not trusted.
            ErrorKind::InvalidData => Unreachable::NoEncryption,
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::UnexpectedEof => Unreachable::Broken,
            // A name that no host has, a network that does not lead there.
            _ => Unreachable::NoHost,
        },
        Error::Tls(_) => Unreachable::NoEncryption,
        Error::Database(database) => match database.code().as_deref() {
            Some("57P03") => Unreachable::StartingOrStopping,
            Some("53300") => Unreachable::Full,
            _ => Unreachable::Closed,
        },
        _ => Unreachable::Broken,
    }
}

/// The guard with the name of a constraint.
fn guard(constraint: &str) -> Guard {
    match constraint {
        "inventory_available_not_negative" | "inventory_committed_not_negative" => Guard::Figures,
        "slot_hold_no_overlap" => Guard::SlotTaken,
        "room_name_unique" | "inventory_name_unique" | "site_name_unique" => Guard::NameTaken,
        "site_time_zone" => Guard::TimeZone,
        "site_demo_is_no_default" => Guard::DemoIsNoDefault,
        "room_capacity" => Guard::Capacity,
        "room_turnaround" => Guard::Turnaround,
        "read_committed_only" => Guard::Isolation,
        name if name.ends_with("_length") => Guard::TextLength,
        name if name.ends_with("_in_time")
            || name.ends_with("_ended")
            || name.ends_with("_edge") =>
        {
            Guard::ClaimChanged
        }
        name => Guard::Other {
            name: name.to_owned(),
        },
    }
}
