//! Sites: listed, and opened for a command.

use std::sync::Arc;

use serde::Deserialize;

use crate::domain::{Item, Room, Site};
use crate::store::connection::error::StoreError;
use crate::store::connection::schema::state::check_text;
use crate::store::connection::schema::text::TextInForce;
use crate::store::handle::{Catalogue, SiteStore, Store};
use crate::store::read::decode::read;
use crate::store::read::rows::SiteRow;

/// What one question finds out before a command.
#[derive(Debug)]
pub struct SiteOpening {
    /// The site that is meant, with its rooms and items as they are now; or why there is no telling.
    pub site_store: Result<SiteStore, StoreError>,
    /// Whether there is no site but those of demos.
    pub is_empty: bool,
}

#[derive(Deserialize)]
struct OpeningRow {
    text: Option<TextInForce>,
    sites: i64,
    site: Option<SiteRow>,
    rooms: Vec<Room>,
    items: Vec<Item>,
}

impl Store {
    /// Every site but those of demos, in the order in which they were made.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub async fn sites(&self) -> Result<Vec<Site>, StoreError> {
        let mut sites = self.all_sites().await?;
        sites.retain(|site| !site.is_demo);
        Ok(sites)
    }

    /// Every site, those of demos too.
    pub(crate) async fn all_sites(&self) -> Result<Vec<Site>, StoreError> {
        let sites = self
            .ask_value(|| sqlx::query_scalar!("SELECT list_sites()"))
            .await?;
        read::<Vec<SiteRow>>(sites, "sites")?
            .into_iter()
            .map(Site::try_from)
            .collect()
    }

    /// Everything that a command has to know beforehand, in one question: whether the database is this program's, and the
    /// site of that name; without a name the only one, or the default. A demo's is found by its name
    /// only.
    ///
    /// # Errors
    /// [`StoreError::SchemaTooOld`], [`StoreError::SchemaTooNew`], [`StoreError::OutOfReach`] and faults.
    pub async fn open_site(&self, name: Option<&str>) -> Result<SiteOpening, StoreError> {
        let opened = self
            .ask_value(|| sqlx::query_scalar!("SELECT open_site($1)", name))
            .await?;
        let row: OpeningRow = read(opened, "site")?;
        check_text(row.text.as_ref())?;
        let site_store = match row.site {
            Some(site) => Site::try_from(site).map(|site| {
                self.site_store_with(
                    site,
                    Some(Arc::new(Catalogue {
                        rooms: row.rooms,
                        items: row.items,
                    })),
                )
            }),
            None => Err(no_telling(name, row.sites)),
        };
        Ok(SiteOpening {
            site_store,
            is_empty: row.sites == 0,
        })
    }

    /// The site of that name; without a name the only one, or the default.
    ///
    /// # Errors
    /// [`StoreError::NoSuchSite`], [`StoreError::NoSite`], [`StoreError::SeveralSites`], and as [`Store::open_site`].
    pub async fn site(&self, name: Option<&str>) -> Result<Site, StoreError> {
        Ok(self.open_site(name).await?.site_store?.site().clone())
    }
}

/// Why there is no site of that name, or none that is meant without one.
fn no_telling(name: Option<&str>, sites: i64) -> StoreError {
    match (name, sites) {
        (Some(name), _) => StoreError::NoSuchSite {
            name: name.to_owned(),
        },
        (None, 0) => StoreError::NoSite,
        (None, _) => StoreError::SeveralSites,
    }
}
