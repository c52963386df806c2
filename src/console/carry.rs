//! The claim that a person has in hand: moved as a whole, or stretched by its end (R14). Where it would come to is what
//! the cursor says; nothing is asked of the house before it is put down.

use chrono::{Days, TimeDelta};

use crate::domain::{BookedBy, Period, Room, SlotHold};

use super::model::{Model, Panel};
use super::selection::Target;

/// How a claim is held in the hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grip {
    /// All of it goes with the cursor.
    Whole,
    /// Its end does.
    End,
}

/// A claim in the hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// As it was seen when it was taken.
    pub claim: SlotHold,
    /// By what.
    pub grip: Grip,
}

impl Model {
    /// Takes the claim under the cursor into the hand.
    pub fn pick_up(&mut self) {
        let Target::Claim(claim) = self.target() else {
            return;
        };
        let (claim, start) = (claim.clone(), claim.period.start());
        self.let_go();
        self.carried = Some(Carried {
            claim,
            grip: Grip::Whole,
        });
        self.place_cursor(start);
    }

    /// Begins to stretch: the claim under the cursor by its end, or else a period from here.
    pub fn begin_stretch(&mut self) {
        let target = (self.panel == Panel::Rooms).then(|| self.target());
        let Some(Target::Claim(claim)) = target else {
            self.cursor.anchor = Some(self.cursor.at);
            return;
        };
        let claim = claim.clone();
        self.cursor.anchor = Some(claim.period.start());
        if let Some(room) = self.room() {
            let last = claim.period.end() - TimeDelta::milliseconds(1);
            self.cursor.at = self.cell(room, last).start();
        }
        self.carried = Some(Carried {
            claim,
            grip: Grip::End,
        });
    }

    /// Leaves everything where it is.
    pub fn let_go(&mut self) {
        self.carried = None;
        self.cursor.anchor = None;
        self.cursor.stretching = false;
    }

    /// The claim whose end is in the hand is let go when there is nothing stretched any more.
    pub(super) fn drop_loose_end(&mut self) {
        let loose = self.cursor.anchor.is_none();
        self.carried
            .take_if(|carried| loose && carried.grip == Grip::End);
    }

    /// Where the claim in the hand would come to; none where it can't be put at all.
    pub fn destination(&self) -> Option<(&Room, Period)> {
        let Carried { claim, grip } = self.carried.as_ref()?;
        let room = self.room()?;
        let here = self.cell(room, self.cursor.at);
        let period = match (grip, room.booked_by, claim.nights) {
            (Grip::End, ..) => Period::new(claim.period.start(), here.end()).ok()?,
            (Grip::Whole, BookedBy::Hour, None) => {
                Period::new(here.start(), here.start() + claim.period.length()).ok()?
            }
            (Grip::Whole, BookedBy::Night, Some(nights)) => {
                let calendar = self.calendar();
                let arrival = calendar.date(here.start());
                let nights = Days::new(u64::try_from(nights).ok()?);
                calendar.stay(arrival, arrival.checked_add_days(nights)?, room.night_times)?
            }
            (Grip::Whole, ..) => return None,
        };
        Some((room, period))
    }
}
