//! Fills a fresh database of Keyrack's own with a house that looks alive, through the commands that everybody uses.
//!
//! Every request of it has an id of its own that never changes (R21), so that two consoles that start at once, or one
//! that is killed halfway, leave one set of samples and not two.

use chrono::{Days, NaiveDate, TimeDelta};
use color_eyre::eyre::{Report, WrapErr};
use serde::Deserialize;
use uuid::Uuid;

use crate::cli::failure::Failure;
use crate::domain::{
    Answer, BookedBy, Command, Desk, Refusal, Request, RequestId, Room, ServerCommand,
    ServerRequest, SiteCalendar, SiteFile, SlotDetails, Success, TimeReader, duration,
};
use crate::store::{SiteStore, Store};

const SITE_FILE: &str = include_str!("../../assets/sample-house.toml");
const DEMO_DAY: &str = include_str!("../../assets/demo-day.toml");
const DAY: &str = include_str!("../../assets/sample-day.toml");

/// The last four digits of a sample request's id count the requests.
const FIRST_REQUEST: u128 = 0x6b65_7972_6163_4b73_a3d1_7065_0000_0000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SampleDay {
    booking: Vec<Booking>,
    sale: Vec<Sale>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Booking {
    room: String,
    /// Counted from the day on which the samples are loaded.
    day: u64,
    /// Times for a room by the hour; a `to` that is not after `from` is on the next day.
    from: Option<String>,
    to: Option<String>,
    /// For a room by the night.
    nights: Option<u64>,
    #[serde(default)]
    guest: String,
    #[serde(default)]
    note: String,
    party: Option<i32>,
    state: State,
    /// How long a hold lasts.
    ttl: Option<String>,
    desk: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sale {
    item: String,
    quantity: i32,
    guest: String,
    state: State,
    /// How long a hold lasts.
    ttl: Option<String>,
    desk: String,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum State {
    Confirmed,
    Held,
    /// A block of the house itself; the note says why.
    Block,
}

/// Makes the sample house and what is booked in it.
pub(crate) async fn load(store: &Store) -> Result<(), Failure> {
    let mut requests = Requests(0);
    let desk = Desk("sample".to_owned());
    let file = SiteFile::parse(SITE_FILE).map_err(Report::from)?;
    let day: SampleDay = toml::from_str(DAY).wrap_err("assets/sample-day.toml")?;
    let calendar = SiteCalendar::new(file.site.time_zone);
    let apply = ServerRequest {
        id: requests.next(),
        desk,
        command: ServerCommand::ApplySite { file },
    };
    let applied = store.execute_server(apply).await?.outcome;
    let change = applied.map_err(|refusal| Failure::refused(refusal, &calendar))?;
    let site_store = store.site_store(change.site);
    let today = site_store.site().calendar.date(site_store.now().await?);
    fill(&site_store, &day, today, &mut requests).await
}

/// Books what a demo's house has at the beginning.
pub(crate) async fn book_for_a_demo(site_store: &SiteStore) -> Result<(), Failure> {
    let day: SampleDay = toml::from_str(DEMO_DAY).wrap_err("assets/demo-day.toml")?;
    let today = site_store.site().calendar.date(site_store.now().await?);
    fill(site_store, &day, today, &mut Requests(0)).await
}

/// Counted whether or not they are sent, so that each sample has the same id on every try.
struct Requests(u128);

impl Requests {
    fn next(&mut self) -> RequestId {
        self.0 += 1;
        RequestId(Uuid::from_u128(FIRST_REQUEST + self.0))
    }
}

async fn fill(
    site_store: &SiteStore,
    day: &SampleDay,
    today: NaiveDate,
    requests: &mut Requests,
) -> Result<(), Failure> {
    let rooms = site_store.rooms().await?;
    let items = site_store.items().await?;
    for booking in &day.booking {
        let ids = (requests.next(), requests.next());
        let room = rooms.iter().find(|room| room.name == booking.room);
        if let Some(command) =
            room.and_then(|room| booking.command(room, today, &site_store.site().calendar))
        {
            place(site_store, &booking.desk, ids, command, booking.state).await?;
        }
    }
    for sale in &day.sale {
        let ids = (requests.next(), requests.next());
        if let Some(item) = items.iter().find(|item| item.name == sale.item) {
            let command = Command::HoldStock {
                item: item.id,
                quantity: sale.quantity,
                ttl: length(&sale.ttl),
                guest: sale.guest.clone(),
                note: String::new(),
            };
            place(site_store, &sale.desk, ids, command, sale.state).await?;
        }
    }
    Ok(())
}

impl Booking {
    /// None on a day on which the clocks skip or repeat one of its times.
    fn command(&self, room: &Room, today: NaiveDate, calendar: &SiteCalendar) -> Option<Command> {
        let date = today.checked_add_days(Days::new(self.day))?;
        let (from, to) = match (room.booked_by, &self.from, &self.to) {
            (BookedBy::Night, ..) => {
                let departure = date.checked_add_days(Days::new(self.nights?))?;
                (date.to_string(), departure.to_string())
            }
            (BookedBy::Hour, Some(from), Some(to)) => {
                let end = if to > from { date } else { date.succ_opt()? };
                (format!("{date}T{from}"), format!("{end}T{to}"))
            }
            (BookedBy::Hour, ..) => return None,
        };
        let period = TimeReader::without_clock(calendar)
            .period(room, &from, &to)
            .ok()?;
        Some(match self.state {
            State::Block => Command::BlockSlot {
                room: room.id,
                period,
                reason: self.note.clone(),
            },
            // Taken over rather than held and confirmed: what is over by now fills the morning all the same.
            State::Confirmed => Command::ImportSlot {
                room: room.id,
                period,
                details: self.details(),
            },
            State::Held => Command::HoldSlot {
                room: room.id,
                period,
                ttl: length(&self.ttl),
                details: self.details(),
            },
        })
    }

    fn details(&self) -> SlotDetails {
        SlotDetails::new(self.guest.clone(), self.note.clone(), self.party)
    }
}

fn length(ttl: &Option<String>) -> Option<TimeDelta> {
    ttl.as_deref().and_then(|ttl| duration::parse(ttl).ok())
}

/// Places a claim, and sells what is to be sold. A hold or a block that is over by now is left out.
async fn place(
    site_store: &SiteStore,
    desk: &str,
    (hold, confirm): (RequestId, RequestId),
    command: Command,
    state: State,
) -> Result<(), Failure> {
    let desk = Desk(desk.to_owned());
    let request = Request {
        id: hold,
        desk: desk.clone(),
        command,
    };
    let answer = site_store.execute(request).await?;
    if let Some(refusal) = answer.refusal() {
        if !matches!(refusal, Refusal::InThePast { .. }) {
            tracing::warn!(code = refusal.code(), request = %hold, "a sample was refused");
        }
        return Ok(());
    }
    if let (State::Confirmed, Some(command)) = (state, confirmation(&answer)) {
        let request = Request {
            id: confirm,
            desk,
            command,
        };
        site_store.execute(request).await?;
    }
    Ok(())
}

/// How to sell what was held; bookings came confirmed.
fn confirmation(answer: &Answer) -> Option<Command> {
    match answer.outcome.as_ref().ok()? {
        Success::Stock(hold) => Some(Command::ConfirmStock {
            hold: hold.id,
            expect_version: None,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
