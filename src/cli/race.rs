//! `keyrack race`: many clients that want the same thing at the same moment.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use futures_util::future::{join_all, try_join_all};
use tokio::sync::Barrier;

use crate::cli::arguments::{self, LengthArgument};
use crate::cli::connect::Session;
use crate::cli::failure::Failure;
use crate::cli::lookup;
use crate::cli::output::{self, Client, Output, Reply};
use crate::domain::{Command as Wanted, Desk, Request, SlotDetails, Success};
use crate::store::{SiteStore, StoreError};

/// What they want: a room for a period, or a quantity of an item. Each client has a connection of its own, and all ask
/// at once. Who wins holds as usual.
#[derive(Debug, Args)]
#[command(after_help = arguments::TIMES)]
#[command(group(clap::ArgGroup::new("wanted").args(["room", "stock"]).required(true)))]
pub(crate) struct Command {
    /// How many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    clients: u16,
    /// They want a room: a name or #12, when it starts, when it ends
    #[arg(long, num_args = 3, value_names = ["ROOM", "FROM", "TO"], allow_negative_numbers = true)]
    room: Vec<String>,
    /// They want stock: a name or #12, and how many each
    #[arg(long, num_args = 2, value_names = ["ITEM", "QUANTITY"])]
    stock: Vec<String>,
    #[command(flatten)]
    length: LengthArgument,
}

impl Command {
    /// Lets them run, and says how it went.
    pub(crate) async fn run(self, session: &Session) -> Result<Output, Failure> {
        let site_store = session.site_store().await?;
        let wanted = self.wanted(&site_store).await?;
        let site_stores = try_join_all((0..self.clients).map(|_| another(&site_store))).await?;
        let line = Arc::new(Barrier::new(site_stores.len()));
        let clients = site_stores
            .into_iter()
            .zip(1..)
            .map(|(site_store, number)| {
                tokio::spawn(ask(site_store, number, wanted.clone(), Arc::clone(&line)))
            });
        let clients = join_all(clients)
            .await
            .into_iter()
            .collect::<Result<Vec<_>, _>>();
        let clients = clients.map_err(color_eyre::eyre::Report::from)?;
        Ok(output::race(&clients, &site_store.site().calendar))
    }

    async fn wanted(&self, site_store: &SiteStore) -> Result<Wanted, Failure> {
        let (ttl, guest, note) = (self.length.ttl, String::new(), String::new());
        if let [name, from, to] = self.room.as_slice() {
            let room = lookup::room(site_store, name).await?;
            return Ok(Wanted::HoldSlot {
                room: room.id,
                period: lookup::period(site_store, &room, from, to).await?,
                ttl,
                details: SlotDetails::default(),
            });
        }
        let [name, quantity] = self.stock.as_slice() else {
            return Err(Failure::Usage(
                "Say what they want: --room ROOM FROM TO, or --stock ITEM QUANTITY.".into(),
            ));
        };
        Ok(Wanted::HoldStock {
            item: lookup::item(site_store, name).await?.id,
            quantity: lookup::countable(site_store, lookup::quantity(quantity)?)?,
            ttl,
            guest,
            note,
        })
    }
}

/// The house as another client sees it, connected.
async fn another(site_store: &SiteStore) -> Result<SiteStore, Failure> {
    let store = site_store.store().another_desk().await.map_err(|error| match error {
        StoreError::OutOfReach { reason } => Failure::OutOfReach(format!(
            "Not every client could reach the database: {reason}. Nobody has asked yet; let fewer run with --clients."
        )),
        other => other.into(),
    })?;
    Ok(store.site_store(site_store.site().clone()))
}

/// Waits for the others, asks, and leaves.
async fn ask(site_store: SiteStore, number: usize, wanted: Wanted, line: Arc<Barrier>) -> Client {
    let request = Request::fresh(Desk(format!("client {number}")), wanted);
    line.wait().await;
    let started = Instant::now();
    let answer = site_store.execute(request).await;
    let waited: Duration = started.elapsed();
    site_store.store().close().await;
    let reply = match answer {
        Ok(answer) => match answer.outcome {
            Ok(Success::Slot(hold)) => Reply::Held(hold.id.0),
            Ok(Success::Stock(hold)) => Reply::Held(hold.id.0),
            Ok(_) => Reply::None("Something else was done.".into()),
            Err(refused) => Reply::Refused(refused.refusal),
        },
        Err(error) => Reply::None(error.to_string()),
    };
    Client {
        number,
        reply,
        waited,
    }
}
