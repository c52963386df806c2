//! `keyrack history`: who did what, when and why (R25).

use clap::Args;
use uuid::Uuid;

use crate::cli::arguments;
use crate::cli::connect::Session;
use crate::cli::failure::Failure;
use crate::cli::output::{self, Output};
use crate::domain::{RequestId, SlotHoldId, StockHoldId};
use crate::store::HistoryOf;

/// What to tell the history of; the whole house, if nothing is named.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct Command {
    /// Of one claim on a room
    #[arg(long, value_name = "N", value_parser = arguments::number)]
    room_hold: Option<i64>,
    /// Of one claim on stock
    #[arg(long, value_name = "N", value_parser = arguments::number)]
    stock_hold: Option<i64>,
    /// Of one request
    #[arg(long, value_name = "UUID")]
    request: Option<Uuid>,
}

impl Command {
    /// Events, oldest first.
    pub(crate) async fn run(self, session: &Session) -> Result<Output, Failure> {
        let of = match (self.room_hold, self.stock_hold, self.request) {
            (Some(hold), ..) => HistoryOf::SlotHold(SlotHoldId(hold)),
            (_, Some(hold), _) => HistoryOf::StockHold(StockHoldId(hold)),
            (.., Some(request)) => HistoryOf::Request(RequestId(request)),
            (None, None, None) => HistoryOf::Site,
        };
        let site_store = session.site_store().await?;
        let events = site_store.history(of).await?;
        // Whatever exists has a history.
        if let (true, Some(hold_id)) = (events.is_empty(), self.room_hold.or(self.stock_hold)) {
            return Err(Failure::no_such_hold(&site_store, hold_id).await);
        }
        Ok(output::events(&events, &site_store.site().calendar))
    }
}
