//! What a database error means: ask again, out of reach, a rule of the site, or a fault. By SQLSTATE and by the name of
//! the constraint, never by the message; neither reaches a desk.

use sqlx::Error;

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
    /// Anything else.
    Other,
}

/// Classifies an error.
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

/// The sentence for an error that nobody acts on any further. The log has the rest, without the row (R27).
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
        Kind::Guard(name) if is_about_an_argument(&name) => StoreError::Usage(guard_sentence(&name)),
        Kind::Guard(name) => StoreError::Fault(guard_sentence(&name)),
        Kind::DiskFull => StoreError::Fault(
            "The database has no room left on its disk (or in its memory). Nothing was done; make room, then try again.".into(),
        ),
        Kind::Schema => StoreError::SchemaTooOld,
        Kind::InUse => StoreError::Fault("Somebody still has this database open. Nothing was done.".into()),
        Kind::Denied => StoreError::OutOfReach {
            reason: "it does not let this user in, or there is no such database; look at the user, the password and \
                     the name in the URL"
                .into(),
        },
        Kind::Unstorable => StoreError::Usage(
            "A text has a character that can't be stored (U+0000). Nothing was done; remove it, then try again.".into(),
        ),
        Kind::Other => StoreError::Fault(
            "The database could not do this, for a reason that this program does not know. Nothing was done; the log \
             file says more."
                .into(),
        ),
    }
}

/// Why the database is out of reach, short and without codes.
fn reason(error: &Error) -> String {
    match error {
        Error::Io(io) => match io.kind() {
            std::io::ErrorKind::NotFound => "there is no server at that socket".into(),
            std::io::ErrorKind::ConnectionRefused => "no server answers there".into(),
            std::io::ErrorKind::TimedOut => "no answer within five seconds".into(),
            std::io::ErrorKind::PermissionDenied => "this user may not enter there".into(),
            // A handshake that failed, a certificate that is not trusted.
            std::io::ErrorKind::InvalidData => no_encryption(),
            std::io::ErrorKind::ConnectionReset
            | std::io::ErrorKind::ConnectionAborted
            | std::io::ErrorKind::BrokenPipe
            | std::io::ErrorKind::UnexpectedEof => "the connection broke".into(),
            // A name that no host has, a network that does not lead there.
            _ => "its host can't be found or reached".into(),
        },
        Error::Tls(_) => no_encryption(),
        Error::Database(database) => match database.code().as_deref() {
            Some("57P03") => "it is starting or stopping".into(),
            Some("53300") => "it has no connection to spare".into(),
            _ => "it closed the connection".into(),
        },
        _ => "the connection broke".into(),
    }
}

fn no_encryption() -> String {
    "no encrypted connection could be agreed on, or its certificate is not trusted; look at sslmode and sslrootcert in \
     the URL"
        .into()
}

/// Whether a guard speaks of something that the person gave, rather than of the state of the site.
fn is_about_an_argument(guard: &str) -> bool {
    guard == "site_time_zone"
        || guard == "site_demo_is_no_default"
        || guard == "room_capacity"
        || guard == "room_turnaround"
        || guard.ends_with("_name_unique")
        || guard.ends_with("_length")
}

/// What a named guard has to say to a person. Only a writer that goes around the protocol, or a race with one, gets
/// here.
fn guard_sentence(name: &str) -> String {
    let what = match name {
        "inventory_available_not_negative" | "inventory_committed_not_negative" => {
            "The figures of this item do not add up; somebody has changed them by hand. Run `keyrack check` to see where."
        }
        "slot_hold_no_overlap" => "Somebody took the room at that moment. Look again.",
        "room_name_unique" | "inventory_name_unique" | "site_name_unique" => {
            "There is one of that name already. Choose another name."
        }
        "site_time_zone" => {
            "The database does not know that time zone. Use a name like Europe/London."
        }
        "site_demo_is_no_default" => {
            "That house is a demo's and goes when the demo ends. Choose another house."
        }
        "room_capacity" => "A room holds at least one person.",
        "room_turnaround" => "A turnaround is at least nothing and less than a day.",
        name if name.ends_with("_length") => {
            "A text is missing or longer than the house stores. A name has 1 to 80 characters."
        }
        name if name.ends_with("_in_time")
            || name.ends_with("_ended")
            || name.ends_with("_edge") =>
        {
            "The claim was changed by somebody else at that moment. Look again."
        }
        "read_committed_only" => {
            "The server runs this program's statements under another isolation level than READ COMMITTED."
        }
        name => return format!("The database's guard “{name}” said no. Nothing was done."),
    };
    what.to_owned()
}
