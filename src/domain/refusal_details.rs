//! What the refusals tell beside their code: who has a slot, what is wrong with a period.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::alternative::Alternative;
use crate::domain::calendar::SiteCalendar;
use crate::domain::claim::{ClaimState, Purpose, SlotHold};
use crate::domain::duration::spoken;
use crate::domain::ids::{RoomId, SlotHoldId};
use crate::domain::period::{Period, PeriodError};
use crate::domain::text::harmless;

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

    pub(super) fn sentence(&self, calendar: &SiteCalendar) -> String {
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
            (Some(state), _)
                if state != ClaimState::Held && self.purpose != Some(Purpose::Block) =>
            {
                state.to_string()
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
    pub(super) fn sentence(&self) -> &'static str {
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

impl From<PeriodError> for PeriodProblem {
    fn from(error: PeriodError) -> Self {
        match error {
            PeriodError::Empty => Self::Empty,
            PeriodError::Reversed => Self::Reversed,
        }
    }
}
