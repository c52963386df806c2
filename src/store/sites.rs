//! Sites: listed, and opened for a command.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::catalogue::Catalogue;
use super::rows::{SiteRow, read};
use super::schema::{TextInForce, check_text};
use super::{SiteStore, Store, StoreError};
use crate::domain::site_file::SiteFile;
use crate::domain::text::harmless;
use crate::domain::{Item, Room, Site};

/// What one question finds out before a command.
#[derive(Debug)]
pub struct Opened {
    /// The site that is meant, with its rooms and items as they are now; or why there is no telling.
    pub site_store: Result<SiteStore, StoreError>,
    /// Whether there is no site but those of demos.
    pub is_empty: bool,
}

#[derive(Deserialize)]
struct OpenedRow {
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
    pub(super) async fn all_sites(&self) -> Result<Vec<Site>, StoreError> {
        let sites = self
            .ask(async |mut connection| {
                let sites = sqlx::query_scalar!("SELECT list_sites()")
                    .fetch_one(&mut connection)
                    .await;
                (connection, sites)
            })
            .await?;
        read::<Vec<SiteRow>>(sites, "sites")?
            .into_iter()
            .map(Site::try_from)
            .collect()
    }

    /// Everything that a command has to know beforehand, in one question: whether the database is this program's, and the
    /// site of that name; without a name the only one, or the default (design section 9). A demo's is found by its name
    /// only.
    ///
    /// # Errors
    /// [`StoreError::SchemaTooOld`], [`StoreError::SchemaTooNew`], [`StoreError::OutOfReach`] and faults.
    pub async fn open_site(&self, name: Option<&str>) -> Result<Opened, StoreError> {
        let opened = self
            .ask(async |mut connection| {
                let opened = sqlx::query_scalar!("SELECT open_site($1)", name)
                    .fetch_one(&mut connection)
                    .await;
                (connection, opened)
            })
            .await?;
        let row: OpenedRow = read(opened, "site")?;
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
        Ok(Opened {
            site_store,
            is_empty: row.sites == 0,
        })
    }

    /// The site of that name; without a name the only one, or the default.
    ///
    /// # Errors
    /// [`StoreError::Site`] with a sentence, if there is none or no telling which; and as [`Store::open_site`].
    pub async fn site(&self, name: Option<&str>) -> Result<Site, StoreError> {
        Ok(self.open_site(name).await?.site_store?.site().clone())
    }
}

/// Why there is no site of that name, or none that is meant without one.
fn no_telling(name: Option<&str>, sites: i64) -> StoreError {
    StoreError::Site(match (name, sites) {
        (Some(name), _) => format!(
            "There is no site named {}. `keyrack site list` shows which there are.",
            harmless(name)
        ),
        (None, 0) => {
            "There is no house in this database yet. Describe one in a file and run `keyrack site apply FILE.toml`."
                .into()
        }
        (None, _) => {
            "There are several sites here. Say which with --site NAME, or choose one for good with \
             `keyrack site default NAME`."
                .into()
        }
    })
}

pub(super) fn site_file_json(file: &SiteFile) -> Value {
    let site = &file.site;
    json!({
        "site": {
            "name": site.name,
            "time_zone": site.time_zone.name(),
            "default_hold": site.default_hold.num_seconds(),
            "longest_hold": site.longest_hold.num_seconds(),
            "renewals": site.renewals,
            "horizon": site.horizon.num_seconds(),
            "conflict_shows_guest": site.conflict_shows_guest,
        },
        "rooms": file.rooms.iter().map(|room| json!({
            "name": room.name,
            "capacity": room.capacity,
            "booked_by": room.booked_by.word(),
            "turnaround": room.turnaround.num_seconds(),
            "check_in": room.night_times.check_in.to_string(),
            "check_out": room.night_times.check_out.to_string(),
            "features": room.features,
        })).collect::<Vec<_>>(),
        "items": file.items.iter().map(|item| json!({
            "name": item.name,
            "total": item.quantity,
        })).collect::<Vec<_>>(),
    })
}
