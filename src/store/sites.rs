//! Sites: listed, chosen, added, and made what a file says.

use serde::Serialize;
use serde_json::{Value, json};

use super::rows::SiteRow;
use super::{Store, StoreError};
use crate::domain::house_file::HouseFile;
use crate::domain::text::harmless;
use crate::domain::{Desk, Refusal, RequestId, Site};

/// One line of what applying a house file did or found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Applied {
    /// site, room or item.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// added, changed, retired, not_in_file or total_differs.
    pub change: String,
    /// More, in words; none if the change says it all.
    pub detail: Option<String>,
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
        self.ask(async |mut connection| {
            let rows = sqlx::query_as!(
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
            .fetch_all(&mut connection)
            .await;
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

    /// Adds a site with the usual settings.
    ///
    /// # Errors
    /// [`StoreError::Usage`] if the name is taken or the zone unknown.
    pub async fn add_site(
        &self,
        request: RequestId,
        desk: &Desk,
        name: &str,
        time_zone: &str,
    ) -> Result<Site, StoreError> {
        let id = self
            .change(request, async |mut connection| {
                let id = sqlx::query_scalar!(
                    r#"SELECT add_site($1, $2, $3, $4) AS "site_id!""#,
                    request.0,
                    desk.0,
                    name,
                    time_zone
                )
                .fetch_one(&mut connection)
                .await;
                (connection, id)
            })
            .await?;
        self.sites()
            .await?
            .into_iter()
            .find(|site| site.id.0 == id)
            .ok_or_else(|| StoreError::Fault("The site was added and is not there.".into()))
    }

    /// Makes a site the one that is meant when none is named.
    ///
    /// # Errors
    /// [`StoreError::Site`] if there is no such site.
    pub async fn set_default_site(&self, name: &str) -> Result<Site, StoreError> {
        let site = self.site(Some(name)).await?;
        if site.is_demo {
            return Err(StoreError::Site(format!(
                "{} is a demo's and goes when the demo ends. Choose another house.",
                harmless(name)
            )));
        }
        self.ask(async |mut connection| {
            let done = sqlx::query!("SELECT set_default_site($1)", site.id.0)
                .execute(&mut connection)
                .await;
            (connection, done)
        })
        .await?;
        self.site(Some(name)).await
    }

    /// Makes a house what its file says; applied twice it changes nothing.
    ///
    /// # Errors
    /// [`StoreError::Usage`] if the database knows better (a zone, say), and faults.
    pub async fn apply_house(
        &self,
        request: RequestId,
        desk: &Desk,
        file: &HouseFile,
    ) -> Result<Result<(Site, Vec<Applied>), Refusal>, StoreError> {
        let house = house_json(file);
        let rows = self
            .change(request, async |mut connection| {
                let rows = sqlx::query!(
                    r#"
                    SELECT kind AS "kind!", name AS "name!", change AS "change!", detail
                    FROM apply_house($1, $2, $3)
                    "#,
                    request.0,
                    desk.0,
                    house
                )
                .fetch_all(&mut connection)
                .await;
                (connection, rows)
            })
            .await?;
        if let Some(reused) = rows.iter().find(|row| row.change == "request_reused") {
            return Ok(Err(Refusal::RequestReused {
                command: reused.name.clone(),
            }));
        }
        let applied = rows
            .into_iter()
            .map(|row| Applied {
                kind: row.kind,
                name: row.name,
                change: row.change,
                detail: row.detail,
            })
            .collect();
        let site = self.site(Some(&file.site.name)).await?;
        self.hints.hint(site.id);
        Ok(Ok((site, applied)))
    }
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
