//! The command line (design section 9): one file per noun.
//!
//! Each command opens a [`Session`], asks the store, and hands back an [`Output`] or a [`Failure`];
//! only [`run`] prints. Results go to standard output, with `--json` as one JSON value; a refusal is a result too.
//! Faults, mistakes in usage and start-up steps are sentences on standard error, and then standard output stays empty.
//!
//! This module must not know SQL, nor what a screen looks like.

mod check;
mod connect;
mod console;
mod db;
mod demo;
mod failure;
mod group;
mod history;
mod lab;
mod list;
mod log;
mod lookup;
mod output;
mod race;
mod room;
mod sample;
mod scenario;
mod site;
mod stock;
mod stop;
mod sweep;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use chrono::TimeDelta;
use clap::{Args, Parser, Subcommand};
use uuid::Uuid;

use crate::domain::text::{NameError, check_name};
use crate::domain::{self, Desk, Done, Refusal, Refused, RequestId, Version, duration};
use crate::store::{Progress, SiteStore};

use connect::{Session, Steps};
use failure::Failure;
use output::{Output, View};

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

const FOR_EVERY_COMMAND: &str = "For every command";

/// What every command takes.
#[derive(Debug, Clone, Args)]
struct Global {
    /// The database to use, like postgres://user@host/database?sslmode=require; without it, Keyrack's own
    #[arg(
        long,
        global = true, help_heading = FOR_EVERY_COMMAND,
        env = "DATABASE_URL",
        value_name = "URL",
        hide_env_values = true
    )]
    database_url: Option<String>,
    /// Where Keyrack's own PostgreSQL keeps its data
    #[arg(
        long,
        global = true, help_heading = FOR_EVERY_COMMAND,
        env = "KEYRACK_DATA_DIR",
        value_name = "DIRECTORY"
    )]
    data_dir: Option<PathBuf>,
    /// The directory with the PostgreSQL programs to run; without it, the newest on this machine
    #[arg(
        long,
        global = true, help_heading = FOR_EVERY_COMMAND,
        env = "KEYRACK_POSTGRES_BIN",
        value_name = "DIRECTORY"
    )]
    postgres_bin: Option<PathBuf>,
    /// The house; may be left out where there is one, or a default
    #[arg(long, global = true, help_heading = FOR_EVERY_COMMAND, env = "KEYRACK_SITE", value_name = "NAME")]
    site: Option<String>,
    /// Your name, as it is written into the history; without it, the name of your account
    #[arg(long, global = true, help_heading = FOR_EVERY_COMMAND, env = "KEYRACK_DESK", value_name = "NAME")]
    desk: Option<String>,
    /// Print one JSON value on standard output; a refusal is one too, a fault stays a sentence on standard error
    #[arg(long, global = true, help_heading = FOR_EVERY_COMMAND)]
    json: bool,
}

impl Global {
    /// The URL of the database that the user named; an empty one is none.
    fn database_url(&self) -> Option<&str> {
        self.database_url.as_deref().filter(|url| !url.is_empty())
    }

    /// The house that the user named.
    fn site(&self) -> Option<&str> {
        self.site.as_deref().filter(|name| !name.is_empty())
    }

    /// Who is asking (R25).
    fn desk(&self) -> Desk {
        let named = self.desk.clone().filter(|name| !name.is_empty());
        Desk(
            named
                .or_else(account_name)
                .unwrap_or_else(|| "desk".to_owned()),
        )
    }
}

/// The name of the account that runs this program.
#[cfg(unix)]
fn account_name() -> Option<String> {
    let user = nix::unistd::User::from_uid(nix::unistd::Uid::current());
    user.ok().flatten().map(|user| user.name)
}

/// The name of the account that runs this program.
#[cfg(not(unix))]
fn account_name() -> Option<String> {
    std::env::var("USERNAME")
        .ok()
        .filter(|name| !name.is_empty())
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

/// For every command that changes something.
#[derive(Debug, Clone, Copy, Args)]
struct RequestArgument {
    /// The id of this request; asked again with the same id, it is done once
    #[arg(long, value_name = "UUID")]
    request_id: Option<Uuid>,
}

impl RequestArgument {
    fn id(self) -> RequestId {
        self.request_id.map_or_else(RequestId::fresh, RequestId)
    }
}

/// For every command that changes an existing claim.
#[derive(Debug, Clone, Copy, Args)]
struct ClaimArguments {
    /// The number of the claim
    #[arg(value_parser = number)]
    hold: i64,
    /// Refuse if the claim has changed since it had this version
    #[arg(long, value_name = "N")]
    expect_version: Option<i64>,
    #[command(flatten)]
    request: RequestArgument,
}

impl ClaimArguments {
    fn expect_version(self) -> Option<Version> {
        self.expect_version.map(Version)
    }
}

/// A number as every list prints it, or with the sign that it has on screen: `17`, `#17`.
fn number(typed: &str) -> Result<i64, String> {
    typed
        .strip_prefix('#')
        .unwrap_or(typed)
        .parse()
        .map_err(|_| "it is a number, as the hold printed it, like 17".into())
}

/// Why somebody does something, where it has to be said.
fn reason(typed: &str) -> Result<String, String> {
    if typed.trim().is_empty() {
        return Err("say why, in a word or two".into());
    }
    Ok(typed.to_owned())
}

/// For every command that makes a hold.
#[derive(Debug, Clone, Args)]
struct HoldArguments {
    #[command(flatten)]
    length: LengthArgument,
    /// For whom
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    guest: String,
    /// What else to know
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    note: String,
}

/// For every command that sets a deadline.
#[derive(Debug, Clone, Copy, Args)]
struct LengthArgument {
    /// How long to hold, like 10m; without it, as long as the house usually does
    #[arg(long, value_name = "DURATION", value_parser = hold_length)]
    ttl: Option<TimeDelta>,
}

/// The name of what is to be added.
fn new_name(typed: &str) -> Result<String, NameError> {
    check_name(typed)?;
    Ok(typed.to_owned())
}

/// Longer than any house lets anybody hold, and not longer than the database can be told of.
const LONGER_THAN_ALLOWED: TimeDelta = TimeDelta::days(100_000);

fn hold_length(typed: &str) -> Result<TimeDelta, duration::DurationError> {
    Ok(duration::parse(typed)?.min(LONGER_THAN_ALLOWED))
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

/// Prints a line for the person; if the terminal is gone there is nobody to read it.
fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Prints a line; whoever closed the other end of a pipe has read enough.
fn print(text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
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

/// Sends a command and shows what came back.
async fn execute(
    session: &Session,
    site_store: &SiteStore,
    id: RequestId,
    command: domain::Command,
) -> Result<Output, Failure> {
    let request = session.request(id, command.clone());
    let answer = site_store
        .execute_reporting(request, |progress| {
            // R24: neither success nor failure until the request id has been asked again.
            if progress == Progress::Checking {
                complain("The connection broke; checking what became of the command …");
            }
        })
        .await?;
    let site = site_store.site();
    let view = View {
        site,
        now: answer.now,
        repeated: answer.repeated,
    };
    match answer.outcome {
        Ok(Done::Slot(hold)) => Ok(view.slot(&hold)),
        Ok(Done::Stock(hold)) => Ok(view.stock(&hold)),
        Ok(Done::Room(room)) => Ok(output::room(
            &room,
            match command {
                domain::Command::RetireRoom { .. } => "retired",
                _ => "there",
            },
        )),
        Ok(Done::Item(item)) => Ok(output::item(&item)),
        Ok(Done::Group(group)) => Ok(view.group(&group)),
        Err(Refused { refusal, line, .. }) => {
            let alternatives = match &refusal {
                Refusal::SlotTaken(taken) if !taken.choices.is_empty() => {
                    let rooms = site_store.rooms_as_found().await?;
                    output::alternatives(
                        &command,
                        &taken.choices,
                        &rooms,
                        session.site(),
                        &site.calendar,
                    )
                }
                _ => Vec::new(),
            };
            Err(Failure::refused(refusal, &site.calendar)
                .in_line(line)
                .with_alternatives(alternatives))
        }
    }
}
