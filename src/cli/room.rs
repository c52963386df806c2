//! `keyrack room`: rooms and the claims on them.

mod target;

use chrono::TimeDelta;
use clap::Subcommand;

use crate::cli::arguments::{
    self, ClaimArguments, LengthArgument, RequestArgument, SlotArguments, SlotEditArguments,
};
use crate::cli::connect::Session;
use crate::cli::execute::execute;
use crate::cli::failure::Failure;
use crate::cli::lookup;
use crate::cli::output::{self, Output};
use crate::domain::{
    self, BookedBy, ClaimState, NewRoom, Period, PeriodError, SlotHoldId, duration,
};
use crate::store::{FreeSearch, SiteStore, SlotFilter};
use target::Target;

/// What to do with rooms. ROOM is a name, or #12 for an id.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add a room
    Add {
        /// Its name
        #[arg(value_parser = arguments::new_name)]
        name: String,
        /// How many people fit in
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(i32).range(1..))]
        capacity: i32,
        /// By the hour or by the night
        #[arg(long, value_name = "hour|night", default_value_t = BookedBy::Hour)]
        booked_by: BookedBy,
        /// Time to make it ready after a booking, like 15m
        #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = duration::parse)]
        turnaround: TimeDelta,
        /// What it has; may be given several times
        #[arg(long = "feature", value_name = "WORD")]
        features: Vec<String>,
        #[command(flatten)]
        request: RequestArgument,
    },
    /// List the rooms
    List,
    /// Take no new claims on a room; those that it has stay
    Retire {
        /// A name, or #12
        room: String,
        #[command(flatten)]
        request: RequestArgument,
    },
    /// Hold a room until a deadline
    #[command(after_help = arguments::TIMES)]
    Hold {
        /// A name, or #12
        room: String,
        /// When it starts: 2027-01-01T10:00, "tomorrow 10:00", now; or the date of arrival
        #[arg(allow_negative_numbers = true)]
        from: String,
        /// When it ends: 2027-01-01T11:30, 11:30, 24:00; or the date of departure
        #[arg(allow_negative_numbers = true)]
        to: String,
        #[command(flatten)]
        slot: SlotArguments,
        #[command(flatten)]
        request: RequestArgument,
    },
    /// Take a room for the house itself
    #[command(after_help = arguments::TIMES)]
    Block {
        /// A name, or #12
        room: String,
        /// When it starts
        #[arg(allow_negative_numbers = true)]
        from: String,
        /// When it ends
        #[arg(allow_negative_numbers = true)]
        to: String,
        /// Why
        #[arg(long, value_name = "TEXT", value_parser = arguments::reason)]
        reason: String,
        #[command(flatten)]
        request: RequestArgument,
    },
    /// Make a hold last
    Confirm {
        #[command(flatten)]
        claim: ClaimArguments,
    },
    /// Give a room back
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
    /// Change what is written on a claim; what is not named stays
    Edit {
        #[command(flatten)]
        claim: ClaimArguments,
        #[command(flatten)]
        edit: SlotEditArguments,
    },
    /// Give a hold more time, from now on
    Renew {
        #[command(flatten)]
        claim: ClaimArguments,
        #[command(flatten)]
        length: LengthArgument,
    },
    /// Move a claim to another room or time, or make it longer or shorter; what is not named stays
    #[command(after_help = arguments::TIMES)]
    #[command(group(clap::ArgGroup::new("change").args(["to_room", "from", "to"]).multiple(true).required(true)))]
    Move {
        #[command(flatten)]
        claim: ClaimArguments,
        /// The other room: a name, or #12
        #[arg(long, value_name = "ROOM")]
        to_room: Option<String>,
        /// When it starts, in the way of the room that it moves to
        #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
        from: Option<String>,
        /// When it ends
        #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
        to: Option<String>,
    },
    /// Let two claims exchange rooms and times as one change; shows the first
    Swap {
        #[command(flatten)]
        claim: ClaimArguments,
        /// The number of the other claim
        #[arg(value_parser = arguments::number)]
        other: i64,
    },
    /// Show one claim
    Show {
        /// Its number
        #[arg(value_parser = arguments::number)]
        hold: i64,
    },
    /// List claims
    #[command(after_help = arguments::TIMES)]
    Holds {
        /// Only on this room: a name, or #12
        #[arg(long)]
        room: Option<String>,
        /// Only what ends after this time or date
        #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
        from: Option<String>,
        /// Only what starts before this time or date
        #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
        to: Option<String>,
        #[arg(long, help = arguments::state_help())]
        state: Option<ClaimState>,
        /// Only where the guest's name contains this
        #[arg(long, value_name = "TEXT")]
        guest: Option<String>,
    },
    /// Find the first free time in each room that will do
    #[command(after_help = arguments::TIMES)]
    Free {
        /// When it may start at the earliest: a time, or a date
        #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
        from: String,
        /// When it must have ended: a time, or the last date
        #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
        to: String,
        /// For how long, like 2h; for rooms by the night, 2d are two nights
        #[arg(long = "for", value_name = "DURATION", value_parser = duration::parse)]
        length: TimeDelta,
        /// For how many people
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
        party: Option<i32>,
        /// What the room must have; may be given several times
        #[arg(long = "feature", value_name = "WORD")]
        features: Vec<String>,
    },
}

impl Command {
    pub(crate) async fn run(self, session: &Session) -> Result<Output, Failure> {
        let site_store = session.site_store().await?;
        let (id, command) = match self {
            Self::List => return Ok(output::rooms(&site_store.rooms_as_found().await?)),
            Self::Show { hold } => return show(&site_store, SlotHoldId(hold)).await,
            Self::Holds {
                room,
                from,
                to,
                state,
                guest,
            } => {
                let filter = filter(&site_store, room, from, to, state, guest).await?;
                return holds(&site_store, filter).await;
            }
            Self::Free {
                from,
                to,
                length,
                party,
                features,
            } => {
                let search = FreeSearch {
                    window: window(&site_store, &from, &to, length).await?,
                    length,
                    party,
                    features,
                };
                let found = site_store.find_free(&search).await?;
                return Ok(output::free(&found, site_store.site()));
            }
            Self::Add {
                name,
                capacity,
                booked_by,
                turnaround,
                features,
                request,
            } => {
                let room = NewRoom {
                    capacity,
                    booked_by,
                    turnaround,
                    features,
                    ..NewRoom::named(name)
                };
                (request.id(), domain::Command::AddRoom { room })
            }
            Self::Retire { room, request } => {
                let room = lookup::room(&site_store, &room).await?.id;
                (request.id(), domain::Command::RetireRoom { room })
            }
            Self::Hold {
                room,
                from,
                to,
                slot,
                request,
            } => {
                let room = lookup::room(&site_store, &room).await?;
                let period = lookup::period(&site_store, &room, &from, &to).await?;
                let command = domain::Command::HoldSlot {
                    room: room.id,
                    period,
                    ttl: slot.ttl(),
                    details: slot.details(),
                };
                (request.id(), command)
            }
            Self::Block {
                room,
                from,
                to,
                reason,
                request,
            } => {
                let room = lookup::room(&site_store, &room).await?;
                let period = lookup::period(&site_store, &room, &from, &to).await?;
                let command = domain::Command::BlockSlot {
                    room: room.id,
                    period,
                    reason,
                };
                (request.id(), command)
            }
            Self::Confirm { claim } => {
                let command = domain::Command::ConfirmSlot {
                    hold: SlotHoldId(claim.hold),
                    expect_version: claim.expect_version(),
                };
                (claim.request.id(), command)
            }
            Self::Cancel { claim, reason } => {
                let command = domain::Command::CancelSlot {
                    hold: SlotHoldId(claim.hold),
                    expect_version: claim.expect_version(),
                    reason,
                };
                (claim.request.id(), command)
            }
            Self::Edit { claim, edit } => {
                let command = domain::Command::EditSlot {
                    hold: SlotHoldId(claim.hold),
                    expect_version: claim.expect_version(),
                    edit: edit.edit(),
                };
                (claim.request.id(), command)
            }
            Self::Renew { claim, length } => {
                let command = domain::Command::RenewSlot {
                    hold: SlotHoldId(claim.hold),
                    expect_version: claim.expect_version(),
                    ttl: length.ttl,
                };
                (claim.request.id(), command)
            }
            Self::Move {
                claim,
                to_room,
                from,
                to,
            } => {
                let to = Target { to_room, from, to };
                (claim.request.id(), to.command(&site_store, claim).await?)
            }
            Self::Swap { claim, other } if claim.hold == other => {
                return Err(Failure::Usage(
                    "A claim can't be exchanged with itself; name two claims.".into(),
                ));
            }
            Self::Swap { claim, other } => {
                let command = domain::Command::SwapSlots {
                    first: SlotHoldId(claim.hold),
                    second: SlotHoldId(other),
                    expect_version: claim.expect_version(),
                };
                (claim.request.id(), command)
            }
        };
        execute(session, &site_store, id, command).await
    }
}

async fn show(site_store: &SiteStore, hold: SlotHoldId) -> Result<Output, Failure> {
    let found = lookup::slot_hold(site_store, hold).await?;
    Ok(lookup::printer(site_store).await?.slot(&found))
}

/// Where to look for something free.
async fn window(
    site_store: &SiteStore,
    from: &str,
    to: &str,
    length: TimeDelta,
) -> Result<Period, Failure> {
    let calendar = &site_store.site().calendar;
    let (from, to) = lookup::times(site_store, |reader| {
        Ok((reader.instant(from)?, reader.window_end(to)?))
    })
    .await?;
    let window = Period::new(from, to).and_then(|window| match length > TimeDelta::zero() {
        true => Ok(window),
        false => Err(PeriodError::Empty),
    });
    window.map_err(|error| Failure::refused(error.into(), calendar))
}

async fn filter(
    site_store: &SiteStore,
    room: Option<String>,
    from: Option<String>,
    to: Option<String>,
    state: Option<ClaimState>,
    guest: Option<String>,
) -> Result<SlotFilter, Failure> {
    let (from, to) = lookup::times(site_store, |reader| {
        let instant = |typed: &Option<String>| {
            let instant = typed.as_deref().map(|typed| reader.instant(typed));
            instant.transpose()
        };
        Ok((instant(&from)?, instant(&to)?))
    })
    .await?;
    Ok(SlotFilter {
        room: match room {
            Some(name) => Some(lookup::room(site_store, &name).await?.id),
            None => None,
        },
        from,
        to,
        state,
        guest,
    })
}

async fn holds(site_store: &SiteStore, filter: SlotFilter) -> Result<Output, Failure> {
    let holds = site_store.slot_holds(&filter).await?;
    Ok(lookup::printer(site_store).await?.slots(&holds))
}
