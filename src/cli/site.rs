//! `keyrack site`: houses.

use std::path::PathBuf;

use chrono_tz::{Tz, UTC};
use clap::Subcommand;
use color_eyre::eyre::WrapErr;
use serde::Serialize;

use crate::cli::arguments::{self, RequestArgument};
use crate::cli::connect::Session;
use crate::cli::failure::Failure;
use crate::cli::output::{self, Output, SiteJson, table};
use crate::domain::text::harmless;
use crate::domain::{RequestId, ServerCommand, ServerRequest, SiteCalendar, SiteChange, SiteFile};

/// What to do with houses.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the houses
    List,
    /// Add a house
    Add {
        /// Its name
        #[arg(value_parser = arguments::new_name)]
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
    /// The house that it is about, where it is not the one that everything else is about.
    pub(crate) fn site(&self) -> Option<&str> {
        match self {
            Self::Default { name, .. } => Some(name),
            _ => None,
        }
    }

    pub(crate) async fn run(self, session: &Session) -> Result<Output, Failure> {
        let store = session.store();
        match self {
            Self::List => Ok(output::sites(&store.sites().await?)),
            Self::Add {
                name,
                zone,
                request,
            } => {
                // As this program knows it: a house in a zone that it can't read would be in everybody's way.
                let time_zone = zone
                    .parse::<Tz>()
                    .map_err(|_| {
                        Failure::Usage(format!(
                            "“{}” is not an IANA time zone; write it like Europe/London.",
                            harmless(&zone)
                        ))
                    })?
                    .name()
                    .to_owned();
                let add = ServerCommand::AddSite { name, time_zone };
                let SiteChange { site, .. } = execute(session, request.id(), add, UTC).await?;
                let zone = site.calendar.zone().name();
                let text = format!("Added {} in {zone}.", harmless(&site.name));
                Ok(Output::new(text, &output::site_json(&site)))
            }
            Self::Apply { file, request } => {
                let text = std::fs::read_to_string(&file)
                    .wrap_err_with(|| format!("{} could not be read", file.display()))?;
                let file = SiteFile::parse(&text)
                    .map_err(|error| Failure::Usage(format!("{}, {error}", file.display())))?;
                let zone = file.site.time_zone;
                let apply = ServerCommand::ApplySite { file };
                let change = execute(session, request.id(), apply, zone).await?;
                Ok(show_changes(&change))
            }
            // The session was opened with the name.
            Self::Default { request, .. } => {
                let site_store = session.site_store().await?;
                let site = site_store.site();
                let zone = site.calendar.zone();
                let choose = ServerCommand::DefaultSite { site: site.id };
                let SiteChange { site, .. } = execute(session, request.id(), choose, zone).await?;
                let text = format!("{} is meant when no house is named.", harmless(&site.name));
                Ok(Output::new(text, &output::site_json(&site)))
            }
        }
    }
}

/// Sends a command to the server; a refusal is said in the times of a zone.
async fn execute(
    session: &Session,
    id: RequestId,
    command: ServerCommand,
    zone: Tz,
) -> Result<SiteChange, Failure> {
    let request = ServerRequest {
        id,
        desk: session.desk().clone(),
        command,
    };
    let answer = session.store().execute_server(request).await?;
    answer
        .outcome
        .map_err(|refusal| Failure::refused(refusal, &SiteCalendar::new(zone)))
}

#[derive(Serialize)]
struct SiteFileJson<'a> {
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

fn show_changes(SiteChange { site, changes }: &SiteChange) -> Output {
    let name = harmless(&site.name);
    let text = if changes.is_empty() {
        format!("{name} is as the file describes it; nothing had to be changed.")
    } else {
        let rows = changes.iter().map(|change| {
            [
                change.kind.clone(),
                change.name.clone(),
                change.change.replace('_', " "),
                change.detail.clone().unwrap_or_default(),
            ]
        });
        format!("{name}:\n{}", table(["", "NAME", "CHANGE", "DETAIL"], rows))
    };
    let json = SiteFileJson {
        site: output::site_json(site),
        changes: changes
            .iter()
            .map(|change| ChangeJson {
                kind: &change.kind,
                name: &change.name,
                change: &change.change,
                detail: change.detail.as_deref(),
            })
            .collect(),
    };
    Output::new(text, &json)
}
