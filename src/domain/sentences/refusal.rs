//! What a clerk is told when the rules say no: what happened, and what to do next.

use chrono::TimeDelta;

use crate::domain::calendar::SiteCalendar;
use crate::domain::claim::{ClaimState, HoldKind, Purpose};
use crate::domain::duration::{spoken, spoken_seconds};
use crate::domain::refusal::{PeriodProblem, Refusal, SlotTaken};
use crate::domain::text::harmless;

impl Refusal {
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
