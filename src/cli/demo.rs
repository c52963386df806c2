//! `keyrack demo`: two desks side by side.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::Args;
use color_eyre::eyre::WrapErr;
use serde::Serialize;

use crate::cli::connect::{Session, Steps};
use crate::cli::failure::Failure;
use crate::cli::global::Global;
use crate::cli::output::Output;
use crate::cli::{console, sample, scenario};
use crate::config::Config;
use crate::demo::scenario::Scenario;
use crate::demo::{self, Transcript};
use crate::domain::{Desk, SiteFile};
use crate::store::{DemoSite, StoreError};
use crate::terminal::signals::Signals;

const SITE_FILE: &str = include_str!("../../assets/demo-house.toml");

/// How to show it.
#[derive(Debug, Args)]
pub(crate) struct Command {
    /// Write what happened at both desks into this file at the end: every statement, answer and wait, with times
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "headless"])]
    transcript: Option<PathBuf>,
    #[command(flatten)]
    scenario: scenario::Arguments,
}

#[derive(Serialize)]
struct Nothing {}

impl Command {
    /// Opens both desks, until the person leaves them; their house goes with them, whatever happens.
    pub(crate) async fn run(self, global: &Global) -> Result<Output, Failure> {
        self.scenario.refuse_what_it_ignores(global)?;
        if self.scenario.needs_no_screen() {
            return self.scenario.run_without_screen(global).await;
        }
        if global.json {
            return Err(Failure::Usage(
                "The demo is for people; --json has nothing to show of it.".into(),
            ));
        }
        if !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
            return Err(Failure::Usage(
                "The demo needs a terminal, for it draws two consoles.".into(),
            ));
        }
        let scenario = self.scenario.read()?;
        if let Some(path) = &self.transcript {
            demo::file::try_out(path).map_err(|error| Failure::Usage(error.to_string()))?;
        }
        let config = console::config()?;
        let session = Session::open(global, Steps::Every).await?;
        let result = self.show(global, &session, config, scenario).await;
        session.close().await;
        result
    }

    async fn show(
        self,
        global: &Global,
        session: &Session,
        config: Config,
        scenario: Option<Scenario>,
    ) -> Result<Output, Failure> {
        // Before there is something to remove.
        let signals = Signals::new()?;
        if let Some(scenario) = scenario {
            let transcript = self.transcript.clone();
            let (transcript, output) = self
                .scenario
                .show(scenario, session, config, signals, transcript)
                .await?;
            self.save(&transcript)?;
            return Ok(output);
        }
        let names = names(global);
        let file = SiteFile::parse(SITE_FILE).wrap_err("assets/demo-house.toml")?;
        let site = session.store().open_demo_site(&names[0], &file).await?;
        let shown = self.desks(session, &site, names, config, signals).await;
        let removed = site.remove().await;
        let transcript = shown?;
        self.save(&transcript)?;
        removed.map_err(left_behind)?;
        Ok(Output::new("", &Nothing {}))
    }

    fn save(&self, transcript: &Transcript) -> Result<(), Failure> {
        if let Some(path) = &self.transcript {
            demo::file::save(&transcript.to_string(), Some(path))
                .map_err(color_eyre::eyre::Report::from)?;
        }
        Ok(())
    }

    async fn desks(
        &self,
        session: &Session,
        site: &DemoSite,
        names: [Desk; 2],
        config: Config,
        signals: Signals,
    ) -> Result<Transcript, Failure> {
        sample::book_for_a_demo(site.site_store()).await?;
        let context = demo::runtime::Context {
            site_store: site.site_store().clone(),
            names,
            config,
            revive: session.shared_server().map(console::revive),
            signals,
            transcript: self.transcript.clone(),
            script: None,
        };
        Ok(demo::run(context).await?)
    }
}

/// Who works at the desks: anna, or whoever was named, and bert.
fn names(global: &Global) -> [Desk; 2] {
    let named = global.desk.clone().filter(|name| !name.is_empty());
    let first = named.unwrap_or_else(|| "anna".to_owned());
    let second = if first == "bert" { "anna" } else { "bert" };
    [Desk(first), Desk(second.to_owned())]
}

/// The house could not be removed.
fn left_behind(error: StoreError) -> Failure {
    let sentence = format!("{error} The demo's house is still there; the next demo removes it.");
    match Failure::from(error) {
        Failure::OutOfReach(_) => Failure::OutOfReach(sentence),
        _ => Failure::Fault(color_eyre::eyre::eyre!(sentence)),
    }
}
