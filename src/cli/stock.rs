//! `keyrack stock`: items that are used up when sold, and the claims on them.

use clap::Subcommand;

use crate::cli::arguments::{self, ClaimArguments, HoldArguments, LengthArgument, RequestArgument};
use crate::cli::connect::Session;
use crate::cli::execute::execute;
use crate::cli::failure::Failure;
use crate::cli::lookup;
use crate::cli::output::{self, Output};
use crate::domain::{self, ClaimState, NewItem, StockHoldId};
use crate::store::{SiteStore, StockFilter};

/// What to do with stock. ITEM is a name, or #12 for an id.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add an item
    Add {
        /// Its name
        #[arg(value_parser = arguments::new_name)]
        name: String,
        /// How many there are
        #[arg(allow_negative_numbers = true)]
        quantity: i64,
        #[command(flatten)]
        request: RequestArgument,
    },
    /// List the items
    List,
    /// New units have come
    Receive {
        /// A name, or #12
        item: String,
        /// How many
        #[arg(allow_negative_numbers = true)]
        quantity: i64,
        /// Why
        #[arg(long, value_name = "TEXT", value_parser = arguments::reason)]
        reason: String,
        #[command(flatten)]
        request: RequestArgument,
    },
    /// The count was wrong: correct it up or down
    Adjust {
        /// A name, or #12
        item: String,
        /// The difference, like 3 or -2
        #[arg(allow_negative_numbers = true)]
        change: i64,
        /// Why
        #[arg(long, value_name = "TEXT", value_parser = arguments::reason)]
        reason: String,
        #[command(flatten)]
        request: RequestArgument,
    },
    /// Take no new claims on an item; those that it has stay
    Retire {
        /// A name, or #12
        item: String,
        #[command(flatten)]
        request: RequestArgument,
    },
    /// Hold a quantity of an item until a deadline
    Hold {
        /// A name, or #12
        item: String,
        /// How many
        #[arg(allow_negative_numbers = true)]
        quantity: i64,
        #[command(flatten)]
        hold: HoldArguments,
        #[command(flatten)]
        request: RequestArgument,
    },
    /// Sell what is held; a sale is final
    Confirm {
        #[command(flatten)]
        claim: ClaimArguments,
    },
    /// Give held units back
    Cancel {
        #[command(flatten)]
        claim: ClaimArguments,
        /// Why
        #[arg(
            long,
            value_name = "TEXT",
            default_value = "",
            hide_default_value = true
        )]
        reason: String,
    },
    /// Give a hold more time, from now on
    Renew {
        #[command(flatten)]
        claim: ClaimArguments,
        #[command(flatten)]
        length: LengthArgument,
    },
    /// Show one claim
    Show {
        /// Its number
        #[arg(value_parser = arguments::number)]
        hold: i64,
    },
    /// List claims
    Holds {
        /// Only on this item: a name, or #12
        #[arg(long)]
        item: Option<String>,
        #[arg(long, help = arguments::state_help())]
        state: Option<ClaimState>,
        /// Only where the guest's name contains this
        #[arg(long, value_name = "TEXT")]
        guest: Option<String>,
    },
}

impl Command {
    pub(crate) async fn run(self, session: &Session) -> Result<Output, Failure> {
        let site_store = session.site_store().await?;
        let (id, command) = match self {
            Self::List => return Ok(output::items(&site_store.items_as_found().await?)),
            Self::Show { hold } => return show(&site_store, StockHoldId(hold)).await,
            Self::Holds { item, state, guest } => {
                let item = match item {
                    Some(name) => Some(lookup::item(&site_store, &name).await?.id),
                    None => None,
                };
                return holds(&site_store, StockFilter { item, state, guest }).await;
            }
            Self::Add {
                name,
                quantity,
                request,
            } => {
                let quantity = lookup::countable(&site_store, quantity)?;
                let item = NewItem { name, quantity };
                (request.id(), domain::Command::AddItem { item })
            }
            Self::Retire { item, request } => {
                let item = lookup::item(&site_store, &item).await?.id;
                (request.id(), domain::Command::RetireItem { item })
            }
            Self::Receive {
                item,
                quantity,
                reason,
                request,
            } => {
                let command = domain::Command::ReceiveStock {
                    item: lookup::item(&site_store, &item).await?.id,
                    quantity: lookup::countable(&site_store, quantity)?,
                    reason,
                };
                (request.id(), command)
            }
            Self::Adjust {
                item,
                change,
                reason,
                request,
            } => {
                let command = domain::Command::AdjustStock {
                    item: lookup::item(&site_store, &item).await?.id,
                    change: lookup::countable(&site_store, change)?,
                    reason,
                };
                (request.id(), command)
            }
            Self::Hold {
                item,
                quantity,
                hold,
                request,
            } => {
                let command = domain::Command::HoldStock {
                    item: lookup::item(&site_store, &item).await?.id,
                    quantity: lookup::countable(&site_store, quantity)?,
                    ttl: hold.length.ttl,
                    guest: hold.guest,
                    note: hold.note,
                };
                (request.id(), command)
            }
            Self::Confirm { claim } => {
                let command = domain::Command::ConfirmStock {
                    hold: StockHoldId(claim.hold),
                    expect_version: claim.expect_version(),
                };
                (claim.request.id(), command)
            }
            Self::Cancel { claim, reason } => {
                let command = domain::Command::CancelStock {
                    hold: StockHoldId(claim.hold),
                    expect_version: claim.expect_version(),
                    reason,
                };
                (claim.request.id(), command)
            }
            Self::Renew { claim, length } => {
                let command = domain::Command::RenewStock {
                    hold: StockHoldId(claim.hold),
                    expect_version: claim.expect_version(),
                    ttl: length.ttl,
                };
                (claim.request.id(), command)
            }
        };
        execute(session, &site_store, id, command).await
    }
}

async fn show(site_store: &SiteStore, hold: StockHoldId) -> Result<Output, Failure> {
    let Some(found) = site_store.stock_hold(hold).await? else {
        return Err(Failure::no_such_hold(site_store, hold.0).await);
    };
    Ok(lookup::printer(site_store).await?.stock(&found))
}

async fn holds(site_store: &SiteStore, filter: StockFilter) -> Result<Output, Failure> {
    let holds = site_store.stock_holds(&filter).await?;
    Ok(lookup::printer(site_store).await?.stocks(&holds))
}
