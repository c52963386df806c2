//! The store: the only place that knows SQL.
//!
//! Commands are one autocommit statement each (design section 4), spawned so that nobody can cancel a write halfway;
//! reads are functions of the site; [`watch`] keeps a console's picture fresh. This module must not know about
//! screens, keys or arguments.

mod catalogue;
mod commands;
mod connections;
mod demo;
mod error;
mod faults;
mod free;
mod hint;
pub mod lab;
mod prompt;
mod read;
mod rows;
mod schema;
mod send;
mod sites;
mod snapshot;
pub mod stepwise;
pub mod watch;

pub use commands::Progress;
pub use demo::{DemoSite, Recorded};
pub use error::StoreError;
pub use free::FreeSearch;
pub use prompt::{Prompt, Said, Waiting};
pub use read::{HistoryOf, Problem, SlotFilter, StockFilter};
pub use schema::{ProtocolText, SchemaState};
pub use sites::Opened;
pub use snapshot::Snapshot;
pub use stepwise::{StepLimits, StepPlace, StepView, Stepwise};
pub use watch::{Revive, Watch, WatchEvent};

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use sqlx::postgres::{PgConnectOptions, PgConnection};

use self::catalogue::Catalogue;
use self::connections::Connections;
use self::faults::{Kind, fault, kind};
use self::hint::Hints;
use crate::domain::{Desk, Site};

/// How long a read may take before the server counts as out of reach: longer than the server's own limit.
const READ_PATIENCE: Duration = Duration::from_secs(12);

/// How often a read is asked again.
const ASKED_AGAIN: usize = 2;

/// One database, as one desk or one command line sees it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    connections: Connections,
    hints: Hints,
}

/// A store bound to one site; every call carries its id (R29).
#[derive(Debug, Clone)]
pub struct SiteStore {
    store: Store,
    site: Site,
    /// What was found with the site, where it was opened for one command.
    catalogue: Option<Arc<Catalogue>>,
}

impl Store {
    /// Connects once, to learn whether there is a server and whether it lets this user in.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`].
    pub async fn connect(options: PgConnectOptions) -> Result<Self, StoreError> {
        Self::connected(Connections::new(options)).await
    }

    /// The same for a desk that is known by name: its sessions say whose they are, so that whoever waits for one can say
    /// for whom.
    ///
    /// # Errors
    /// As [`Store::connect`].
    pub async fn connect_named(options: PgConnectOptions, desk: &Desk) -> Result<Self, StoreError> {
        Self::connected(Connections::new(options).named(desk)).await
    }

    /// Another desk's store on the same database: with a connection of its own, which is open already.
    ///
    /// # Errors
    /// As [`Store::connect`].
    pub async fn another_desk(&self) -> Result<Self, StoreError> {
        Self::connected(self.connections.apart()).await
    }

    /// The same for a desk that is known by name.
    ///
    /// # Errors
    /// As [`Store::connect`].
    pub async fn another_desk_named(&self, desk: &Desk) -> Result<Self, StoreError> {
        Self::connected(self.connections.named(desk)).await
    }

    async fn connected(connections: Connections) -> Result<Self, StoreError> {
        let connection = connections.open().await.map_err(|error| fault(&error))?;
        connections.give_back(connection);
        Ok(Self {
            hints: Hints::new(connections.clone()),
            connections,
        })
    }

    /// This store, bound to a site.
    pub fn site_store(&self, site: Site) -> SiteStore {
        self.site_store_with(site, None)
    }

    fn site_store_with(&self, site: Site, catalogue: Option<Arc<Catalogue>>) -> SiteStore {
        SiteStore {
            store: self.clone(),
            site,
            catalogue,
        }
    }

    /// Sends what is still to be hinted, without waiting for it, and says goodbye to the server.
    pub async fn close(&self) {
        self.hints.send_off().await;
        self.connections.close().await;
    }

    /// One statement that reads, or that is safe to ask twice: asked again on a fresh connection if an idle one turns
    /// out to be dead, while it is contended, and once if the text of the protocol was being replaced (R23).
    async fn ask<T, Asked>(
        &self,
        mut statement: impl FnMut(PgConnection) -> Asked,
    ) -> Result<T, StoreError>
    where
        Asked: Future<Output = (PgConnection, Result<T, sqlx::Error>)>,
    {
        let mut outcome = self.ask_patiently(&mut statement).await;
        if matches!(&outcome, Err(error) if kind(error) == Kind::Schema) {
            self.connections.forget_idle();
            outcome = self.ask_patiently(&mut statement).await;
        }
        match outcome {
            Ok(value) => Ok(value),
            Err(error) if kind(&error) == Kind::Schema => Err(self.explain_missing(&error).await),
            Err(error) => Err(fault(&error)),
        }
    }

    /// The same, with the database's own word for what went wrong.
    async fn ask_patiently<T, Asked>(
        &self,
        statement: &mut impl FnMut(PgConnection) -> Asked,
    ) -> Result<T, sqlx::Error>
    where
        Asked: Future<Output = (PgConnection, Result<T, sqlx::Error>)>,
    {
        let mut pauses = ExponentialBuilder::new()
            .with_min_delay(Duration::from_millis(20))
            .with_max_times(ASKED_AGAIN)
            .with_jitter()
            .build();
        loop {
            let connection = self.connections.take().await?;
            let outcome = match tokio::time::timeout(READ_PATIENCE, statement(connection)).await {
                Ok((connection, outcome)) => {
                    if !matches!(&outcome, Err(error) if kind(error) == Kind::Lost) {
                        self.connections.give_back(connection);
                    }
                    outcome
                }
                Err(_) => Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())),
            };
            let error = match outcome {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            let pause = match kind(&error) {
                Kind::Lost => {
                    self.connections.forget_idle();
                    pauses.next()
                }
                Kind::Contended => pauses.next(),
                _ => None,
            };
            match pause {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(error),
            }
        }
    }
}

impl SiteStore {
    /// The site, as it was when it was looked up.
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// The store behind it.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Tells other consoles that there may be something to see.
    fn hint(&self) {
        self.store.hints.hint(self.site.id);
    }
}
