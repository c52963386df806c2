//! Sites: listed and chosen.

use serde_json::{Value, json};
use sqlx::postgres::PgConnection;

use super::rows::SiteRow;
use super::{Store, StoreError};
use crate::domain::Site;
use crate::domain::house_file::HouseFile;
use crate::domain::text::harmless;

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
        self.ask(async |mut connection| {
            let rows = site_rows(&mut connection).await;
            (connection, rows)
        })
        .await?
        .into_iter()
        .map(Site::try_from)
        .collect()
    }

    /// The site of that name; without a name the only one, or the default (design section 9). A demo's is found by its
    /// name only.
    ///
    /// # Errors
    /// [`StoreError::Site`] with a sentence, if there is none or no telling which.
    pub async fn site(&self, name: Option<&str>) -> Result<Site, StoreError> {
        if let Some(name) = name {
            let sites = self.all_sites().await?;
            return sites
                .into_iter()
                .find(|site| site.name == name)
                .ok_or_else(|| {
                    StoreError::Site(format!(
                        "There is no site named {}. `keyrack site list` shows which there are.",
                        harmless(name)
                    ))
                });
        }
        let sites = self.sites().await?;
        let only = sites.len() == 1;
        match sites.iter().find(|site| site.is_default || only) {
            Some(site) => Ok(site.clone()),
            None if sites.is_empty() => Err(StoreError::Site(
                "There is no house in this database yet. Describe one in a file and run `keyrack site apply FILE.toml`."
                    .into(),
            )),
            None => Err(StoreError::Site(
                "There are several sites here. Say which with --site NAME, or choose one for good with \
                 `keyrack site default NAME`."
                    .into(),
            )),
        }
    }
}

pub(super) async fn site_rows(connection: &mut PgConnection) -> Result<Vec<SiteRow>, sqlx::Error> {
    sqlx::query_as!(
        SiteRow,
        r#"
        SELECT
            site_id,
            name,
            time_zone,
            extract(epoch FROM default_hold)::bigint AS "default_hold_seconds!",
            extract(epoch FROM longest_hold)::bigint AS "longest_hold_seconds!",
            renewals,
            extract(epoch FROM horizon)::bigint AS "horizon_seconds!",
            is_default,
            demo_lock IS NOT NULL AS "is_demo!"
        FROM site
        ORDER BY site_id
        "#
    )
    .fetch_all(connection)
    .await
}

pub(super) fn house_json(file: &HouseFile) -> Value {
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
