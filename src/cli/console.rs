//! `keyrack` without a command: the console.

use std::io::IsTerminal;
use std::sync::Arc;

use serde::Serialize;

use crate::cli::connect::{Session, Steps};
use crate::cli::failure::Failure;
use crate::cli::global::Global;
use crate::cli::output::Output;
use crate::config::Config;
use crate::console::actions;
use crate::console::run::terminal::{self, Context};
use crate::postgres::Server;
use crate::store::Revive;

const GREETING: &str = r#"Welcome to Keyrack. There is no house in this database yet: describe one in a file,

    [site]
    name = "Riverside House"
    time_zone = "Europe/London"

    [[room]]
    name = "Blue room"
    capacity = 8

    [[item]]
    name = "Breakfast"
    total = 40

then run `keyrack site apply FILE.toml`, and `keyrack` again. assets/sample-house.toml, next to Keyrack's source,
explains everything that such a file can say."#;

#[derive(Serialize)]
struct Nothing {}

/// Opens the console, until the person leaves it.
pub(crate) async fn run(global: &Global) -> Result<Output, Failure> {
    if global.json {
        return Err(Failure::Usage(
            "--json needs a command; `keyrack list --json` has what the console shows.".into(),
        ));
    }
    if !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        return Err(Failure::Usage(
            "The console needs a terminal. `keyrack list` says in plain text what it shows.".into(),
        ));
    }
    let config = config()?;
    let session = Session::open(global, Steps::Every).await?;
    let result = show(&session, config).await;
    session.close().await;
    result
}

/// The user's configuration, if it can be meant.
pub(crate) fn config() -> Result<Config, Failure> {
    let config = Config::load().map_err(|error| Failure::Usage(error.to_string()))?;
    actions::keymap(&config.keys()).map_err(|error| {
        Failure::Usage(format!(
            "The keys in the configuration can't be used: {error}."
        ))
    })?;
    Ok(config)
}

async fn show(session: &Session, config: Config) -> Result<Output, Failure> {
    if session.is_empty() {
        return Ok(Output::new(GREETING, &Nothing {}));
    }
    let context = Context {
        // Not as it was found: a console stays for longer than that.
        site_store: session
            .store()
            .site_store(session.site_store().await?.site().clone()),
        desk: session.desk().clone(),
        config,
        revive: session.shared_server().map(revive),
    };
    terminal::run(context).await?;
    Ok(Output::new("", &Nothing {}))
}

/// Brings Keyrack's own server back when it is lost. A console goes on asking, so a failure is only logged.
pub(crate) fn revive(server: Arc<Server>) -> Revive {
    Arc::new(move || {
        let server = Arc::clone(&server);
        Box::pin(async move {
            if let Err(error) = server.ensure_running().await {
                tracing::warn!(%error, "the embedded server could not be brought back");
            }
        })
    })
}
