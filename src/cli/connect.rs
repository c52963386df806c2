//! Which database a command works on: the one that the user named, or Keyrack's own.
//!
//! A database that the user named is set up by `keyrack db migrate` or on a yes, and never gets samples. Keyrack's own
//! is set up without a question, and gets the sample house when it is fresh.

use std::io::{BufRead, IsTerminal, Write};
use std::sync::Arc;

use sqlx::postgres::PgConnectOptions;

use crate::cli::failure::Failure;
use crate::cli::global::Global;
use crate::cli::print::complain;
use crate::cli::sample;
use crate::domain::{Command, Desk, Request, RequestId};
use crate::postgres::{self, Progress, Server, Settings};
use crate::store::{SchemaState, SiteOpening, SiteStore, Store, StoreError};

/// Which steps of starting up are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steps {
    /// None, for programs.
    Silent,
    /// Those that take a while.
    Slow,
    /// All, before the console opens.
    Every,
}

impl Steps {
    fn tell(self, progress: &Progress) {
        let quick = matches!(progress, Progress::Starting { .. });
        if !quick || self == Self::Every {
            self.say(&progress.to_string());
        }
    }

    fn say(self, step: &str) {
        if self != Self::Silent {
            complain(&format!("{step} …"));
        }
    }
}

/// A database that is ready for commands, and who is asking.
pub(crate) struct Session {
    store: Store,
    /// Keyrack's own server, if that is what is used.
    server: Option<Arc<Server>>,
    site: Option<String>,
    desk: Desk,
    /// What was found when it was looked at, for the first command.
    opened: Option<SiteOpening>,
}

impl Session {
    /// Connects, and sees to it that the schema is there. One statement where it is.
    pub(crate) async fn open(global: &Global, steps: Steps) -> Result<Self, Failure> {
        let mut session = Self::connect(global, steps).await?;
        let site = session.site.clone();
        let opened = match session.store.open_site(site.as_deref()).await {
            Err(StoreError::EarlierBuild) if session.server.is_some() => {
                session.put_aside().await?;
                session.set_up(steps).await?
            }
            Err(StoreError::SchemaTooOld) if session.server.is_some() => {
                session.set_up(steps).await?
            }
            Err(StoreError::SchemaTooOld) => {
                set_up_on_a_yes(&session.store, global.json).await?;
                session.store.open_site(site.as_deref()).await?
            }
            opened => opened?,
        };
        session.opened = Some(match (opened.is_empty, &session.server) {
            (true, Some(_)) => {
                steps.say("Loading the sample house");
                sample::load(&session.store).await?;
                session.store.open_site(site.as_deref()).await?
            }
            _ => opened,
        });
        Ok(session)
    }

    /// Connects, whatever state the schema is in.
    pub(crate) async fn connect(global: &Global, steps: Steps) -> Result<Self, Failure> {
        let (options, server) = match global.database_url() {
            Some(url) => (connect_options(url)?, None),
            None => {
                let server =
                    postgres::join(&settings(global), &mut |step| steps.tell(&step)).await?;
                (server.connect_options(), Some(Arc::new(server)))
            }
        };
        let desk = global.desk();
        Ok(Self {
            store: Store::connect_named(options, &desk).await?,
            server,
            site: global.site().map(str::to_owned),
            desk,
            opened: None,
        })
    }

    /// Brings Keyrack's own database up to date.
    async fn set_up(&self, steps: Steps) -> Result<SiteOpening, Failure> {
        steps.say("Setting up the database");
        self.store.migrate_telling(&|step| complain(&step)).await?;
        Ok(self.store.open_site(self.site.as_deref()).await?)
    }

    /// Keyrack's own database of an earlier build gets another name, and there is a new one in its place.
    pub(crate) async fn put_aside(&mut self) -> Result<(), Failure> {
        if let Some(name) = self.store.put_aside().await? {
            complain(&format!(
                "The database was made by an earlier build of Keyrack, whose bookings this one can't read. It was put aside \
                 as {name}; nothing of it is deleted, and `psql` reads it there."
            ));
        }
        if let Some(server) = &self.server {
            self.store = Store::connect_named(server.connect_options(), &self.desk).await?;
        }
        Ok(())
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Keyrack's own server, if that is what is used.
    pub(crate) fn server(&self) -> Option<&Server> {
        self.server.as_deref()
    }

    /// The same, for a task that outlives this borrow.
    pub(crate) fn shared_server(&self) -> Option<Arc<Server>> {
        self.server.clone()
    }

    /// The house that was named, the only one, or the default, as it was when the session was opened.
    pub(crate) async fn site_store(&self) -> Result<SiteStore, Failure> {
        match &self.opened {
            Some(opened) => Ok(opened.site_store.clone()?),
            None => Ok(self
                .store
                .open_site(self.site.as_deref())
                .await?
                .site_store?),
        }
    }

    /// Whether there is no house at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.opened.as_ref().is_some_and(|opened| opened.is_empty)
    }

    /// The house that was named, if one was.
    pub(crate) fn site(&self) -> Option<&str> {
        self.site.as_deref()
    }

    pub(crate) fn desk(&self) -> &Desk {
        &self.desk
    }

    pub(crate) fn request(&self, id: RequestId, command: Command) -> Request {
        Request {
            id,
            desk: self.desk.clone(),
            command,
        }
    }

    /// Leaves; the last one out stops Keyrack's own server.
    pub(crate) async fn close(self) {
        self.store.close().await;
        if let Some(server) = self.server.and_then(Arc::into_inner)
            && let Err(error) = server.leave().await
        {
            tracing::warn!(%error, "the embedded server could not be left in order");
        }
    }
}

/// What the user chose about Keyrack's own server.
pub(crate) fn settings(global: &Global) -> Settings {
    Settings {
        data_dir: global.data_dir.clone(),
        postgres_bin: global.postgres_bin.clone(),
    }
}

/// How to connect to a database that the user named, with a password file and TLS as libpq users know them.
fn connect_options(url: &str) -> Result<PgConnectOptions, Failure> {
    // The reason is left out: it can quote the URL, which can hold a password.
    let unreadable = || {
        Failure::Usage(
            "The database URL can't be read; write it like postgres://user@host/database, with special characters \
             percent-encoded."
                .into(),
        )
    };
    // sqlx takes any scheme for PostgreSQL's.
    if !["postgres://", "postgresql://"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
    {
        return Err(unreadable());
    }
    url.parse().map_err(|_| unreadable())
}

/// Sets up a database that the user named, if somebody is there who says yes.
async fn set_up_on_a_yes(store: &Store, json: bool) -> Result<(), Failure> {
    let question = match store.schema_state().await? {
        SchemaState::Absent => "This database is not set up for Keyrack yet. Set it up now?",
        _ => "This database was set up by an older Keyrack. Bring it up to date now?",
    };
    if !json && ask(question) {
        store.migrate_telling(&|step| complain(&step)).await?;
    }
    Ok(())
}

/// Whether the person at the terminal says yes; no, if none is there.
pub(crate) fn ask(question: &str) -> bool {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return false;
    }
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "{question} [y/N] ");
    let _ = stderr.flush();
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}
