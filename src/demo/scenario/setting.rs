//! A scenario's words, resolved in the site in which it plays: rooms and items by number, times as instants of its day.

use chrono::{DateTime, Days, NaiveDate, NaiveTime, TimeDelta, Utc};

use crate::demo::scenario::hand::Goal;
use crate::demo::scenario::words::{self, Hole};
use crate::demo::scenario::{Ask, Place};
use crate::domain::{
    ClaimId, Command, Item, Period, Room, RoomId, SiteCalendar, SlotDetails, SlotHoldId, SlotLine,
    StockLine,
};
use crate::store::{SiteStore, StoreError};

/// The site and the day.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    site: i64,
    rooms: Vec<Room>,
    items: Vec<Item>,
    calendar: SiteCalendar,
    day: NaiveDate,
}

impl Setting {
    /// It plays on the day after today, where nothing is over yet.
    pub(super) async fn read(site_store: &SiteStore) -> Result<Self, StoreError> {
        let calendar = site_store.site().calendar;
        let today = calendar.date(site_store.now().await?);
        Ok(Self {
            site: site_store.site().id.0,
            rooms: site_store.rooms().await?,
            items: site_store.items().await?,
            calendar,
            day: calendar.next_date(today),
        })
    }

    fn room(&self, name: &str) -> Result<&Room, String> {
        let room = self.rooms.iter().find(|room| room.name == name);
        room.ok_or_else(|| format!("There is no room {name} in the demo's house."))
    }

    /// The number of a room.
    pub(super) fn room_id(&self, name: &str) -> Result<RoomId, String> {
        Ok(self.room(name)?.id)
    }

    /// An item.
    pub(super) fn item(&self, name: &str) -> Result<&Item, String> {
        let item = self.items.iter().find(|item| item.name == name);
        item.ok_or_else(|| format!("There is no item {name} in the demo's house."))
    }

    fn instant(&self, time: NaiveTime) -> Result<DateTime<Utc>, String> {
        self.calendar
            .instant(self.day.and_time(time))
            .map_err(|_| format!("The clocks change at {time} on the scenario's day."))
    }

    /// Midnight ends the day.
    fn end(&self, time: NaiveTime) -> Result<DateTime<Utc>, String> {
        if time == NaiveTime::MIN {
            Ok(self
                .calendar
                .first_instant(self.calendar.next_date(self.day)))
        } else {
            self.instant(time)
        }
    }

    fn period(&self, from: NaiveTime, to: NaiveTime) -> Result<Period, String> {
        Period::new(self.instant(from)?, self.end(to)?)
            .map_err(|_| format!("{from} to {to} is no period."))
    }

    fn stay(&self, room: &Room, nights: u32) -> Result<Period, String> {
        let departure = self.day + Days::new(u64::from(nights));
        self.calendar
            .stay(self.day, departure, room.night_times)
            .ok_or_else(|| format!("{nights} nights are no stay."))
    }

    /// Where the cursor goes.
    pub(super) fn goal(&self, place: &Place) -> Result<Goal, String> {
        Ok(match place {
            Place::Slot { room, from, to } => Goal::Slot {
                room: self.room(room)?.id,
                from: self.instant(*from)?,
                to: to.map(|to| self.end(to)).transpose()?,
            },
            Place::Nights { room, nights } => {
                let room = self.room(room)?;
                Goal::Night {
                    room: room.id,
                    date: self.day,
                    stay: self.stay(room, *nights)?,
                }
            }
            Place::Stock { item, .. } => Goal::Item(self.item(item)?.id),
        })
    }

    /// A room and a period.
    fn slot(&self, place: &Place) -> Result<Option<SlotLine>, String> {
        Ok(match place {
            Place::Slot {
                room,
                from,
                to: Some(to),
            } => Some(SlotLine {
                room: self.room(room)?.id,
                period: self.period(*from, *to)?,
            }),
            Place::Slot { room, to: None, .. } => {
                return Err(format!("A claim on {room} needs an end, like 10:00-11:00."));
            }
            Place::Nights { room, nights } => {
                let room = self.room(room)?;
                Some(SlotLine {
                    room: room.id,
                    period: self.stay(room, *nights)?,
                })
            }
            Place::Stock { .. } => None,
        })
    }

    fn only_slot(&self, place: &Place) -> Result<SlotLine, String> {
        self.slot(place)?
            .ok_or_else(|| "Only rooms can be blocked or moved to.".into())
    }

    /// The command that is meant; none for a sweep and a repetition, which are none. `claim` knows claims by name.
    pub(super) fn command(
        &self,
        ask: &Ask,
        claim: impl Fn(&str) -> Result<ClaimId, String>,
    ) -> Result<Option<Command>, String> {
        Ok(Some(match ask {
            Ask::Hold { places, ttl, guest } => self.hold(places, *ttl, guest)?,
            Ask::Block { place, reason } => {
                let line = self.only_slot(place)?;
                Command::BlockSlot {
                    room: line.room,
                    period: line.period,
                    reason: reason.clone(),
                }
            }
            Ask::Confirm(name) => match claim(name)? {
                ClaimId::Slot(hold) => Command::ConfirmSlot {
                    hold,
                    expect_version: None,
                },
                ClaimId::Stock(hold) => Command::ConfirmStock {
                    hold,
                    expect_version: None,
                },
                ClaimId::Group(group) => Command::ConfirmGroup { group },
            },
            Ask::Cancel(name) => match claim(name)? {
                ClaimId::Slot(hold) => Command::CancelSlot {
                    hold,
                    expect_version: None,
                    reason: String::new(),
                },
                ClaimId::Stock(hold) => Command::CancelStock {
                    hold,
                    expect_version: None,
                    reason: String::new(),
                },
                ClaimId::Group(group) => Command::CancelGroup {
                    group,
                    reason: String::new(),
                    rooms_only: false,
                },
            },
            Ask::Renew(name) => match claim(name)? {
                ClaimId::Slot(hold) => Command::RenewSlot {
                    hold,
                    expect_version: None,
                    ttl: None,
                },
                ClaimId::Stock(hold) => Command::RenewStock {
                    hold,
                    expect_version: None,
                    ttl: None,
                },
                ClaimId::Group(group) => Command::RenewGroup { group, ttl: None },
            },
            Ask::Move(name, place) => {
                let line = self.only_slot(place)?;
                Command::MoveSlot {
                    hold: slot_of(name, claim(name)?)?,
                    expect_version: None,
                    to_room: Some(line.room),
                    from: Some(line.period.start()),
                    to: Some(line.period.end()),
                }
            }
            Ask::Swap(first, second) => Command::SwapSlots {
                first: slot_of(first, claim(first)?)?,
                second: slot_of(second, claim(second)?)?,
                expect_version: None,
            },
            Ask::Repeat(_) | Ask::Sweep => return Ok(None),
        }))
    }

    fn hold(
        &self,
        places: &[Place],
        ttl: Option<TimeDelta>,
        guest: &str,
    ) -> Result<Command, String> {
        let (guest, note, party) = (guest.to_owned(), String::new(), None);
        if let [place] = places {
            return Ok(match (place, self.slot(place)?) {
                (_, Some(line)) => Command::HoldSlot {
                    room: line.room,
                    period: line.period,
                    ttl,
                    details: SlotDetails::new(guest, note, party),
                },
                (place, None) => {
                    let line = self.stock(place)?;
                    Command::HoldStock {
                        item: line.item,
                        quantity: line.quantity,
                        ttl,
                        guest,
                        note,
                    }
                }
            });
        }
        let (mut rooms, mut stock) = (Vec::new(), Vec::new());
        for place in places {
            match self.slot(place)? {
                Some(line) => rooms.push(line),
                None => stock.push(self.stock(place)?),
            }
        }
        Ok(Command::HoldGroup {
            rooms,
            stock,
            ttl,
            details: SlotDetails::new(guest, note, party),
        })
    }

    fn stock(&self, place: &Place) -> Result<StockLine, String> {
        match place {
            Place::Stock { item, quantity } => Ok(StockLine {
                item: self.item(item)?.id,
                quantity: *quantity,
            }),
            Place::Slot { room, .. } | Place::Nights { room, .. } => {
                Err(format!("{room} is a room."))
            }
        }
    }

    /// SQL with the names in double braces replaced by literals.
    pub(super) fn sql(
        &self,
        sql: &str,
        claim: impl Fn(&str) -> Result<ClaimId, String>,
    ) -> Result<String, String> {
        let (holes, rest) = words::holes(sql)?;
        let mut filled = String::new();
        for (before, hole) in holes {
            filled.push_str(before);
            filled.push_str(&match self.hole(hole)? {
                Hole::Site => self.site.to_string(),
                Hole::Room(name) => self.room(&name)?.id.to_string(),
                Hole::Item(name) => self.item(&name)?.id.to_string(),
                Hole::Claim(name) => match claim(&name)? {
                    ClaimId::Slot(id) => id.to_string(),
                    ClaimId::Stock(id) => id.to_string(),
                    ClaimId::Group(id) => id.to_string(),
                },
                Hole::Instant(time) => {
                    format!("timestamptz '{}'", self.instant(time)?.to_rfc3339())
                }
                Hole::Period(from, to) => {
                    let period = self.period(from, to)?;
                    let (from, to) = (period.start().to_rfc3339(), period.end().to_rfc3339());
                    format!("tstzrange('{from}', '{to}')")
                }
            });
        }
        filled.push_str(rest);
        Ok(filled)
    }

    fn hole(&self, written: &str) -> Result<Hole, String> {
        words::hole(
            written,
            |name| self.rooms.iter().any(|room| room.name == name),
            |name| self.items.iter().any(|item| item.name == name),
        )
    }
}

fn slot_of(name: &str, claim: ClaimId) -> Result<SlotHoldId, String> {
    match claim {
        ClaimId::Slot(hold) => Ok(hold),
        ClaimId::Stock(_) | ClaimId::Group(_) => Err(format!("{name} is not a claim on one room.")),
    }
}
