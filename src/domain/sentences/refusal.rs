//! Refusals: the rules said no. A closed set, one stable code each, details to act on, and the sentence that a clerk
//! understands: what happened, and what to do next. A refusal is an answer, not an error.
//!
//! `docs/json.md` lists them; that list is written from this file, by its test.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

use crate::domain::calendar::SiteCalendar;
use crate::domain::claim::{ClaimState, HoldKind};
use crate::domain::duration::{spoken, spoken_seconds};
use crate::domain::ids::Version;
use crate::domain::period::PeriodError;
use crate::domain::refusal_details::{NextRelease, PeriodProblem, SlotTaken};
use crate::domain::text::harmless;

/// Why the rules said no.
///
/// Serialised as `{"refusal": code, "details": {…}}`, the same shape in the database's answers, in the request table
/// and in `--json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
#[serde(tag = "refusal", content = "details", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Refusal {
    /// Another active claim has the room at that time (R1).
    // Boxed, because it is much larger than the others.
    SlotTaken(Box<SlotTaken>),
    /// Fewer units are left than were asked for (R16).
    SoldOut {
        /// The item's name.
        item: String,
        /// How many were asked for.
        asked: i64,
        /// How many a hold could get now (R15).
        available: i64,
        /// When held units come back at the soonest, if any are held.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next_release: Option<NextRelease>,
    },
    /// The hold ran out before the command came (R12).
    HoldExpired {
        /// How late, in seconds.
        late_seconds: f64,
        /// When it ran out.
        expired_at: DateTime<Utc>,
        /// Whether the same claim could be held again at this moment.
        still_free: bool,
    },
    /// Somebody confirmed it already.
    AlreadyConfirmed {},
    /// Somebody cancelled it already.
    AlreadyCancelled {},
    /// A confirmed sale is not cancelled here (R18).
    SaleIsFinal {},
    /// The claim has changed since the desk saw it (R22).
    Stale {
        /// The version that the desk saw.
        expected: Version,
        /// The version that it has now.
        version: Version,
        /// The state that it has now.
        state: ClaimState,
    },
    /// The hold has been renewed as often as the site allows (R13).
    RenewalsUsedUp {
        /// How often that is.
        limit: i64,
    },
    /// The request id belongs to another request (R21).
    RequestReused {
        /// The command it was used for.
        command: String,
    },
    /// There is no such room in this site.
    NoSuchRoom {
        /// What was asked for: a name or `#12`.
        room: String,
    },
    /// There is no such item in this site.
    NoSuchItem {
        /// What was asked for: a name or `#12`.
        item: String,
    },
    /// There is no such claim, or no such group, in this site; or its number is that of another kind.
    NoSuchHold {
        /// The number asked for.
        hold_id: i64,
        /// What has that number, if anything has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<HoldKind>,
    },
    /// The room or the item takes no new claims (R28).
    Retired {
        /// Its name.
        name: String,
    },
    /// The room is not open then. Reserved: no command answers it yet.
    OutsideHours {},
    /// The period is over already (R8).
    InThePast {
        /// When it ended.
        to: DateTime<Utc>,
    },
    /// The period ends after the last moment that can be booked (R8).
    BeyondHorizon {
        /// That last moment.
        horizon: DateTime<Utc>,
    },
    /// The times are no period (R2), or not one that this room takes (R7).
    PeriodInvalid {
        /// What is wrong.
        problem: PeriodProblem,
        /// How long a hold may be at the longest, in seconds, where its length is what is wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        longest_seconds: Option<i64>,
    },
    /// A local time that the clocks skip (R5).
    LocalTimeDoesNotExist {
        /// What was typed.
        typed: String,
        /// The instant at which the clocks jump.
        gap_at: DateTime<Utc>,
        /// The last local time before the gap.
        gap_from: String,
        /// The first local time after it.
        gap_to: String,
    },
    /// A local time that the clocks show twice (R5).
    LocalTimeIsAmbiguous {
        /// What was typed.
        typed: String,
        /// The two instants, with their offsets, to choose from.
        choices: [String; 2],
    },
    /// Not a quantity: zero, negative, or more than can be counted.
    QuantityInvalid {
        /// What was asked for.
        quantity: i64,
    },
    /// A text is longer than the site stores (R26).
    TextTooLong {
        /// Which one, like guest or note.
        field: String,
        /// How many characters it has.
        length: i64,
        /// How many it may have.
        limit: i64,
    },
    /// Fewer units would be left than are held and sold (R19).
    BelowCommitted {
        /// The total that was asked for.
        total: i64,
        /// Held.
        held: i64,
        /// Sold.
        sold: i64,
    },
    /// One member of a group can't be confirmed or renewed alone (R20).
    PartOfGroup {
        /// The group.
        group_id: i64,
    },
    /// The room or item is being worked on by others; nothing was done (R23).
    Busy {},
}

impl Refusal {
    pub(crate) const CODES: &[&str] = Self::VARIANTS;

    /// The keys of details that have instants, which programs are told with the site's offset. Never a guest's own words.
    pub(crate) const INSTANTS: &[&str] = &[
        "at",
        "from",
        "to",
        "occupied_until",
        "expires_at",
        "expired_at",
        "horizon",
        "gap_at",
    ];

    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.into()
    }

    /// Whether asking again, unchanged, can give another answer soon without anybody else acting on it.
    pub(crate) fn is_retryable(&self) -> bool {
        matches!(self, Self::Busy {})
    }

    /// What happened and what to do next, in the site's time. Hostile text in it is made harmless (R26).
    pub fn sentence(&self, calendar: &SiteCalendar) -> String {
        match self {
            Self::SlotTaken(taken) => taken.sentence(calendar),
            Self::SoldOut {
                item,
                asked,
                available,
                next_release,
            } => {
                let item = harmless(item);
                let later = next_release.as_ref().map_or_else(String::new, |next| {
                    format!(
                        " {} held may come back at {}.",
                        next.quantity,
                        calendar.clock_time(next.at)
                    )
                });
                let now = match available {
                    0 => format!("{item} is sold out: {asked} asked, none left. Nothing was held."),
                    1 => format!("Only 1 of {item} is left and {asked} were asked for. Nothing was held."),
                    _ => format!("Only {available} of {item} are left and {asked} were asked for. Nothing was held."),
                };
                now + &later
            }
            Self::HoldExpired {
                late_seconds,
                expired_at,
                still_free,
            } => format!(
                "This hold ran out at {}, {} ago. {}",
                calendar.clock_time(*expired_at),
                spoken_seconds(*late_seconds),
                if *still_free {
                    "It is still free: hold it again."
                } else {
                    "It is no longer free."
                }
            ),
            Self::AlreadyConfirmed {} => "This claim is confirmed already and lasts.".into(),
            Self::AlreadyCancelled {} => "This claim was cancelled before; make a new hold if it is wanted again.".into(),
            Self::SaleIsFinal {} => {
                "A confirmed sale is final and can't be cancelled here; adjust the stock if units come back.".into()
            }
            Self::Stale { state, .. } => {
                format!("This claim has changed since you saw it: it is {state} now. Look again, then decide.")
            }
            Self::RenewalsUsedUp { limit } => {
                format!("This hold has been renewed {limit} times, as often as the house allows. Confirm it or let it go.")
            }
            Self::RequestReused { command } => format!(
                "This request id was used before, for another request ({command}). Nothing was done; ask with a new id."
            ),
            Self::NoSuchRoom { room } => format!("There is no room {} in this house.", harmless(room)),
            Self::NoSuchItem { item } => format!("There is no item {} in this house.", harmless(item)),
            Self::NoSuchHold { hold_id, kind } => {
                let what = match kind {
                    None => return format!("Nothing in this house has the number {hold_id}."),
                    Some(HoldKind::Room) => "a hold on a room",
                    Some(HoldKind::Stock) => "a hold on stock",
                    Some(HoldKind::Group) => "a group",
                };
                format!("{hold_id} is {what}, which can't be meant here.")
            }
            Self::Retired { name } => format!("{} is retired and takes no new claims.", harmless(name)),
            Self::OutsideHours {} => "The room is closed at that time; choose a time within its hours.".into(),
            Self::InThePast { to } => format!(
                "That period ended at {}; only times that are not over can be booked.",
                calendar.date_and_time(*to)
            ),
            Self::BeyondHorizon { horizon } => format!(
                "That is too far ahead: this house takes bookings up to {}.",
                calendar.date_and_time(*horizon)
            ),
            Self::PeriodInvalid {
                problem: PeriodProblem::HoldLength,
                longest_seconds: Some(longest),
            } => format!(
                "A hold lasts {} here at the longest, and longer than nothing. Choose another length.",
                spoken(TimeDelta::seconds(*longest))
            ),
            Self::PeriodInvalid { problem, .. } => problem.sentence().into(),
            Self::LocalTimeDoesNotExist {
                typed,
                gap_from,
                gap_to,
                ..
            } => format!(
                "{} does not exist here: the clocks jump from {gap_from} to {gap_to}. Choose a time outside the gap.",
                harmless(typed)
            ),
            Self::LocalTimeIsAmbiguous { typed, choices } => format!(
                "{} happens twice here, because the clocks go back. Say which: {} or {}.",
                harmless(typed),
                choices[0],
                choices[1]
            ),
            Self::QuantityInvalid { quantity } if *quantity < 1 => {
                format!("{quantity} is too few: a quantity or a party is at least 1.")
            }
            Self::QuantityInvalid { quantity } => {
                format!("{quantity} is more than can be counted here; nothing was changed.")
            }
            Self::TextTooLong {
                field,
                length,
                limit,
            } => format!("The {field} has {length} characters and at most {limit} are stored. Shorten it; nothing was changed."),
            Self::BelowCommitted { total, held, sold } => format!(
                "That would leave {total} in all, and {held} are held and {sold} sold. Cancel holds first, or adjust by less."
            ),
            Self::PartOfGroup { group_id } => {
                format!("This claim belongs to group {group_id}; confirm or renew the whole group.")
            }
            Self::Busy {} => "Others are working on this at the moment and nothing was done. Try again.".into(),
        }
    }
}

impl From<PeriodError> for Refusal {
    fn from(error: PeriodError) -> Self {
        PeriodProblem::from(error).into()
    }
}

impl From<PeriodProblem> for Refusal {
    fn from(problem: PeriodProblem) -> Self {
        Self::PeriodInvalid {
            problem,
            longest_seconds: None,
        }
    }
}

#[cfg(test)]
mod tests;
