//! What can go wrong with the embedded server, each as a sentence for the person at the terminal.

use std::io;
use std::path::{Path, PathBuf};

/// Why the embedded PostgreSQL cannot be had. Every message says what happened and what to do next.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    /// There is no home directory to put the data in.
    #[error(
        "Keyrack found no home directory to keep its data in. Name a directory with --data-dir (or KEYRACK_DATA_DIR)."
    )]
    NoDataDirectory,

    /// The path cannot be handed to PostgreSQL's tools, which pass it through a shell.
    #[error(
        "The data directory {} contains a character that PostgreSQL's tools cannot take (a quote, a dollar sign, a backslash, \
         a line break, or bytes that are not UTF-8). Choose another directory with --data-dir.",
        path.display()
    )]
    UnusablePath {
        /// The data directory.
        path: PathBuf,
    },

    /// The directory belongs to somebody else, or others can write in it.
    #[error("The directory {} {reason}, so Keyrack does not trust it with the database. {advice}", path.display())]
    NotPrivate {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it, as a predicate.
        reason: &'static str,
        /// What to do about it, as a sentence.
        advice: &'static str,
    },

    /// Root runs Keyrack, and there is no account that the server could run as.
    #[error(
        "PostgreSQL refuses to run as root, and this machine has neither a user `postgres` nor a user `nobody`. \
         Create one, or run Keyrack as an ordinary user."
    )]
    NoUnprivilegedUser,

    /// The server's user cannot reach its data.
    #[error(
        "PostgreSQL runs as the user {user} because you are root, and that user cannot enter {}: a directory above it is \
         closed to others. Choose another place with --data-dir, for example /var/lib/keyrack.",
        path.display()
    )]
    NotTraversable {
        /// The data directory.
        path: PathBuf,
        /// The user that the server would run as.
        user: String,
    },

    /// The directory named with `--postgres-bin` does not hold a usable server.
    #[error("The PostgreSQL named with --postgres-bin cannot be used: {reason}")]
    NamedServerUnusable {
        /// What is wrong and what to install, as a sentence.
        reason: String,
    },

    /// No server was found and none could be downloaded.
    #[error(
        "Keyrack found no PostgreSQL that it can use on this machine, and could not download one: {reason}. Check the network and \
         start again, or install PostgreSQL 15 or newer together with its contrib modules (on Debian and Ubuntu: \
         apt install postgresql), or name a server with --postgres-bin.{rejected}"
    )]
    DownloadFailed {
        /// Why the download failed, as a clause.
        reason: String,
        /// Why the servers on this machine were passed over; empty or a sentence with a leading space.
        rejected: String,
    },

    /// The data were made by another major version than any server at hand.
    #[error(
        "The data in {} were made by PostgreSQL {data}, and a server of another major version ({found}) cannot read them. Install \
         PostgreSQL {data} or name its bin directory with --postgres-bin; to begin afresh instead, move that directory away.",
        path.display()
    )]
    OtherMajorVersion {
        /// The cluster's directory.
        path: PathBuf,
        /// The major version that made the data.
        data: u32,
        /// The versions at hand, for a person.
        found: String,
    },

    /// The directory where the cluster should be holds something else.
    #[error(
        "The directory {} is not a PostgreSQL data directory that Keyrack can read. Move it away, or choose another \
         place with --data-dir.",
        path.display()
    )]
    NotACluster {
        /// The directory.
        path: PathBuf,
    },

    /// No room left on the device.
    #[error("The disk that holds {} is full. Make room and start again; nothing that was confirmed is lost.", path.display())]
    DiskFull {
        /// The data directory.
        path: PathBuf,
    },

    /// `initdb` failed for a reason of its own.
    #[error("PostgreSQL could not create its data in {}. It said: {said}", path.display())]
    CreationFailed {
        /// The data directory.
        path: PathBuf,
        /// The end of what it wrote.
        said: String,
    },

    /// The data are held by a process that does not answer.
    #[error(
        "Another PostgreSQL process seems to use {}, and it does not answer. Wait a moment and start again. If it stays so, \
         the file postmaster.pid in that directory names the process: end it if it is a PostgreSQL server.",
        path.display()
    )]
    HeldByAnother {
        /// The cluster's directory.
        path: PathBuf,
    },

    /// The server did not start.
    #[error("The PostgreSQL server did not start. Its log is in {}. It said: {said}", log.display())]
    StartFailed {
        /// Where the log is.
        log: PathBuf,
        /// The end of what it wrote.
        said: String,
    },

    /// The server did not stop.
    #[error("The PostgreSQL server did not stop. Its log is in {}. It said: {said}", log.display())]
    StopFailed {
        /// Where the log is.
        log: PathBuf,
        /// What `pg_ctl` wrote.
        said: String,
    },

    /// The server runs but refuses Keyrack's connection.
    #[error("The PostgreSQL server runs but does not let Keyrack in: {reason}. Its log is in {}.", log.display())]
    NotLetIn {
        /// Where the log is.
        log: PathBuf,
        /// What the server answered.
        reason: String,
    },

    /// Something still uses the data that were to be removed.
    #[error("Other consoles still use this database. Close them, then try again.")]
    InUse,

    /// A file or process operation failed.
    #[error("Keyrack could not {doing}: {source}.")]
    Io {
        /// What was attempted, as an infinitive.
        doing: String,
        /// What the system answered.
        source: io::Error,
    },
}

impl PostgresError {
    /// A failed file operation on `path`; `doing` is its verb.
    pub(super) fn io(doing: &str, path: &Path, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::StorageFull {
            return Self::DiskFull {
                path: path.to_path_buf(),
            };
        }
        Self::Io {
            doing: format!("{doing} {}", path.display()),
            source,
        }
    }
}
