//! `keyrack lab`: the same race against every known strategy, right or wrong.

use std::io::IsTerminal;
use std::time::Duration;

use chrono::TimeDelta;
use clap::Args;
use clap::builder::PossibleValuesParser;
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::connect::Session;
use crate::cli::failure::Failure;
use crate::cli::output::{self, Output, Paper};
use crate::cli::stop::Stop;
use crate::config::Config;
use crate::demo::lab::{self, LabError, Length, Plan};
use crate::domain::duration;
use crate::store::lab::{STRATEGIES, Strategy, strategy};
use crate::terminal::detect::{colours_for, is_ascii};
use crate::terminal::theme::Colours;

/// What to measure, and how.
#[derive(Debug, Args)]
pub(crate) struct Command {
    /// How many ask at the same moment
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(2..=500))]
    clients: u16,
    /// How long each strategy is measured
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    seconds: u32,
    /// What passes between looking and writing, the same for every strategy; at most 1s
    #[arg(long, value_name = "DURATION", default_value = "2ms", value_parser = thinking)]
    think: TimeDelta,
    /// What the choices are drawn from; the same number makes the same race
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Only this one; can be given several times
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(STRATEGIES.iter().map(|strategy| strategy.name)))]
    strategy: Vec<String>,
    /// Say what each strategy does and what comes of it, and measure nothing
    #[arg(long)]
    list: bool,
}

fn thinking(typed: &str) -> Result<TimeDelta, String> {
    let think = duration::parse(typed).map_err(|error| error.to_string())?;
    if think > TimeDelta::seconds(1) {
        return Err("nobody thinks longer than 1s here".into());
    }
    Ok(think)
}

impl Command {
    /// Whether no database is needed.
    pub(crate) fn only_lists(&self) -> bool {
        self.list
    }

    pub(crate) fn list(&self) -> Output {
        output::strategies(&self.strategies(), paper())
    }

    /// Measures, and says what came of it.
    pub(crate) async fn run(self, session: &Session) -> Result<Output, Failure> {
        let plan = Plan {
            strategies: self.strategies(),
            clients: self.clients,
            length: Length::Time(Duration::from_secs(self.seconds.into())),
            think: self.think.to_std().unwrap_or_default(),
            seed: self.seed,
        };
        let mut stop = Stop::new()?;
        let progress = progress(plan.strategies.len());
        let report = lab::run(session.store(), &plan, stop.wait(), |strategy| {
            progress.set_message(strategy.name);
            progress.inc(1);
        })
        .await;
        progress.finish_and_clear();
        let report = report.map_err(|error| match error {
            LabError::TooManyClients { room } => Failure::Usage(format!(
                "The database has room for {room} clients at the moment; let fewer run with --clients."
            )),
            LabError::NotEveryClient { reason } => Failure::OutOfReach(format!(
                "Not every client could reach the database: {reason}. Nothing is left behind; let fewer run with --clients."
            )),
            LabError::Store(error) => error.into(),
        })?;
        Ok(output::lab(&plan, &report, paper()))
    }

    /// Those that were named, in the lab's own order; all, if none was.
    fn strategies(&self) -> Vec<&'static Strategy> {
        let named: Vec<_> = self
            .strategy
            .iter()
            .filter_map(|name| strategy(name))
            .collect();
        STRATEGIES
            .iter()
            .filter(|strategy| {
                named.is_empty() || named.iter().any(|named| named.name == strategy.name)
            })
            .collect()
    }
}

/// Which strategy is under way, for who watches; nothing where standard error is no terminal.
fn progress(strategies: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{pos} of {len}: {msg} …")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let strategies = u64::try_from(strategies).unwrap_or_default();
    ProgressBar::new(strategies).with_style(style)
}

/// What is printed on: the terminal as it is, or 80 columns without colour for a file or a program.
fn paper() -> Paper {
    // A mistake in the configuration is the console's to tell.
    let config = Config::load().unwrap_or_default();
    let is_terminal = std::io::stdout().is_terminal();
    let width = crossterm::terminal::size().map(|(columns, _)| usize::from(columns));
    Paper {
        width: width.ok().filter(|_| is_terminal).unwrap_or(80),
        ascii: is_ascii(&config),
        colour: is_terminal && colours_for(&config) != Colours::None,
    }
}
