//! What is said where there is no answer: the sentences of faults. No SQLSTATE reaches a desk; a person reads what
//! happened and what to do next.

use std::fmt;

use crate::domain::RequestId;
use crate::domain::text::harmless;

/// Not an answer of the site, but no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The server can't be reached, or went away.
    #[error("The database is out of reach: {reason}. Nothing is lost; try again when it is back.")]
    OutOfReach {
        /// Why.
        reason: Unreachable,
    },
    /// A command was sent and its outcome could not be learnt, though the request id was asked again (R24).
    #[error(
        "The connection broke while the command was under way, and the database could not be asked what became of it. \
         Ask again with request id {request_id}: it is done at most once."
    )]
    Unknown {
        /// The id to ask again with.
        request_id: RequestId,
    },
    /// Others worked on the same thing until patience ended; nothing was done. The refusal `busy`.
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
    /// The same of Keyrack's own database, which can't be put aside as long as somebody uses it.
    #[error(
        "Keyrack's own database was made by an earlier build, and somebody still has it open. Nothing was done; close the \
         other consoles, then start again."
    )]
    EarlierBuildInUse,
    /// The schema says that it is this program's, and lacks something.
    #[error(
        "Something of Keyrack is missing in this database. Run `keyrack db migrate`, then try again."
    )]
    SchemaIncomplete,
    /// A numbered step of the tables is another one there.
    #[error(
        "Step {step} of this database's set-up is not the one that this program has; it was made by another build. Use \
         that build, or a new database."
    )]
    OtherBuild {
        /// Its number.
        step: i64,
    },
    /// The extension's files are not installed.
    #[error(
        "This PostgreSQL lacks the btree_gist extension, which keeps claims apart. Install its contrib package (on Debian \
         it is part of postgresql-15), then try again."
    )]
    ExtensionMissing,
    /// Whoever sets up needs more rights.
    #[error(
        "This user may not set the database up (a schema with tables and the btree_gist extension). Ask its owner to run \
         `keyrack db migrate`."
    )]
    SetUpDenied,
    /// A part of an earlier text can't be dropped.
    #[error(
        "Something else in this database still uses a part of Keyrack that this version does not have any more ({}). \
         Nothing was done; drop or change it, then try again.",
        harmless(.what)
    )]
    StillUsed {
        /// What uses what, as PostgreSQL says it.
        what: String,
    },
    /// A text could not be put in force, because its tables were never free.
    #[error(
        "The bookings have been locked by somebody else all the time, so the database could not be brought up to date. \
         Nothing was done; end that work, then try again."
    )]
    BookingsLocked,
    /// Setting up failed in a way that has no sentence of its own.
    #[error("The database could not be set up; the log file says more.")]
    SetUpFailed,
    /// There is no site of that name.
    #[error(
        "There is no site named {}. `keyrack site list` shows which there are.",
        harmless(.name)
    )]
    NoSuchSite {
        /// The name that was given.
        name: String,
    },
    /// There is no site at all.
    #[error(
        "There is no house in this database yet. Describe one in a file and run `keyrack site apply FILE.toml`."
    )]
    NoSite,
    /// No site was named, there are several, and none is the default.
    #[error(
        "There are several sites here. Say which with --site NAME, or choose one for good with `keyrack site default \
         NAME`."
    )]
    SeveralSites,
    /// The site was there when it was opened.
    #[error("This house is no longer in the database.")]
    SiteGone,
    /// A demo's site was made, and somebody else has removed it at once.
    #[error("The demo's house was made and is not there.")]
    DemoSiteGone,
    /// A named guard of the database said no.
    #[error("{0}")]
    Guard(Guard),
    /// A text has a character that PostgreSQL can't store.
    #[error(
        "A text has a character that can't be stored (U+0000). Nothing was done; remove it, then try again."
    )]
    Unstorable,
    /// No room on the server's disk, or in its memory.
    #[error(
        "The database has no room left on its disk (or in its memory). Nothing was done; make room, then try again."
    )]
    DiskFull,
    /// A database can't be renamed or dropped as long as somebody uses it.
    #[error("Somebody still has this database open. Nothing was done.")]
    DatabaseInUse,
    /// What the database sent makes no sense.
    #[error(
        "The database sent something that this program can't read ({what}). Run `keyrack check`; if all is well there, \
         this program and the database are of different versions."
    )]
    Unreadable {
        /// What it was to be.
        what: &'static str,
    },
    /// The database's time zones are newer than this program's.
    #[error(
        "This program does not know the time zone {} that the house uses. Update this program.",
        harmless(.zone)
    )]
    UnknownTimeZone {
        /// Its name.
        zone: String,
    },
    /// A transaction in step mode ended without a COMMIT.
    #[error("{0}")]
    RolledBack(Rollback),
    /// A COMMIT was wanted before there was anything to commit.
    #[error(
        "The command has not answered yet, so there is nothing to commit. Take its steps first."
    )]
    NotAnsweredYet,
    /// The lab can't have a schema.
    #[error(
        "The lab works in a schema of its own, and this user may not create one in this database. Ask the database's \
         owner to GRANT CREATE ON DATABASE, name another database, or leave the URL out to use Keyrack's own."
    )]
    NoSchemaForLab,
    /// A strategy of the lab broke its word.
    #[error("A strategy answered “{answer}”, which means nothing.")]
    StrategyAnswer {
        /// What it answered.
        answer: String,
    },
    /// Anything else; the log has the details.
    #[error(
        "The database could not do this, for a reason that this program does not know. Nothing was done; the log file \
         says more."
    )]
    Unexplained,
}

/// What a fault is about, which is what an exit code tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The database can't be asked, or could not be asked to the end.
    OutOfReach,
    /// As good as the refusal `busy`.
    Busy,
    /// What was asked for can't be: a site that is not there, an argument that no database takes.
    Usage,
    /// Something is not as it should be.
    Broken,
}

impl Fault {
    /// What it is about.
    pub fn kind(&self) -> FaultKind {
        match self {
            Self::OutOfReach { .. } | Self::Unknown { .. } => FaultKind::OutOfReach,
            Self::Busy => FaultKind::Busy,
            Self::Guard(guard) if guard.is_about_an_argument() => FaultKind::Usage,
            Self::NoSuchSite { .. }
            | Self::NoSite
            | Self::SeveralSites
            | Self::SiteGone
            | Self::Unstorable
            | Self::RolledBack(_)
            | Self::NotAnsweredYet
            | Self::NoSchemaForLab => FaultKind::Usage,
            Self::SchemaTooNew { .. }
            | Self::SchemaTooOld
            | Self::EarlierBuild
            | Self::EarlierBuildInUse
            | Self::SchemaIncomplete
            | Self::OtherBuild { .. }
            | Self::ExtensionMissing
            | Self::SetUpDenied
            | Self::StillUsed { .. }
            | Self::BookingsLocked
            | Self::SetUpFailed
            | Self::DemoSiteGone
            | Self::Guard(_)
            | Self::DiskFull
            | Self::DatabaseInUse
            | Self::Unreadable { .. }
            | Self::UnknownTimeZone { .. }
            | Self::StrategyAnswer { .. }
            | Self::Unexplained => FaultKind::Broken,
        }
    }

    /// What happened and what to do next.
    pub fn sentence(&self) -> String {
        self.to_string()
    }

    /// What a console says as long as it can't read the database.
    pub fn sentence_while_trying_again(&self) -> String {
        match self {
            Self::OutOfReach { reason } => {
                format!("The database is away: {reason}. Trying to reach it again.")
            }
            other => other.sentence(),
        }
    }
}

/// Why the database is out of reach, as a part of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreachable {
    /// Nothing lies where its socket is said to be.
    NoSocket,
    /// Nobody listens.
    NoServer,
    /// No answer in time.
    TimedOut,
    /// The socket belongs to others.
    MayNotEnter,
    /// No host of that name, or no network that leads there.
    NoHost,
    /// A handshake that failed, a certificate that is not trusted.
    NoEncryption,
    /// It broke.
    Broken,
    /// The server closed it.
    Closed,
    /// The server is starting or stopping.
    StartingOrStopping,
    /// The server has no connection to spare.
    Full,
    /// The server lets nobody in under this name, or has no such database.
    Denied,
}

impl fmt::Display for Unreachable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NoSocket => "there is no server at that socket",
            Self::NoServer => "no server answers there",
            Self::TimedOut => "no answer within five seconds",
            Self::MayNotEnter => "this user may not enter there",
            Self::NoHost => "its host can't be found or reached",
            Self::NoEncryption => {
                "no encrypted connection could be agreed on, or its certificate is not trusted; look at sslmode and \
                 sslrootcert in the URL"
            }
            Self::Broken => "the connection broke",
            Self::Closed => "it closed the connection",
            Self::StartingOrStopping => "it is starting or stopping",
            Self::Full => "it has no connection to spare",
            Self::Denied => {
                "it does not let this user in, or there is no such database; look at the user, the password and the name \
                 in the URL"
            }
        })
    }
}

/// A guard of the database that said no. Only a writer that goes around the protocol, or a race with one, gets there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    /// An item's figures would not add up.
    Figures,
    /// The room is taken.
    SlotTaken,
    /// There is one of that name.
    NameTaken,
    /// The database knows no such time zone.
    TimeZone,
    /// A demo's site can't be the default.
    DemoIsNoDefault,
    /// A room for nobody.
    Capacity,
    /// A turnaround that is negative, or a day or longer.
    Turnaround,
    /// A text that is missing or too long.
    TextLength,
    /// The claim is not any more what it was.
    ClaimChanged,
    /// The statement ran under another isolation level.
    Isolation,
    /// One without a sentence of its own.
    Other {
        /// Its name.
        name: String,
    },
}

impl Guard {
    /// Whether it speaks of something that the person gave, rather than of the state of the site.
    fn is_about_an_argument(&self) -> bool {
        match self {
            Self::NameTaken
            | Self::TimeZone
            | Self::DemoIsNoDefault
            | Self::Capacity
            | Self::Turnaround
            | Self::TextLength => true,
            Self::Figures
            | Self::SlotTaken
            | Self::ClaimChanged
            | Self::Isolation
            | Self::Other { .. } => false,
        }
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Figures => {
                "The figures of this item do not add up; somebody has changed them by hand. Run `keyrack check` to see \
                 where."
            }
            Self::SlotTaken => "Somebody took the room at that moment. Look again.",
            Self::NameTaken => "There is one of that name already. Choose another name.",
            Self::TimeZone => {
                "The database does not know that time zone. Use a name like Europe/London."
            }
            Self::DemoIsNoDefault => {
                "That house is a demo's and goes when the demo ends. Choose another house."
            }
            Self::Capacity => "A room holds at least one person.",
            Self::Turnaround => "A turnaround is at least nothing and less than a day.",
            Self::TextLength => {
                "A text is missing or longer than the house stores. A name has 1 to 80 characters."
            }
            Self::ClaimChanged => {
                "The claim was changed by somebody else at that moment. Look again."
            }
            Self::Isolation => {
                "The server runs this program's statements under another isolation level than READ COMMITTED."
            }
            Self::Other { name } => {
                return write!(
                    formatter,
                    "The database's guard “{name}” said no. Nothing was done."
                );
            }
        })
    }
}

/// Why a transaction in step mode was rolled back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rollback {
    /// On request.
    Wanted,
    /// Its connection was cut before the COMMIT.
    Cut,
    /// Its backend was killed before the COMMIT.
    Killed,
    /// Its time was up.
    TimeUp,
    /// PostgreSQL found sessions waiting for each other and chose this one to give way.
    Deadlock,
    /// The connection was lost, not on request.
    Lost,
}

impl fmt::Display for Rollback {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            Self::Wanted => "Rolled back.",
            Self::Cut => {
                "The connection was cut; the server noticed, and rolled the transaction back."
            }
            Self::Killed => "The backend was killed; PostgreSQL rolled the transaction back.",
            Self::TimeUp => {
                "The time was up, so that nobody waits any longer: the transaction was rolled back."
            }
            Self::Deadlock => {
                "Sessions were waiting for each other; PostgreSQL chose this one to give way and rolled it back."
            }
            Self::Lost => "The connection was lost; the server rolls the transaction back.",
        };
        write!(formatter, "{what} Nothing of it remains.")
    }
}
