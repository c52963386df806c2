//! `keyrack site`: houses.

use std::path::PathBuf;

use clap::Subcommand;
use color_eyre::eyre::WrapErr;
use serde::Serialize;

use crate::domain::text::harmless;
use crate::domain::{HouseFile, Site, SiteCalendar};
use crate::store::Applied;

use super::RequestArgument;
use super::connect::Session;
use super::failure::Failure;
use super::output::{self, Output, SiteJson, table};

/// What to do with houses.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the houses
    List,
    /// Add a house
    Add {
        /// Its name
        #[arg(value_parser = super::new_name)]
        name: String,
        /// Its IANA time zone, like Europe/London
        zone: String,
        #[command(flatten)]
        request: RequestArgument,
    },
    /// Make a house as a file describes it; a second time changes nothing
    Apply {
        /// The description; assets/sample-house.toml shows and explains the format
        file: PathBuf,
        #[command(flatten)]
        request: RequestArgument,
    },
    /// Choose the house that is meant when none is named
    Default {
        /// Its name
        name: String,
        /// Accepted like everywhere; choosing twice changes nothing
        #[command(flatten)]
        request: RequestArgument,
    },
}

impl Command {
    /// Does it.
    pub async fn run(self, session: &Session) -> Result<Output, Failure> {
        let store = session.store();
        match self {
            Self::List => Ok(output::sites(&store.sites().await?)),
            Self::Add {
                name,
                zone,
                request,
            } => {
                let site = store
                    .add_site(request.id(), session.desk(), &name, &zone)
                    .await?;
                let zone = site.calendar.zone().name();
                let text = format!("Added {} in {zone}.", harmless(&site.name));
                Ok(Output::new(text, &output::site_json(&site)))
            }
            Self::Apply { file, request } => {
                let text = std::fs::read_to_string(&file)
                    .wrap_err_with(|| format!("{} could not be read", file.display()))?;
                let house = HouseFile::parse(&text)
                    .map_err(|error| Failure::Usage(format!("{}, {error}", file.display())))?;
                let (site, applied) = store
                    .apply_house(request.id(), session.desk(), &house)
                    .await?
                    .map_err(|refusal| {
                        Failure::refused(refusal, &SiteCalendar::new(house.site.time_zone))
                    })?;
                Ok(show_applied(&site, &applied))
            }
            Self::Default { name, request: _ } => {
                let site = store.set_default_site(&name).await?;
                let text = format!("{} is meant when no house is named.", harmless(&site.name));
                Ok(Output::new(text, &output::site_json(&site)))
            }
        }
    }
}

#[derive(Serialize)]
struct AppliedJson<'a> {
    #[serde(flatten)]
    site: SiteJson<'a>,
    changes: Vec<ChangeJson<'a>>,
}

#[derive(Serialize)]
struct ChangeJson<'a> {
    kind: &'a str,
    name: &'a str,
    change: &'a str,
    detail: Option<&'a str>,
}

fn show_applied(site: &Site, applied: &[Applied]) -> Output {
    let name = harmless(&site.name);
    let text = if applied.is_empty() {
        format!("{name} is as the file describes it; nothing had to be changed.")
    } else {
        let rows = applied.iter().map(|applied| {
            [
                applied.kind.clone(),
                applied.name.clone(),
                applied.change.replace('_', " "),
                applied.detail.clone().unwrap_or_default(),
            ]
        });
        format!("{name}:\n{}", table(["", "NAME", "CHANGE", "DETAIL"], rows))
    };
    let json = AppliedJson {
        site: output::site_json(site),
        changes: applied
            .iter()
            .map(|applied| ChangeJson {
                kind: &applied.kind,
                name: &applied.name,
                change: &applied.change,
                detail: applied.detail.as_deref(),
            })
            .collect(),
    };
    Output::new(text, &json)
}
