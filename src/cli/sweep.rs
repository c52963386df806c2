//! `keyrack sweep`: writes `expired` over holds that are due (R11), once, or every second until it is stopped.

use std::time::Duration;

use clap::Args;
use serde::Serialize;

use crate::cli::connect::Session;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::print::complain;
use crate::cli::stop::Stop;
use crate::domain::Desk;
use crate::store::{SiteStore, StoreError};

/// How often to look.
#[derive(Debug, Args)]
pub(crate) struct Command {
    /// Sweep once and end; without it, every second until stopped
    #[arg(long)]
    once: bool,
}

#[derive(Serialize)]
struct SweepJson {
    expired: i64,
}

const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_WHILE_AWAY: Duration = Duration::from_secs(5);

impl Command {
    /// Sweeps, and says how many holds expired in all.
    pub(crate) async fn run(self, session: &Session) -> Result<Output, Failure> {
        let site_store = session.site_store().await?;
        let expired = if self.once {
            site_store.sweep(session.desk()).await?
        } else {
            until_stopped(&site_store, session.desk()).await?
        };
        let text = match expired {
            0 => "Nothing was due.".to_owned(),
            1 => "1 hold expired.".to_owned(),
            _ => format!("{expired} holds expired."),
        };
        Ok(Output::new(text, &SweepJson { expired }))
    }
}

async fn until_stopped(site_store: &SiteStore, desk: &Desk) -> Result<i64, Failure> {
    let mut stop = Stop::new()?;
    let mut expired = 0;
    let mut away = false;
    loop {
        // Not inside the select: a sweep is a write, and nobody may drop it halfway.
        let pause = match site_store.sweep(desk).await {
            Ok(count) => {
                expired += count;
                away = false;
                PAUSE
            }
            Err(error @ StoreError::OutOfReach { .. }) => {
                if !away {
                    complain(&error.to_string());
                }
                away = true;
                PAUSE_WHILE_AWAY
            }
            Err(error) => return Err(error.into()),
        };
        tokio::select! {
            () = stop.wait() => return Ok(expired),
            () = tokio::time::sleep(pause) => {}
        }
    }
}
