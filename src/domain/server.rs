//! Commands to the server as a whole: they come before there is a site to be asked, or concern several.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::catalogue::Site;
use crate::domain::ids::{Desk, RequestId, SiteId};
use crate::domain::refusal::Refusal;
use crate::domain::site_file::SiteFile;

/// A [`ServerCommand`] with the id that it was given before it was sent (R21).
#[derive(Debug, Clone, PartialEq)]
pub struct ServerRequest {
    /// Made before sending; the same id asks for the first outcome again.
    pub id: RequestId,
    /// Who asks (R25).
    pub desk: Desk,
    /// What is asked.
    pub command: ServerCommand,
}

impl ServerRequest {
    /// A fresh question.
    pub fn fresh(desk: Desk, command: ServerCommand) -> Self {
        Self {
            id: RequestId::fresh(),
            desk,
            command,
        }
    }
}

/// What a desk can ask of the server.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerCommand {
    /// Add a site with the usual settings.
    AddSite {
        /// Its name, unique on the server.
        name: String,
        /// Its IANA zone, which the database knows or not.
        time_zone: String,
    },
    /// Make a site what its file says; applied twice it changes nothing.
    ApplySite {
        /// The file.
        file: SiteFile,
    },
    /// Make a site the one that is meant when none is named.
    DefaultSite {
        /// The site.
        site: SiteId,
    },
}

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerAnswer {
    /// Done or refused.
    pub outcome: Result<SiteChange, Refusal>,
    /// Whether this request had been answered before (R21).
    pub repeated: bool,
    /// The database's clock when it answered (R10).
    pub now: DateTime<Utc>,
}

/// What became of a site.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteChange {
    /// The site, as it is now.
    pub site: Site,
    /// What applying its file did or found, line by line.
    pub changes: Vec<FileChange>,
}

/// One line of what applying a site file did or found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// site, room or item.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// added, changed, retired, not_in_file or total_differs.
    pub change: String,
    /// More, in words; none if the change says it all.
    pub detail: Option<String>,
}
