//! The command line: one file per noun.
//!
//! Each command opens a [`Session`], asks the store, and hands back an [`Output`] or a [`Failure`];
//! only [`run`] prints. Results go to standard output, with `--json` as one JSON value; a refusal is a result too.
//! Faults, mistakes in usage and start-up steps are sentences on standard error, and then standard output stays empty.
//!
//! This module must not know SQL, nor what a screen looks like.

mod arguments;
mod check;
mod connect;
mod console;
mod db;
mod demo;
mod execute;
mod failure;
#[cfg(test)]
mod fixtures;
mod global;
mod group;
mod history;
mod lab;
mod list;
mod log;
mod lookup;
mod output;
mod print;
mod race;
mod room;
mod sample;
mod scenario;
mod site;
mod stock;
mod stop;
mod sweep;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::cli::connect::{Session, Steps};
use crate::cli::failure::Failure;
use crate::cli::global::Global;
use crate::cli::output::Output;
use crate::cli::print::{complain, print};

/// A booking console for the terminal that can't double-book, because PostgreSQL decides every conflict.
///
/// Without a command it opens the console. Without a database URL it runs a PostgreSQL of its own.
///
/// Exit codes: 0 done, 1 a fault or a failed check, 2 usage, 3 refused by the house rules, 4 database out of reach.
#[derive(Debug, Parser)]
#[command(name = "keyrack", version)]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Houses: list, add, describe by a file, choose the default
    #[command(subcommand)]
    Site(site::Command),
    /// Rooms and the claims on them
    #[command(subcommand)]
    Room(room::Command),
    /// Items that are used up when sold, and the claims on them
    #[command(subcommand)]
    Stock(stock::Command),
    /// Several claims made, confirmed, renewed and cancelled as one
    #[command(subcommand)]
    Group(group::Command),
    /// Let many clients want the same thing at the same moment, and see who gets it
    Race(race::Command),
    /// Two desks side by side in one terminal, to watch a conflict being decided
    ///
    /// Each is the real console with connections of its own. They work in a house of their own in this database, which
    /// is removed at the end and never counts among the others. F1 shows the demo's keys: change the desk, send every
    /// key to both, fire a command at both desks within the same millisecond and see who was first, and step mode, which
    /// stops a transaction between the protocol's steps.
    Demo(demo::Command),
    /// Run one race against every known way to prevent double booking, right or wrong, and measure them
    ///
    /// In every round all clients ask at the same moment for what they can't all have; what went wrong is counted
    /// afterwards from the rows. It happens in a schema of its own, which is removed at the end, and touches no house.
    /// But it keeps the server busy: not for a server that others work on.
    Lab(lab::Command),
    /// Say in plain text what the console's grid shows
    List(list::Command),
    /// Write "expired" over the holds that are due
    Sweep(sweep::Command),
    /// Who did what, when and why
    History(history::Command),
    /// Prove the house's rules from what is stored
    Check,
    /// The database itself
    #[command(subcommand)]
    Db(db::Command),
}

/// Does what the arguments say, prints the result, and says how it went.
pub async fn run(cli: Cli) -> ExitCode {
    let json = cli.global.json;
    log::to_file();
    match dispatch(cli).await {
        Ok(output) => match print(if json { &output.json } else { &output.text }) {
            Ok(()) => ExitCode::from(u8::from(output.failed)),
            Err(error) => {
                complain(&format!(
                    "It is done, but the answer could not be written: {error}."
                ));
                ExitCode::FAILURE
            }
        },
        Err(failure) => {
            match &failure {
                // The exit code says it too, should nobody be able to read it.
                Failure::Refused(refused) if json => drop(print(&output::refusal_json(refused))),
                _ => complain(&failure.sentence()),
            }
            failure.exit_code()
        }
    }
}

async fn dispatch(cli: Cli) -> Result<Output, Failure> {
    let Cli {
        mut global,
        command,
    } = cli;
    let command = match command {
        None => return console::run(&global).await,
        Some(Command::Demo(command)) => return command.run(&global).await,
        Some(Command::Db(command)) => return command.run(&global).await,
        Some(Command::Lab(command)) if command.only_lists() => return Ok(command.list()),
        Some(command) => command,
    };
    if let Command::Site(command) = &command
        && let Some(site) = command.site()
    {
        global.site = Some(site.to_owned());
    }
    let steps = if global.json {
        Steps::Silent
    } else {
        Steps::Slow
    };
    let session = Session::open(&global, steps).await?;
    let result = match command {
        Command::Site(command) => command.run(&session).await,
        Command::Room(command) => command.run(&session).await,
        Command::Stock(command) => command.run(&session).await,
        Command::Group(command) => command.run(&session).await,
        Command::Race(command) => command.run(&session).await,
        Command::Lab(command) => command.run(&session).await,
        Command::List(command) => command.run(&session).await,
        Command::Sweep(command) => command.run(&session).await,
        Command::History(command) => command.run(&session).await,
        Command::Check => check::run(&session).await,
        Command::Db(_) | Command::Demo(_) => unreachable!("handled above"),
    };
    session.close().await;
    result
}
