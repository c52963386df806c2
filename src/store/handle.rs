//! What everything else of the store hangs its methods on: a database as one desk sees it, and one bound to a site. Knows
//! how a statement is asked that may be asked twice, and no statement.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use sqlx::postgres::{PgArguments, PgConnectOptions, PgConnection, PgRow};
use sqlx::query::{Map, QueryScalar};
use sqlx::{FromRow, Postgres};

use crate::domain::{Desk, Item, Room, Site};
use crate::store::connection::connections::Connections;
use crate::store::connection::error::StoreError;
use crate::store::connection::faults::{Kind, fault, kind};
use crate::store::live::hint::Hints;

/// How long a read may take before the server counts as out of reach: longer than the server's own limit.
const READ_PATIENCE: Duration = Duration::from_secs(12);

/// How often a read is asked again.
const ASKED_AGAIN: usize = 2;

/// One database, as one desk or one command line sees it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    pub(super) connections: Connections,
    pub(super) hints: Hints,
}

/// A store bound to one site; every call carries its id (R29).
#[derive(Debug, Clone)]
pub struct SiteStore {
    pub(super) store: Store,
    pub(super) site: Site,
    /// What was found with the site, where it was opened for one command.
    pub(super) catalogue: Option<Arc<Catalogue>>,
}

/// The rooms and items of a site at one moment, in the site's order, retired ones too.
#[derive(Debug)]
pub(super) struct Catalogue {
    pub(super) rooms: Vec<Room>,
    pub(super) items: Vec<Item>,
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
    pub(crate) async fn connect_named(
        options: PgConnectOptions,
        desk: &Desk,
    ) -> Result<Self, StoreError> {
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

    pub(super) fn site_store_with(
        &self,
        site: Site,
        catalogue: Option<Arc<Catalogue>>,
    ) -> SiteStore {
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
    pub(super) async fn ask<T, Asking>(
        &self,
        mut statement: impl FnMut(PgConnection) -> Asking,
    ) -> Result<T, StoreError>
    where
        Asking: Future<Output = (PgConnection, Result<T, sqlx::Error>)>,
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

    /// The same for a statement that gives one value.
    pub(super) async fn ask_value<'q, T>(
        &self,
        query: impl Fn() -> QueryScalar<'q, Postgres, T, PgArguments>,
    ) -> Result<T, StoreError>
    where
        T: Send + Unpin,
        (T,): for<'r> FromRow<'r, PgRow>,
    {
        self.ask(|mut connection| {
            let query = query();
            async move {
                let value = query.fetch_one(&mut connection).await;
                (connection, value)
            }
        })
        .await
    }

    /// The same for a statement that gives one row.
    pub(super) async fn ask_row<'q, T, Reader>(
        &self,
        query: impl Fn() -> Map<'q, Postgres, Reader, PgArguments>,
    ) -> Result<T, StoreError>
    where
        T: Send + Unpin,
        Reader: FnMut(PgRow) -> Result<T, sqlx::Error> + Send,
    {
        self.ask(|mut connection| {
            let query = query();
            async move {
                let row = query.fetch_one(&mut connection).await;
                (connection, row)
            }
        })
        .await
    }

    /// The same for a statement that gives as many rows as there are.
    pub(super) async fn ask_rows<'q, T, Reader>(
        &self,
        query: impl Fn() -> Map<'q, Postgres, Reader, PgArguments>,
    ) -> Result<Vec<T>, StoreError>
    where
        T: Send + Unpin,
        Reader: FnMut(PgRow) -> Result<T, sqlx::Error> + Send,
    {
        self.ask(|mut connection| {
            let query = query();
            async move {
                let rows = query.fetch_all(&mut connection).await;
                (connection, rows)
            }
        })
        .await
    }

    /// The same, with the database's own word for what went wrong.
    pub(super) async fn ask_patiently<T, Asking>(
        &self,
        statement: &mut impl FnMut(PgConnection) -> Asking,
    ) -> Result<T, sqlx::Error>
    where
        Asking: Future<Output = (PgConnection, Result<T, sqlx::Error>)>,
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
    pub(super) fn hint(&self) {
        self.store.hints.hint(self.site.id);
    }
}
