//! A command to a site, and the output of what came back.

use crate::cli::connect::Session;
use crate::cli::failure::Failure;
use crate::cli::output::{self, ClaimPrinter, Output};
use crate::cli::print::complain;
use crate::domain::{Command, Refusal, RefusalAnswer, RequestId, Success};
use crate::store::{Progress, SiteStore};

/// Sends a command and shows what came back.
pub(crate) async fn execute(
    session: &Session,
    site_store: &SiteStore,
    id: RequestId,
    command: Command,
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
    let printer = ClaimPrinter {
        site,
        now: answer.now,
        repeated: answer.repeated,
    };
    match answer.outcome {
        Ok(Success::Slot(hold)) => Ok(printer.slot(&hold)),
        Ok(Success::Stock(hold)) => Ok(printer.stock(&hold)),
        Ok(Success::Room(room)) => Ok(output::room(
            &room,
            match command {
                Command::RetireRoom { .. } => "retired",
                _ => "there",
            },
        )),
        Ok(Success::Item(item)) => Ok(output::item(&item)),
        Ok(Success::Group(group)) => Ok(printer.group(&group)),
        Err(RefusalAnswer { refusal, line, .. }) => {
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
