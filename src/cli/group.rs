//! `keyrack group`: several claims made, confirmed, renewed and cancelled as one (R20).

use std::str::FromStr;

use clap::Subcommand;

use crate::cli::arguments::{self, LengthArgument, RequestArgument, SlotArguments};
use crate::cli::connect::Session;
use crate::cli::execute::execute;
use crate::cli::failure::Failure;
use crate::cli::lookup;
use crate::cli::output::Output;
use crate::domain::{self, FailedLine, GroupId, LineKind, SlotLine, StockLine};
use crate::store::SiteStore;

/// What to do with groups. A group is held as a whole or not at all, and its members share one deadline.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Hold rooms and stock as one: everything or nothing
    #[command(after_help = arguments::TIMES)]
    #[command(group(clap::ArgGroup::new("lines").args(["rooms", "stock"]).multiple(true).required(true)))]
    Hold {
        /// A room, when it starts and when it ends, like "Blue room,2027-01-01T10:00,12:00"; may be given several times
        #[arg(long = "room", value_name = "ROOM,FROM,TO")]
        rooms: Vec<RoomText>,
        /// An item and how many, like "Breakfast,8"; may be given several times
        #[arg(long, value_name = "ITEM,QUANTITY")]
        stock: Vec<StockText>,
        #[command(flatten)]
        slot: SlotArguments,
        #[command(flatten)]
        request: RequestArgument,
    },
    /// Make all that is held of a group last
    Confirm {
        /// Its number
        #[arg(value_parser = arguments::number)]
        group: i64,
        #[command(flatten)]
        request: RequestArgument,
    },
    /// Give all that is held of a group more time
    Renew {
        /// Its number
        #[arg(value_parser = arguments::number)]
        group: i64,
        #[command(flatten)]
        length: LengthArgument,
        #[command(flatten)]
        request: RequestArgument,
    },
    /// Give a whole group back; refused if stock of it is sold
    Cancel {
        /// Its number
        #[arg(value_parser = arguments::number)]
        group: i64,
        /// Why
        #[arg(
            long,
            value_name = "TEXT",
            default_value = "",
            hide_default_value = true
        )]
        reason: String,
        /// Give back its rooms and leave its stock, sold or held
        #[arg(long)]
        rooms_only: bool,
        #[command(flatten)]
        request: RequestArgument,
    },
    /// Show a group and its claims
    Show {
        /// Its number
        #[arg(value_parser = arguments::number)]
        group: i64,
    },
}

/// `ROOM,FROM,TO`. A room's name may have commas in it.
#[derive(Debug, Clone)]
pub(crate) struct RoomText {
    room: String,
    from: String,
    to: String,
}

impl FromStr for RoomText {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.rsplitn(3, ',').map(|part| part.trim().to_owned());
        match (parts.next(), parts.next(), parts.next()) {
            (Some(to), Some(from), Some(room)) => Ok(Self { room, from, to }),
            _ => Err("write a room, its start and its end with commas between: \
                      \"Blue room,2027-01-01T10:00,12:00\""),
        }
    }
}

/// `ITEM,QUANTITY`. An item's name may have commas in it.
#[derive(Debug, Clone)]
pub(crate) struct StockText {
    item: String,
    quantity: i64,
}

impl FromStr for StockText {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.rsplit_once(',')
            .and_then(|(item, quantity)| {
                Some(Self {
                    item: item.trim().to_owned(),
                    quantity: quantity.trim().parse().ok()?,
                })
            })
            .ok_or("write an item and a number with a comma between: \"Breakfast,8\"")
    }
}

impl Command {
    pub(crate) async fn run(self, session: &Session) -> Result<Output, Failure> {
        let site_store = session.site_store().await?;
        let (id, command) = match self {
            Self::Show { group } => return show(&site_store, GroupId(group)).await,
            Self::Hold {
                rooms,
                stock,
                slot,
                request,
            } => {
                let command = domain::Command::HoldGroup {
                    rooms: room_lines(&site_store, &rooms).await?,
                    stock: stock_lines(&site_store, &stock).await?,
                    ttl: slot.ttl(),
                    details: slot.details(),
                };
                (request.id(), command)
            }
            Self::Confirm { group, request } => {
                let group = GroupId(group);
                (request.id(), domain::Command::ConfirmGroup { group })
            }
            Self::Renew {
                group,
                length,
                request,
            } => {
                let command = domain::Command::RenewGroup {
                    group: GroupId(group),
                    ttl: length.ttl,
                };
                (request.id(), command)
            }
            Self::Cancel {
                group,
                reason,
                rooms_only,
                request,
            } => {
                let command = domain::Command::CancelGroup {
                    group: GroupId(group),
                    reason,
                    rooms_only,
                };
                (request.id(), command)
            }
        };
        execute(session, &site_store, id, command).await
    }
}

async fn room_lines(site_store: &SiteStore, texts: &[RoomText]) -> Result<Vec<SlotLine>, Failure> {
    let mut lines = Vec::new();
    for (text, number) in texts.iter().zip(1..) {
        let kind = LineKind::Room;
        let line = room_line(site_store, text).await;
        lines.push(line.map_err(|failure| failure.in_line(Some(FailedLine { kind, number })))?);
    }
    Ok(lines)
}

async fn room_line(site_store: &SiteStore, text: &RoomText) -> Result<SlotLine, Failure> {
    let room = lookup::room(site_store, &text.room).await?;
    Ok(SlotLine {
        room: room.id,
        period: lookup::period(site_store, &room, &text.from, &text.to).await?,
    })
}

async fn stock_lines(
    site_store: &SiteStore,
    texts: &[StockText],
) -> Result<Vec<StockLine>, Failure> {
    let mut lines = Vec::new();
    for (text, number) in texts.iter().zip(1..) {
        let kind = LineKind::Stock;
        let line = stock_line(site_store, text).await;
        lines.push(line.map_err(|failure| failure.in_line(Some(FailedLine { kind, number })))?);
    }
    Ok(lines)
}

async fn stock_line(site_store: &SiteStore, text: &StockText) -> Result<StockLine, Failure> {
    Ok(StockLine {
        item: lookup::item(site_store, &text.item).await?.id,
        quantity: lookup::countable(site_store, text.quantity)?,
    })
}

async fn show(site_store: &SiteStore, group: GroupId) -> Result<Output, Failure> {
    let Some(found) = site_store.group(group).await? else {
        return Err(Failure::no_such_hold(site_store, group.0).await);
    };
    Ok(lookup::printer(site_store).await?.group(&found))
}
