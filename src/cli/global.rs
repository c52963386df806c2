//! What every command takes.

use std::path::PathBuf;

use clap::Args;

use crate::domain::Desk;

const FOR_EVERY_COMMAND: &str = "For every command";

/// What every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// The database to use, like postgres://user@host/database?sslmode=require; without it, Keyrack's own
    #[arg(
        long,
        global = true, help_heading = FOR_EVERY_COMMAND,
        env = "DATABASE_URL",
        value_name = "URL",
        hide_env_values = true
    )]
    database_url: Option<String>,
    /// Where Keyrack's own PostgreSQL keeps its data
    #[arg(
        long,
        global = true, help_heading = FOR_EVERY_COMMAND,
        env = "KEYRACK_DATA_DIR",
        value_name = "DIRECTORY"
    )]
    pub(crate) data_dir: Option<PathBuf>,
    /// The directory with the PostgreSQL programs to run; without it, the newest on this machine
    #[arg(
        long,
        global = true, help_heading = FOR_EVERY_COMMAND,
        env = "KEYRACK_POSTGRES_BIN",
        value_name = "DIRECTORY"
    )]
    pub(crate) postgres_bin: Option<PathBuf>,
    /// The house; may be left out where there is one, or a default
    #[arg(long, global = true, help_heading = FOR_EVERY_COMMAND, env = "KEYRACK_SITE", value_name = "NAME")]
    pub(crate) site: Option<String>,
    /// Your name, as it is written into the history; without it, the name of your account
    #[arg(long, global = true, help_heading = FOR_EVERY_COMMAND, env = "KEYRACK_DESK", value_name = "NAME")]
    pub(crate) desk: Option<String>,
    /// Print one JSON value on standard output; a refusal is one too, a fault stays a sentence on standard error
    #[arg(long, global = true, help_heading = FOR_EVERY_COMMAND)]
    pub(crate) json: bool,
}

impl Global {
    /// The URL of the database that the user named; an empty one is none.
    pub(crate) fn database_url(&self) -> Option<&str> {
        self.database_url.as_deref().filter(|url| !url.is_empty())
    }

    /// The house that the user named.
    pub(crate) fn site(&self) -> Option<&str> {
        self.site.as_deref().filter(|name| !name.is_empty())
    }

    /// Who is asking (R25).
    pub(crate) fn desk(&self) -> Desk {
        let named = self.desk.clone().filter(|name| !name.is_empty());
        Desk(
            named
                .or_else(account_name)
                .unwrap_or_else(|| "desk".to_owned()),
        )
    }
}

/// The name of the account that runs this program.
#[cfg(unix)]
fn account_name() -> Option<String> {
    let user = nix::unistd::User::from_uid(nix::unistd::Uid::current());
    user.ok().flatten().map(|user| user.name)
}

/// The name of the account that runs this program.
#[cfg(not(unix))]
fn account_name() -> Option<String> {
    std::env::var("USERNAME")
        .ok()
        .filter(|name| !name.is_empty())
}
