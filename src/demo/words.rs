//! Commands and answers in words, for people who read a transcript.

use std::collections::HashMap;

use crate::domain::text::harmless;
use crate::domain::{
    Answer, Claim, ClaimState, Command, ItemId, Period, Refusal, RefusalAnswer, RoomId, Site,
    SlotHold, StockHold, Success, Version,
};
use crate::store::{SiteStore, StoreError};

/// What a site's rooms and items are called, and its calendar.
#[derive(Debug, Clone)]
pub(super) struct Words {
    site: Site,
    rooms: HashMap<RoomId, String>,
    items: HashMap<ItemId, String>,
}

impl Words {
    /// Reads the names.
    pub(super) async fn read(site_store: &SiteStore) -> Result<Self, StoreError> {
        let rooms = site_store.rooms().await?;
        let items = site_store.items().await?;
        Ok(Self {
            site: site_store.site().clone(),
            rooms: rooms
                .into_iter()
                .map(|room| (room.id, harmless(&room.name)))
                .collect(),
            items: items
                .into_iter()
                .map(|item| (item.id, harmless(&item.name)))
                .collect(),
        })
    }

    /// The site.
    pub(super) fn site(&self) -> &Site {
        &self.site
    }

    fn room(&self, room: RoomId) -> String {
        self.rooms
            .get(&room)
            .cloned()
            .unwrap_or_else(|| format!("room {room}"))
    }

    fn item(&self, item: ItemId) -> String {
        self.items
            .get(&item)
            .cloned()
            .unwrap_or_else(|| format!("item {item}"))
    }

    fn span(&self, period: &Period) -> String {
        self.site.calendar.span(period)
    }

    /// A command, as one would say it.
    pub(super) fn command(&self, command: &Command) -> String {
        let seen = |version: &Option<Version>| {
            version.map_or(String::new(), |version| format!(" as of version {version}"))
        };
        match command {
            Command::HoldSlot {
                room,
                period,
                details,
                ..
            } => format!(
                "hold {} {}{}",
                self.room(*room),
                self.span(period),
                whose(&details.guest)
            ),
            Command::BlockSlot {
                room,
                period,
                reason,
            } => format!(
                "block {} {}{}",
                self.room(*room),
                self.span(period),
                because(reason)
            ),
            Command::ImportSlot {
                room,
                period,
                details,
                ..
            } => format!(
                "import {} {}{}",
                self.room(*room),
                self.span(period),
                whose(&details.guest)
            ),
            Command::ConfirmSlot {
                hold,
                expect_version,
            } => format!("confirm claim {hold}{}", seen(expect_version)),
            Command::CancelSlot {
                hold,
                expect_version,
                reason,
            } => format!(
                "cancel claim {hold}{}{}",
                seen(expect_version),
                because(reason)
            ),
            Command::EditSlot {
                hold,
                expect_version,
                ..
            } => format!("edit claim {hold}{}", seen(expect_version)),
            Command::RenewSlot {
                hold,
                expect_version,
                ..
            } => format!("renew claim {hold}{}", seen(expect_version)),
            Command::MoveSlot {
                hold,
                expect_version,
                to_room,
                from,
                to,
            } => {
                let room = to_room.map_or(String::new(), |room| format!(" to {}", self.room(room)));
                let time = |label: &str, at: &Option<chrono::DateTime<chrono::Utc>>| {
                    at.map_or(String::new(), |at| {
                        format!(" {label} {}", self.site.calendar.date_and_time(at))
                    })
                };
                format!(
                    "move claim {hold}{room}{}{}{}",
                    time("from", from),
                    time("until", to),
                    seen(expect_version)
                )
            }
            Command::SwapSlots { first, second, .. } => {
                format!("exchange claims {first} and {second}")
            }
            Command::HoldStock {
                item,
                quantity,
                guest,
                ..
            } => format!("hold {quantity} × {}{}", self.item(*item), whose(guest)),
            Command::RenewStock {
                hold,
                expect_version,
                ..
            } => format!("renew stock claim {hold}{}", seen(expect_version)),
            Command::ConfirmStock {
                hold,
                expect_version,
            } => format!("sell stock claim {hold}{}", seen(expect_version)),
            Command::CancelStock {
                hold,
                expect_version,
                reason,
            } => format!(
                "cancel stock claim {hold}{}{}",
                seen(expect_version),
                because(reason)
            ),
            Command::HoldGroup {
                rooms,
                stock,
                details,
                ..
            } => {
                let rooms = rooms
                    .iter()
                    .map(|line| format!("{} {}", self.room(line.room), self.span(&line.period)));
                let stock = stock
                    .iter()
                    .map(|line| format!("{} × {}", line.quantity, self.item(line.item)));
                let lines: Vec<String> = rooms.chain(stock).collect();
                format!("hold as one: {}{}", lines.join(", "), whose(&details.guest))
            }
            Command::ConfirmGroup { group } => format!("confirm group {group}"),
            Command::RenewGroup { group, .. } => format!("renew group {group}"),
            Command::CancelGroup { group, reason, .. } => {
                format!("cancel group {group}{}", because(reason))
            }
            Command::ReceiveStock {
                item,
                quantity,
                reason,
            } => format!(
                "receive {quantity} × {}{}",
                self.item(*item),
                because(reason)
            ),
            Command::AdjustStock {
                item,
                change,
                reason,
            } => format!(
                "adjust {} by {change:+}{}",
                self.item(*item),
                because(reason)
            ),
            Command::AddRoom { room } => format!("add the room {}", harmless(&room.name)),
            Command::RetireRoom { room } => format!("retire {}", self.room(*room)),
            Command::AddItem { item } => {
                format!("add {} × {}", item.quantity, harmless(&item.name))
            }
            Command::RetireItem { item } => format!("retire {}", self.item(*item)),
        }
    }

    /// What was done, or what the desk was told.
    pub(super) fn outcome(&self, answer: &Result<Answer, StoreError>) -> Result<String, String> {
        let answer = answer.as_ref().map_err(ToString::to_string)?;
        match &answer.outcome {
            Ok(Success::Slot(hold)) => Ok(self.slot(hold)),
            Ok(Success::Stock(hold)) => Ok(self.stock(hold)),
            Ok(Success::Room(room)) => Ok(match room.retired_at {
                None => format!("{} is there", harmless(&room.name)),
                Some(_) => format!("{} is retired", harmless(&room.name)),
            }),
            Ok(Success::Item(item)) => Ok(format!(
                "{}: {} of {} available",
                harmless(&item.name),
                item.available,
                item.total
            )),
            Ok(Success::Group(group)) => {
                let claims = group.slots.len() + group.stock.len();
                Ok(format!(
                    "group {} of {claims}: {}",
                    group.id,
                    group.state.word()
                ))
            }
            Err(refused) => Err(refused.refusal.sentence(&self.site.calendar)),
        }
    }

    /// An answer in full, for the transcript.
    pub(super) fn answer(&self, answer: &Result<Answer, StoreError>) -> Vec<String> {
        let mut lines = match (answer, self.outcome(answer)) {
            (_, Ok(done)) => vec![format!("done: {done}")],
            (
                Ok(Answer {
                    outcome: Err(refused),
                    ..
                }),
                Err(sentence),
            ) => {
                vec![format!("refused ({}): {sentence}", refused.refusal.code())]
            }
            (_, Err(sentence)) => vec![format!("no answer: {sentence}")],
        };
        if let Ok(answer) = answer {
            if let Err(RefusalAnswer {
                claim: Some(claim), ..
            }) = &answer.outcome
            {
                lines.push(match claim {
                    Claim::Slot(hold) => format!("as it is now: {}", self.slot(hold)),
                    Claim::Stock(hold) => format!("as it is now: {}", self.stock(hold)),
                });
            }
            if answer.repeated {
                lines.push("repeated: this request had been answered before".into());
            }
        }
        lines
    }

    fn slot(&self, hold: &SlotHold) -> String {
        format!(
            "claim {} on {} {}{} {}{}, version {}",
            hold.id,
            harmless(&hold.room_name),
            self.span(&hold.period),
            whose(&hold.guest),
            hold.state.word(),
            self.until(hold.state, hold.expires_at),
            hold.version
        )
    }

    fn stock(&self, hold: &StockHold) -> String {
        format!(
            "stock claim {} on {} × {}{} {}{}, version {}",
            hold.id,
            hold.quantity,
            harmless(&hold.item_name),
            whose(&hold.guest),
            hold.state.word(),
            self.until(hold.state, hold.expires_at),
            hold.version
        )
    }

    fn until(&self, state: ClaimState, deadline: Option<chrono::DateTime<chrono::Utc>>) -> String {
        match deadline {
            Some(deadline) if state == ClaimState::Held => format!(
                " until {}",
                self.site.calendar.local(deadline).format("%H:%M:%S")
            ),
            _ => String::new(),
        }
    }
}

/// Why it was not done, in few words; none if it was.
pub(super) fn in_short(answer: &Result<Answer, StoreError>) -> Option<String> {
    let Ok(answer) = answer else {
        return Some("no answer".into());
    };
    Some(match answer.refusal()? {
        Refusal::SlotTaken(taken) => format!("{} is taken", harmless(&taken.room)),
        Refusal::SoldOut {
            item, available: 0, ..
        } => format!("{} is sold out", harmless(item)),
        Refusal::SoldOut {
            item, available, ..
        } => format!("only {available} of {} left", harmless(item)),
        other => other.code().replace('_', " "),
    })
}

fn whose(guest: &str) -> String {
    if guest.is_empty() {
        String::new()
    } else {
        format!(" for {}", harmless(guest))
    }
}

fn because(reason: &str) -> String {
    if reason.is_empty() {
        String::new()
    } else {
        format!(", because: {}", harmless(reason))
    }
}

/// A span of time as a spectator reads it: `4 s`, `9 min 59 s`.
pub(super) fn span_of(length: chrono::TimeDelta) -> String {
    let seconds = length.num_seconds();
    if seconds < 60 {
        format!("{seconds} s")
    } else {
        format!("{} min {} s", seconds / 60, seconds % 60)
    }
}

/// A length to the microsecond: `902 µs`, `8.054513 s`.
pub(super) fn micros(length: std::time::Duration) -> String {
    if length.as_secs() == 0 {
        format!("{} µs", length.as_micros())
    } else {
        format!("{:.6} s", length.as_secs_f64())
    }
}
