//! `keyrack db`: the database itself, Keyrack's own or the one that the user named.

use std::process::Stdio;

use clap::Subcommand;
use color_eyre::eyre::{WrapErr, eyre};
use percent_encoding::percent_decode_str;
use serde::Serialize;

use crate::cli::connect::{Session, Steps, ask, settings};
use crate::cli::failure::Failure;
use crate::cli::global::Global;
use crate::cli::output::Output;
use crate::cli::print::complain;
use crate::postgres::{self, Status, Stopped};
use crate::store::SchemaState;

/// What to do with the database.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start Keyrack's own server, and keep it running until `db stop`
    Start,
    /// Stop Keyrack's own server, or let the last console out stop it
    Stop,
    /// Say how the database is
    Status,
    /// Print a URL that psql takes, and keep Keyrack's own server running until `db stop`
    Url,
    /// Set the database up, or bring it up to this program
    Migrate,
    /// Open psql on the database
    Psql,
    /// Remove Keyrack's own database and everything in it
    Reset {
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Serialize)]
struct StatusJson<'a> {
    database: &'a str,
    running: bool,
    data_dir: Option<String>,
    url: Option<&'a str>,
    postgres: Option<u32>,
    process_id: Option<u32>,
    kept: Option<bool>,
    in_use: Option<bool>,
    schema: Option<&'a str>,
}

#[derive(Serialize)]
struct UrlJson<'a> {
    url: &'a str,
}

#[derive(Serialize)]
struct DoneJson {
    done: bool,
}

impl Command {
    pub(crate) async fn run(self, global: &Global) -> Result<Output, Failure> {
        match self {
            Self::Start => start(global).await,
            Self::Stop => stop(global).await,
            Self::Status => status(global).await,
            Self::Url => url(global).await,
            Self::Migrate => migrate(global).await,
            Self::Psql => psql(global).await,
            Self::Reset { yes } => reset(global, yes).await,
        }
    }
}

fn steps(global: &Global) -> Steps {
    if global.json {
        Steps::Silent
    } else {
        Steps::Slow
    }
}

/// These are about Keyrack's own server, and a URL names another.
fn only_own(global: &Global, what: &str) -> Result<(), Failure> {
    match global.database_url() {
        None => Ok(()),
        Some(_) => Err(Failure::Usage(format!(
            "A database URL is given (--database-url or DATABASE_URL), and Keyrack only {what} the server of its own. \
             Leave the URL out."
        ))),
    }
}

/// Keyrack's own server, up and set up, that stays when this program ends.
async fn kept(global: &Global) -> Result<String, Failure> {
    let session = Session::open(global, steps(global)).await?;
    let Some(server) = session.server() else {
        return Err(Failure::Fault(eyre!("there is no server of Keyrack's own")));
    };
    server.keep()?;
    let url = server.url();
    session.close().await;
    Ok(url)
}

async fn start(global: &Global) -> Result<Output, Failure> {
    only_own(global, "starts")?;
    let url = kept(global).await?;
    Ok(Output::new(
        "The server is running, and stays until `keyrack db stop`.",
        &UrlJson { url: &url },
    ))
}

async fn url(global: &Global) -> Result<Output, Failure> {
    let url = match global.database_url() {
        Some(url) => url.to_owned(),
        None => kept(global).await?,
    };
    Ok(Output::new(url.as_str(), &UrlJson { url: &url }))
}

async fn stop(global: &Global) -> Result<Output, Failure> {
    only_own(global, "stops")?;
    let (text, stopped) = match postgres::stop(&settings(global)).await? {
        Stopped::Stopped => ("The server is stopped.", true),
        Stopped::WasNotRunning => ("The server was not running.", true),
        Stopped::WhenLastLeaves => (
            "Others are using the server; the last of them to leave stops it.",
            false,
        ),
    };
    #[derive(Serialize)]
    struct StopJson {
        stopped: bool,
    }
    Ok(Output::new(text, &StopJson { stopped }))
}

async fn status(global: &Global) -> Result<Output, Failure> {
    if let Some(url) = global.database_url() {
        return status_of_named(global, url).await;
    }
    let mut json = StatusJson {
        database: "own",
        running: false,
        data_dir: None,
        url: None,
        postgres: None,
        process_id: None,
        kept: None,
        in_use: None,
        schema: None,
    };
    let status = postgres::status(&settings(global)).await?;
    let text = match &status {
        Status::Absent => {
            "Keyrack has no database of its own yet; the first start makes one.".to_owned()
        }
        Status::Stopped { data_dir } => {
            json.data_dir = Some(data_dir.display().to_string());
            format!(
                "Keyrack's own server is not running. Its data are in {}.",
                data_dir.display()
            )
        }
        Status::Running {
            data_dir,
            major_version,
            process_id,
            url,
            kept,
            in_use,
        } => {
            json.running = true;
            json.data_dir = Some(data_dir.display().to_string());
            json.url = Some(url);
            json.postgres = Some(*major_version);
            json.process_id = *process_id;
            json.kept = Some(*kept);
            json.in_use = Some(*in_use);
            let stays = if *kept {
                "It stays until `keyrack db stop`."
            } else {
                "The last one out stops it."
            };
            format!(
                "Keyrack's own PostgreSQL {major_version} is running{}. {stays}\n  data  {}\n  url   {url}",
                process_id
                    .map(|id| format!(" (process {id})"))
                    .unwrap_or_default(),
                data_dir.display()
            )
        }
    };
    Ok(Output::new(text, &json))
}

async fn status_of_named(global: &Global, url: &str) -> Result<Output, Failure> {
    let session = Session::connect(global, steps(global)).await?;
    let schema = session.store().schema_state().await?;
    session.close().await;
    let (word, sentence) = match schema {
        SchemaState::Absent => (
            "absent",
            "It is not set up for Keyrack; `keyrack db migrate` does that.",
        ),
        SchemaState::Older => (
            "older",
            "An older Keyrack set it up; `keyrack db migrate` brings it up to date.",
        ),
        SchemaState::EarlierBuild => (
            "earlier build",
            "An earlier build of Keyrack set it up, and this one can't read it; use that build, or a new database.",
        ),
        SchemaState::Current => ("current", "It is set up for this Keyrack."),
        SchemaState::Newer { .. } => ("newer", "A newer Keyrack set it up; update Keyrack."),
    };
    let (without_password, _) = split_password(url);
    let json = StatusJson {
        database: "named",
        running: true,
        data_dir: None,
        url: Some(&without_password),
        postgres: None,
        process_id: None,
        kept: None,
        in_use: None,
        schema: Some(word),
    };
    Ok(Output::new(
        format!("The database answers. {sentence}"),
        &json,
    ))
}

async fn migrate(global: &Global) -> Result<Output, Failure> {
    let mut session = Session::connect(global, steps(global)).await?;
    if session.server().is_some()
        && session.store().schema_state().await? == SchemaState::EarlierBuild
    {
        session.put_aside().await?;
    }
    let outcome = session.store().migrate_again(&|step| complain(&step)).await;
    session.close().await;
    outcome?;
    Ok(migrated())
}

fn migrated() -> Output {
    #[derive(Serialize)]
    struct MigrateJson {
        schema: &'static str,
    }
    let json = MigrateJson { schema: "current" };
    Output::new("The database is set up for this Keyrack.", &json)
}

async fn reset(global: &Global, yes: bool) -> Result<Output, Failure> {
    only_own(global, "removes")?;
    let question =
        "This removes Keyrack's own database and everything booked in it, for good. Go on?";
    if !yes && (global.json || !ask(question)) {
        return Err(Failure::Usage(
            "Nothing was removed. To remove Keyrack's own database without being asked, add --yes."
                .into(),
        ));
    }
    postgres::destroy(&settings(global))
        .await
        .map_err(|error| Failure::Fault(error.into()))?;
    Ok(Output::new(
        "Keyrack's own database is removed; the next start makes a fresh one.",
        &DoneJson { done: true },
    ))
}

/// Runs psql with this terminal, and keeps the server for as long as it runs.
async fn psql(global: &Global) -> Result<Output, Failure> {
    let session = Session::open(global, steps(global)).await?;
    let own = session
        .server()
        .map(|server| (server.client_program("psql"), server.url()));
    let (program, url) = match own {
        Some((program, url)) => (program, url),
        None => (None, global.database_url().unwrap_or_default().to_owned()),
    };
    let (url, password) = split_password(&url);
    let mut command = tokio::process::Command::new(program.unwrap_or_else(|| "psql".into()));
    command.arg(url).stdin(Stdio::inherit());
    // So that everything is found by its name there, also in a database whose owner has not said so.
    let others = std::env::var("PGOPTIONS").unwrap_or_default();
    command.env(
        "PGOPTIONS",
        format!("-c search_path=\"$user\",public,keyrack {others}"),
    );
    if let Some(password) = password {
        // Not as an argument, which every user of the machine can read.
        command.env("PGPASSWORD", password);
    }
    let mut child = command.spawn().wrap_err(
        "psql could not be started. It comes with PostgreSQL's client programs (on Debian the package postgresql-client)",
    )?;
    let ended = loop {
        tokio::select! {
            ended = child.wait() => break ended,
            // Ctrl-C in psql cancels a query; it is not meant for us.
            _ = tokio::signal::ctrl_c() => {}
        }
    };
    session.close().await;
    let ended = ended.wrap_err("psql could not be waited for")?;
    Ok(Output {
        text: String::new(),
        json: String::new(),
        failed: !ended.success(),
    })
}

/// A URL without its password, and the password.
fn split_password(url: &str) -> (String, Option<String>) {
    let split = || {
        let (scheme, rest) = url.split_once("://")?;
        let authority = rest.split(['/', '?']).next()?;
        let (user_and_password, _) = authority.rsplit_once('@')?;
        let (user, password) = user_and_password.split_once(':')?;
        let after = &rest[user_and_password.len()..];
        let password = percent_decode_str(password).decode_utf8().ok()?;
        Some((format!("{scheme}://{user}{after}"), password.into_owned()))
    };
    match split() {
        Some((url, password)) => (url, Some(password)),
        None => (url.to_owned(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_taken_out_of_a_url() {
        let cases = [
            (
                "postgres://anna:s%40cret@db.example/house?sslmode=require",
                "postgres://anna@db.example/house?sslmode=require",
                Some("s@cret"),
            ),
            (
                "postgres://anna@db.example/house",
                "postgres://anna@db.example/house",
                None,
            ),
            (
                "postgres:///house?host=/tmp",
                "postgres:///house?host=/tmp",
                None,
            ),
            ("nonsense", "nonsense", None),
        ];
        for (url, without, password) in cases {
            assert_eq!(
                split_password(url),
                (without.to_owned(), password.map(str::to_owned)),
                "{url}"
            );
        }
    }
}
