//! The scenarios of `keyrack demo`: told, watched, taken over by a person, or played as a test.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use color_eyre::eyre::{Report, eyre};
use serde::Serialize;

use crate::cli::connect::{Session, Steps};
use crate::cli::console;
use crate::cli::failure::Failure;
use crate::cli::global::Global;
use crate::cli::output::{Output, table};
use crate::cli::stop::Stop;
use crate::config::Config;
use crate::demo;
use crate::demo::scenario::library::{LIBRARY, built_in};
use crate::demo::scenario::{self, DESKS, Pace, Scenario, Stage, headless, show};
use crate::domain::Desk;
use crate::domain::text::harmless;
use crate::terminal::signals::Signals;

/// How long a play is waited for whose screen is gone.
const GRACE: Duration = Duration::from_millis(300);

/// Which scenario, and how it is played.
#[derive(Debug, Clone, Args)]
pub(crate) struct Arguments {
    /// A scenario to play: a built-in one (--list shows them) or a file that ends with .toml
    #[arg(value_name = "SCENARIO")]
    scenario: Option<String>,
    /// Say which scenarios are built in, and what each shows
    #[arg(long, conflicts_with_all = ["scenario", "slow", "sandbox", "headless"])]
    list: bool,
    /// Play it slowly, with captions; the usual way
    #[arg(long, requires = "scenario", conflicts_with_all = ["sandbox", "headless"])]
    slow: bool,
    /// Set it up to where it becomes interesting, then drive both desks yourself
    #[arg(long, requires = "scenario", conflicts_with = "headless")]
    sandbox: bool,
    /// Play it as a test, without a terminal: say whether everything was as expected; exit 0 or 1
    #[arg(long, requires = "scenario")]
    headless: bool,
}

#[derive(Serialize)]
struct ScenarioJson<'a> {
    name: &'a str,
    title: String,
    shows: String,
}

#[derive(Serialize)]
struct Nothing {}

impl Arguments {
    /// Whether there is something to do without a screen.
    pub(crate) fn needs_no_screen(&self) -> bool {
        self.list || self.headless
    }

    /// A demo has a house of its own, and a scenario its own desks. What is set for every command, in the environment,
    /// may stay there.
    pub(crate) fn refuse_what_it_ignores(&self, global: &Global) -> Result<(), Failure> {
        let typed = |value: Option<&str>, variable: &str| {
            value.is_some_and(|value| std::env::var(variable).ok().as_deref() != Some(value))
        };
        if typed(global.site(), "KEYRACK_SITE") {
            return Err(Failure::Usage(
                "A demo has a house of its own and shows no other; leave --site out.".into(),
            ));
        }
        if self.scenario.is_some() && typed(global.desk.as_deref(), "KEYRACK_DESK") {
            return Err(Failure::Usage(
                "A scenario has desks of its own, anna and bert; leave --desk out.".into(),
            ));
        }
        Ok(())
    }

    /// Tells what there is, or plays as a test.
    pub(crate) async fn run_without_screen(&self, global: &Global) -> Result<Output, Failure> {
        if self.list {
            return list();
        }
        let scenario = self
            .read()?
            .unwrap_or_else(|| unreachable!("clap requires it"));
        let steps = if global.json {
            Steps::Silent
        } else {
            Steps::Slow
        };
        let session = Session::open(global, steps).await?;
        // Before there is something to remove.
        let mut stop = Stop::new()?;
        let played = headless::play(session.store(), &scenario, stop.wait()).await;
        session.close().await;
        let Some(report) = played? else {
            return Err(Failure::Fault(eyre!("It was stopped before its end.")));
        };
        Ok(Output {
            failed: !report.ok,
            ..Output::new(report.text(), &report)
        })
    }

    pub(crate) fn read(&self) -> Result<Option<Scenario>, Failure> {
        let Some(name) = &self.scenario else {
            return Ok(None);
        };
        let usage = |problem: String| Failure::Usage(problem);
        if let Some(built_in) = built_in(name) {
            let scenario = Scenario::parse(built_in.text);
            return Ok(Some(scenario.map_err(Report::from)?));
        }
        if Path::new(name)
            .extension()
            .is_none_or(|ending| ending != "toml")
        {
            return Err(usage(format!(
                "There is no scenario named {}. `keyrack demo --list` shows those that there are; one of your own is a \
                 file that ends with .toml.",
                harmless(name)
            )));
        }
        let text = fs::read_to_string(name)
            .map_err(|error| usage(format!("{} can't be read: {error}.", harmless(name))))?;
        let scenario = Scenario::parse(&text).map_err(|error| {
            usage(format!(
                "{}, {}",
                harmless(name),
                harmless(&error.to_string())
            ))
        })?;
        Ok(Some(scenario))
    }

    /// How it is shown.
    fn pace(&self) -> Pace {
        if self.sandbox {
            Pace::Sandbox
        } else {
            Pace::Slow
        }
    }

    /// Plays it on the screen of a demo, in a house of its own that goes with it. Returns what happened at both desks.
    pub(crate) async fn show(
        &self,
        scenario: Scenario,
        session: &Session,
        config: Config,
        signals: Signals,
        transcript: Option<PathBuf>,
    ) -> Result<(demo::Transcript, Output), Failure> {
        let stage = Stage::build(session.store(), &scenario, self.pace()).await?;
        let shown = self
            .show_on(&stage, scenario, session, config, signals, transcript)
            .await;
        let struck = stage.strike().await;
        let shown = shown?;
        struck?;
        Ok(shown)
    }

    async fn show_on(
        &self,
        stage: &Stage,
        scenario: Scenario,
        session: &Session,
        config: Config,
        signals: Signals,
        transcript: Option<PathBuf>,
    ) -> Result<(demo::Transcript, Output), Failure> {
        let (script, mut playing) = show::begin(scenario, stage, self.pace()).await?;
        let context = demo::runtime::Context {
            site_store: stage.site_store().clone(),
            names: DESKS.map(|name| Desk(name.to_owned())),
            // Captions speak of the usual keys.
            config: Config {
                keys: Config::default().keys,
                ..config
            },
            revive: session.shared_server().map(console::revive),
            signals,
            transcript,
            script: Some(script),
        };
        let ended = demo::run(context).await;
        // A play that is over has nothing left to do. One that is not need not come to its end: what it has open is
        // rolled back with it.
        let over = tokio::time::timeout(GRACE, &mut playing).await;
        playing.abort();
        let output = match over {
            Ok(report) => farewell(&report.map_err(Report::from)?),
            Err(_) => Output::new("", &Nothing {}),
        };
        Ok((ended?, output))
    }
}

/// What is said when the screen is gone: only what was not as it should be.
fn farewell(report: &scenario::Report) -> Output {
    let problems: Vec<String> = report
        .problems
        .iter()
        .map(scenario::Problem::sentence)
        .collect();
    Output {
        failed: !problems.is_empty(),
        ..Output::new(problems.join("\n"), &Nothing {})
    }
}

fn list() -> Result<Output, Failure> {
    let mut listed = Vec::new();
    for built_in in LIBRARY {
        let scenario = Scenario::parse(built_in.text).map_err(Report::from)?;
        listed.push(ScenarioJson {
            name: built_in.name,
            title: scenario.title,
            shows: scenario.shows,
        });
    }
    let rows = listed
        .iter()
        .map(|one| [one.name.to_owned(), one.shows.clone()]);
    Ok(Output::new(
        table(["SCENARIO", "WHAT IT SHOWS"], rows),
        &listed,
    ))
}
