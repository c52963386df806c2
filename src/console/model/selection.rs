//! What the keys act on: the cell, the period and the claim under the cursor, and where a grabbed claim would come to.
//!
//! Only reads. By identity, never by a position on the screen (see [`crate::console::model::cursor`]).

use chrono::{DateTime, Days, TimeDelta, Utc};

use crate::console::model::Model;
use crate::console::model::cursor::{Panel, StockCursor, Target};
use crate::console::model::grab::{Grab, GrabKind};
use crate::domain::{BookedBy, ClaimState, Period, Room, RoomId, SlotHoldId};

impl Model {
    /// The day that an instant belongs to.
    pub(crate) fn day_at(&self, at: DateTime<Utc>) -> Period {
        let calendar = self.calendar();
        let whole = |from: DateTime<Utc>| Period::new(from, from + TimeDelta::days(1));
        calendar
            .day(calendar.date(at))
            .or_else(|| whole(at).ok())
            .unwrap_or_else(|| self.window())
    }

    /// The room under the cursor.
    pub(crate) fn room(&self) -> Option<&Room> {
        self.indexed.as_ref()?.room(self.cursor.room?)
    }

    /// What the keys act on.
    pub(crate) fn target(&self) -> Target<'_> {
        match self.panel {
            Panel::Stock => self.stock_target(),
            Panel::Rooms | Panel::Feed => self.room_target(),
        }
    }

    fn stock_target(&self) -> Target<'_> {
        let Some(indexed) = &self.indexed else {
            return Target::Nothing;
        };
        match self.stock_cursor {
            Some(StockCursor::Item(item)) => {
                indexed.item(item).map_or(Target::Nothing, Target::Item)
            }
            Some(StockCursor::Claim(hold, _)) => indexed
                .stock_claim(hold)
                .map_or(Target::Nothing, Target::StockClaim),
            None => Target::Nothing,
        }
    }

    fn room_target(&self) -> Target<'_> {
        let Some(room) = self.room() else {
            return Target::Nothing;
        };
        let claim = self
            .cursor
            .on
            .and_then(|claim| self.indexed.as_ref()?.claim(claim));
        match (claim, self.cursor.anchor) {
            (Some(claim), None) => Target::Claim(claim),
            _ => Target::Free(room, self.selected(room)),
        }
    }

    /// The period that the cursor selects in a room: one cell, or all from the anchor on, or where the grabbed claim
    /// would come to.
    pub(crate) fn selected(&self, room: &Room) -> Period {
        if let Some((_, period)) = self.destination().filter(|(there, _)| there.id == room.id) {
            return period;
        }
        let here = self.cell(room, self.cursor.at);
        let Some(anchor) = self.cursor.anchor else {
            return here;
        };
        let there = self.cell(room, anchor);
        Period::new(here.start().min(there.start()), here.end().max(there.end())).unwrap_or(here)
    }

    pub(super) fn claim_under(
        &self,
        room: RoomId,
        cell: &Period,
        at: DateTime<Utc>,
    ) -> Option<SlotHoldId> {
        let indexed = self.indexed.as_ref()?;
        if let Some(claim) = indexed.claim_at(room, at) {
            return Some(claim.id);
        }
        indexed
            .touching(room, cell.start(), cell.end())
            .find(|(claim, _)| claim.period.overlaps(cell))
            .map(|(claim, _)| claim.id)
    }

    /// Whether an instant lies in the cell under the cursor.
    pub(crate) fn is_in_cell(&self, at: DateTime<Utc>) -> bool {
        self.room()
            .is_some_and(|room| self.cell(room, self.cursor.at).contains(at))
    }

    pub(super) fn touches(&self, period: &Period) -> bool {
        self.room()
            .is_some_and(|room| self.cell(room, self.cursor.at).overlaps(period))
    }

    /// The lines of the stock panel: each item, and beneath it what is held of it.
    ///
    /// A hold that has just been sold stays while the cursor is on it, so that the person sees what became of it.
    pub(crate) fn stock_rows(&self) -> Vec<StockCursor> {
        let Some(indexed) = &self.indexed else {
            return Vec::new();
        };
        let mut rows = Vec::new();
        for item in indexed.items() {
            rows.push(StockCursor::Item(item.id));
            let claims = indexed
                .holds_of(item.id)
                .map(|hold| (StockCursor::Claim(hold.id, item.id), hold.state))
                .filter(|(row, state)| {
                    *state == ClaimState::Held || self.stock_cursor == Some(*row)
                });
            rows.extend(claims.map(|(row, _)| row));
        }
        rows
    }

    /// Where the grabbed claim would come to; none where it can't be put at all.
    pub(crate) fn destination(&self) -> Option<(&Room, Period)> {
        let Grab { claim, kind } = self.grab.as_ref()?;
        let room = self.room()?;
        let here = self.cell(room, self.cursor.at);
        let period = match (kind, room.booked_by, claim.nights) {
            (GrabKind::Stretch, ..) => Period::new(claim.period.start(), here.end()).ok()?,
            (GrabKind::Move, BookedBy::Hour, None) => {
                Period::new(here.start(), here.start() + claim.period.length()).ok()?
            }
            (GrabKind::Move, BookedBy::Night, Some(nights)) => {
                let calendar = self.calendar();
                let arrival = calendar.date(here.start());
                let nights = Days::new(u64::try_from(nights).ok()?);
                calendar.stay(arrival, arrival.checked_add_days(nights)?, room.night_times)?
            }
            (GrabKind::Move, ..) => return None,
        };
        Some((room, period))
    }

    /// The first line of the stock panel that is shown, where so many have room.
    pub(crate) fn first_stock_row(&self, rows: &[StockCursor], height: u16) -> usize {
        let index = self
            .stock_cursor
            .and_then(|cursor| rows.iter().position(|row| *row == cursor))
            .unwrap_or(0);
        (index + 1).saturating_sub(height.into())
    }
}
