//! Refusals: the rules said no. A closed set (design section 5), one stable code each, a sentence that a clerk
//! understands, and details to act on. A refusal is an answer, not an error.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::duration::{spoken, spoken_seconds};
use super::text::harmless;
use super::{
    Alternative, ClaimState, HoldKind, Period, Purpose, RoomId, SiteCalendar, SlotHold, SlotHoldId,
    Version,
};

/// Why the rules said no.
///
/// Serialised as `{"refusal": code, "details": {…}}`, the same shape in the database's answers, in the request table
/// and in `--json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "refusal", content = "details", rename_all = "snake_case")]
pub enum Refusal {
    /// Another active claim has the room at that time (R1). Boxed, because it is much larger than the others.
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
    /// The room is not open then.
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
        /// Which: guest, note, reason, name, desk.
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

/// Who has the slot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlotTaken {
    /// The room.
    pub room_id: RoomId,
    /// Its name.
    pub room: String,
    /// The claim in the way; none if it can't be named any more.
    pub hold_id: Option<SlotHoldId>,
    /// Its period.
    #[serde(flatten)]
    pub period: Option<Period>,
    /// Until when it keeps others out, turnaround included (R4).
    pub occupied_until: Option<DateTime<Utc>>,
    /// Held or confirmed.
    pub state: Option<ClaimState>,
    /// Guest or block.
    pub purpose: Option<Purpose>,
    /// The guest, if the site lets desks see it.
    pub guest: Option<String>,
    /// The desk that made it.
    pub desk: Option<String>,
    /// Its deadline while held.
    pub expires_at: Option<DateTime<Utc>>,
    /// Up to three nearest free choices, nearest first.
    #[serde(default)]
    pub choices: Vec<Alternative>,
}

/// When held units come back if nobody confirms them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextRelease {
    /// The soonest deadline.
    pub at: DateTime<Utc>,
    /// How many units it would give back.
    pub quantity: i64,
}

/// What is wrong with a period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeriodProblem {
    /// A bound is missing.
    Missing,
    /// A bound is not a finite time.
    Infinite,
    /// It ends when it starts.
    Empty,
    /// It ends before it starts.
    Reversed,
    /// A room by the night takes dates, at its own check-in and check-out times (R7).
    NotNights,
    /// A room by the hour takes times, not bare dates (R7).
    NotHours,
    /// Departure is not after arrival.
    NoNights,
    /// How long to hold is not a length of time that this site allows.
    HoldLength,
    /// A line of a group wants a room that an earlier line of it has at that time.
    OwnLinesOverlap,
}

impl Refusal {
    /// Every stable code (design section 5).
    pub const CODES: [&str; 24] = [
        "slot_taken",
        "sold_out",
        "hold_expired",
        "already_confirmed",
        "already_cancelled",
        "sale_is_final",
        "stale",
        "renewals_used_up",
        "request_reused",
        "no_such_room",
        "no_such_item",
        "no_such_hold",
        "retired",
        "outside_hours",
        "in_the_past",
        "beyond_horizon",
        "period_invalid",
        "local_time_does_not_exist",
        "local_time_is_ambiguous",
        "quantity_invalid",
        "text_too_long",
        "below_committed",
        "part_of_group",
        "busy",
    ];

    /// The stable code (design section 5).
    pub fn code(&self) -> &'static str {
        match self {
            Self::SlotTaken(_) => "slot_taken",
            Self::SoldOut { .. } => "sold_out",
            Self::HoldExpired { .. } => "hold_expired",
            Self::AlreadyConfirmed {} => "already_confirmed",
            Self::AlreadyCancelled {} => "already_cancelled",
            Self::SaleIsFinal {} => "sale_is_final",
            Self::Stale { .. } => "stale",
            Self::RenewalsUsedUp { .. } => "renewals_used_up",
            Self::RequestReused { .. } => "request_reused",
            Self::NoSuchRoom { .. } => "no_such_room",
            Self::NoSuchItem { .. } => "no_such_item",
            Self::NoSuchHold { .. } => "no_such_hold",
            Self::Retired { .. } => "retired",
            Self::OutsideHours {} => "outside_hours",
            Self::InThePast { .. } => "in_the_past",
            Self::BeyondHorizon { .. } => "beyond_horizon",
            Self::PeriodInvalid { .. } => "period_invalid",
            Self::LocalTimeDoesNotExist { .. } => "local_time_does_not_exist",
            Self::LocalTimeIsAmbiguous { .. } => "local_time_is_ambiguous",
            Self::QuantityInvalid { .. } => "quantity_invalid",
            Self::TextTooLong { .. } => "text_too_long",
            Self::BelowCommitted { .. } => "below_committed",
            Self::PartOfGroup { .. } => "part_of_group",
            Self::Busy {} => "busy",
        }
    }

    /// Whether asking again, unchanged, can give another answer soon without anybody else acting on it.
    pub fn is_retryable(&self) -> bool {
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

impl SlotTaken {
    /// By a claim that is known already, without what is free instead.
    pub fn by(claim: &SlotHold) -> Self {
        Self {
            room_id: claim.room,
            room: claim.room_name.clone(),
            hold_id: Some(claim.id),
            period: Some(claim.period),
            occupied_until: Some(claim.occupied_until),
            state: Some(claim.state),
            purpose: Some(claim.purpose),
            guest: Some(claim.guest.clone()),
            desk: Some(claim.desk.0.clone()),
            expires_at: claim.expires_at,
            choices: Vec::new(),
        }
    }

    fn sentence(&self, calendar: &SiteCalendar) -> String {
        let room = harmless(&self.room);
        let Some(period) = self.period else {
            return format!(
                "{room} was taken by somebody else at that moment. Choose another time or another room."
            );
        };
        let who = match (self.purpose, &self.guest) {
            (Some(Purpose::Block), _) => "blocked by the house".to_owned(),
            (_, Some(guest)) if !guest.is_empty() => format!("taken by {}", harmless(guest)),
            _ => "taken".to_owned(),
        };
        let desk = match &self.desk {
            Some(desk) if !desk.is_empty() => format!(" (desk {})", harmless(desk)),
            _ => String::new(),
        };
        let span = calendar.span(&period);
        let turnaround = match self.occupied_until {
            Some(until) if until > period.end() => {
                format!(", with {} to make it ready", spoken(until - period.end()))
            }
            _ => String::new(),
        };
        let standing = match (self.state, self.expires_at) {
            (Some(ClaimState::Held), Some(deadline)) => {
                format!("held until {}", calendar.clock_time(deadline))
            }
            (Some(ClaimState::Confirmed), _) if self.purpose != Some(Purpose::Block) => {
                "confirmed".to_owned()
            }
            _ => String::new(),
        };
        let standing = if standing.is_empty() {
            standing
        } else {
            format!(", {standing}")
        };
        format!("{room} is {who}{desk} {span}{turnaround}{standing}.")
    }
}

impl PeriodProblem {
    fn sentence(&self) -> &'static str {
        match self {
            Self::Missing => "A period needs a start and an end.",
            Self::Infinite => "A period needs a start and an end that are real dates.",
            Self::Empty => "The period has no length: it ends when it starts. Choose a later end.",
            Self::Reversed => {
                "The period ends before it starts. Exchange the two, or choose a later end."
            }
            Self::NotNights => {
                "This room is booked by the night: give an arrival and a departure date, without times."
            }
            Self::NotHours => {
                "This room is booked by the hour: give a date and a time for both ends."
            }
            Self::NoNights => "Departure must be at least one night after arrival.",
            Self::OwnLinesOverlap => {
                "An earlier line of the same group has the room at that time, or needs it made ready then."
            }
            Self::HoldLength => {
                "A hold must last longer than nothing and no longer than this house allows."
            }
        }
    }
}

impl From<super::PeriodError> for Refusal {
    fn from(error: super::PeriodError) -> Self {
        let problem = match error {
            super::PeriodError::Empty => PeriodProblem::Empty,
            super::PeriodError::Reversed => PeriodProblem::Reversed,
        };
        problem.into()
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
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_another_kind_is_told_as_what_it_is() {
        let calendar = SiteCalendar::new(chrono_tz::UTC);
        for (details, sentence) in [
            (
                r#"{"hold_id":17}"#,
                "Nothing in this house has the number 17.",
            ),
            (
                r#"{"hold_id":17,"kind":"room"}"#,
                "17 is a hold on a room, which can't be meant here.",
            ),
            (
                r#"{"hold_id":17,"kind":"stock"}"#,
                "17 is a hold on stock, which can't be meant here.",
            ),
            (
                r#"{"hold_id":17,"kind":"group"}"#,
                "17 is a group, which can't be meant here.",
            ),
        ] {
            let told = format!(r#"{{"refusal":"no_such_hold","details":{details}}}"#);
            let refusal: Refusal = serde_json::from_str(&told).unwrap();
            assert_eq!(refusal.sentence(&calendar), sentence);
            assert_eq!(serde_json::to_string(&refusal).unwrap(), told);
        }
    }

    #[test]
    fn a_hold_that_is_too_long_is_told_how_long_it_may_be() {
        let told = r#"{"refusal": "period_invalid",
            "details": {"problem": "hold_length", "longest_seconds": 86400}}"#;
        let refusal: Refusal = serde_json::from_str(told).unwrap();
        let sentence = refusal.sentence(&SiteCalendar::new(chrono_tz::UTC));
        assert!(sentence.contains("1 day here at the longest"), "{sentence}");
    }
}
