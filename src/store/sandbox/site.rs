//! A demo's site, which lives as long as its demo (`migrations/protocol/13_demo.sql`).

use std::time::Duration;

use sqlx::Connection;
use sqlx::postgres::PgConnection;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::domain::{Desk, RequestId, SiteFile, SiteId};
use crate::store::command::site_file::site_file_json;
use crate::store::connection::error::StoreError;
use crate::store::connection::faults::fault;
use crate::store::handle::{SiteStore, Store};

/// How often the session that keeps a demo's site is looked after.
const LOOK_AFTER: Duration = Duration::from_secs(5);

/// A site of its own for one demo. Whoever opens it removes it; what a killed demo leaves is removed by the next one.
#[derive(Debug)]
pub struct DemoSite {
    site_store: SiteStore,
    keeper: JoinHandle<()>,
    enough: oneshot::Sender<()>,
}

impl Store {
    /// Removes what killed demos have left, and makes a site like the file for this one.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub async fn open_demo_site(
        &self,
        desk: &Desk,
        file: &SiteFile,
    ) -> Result<DemoSite, StoreError> {
        self.ask_row(|| sqlx::query!("SELECT remove_abandoned_demo_sites()"))
            .await?;
        let mut connection = self
            .connections
            .open()
            .await
            .map_err(|error| fault(&error))?;
        let id = sqlx::query_scalar!(
            r#"SELECT open_demo_site($1, $2, $3) AS "site_id!""#,
            RequestId::fresh().0,
            desk.0,
            site_file_json(file)
        )
        .fetch_one(&mut connection)
        .await
        .map_err(|error| fault(&error))?;
        let site = self.all_sites().await?;
        let site = site
            .into_iter()
            .find(|site| site.id.0 == id)
            .ok_or(StoreError::DemoSiteGone)?;
        let (enough, heard) = oneshot::channel();
        let keeper = tokio::spawn(keep(self.clone(), site.id, connection, heard));
        Ok(DemoSite {
            site_store: self.site_store(site),
            keeper,
            enough,
        })
    }
}

impl DemoSite {
    /// The site.
    pub fn site_store(&self) -> &SiteStore {
        &self.site_store
    }

    /// Removes it with every row.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults; then the next demo removes it.
    pub async fn remove(self) -> Result<(), StoreError> {
        let site = self.site_store.site.id;
        let removed = self
            .site_store
            .store
            .ask_row(|| sqlx::query!("SELECT remove_demo_site($1)", site.0))
            .await;
        // The lock goes last. Whether the keeper still hears us or is done does not matter: it ends.
        let _ = self.enough.send(());
        let _ = self.keeper.await;
        removed.map(|_| ())
    }
}

/// Keeps the session that has the site's lock, and takes the lock again should the session be lost.
async fn keep(
    store: Store,
    site: SiteId,
    mut connection: PgConnection,
    mut enough: oneshot::Receiver<()>,
) {
    loop {
        tokio::select! {
            _ = &mut enough => break,
            () = tokio::time::sleep(LOOK_AFTER) => {}
        }
        if connection.ping().await.is_ok() {
            continue;
        }
        let Ok(fresh) = store.connections.open().await else {
            continue;
        };
        connection = fresh;
        let kept = sqlx::query_scalar!(r#"SELECT keep_demo_site($1) AS "kept!""#, site.0)
            .fetch_one(&mut connection)
            .await;
        if !matches!(kept, Ok(true)) {
            tracing::warn!(%site, "the lock of the demo's site could not be taken again");
        }
    }
    // The server may be gone; then there is nobody to say goodbye to.
    let _ = connection.close().await;
}
