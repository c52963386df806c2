//! `keyrack room`: rooms and the claims on them.

use chrono::TimeDelta;
use clap::Subcommand;

use crate::domain::local_time::{instant_for, period_for};
use crate::domain::{
    self, BookedBy, ClaimState, NewRoom, NightTimes, Period, Refusal, Room, SlotHoldId, duration,
};
use crate::store::{House, RoomAnswer, SlotFilter};

use super::connect::Session;
use super::failure::Failure;
use super::output::{self, Output, View};
use super::{ClaimArguments, RequestArgument, execute};

/// What to do with rooms. ROOM is a name, or #12 for an id. FROM and TO are the house's own time, like
/// 2027-01-01T10:00 (24:00 can end a day), or RFC 3339 with an offset; for a room by the night, dates.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Add a room
    Add {
        /// Its name
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
    Hold {
        /// A name, or #12
        room: String,
        /// When it starts: 2027-01-01T10:00, or the date of arrival
        from: String,
        /// When it ends: 2027-01-01T11:30, 24:00, or the date of departure
        to: String,
        /// How long to hold, like 10m; without it, as long as the house usually does
        #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
        ttl: Option<TimeDelta>,
        /// Who comes
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
        /// How many people
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        party: Option<i32>,
        #[command(flatten)]
        request: RequestArgument,
    },
    /// Take a room for the house itself
    Block {
        /// A name, or #12
        room: String,
        /// When it starts
        from: String,
        /// When it ends
        to: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
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
    /// Change who comes, what to know, or how many people; what is not named stays
    #[command(group(clap::ArgGroup::new("change").args(["guest", "note", "party"]).multiple(true).required(true)))]
    Edit {
        #[command(flatten)]
        claim: ClaimArguments,
        /// Who comes
        #[arg(long, value_name = "TEXT")]
        guest: Option<String>,
        /// What else to know
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
        /// How many people
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        party: Option<i32>,
    },
    /// Show one claim
    Show {
        /// Its number
        hold: i64,
    },
    /// List claims
    Holds {
        /// Only on this room: a name, or #12
        #[arg(long)]
        room: Option<String>,
        /// Only what ends after this time or date
        #[arg(long, value_name = "TIME")]
        from: Option<String>,
        /// Only what starts before this time or date
        #[arg(long, value_name = "TIME")]
        to: Option<String>,
        /// Only in this state: held, confirmed, cancelled or expired
        #[arg(long)]
        state: Option<ClaimState>,
        /// Only where the guest's name contains this
        #[arg(long, value_name = "TEXT")]
        guest: Option<String>,
    },
}

impl Command {
    /// Does it.
    pub async fn run(self, session: &Session) -> Result<Output, Failure> {
        let house = session.house().await?;
        let (id, command) = match self {
            Self::List => return Ok(output::rooms(&house.rooms().await?)),
            Self::Show { hold } => return show(&house, SlotHoldId(hold)).await,
            Self::Holds {
                room,
                from,
                to,
                state,
                guest,
            } => {
                let filter = filter(&house, room, from, to, state, guest).await?;
                return holds(&house, filter).await;
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
                    name,
                    capacity,
                    booked_by,
                    night_times: NightTimes::default(),
                    turnaround,
                    features,
                };
                let answer = house.add_room(request.id(), session.desk(), &room).await?;
                return show_room(&house, answer, "there");
            }
            Self::Retire { room, request } => {
                let room = named(&house, &room).await?;
                let answer = house
                    .retire_room(request.id(), session.desk(), room.id)
                    .await?;
                return show_room(&house, answer, "retired");
            }
            Self::Hold {
                room,
                from,
                to,
                ttl,
                guest,
                note,
                party,
                request,
            } => {
                let room = named(&house, &room).await?;
                let period = period(&house, &room, &from, &to)?;
                let command = domain::Command::HoldSlot {
                    room: room.id,
                    period,
                    ttl,
                    guest,
                    note,
                    party,
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
                let room = named(&house, &room).await?;
                let period = period(&house, &room, &from, &to)?;
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
            Self::Edit {
                claim,
                guest,
                note,
                party,
            } => {
                let command = domain::Command::EditSlot {
                    hold: SlotHoldId(claim.hold),
                    expect_version: claim.expect_version(),
                    guest,
                    note,
                    party,
                };
                (claim.request.id(), command)
            }
        };
        execute(&house, session.request(id, command)).await
    }
}

async fn named(house: &House, name: &str) -> Result<Room, Failure> {
    house
        .room_named(name)
        .await?
        .map_err(|refusal| Failure::refused(refusal, &house.site().calendar))
}

fn period(house: &House, room: &Room, from: &str, to: &str) -> Result<Period, Failure> {
    let calendar = &house.site().calendar;
    period_for(room, from, to, calendar).map_err(|error| Failure::times(error, calendar))
}

fn show_room(house: &House, answer: RoomAnswer, done: &str) -> Result<Output, Failure> {
    match answer.outcome {
        Ok(room) => Ok(output::room(&room, done)),
        Err(refusal) => Err(Failure::refused(refusal, &house.site().calendar)),
    }
}

async fn show(house: &House, hold: SlotHoldId) -> Result<Output, Failure> {
    let found = house.slot_hold(hold).await?.ok_or_else(|| {
        Failure::refused(
            Refusal::NoSuchHold { hold_id: hold.0 },
            &house.site().calendar,
        )
    })?;
    let view = View {
        site: house.site(),
        now: house.now().await?,
        repeated: false,
    };
    Ok(view.slot(&found))
}

async fn filter(
    house: &House,
    room: Option<String>,
    from: Option<String>,
    to: Option<String>,
    state: Option<ClaimState>,
    guest: Option<String>,
) -> Result<SlotFilter, Failure> {
    let calendar = &house.site().calendar;
    let instant = |typed: Option<String>| {
        typed
            .map(|typed| instant_for(&typed, calendar))
            .transpose()
            .map_err(|error| Failure::times(error, calendar))
    };
    Ok(SlotFilter {
        room: match room {
            Some(name) => Some(named(house, &name).await?.id),
            None => None,
        },
        from: instant(from)?,
        to: instant(to)?,
        state,
        guest,
    })
}

async fn holds(house: &House, filter: SlotFilter) -> Result<Output, Failure> {
    let holds = house.slot_holds(&filter).await?;
    let view = View {
        site: house.site(),
        now: house.now().await?,
        repeated: false,
    };
    Ok(view.slots(&holds))
}
