//! Refusals: the rules said no. A closed set, one stable code each, and details to act on; the sentence that a clerk
//! understands is in `sentences/refusal.rs`. A refusal is an answer, not an error.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

use crate::domain::alternative::Alternative;
use crate::domain::claim::{ClaimState, HoldKind, Purpose, SlotHold};
use crate::domain::ids::{RoomId, SlotHoldId, Version};
use crate::domain::period::{Period, PeriodError};

/// Why the rules said no.
///
/// Serialised as `{"refusal": code, "details": {…}}`, the same shape in the database's answers, in the request table
/// and in `--json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
#[serde(tag = "refusal", content = "details", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
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
}

impl SlotTaken {
    /// By a claim that is known already, without what is free instead.
    pub(crate) fn by(claim: &SlotHold) -> Self {
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
}

impl From<PeriodError> for Refusal {
    fn from(error: PeriodError) -> Self {
        let problem = match error {
            PeriodError::Empty => PeriodProblem::Empty,
            PeriodError::Reversed => PeriodProblem::Reversed,
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

    /// The words of a scenario's file are checked against the codes that answers have.
    #[test]
    fn a_code_is_what_answers_say() {
        let unknown = serde_json::json!({ "refusal": "none of them", "details": {} });
        let error = serde_json::from_value::<Refusal>(unknown).unwrap_err();
        let error = error.to_string();
        let known: Vec<_> = error.split('`').skip(3).step_by(2).collect();
        assert_eq!(known, Refusal::CODES);
    }
}
