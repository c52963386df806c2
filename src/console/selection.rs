//! The selection: by identity (a room and an instant, a claim, an item), never by a position on the screen, so that a
//! refresh can't put another claim under a key.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use crate::domain::{
    BookedBy, ClaimState, Item, ItemId, Period, Room, RoomId, SlotHold, SlotHoldId, StockHold,
    StockHoldId,
};

use super::layout::Screen;
use super::model::{Model, Panel};

/// Where the keys act in the grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The room; none while the house has none.
    pub room: Option<RoomId>,
    /// An instant of the cell.
    pub at: DateTime<Utc>,
    /// An instant of the cell where a stretched period began.
    pub anchor: Option<DateTime<Utc>>,
    /// Whether moving stretches.
    pub stretching: bool,
    /// The claim that the person sees under the cursor.
    pub on: Option<SlotHoldId>,
    /// Whether another claim came under the cursor without the person's doing.
    pub surprised: bool,
}

impl Cursor {
    /// A cursor at an instant.
    pub fn new(at: DateTime<Utc>) -> Self {
        Self {
            room: None,
            at,
            anchor: None,
            stretching: false,
            on: None,
            surprised: false,
        }
    }
}

/// Where the keys act in the stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StockCursor {
    /// An item.
    Item(ItemId),
    /// A claim on an item.
    Claim(StockHoldId, ItemId),
}

/// What the keys act on.
#[derive(Debug, Clone, Copy)]
pub enum Target<'a> {
    /// Nothing at all.
    Nothing,
    /// A period of a room without a claim under the cursor, or a stretched one.
    Free(&'a Room, Period),
    /// A claim on a room.
    Claim(&'a SlotHold),
    /// An item.
    Item(&'a Item),
    /// A claim on an item.
    StockClaim(&'a StockHold),
}

impl Model {
    /// The day that an instant belongs to.
    pub fn day_at(&self, at: DateTime<Utc>) -> Period {
        let calendar = self.calendar();
        let whole = |from: DateTime<Utc>| Period::new(from, from + TimeDelta::days(1));
        calendar
            .day(calendar.date(at))
            .or_else(|| whole(at).ok())
            .unwrap_or_else(|| self.window())
    }

    /// The room under the cursor.
    pub fn room(&self) -> Option<&Room> {
        self.board.as_ref()?.room(self.cursor.room?)
    }

    /// What the keys act on.
    pub fn target(&self) -> Target<'_> {
        match self.panel {
            Panel::Stock => self.stock_target(),
            Panel::Rooms | Panel::Feed => self.room_target(),
        }
    }

    fn stock_target(&self) -> Target<'_> {
        let Some(board) = &self.board else {
            return Target::Nothing;
        };
        match self.stock_cursor {
            Some(StockCursor::Item(item)) => board.item(item).map_or(Target::Nothing, Target::Item),
            Some(StockCursor::Claim(hold, _)) => board
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
            .and_then(|claim| self.board.as_ref()?.claim(claim));
        match (claim, self.cursor.anchor) {
            (Some(claim), None) => Target::Claim(claim),
            _ => Target::Free(room, self.selected(room)),
        }
    }

    /// The period that the cursor selects in a room: one cell, or all from the anchor on, or where the claim in the hand
    /// would come to.
    pub fn selected(&self, room: &Room) -> Period {
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

    /// The cell of a room that an instant lies in.
    ///
    /// By the hour: from one stop to the next, where stops are the slots of the day and the bounds of claims, so that
    /// every claim can be reached and every gap filled exactly. By the night: one night.
    pub fn cell(&self, room: &Room, at: DateTime<Utc>) -> Period {
        match room.booked_by {
            BookedBy::Hour => self.hour_cell(room.id, at),
            BookedBy::Night => {
                let arrival = self.arrival(room, at);
                self.night(room, arrival)
                    .unwrap_or_else(|| self.hour_cell(room.id, at))
            }
        }
    }

    fn night(&self, room: &Room, arrival: NaiveDate) -> Option<Period> {
        let calendar = self.calendar();
        calendar.stay(arrival, calendar.next_date(arrival), room.night_times)
    }

    /// The night that a cursor means: that of the stay that is there, else the one that begins on the date.
    fn arrival(&self, room: &Room, at: DateTime<Utc>) -> NaiveDate {
        let calendar = self.calendar();
        let date = calendar.date(at);
        let before = calendar.previous_date(date);
        let last_night = self.night(room, before);
        let stays = self
            .board
            .as_ref()
            .is_some_and(|board| board.claim_at(room.id, at).is_some());
        match last_night {
            Some(night) if stays && night.contains(at) => before,
            _ => date,
        }
    }

    fn hour_cell(&self, room: RoomId, at: DateTime<Utc>) -> Period {
        let day = self.day_at(at);
        let slot = self.scale().slot;
        let steps = (at - day.start())
            .num_seconds()
            .div_euclid(slot.num_seconds());
        let mut from = day.start() + slot * i32::try_from(steps).unwrap_or(0);
        let mut to = (from + slot).min(day.end());
        if let Some(board) = &self.board {
            for (claim, _) in board.touching(room, from, to) {
                for stop in [
                    claim.period.start(),
                    claim.period.end(),
                    claim.occupied_until,
                ] {
                    if stop <= at {
                        from = from.max(stop);
                    } else {
                        to = to.min(stop);
                    }
                }
            }
        }
        Period::new(from, to).unwrap_or(day)
    }

    /// Puts the cursor on the cell of an instant.
    pub fn place_cursor(&mut self, at: DateTime<Utc>) {
        self.cursor.at = at;
        self.look();
    }

    /// What is under the cursor is what the person sees from now on.
    pub fn look(&mut self) {
        self.drop_loose_end();
        if let Some(room) = self.room() {
            let cell = self.cell(room, self.cursor.at);
            let at = if cell.contains(self.cursor.at) {
                self.cursor.at
            } else {
                cell.start()
            };
            let on = self.claim_under(room.id, &cell, at);
            self.cursor.on = on;
        } else {
            self.cursor.on = None;
        }
        self.cursor.surprised = false;
        self.keep_in_view();
    }

    fn claim_under(&self, room: RoomId, cell: &Period, at: DateTime<Utc>) -> Option<SlotHoldId> {
        let board = self.board.as_ref()?;
        if let Some(claim) = board.claim_at(room, at) {
            return Some(claim.id);
        }
        board
            .touching(room, cell.start(), cell.end())
            .find(|(claim, _)| claim.period.overlaps(cell))
            .map(|(claim, _)| claim.id)
    }

    /// Moves by one cell in time; over the end of a day to the next.
    pub fn step_time(&mut self, forwards: bool, stretch: bool) {
        if stretch && self.cursor.anchor.is_none() {
            self.begin_stretch();
        } else if !stretch {
            self.cursor.anchor = None;
        }
        let Some(room) = self.room() else {
            let slot = self.scale().slot;
            self.cursor.at += if forwards { slot } else { -slot };
            return self.look();
        };
        let cell = self.cell(room, self.cursor.at);
        let at = match room.booked_by {
            BookedBy::Hour if forwards => cell.end(),
            BookedBy::Hour => self
                .hour_cell(room.id, cell.start() - TimeDelta::milliseconds(1))
                .start(),
            BookedBy::Night => {
                let calendar = self.calendar();
                let arrival = self.arrival(room, self.cursor.at);
                let next = if forwards {
                    calendar.next_date(arrival)
                } else {
                    calendar.previous_date(arrival)
                };
                self.night(room, next).unwrap_or(cell).start()
            }
        };
        self.place_cursor(at);
    }

    /// Moves by rooms.
    pub fn step_room(&mut self, rows: isize) {
        let Some(board) = &self.board else { return };
        let last = board.rooms().len().saturating_sub(1);
        let index = self
            .cursor
            .room
            .and_then(|room| board.room_index(room))
            .unwrap_or(0);
        let index = index.saturating_add_signed(rows).min(last);
        self.cursor.room = board.rooms().get(index).map(|room| room.id);
        self.cursor.anchor = None;
        self.cursor.stretching = false;
        self.look();
    }

    /// Shows another date, at the same time of day.
    pub fn show_date(&mut self, date: NaiveDate) {
        let calendar = self.calendar();
        let time = calendar.local(self.cursor.at).time();
        let day = calendar
            .day(date)
            .unwrap_or_else(|| self.day_at(calendar.first_instant(date)));
        let at = calendar.instant(date.and_time(time)).unwrap_or(day.start());
        self.cursor.anchor = None;
        self.cursor.stretching = false;
        let moved = at - self.cursor.at;
        let first = self.scroll.first + moved;
        self.place_cursor(if day.contains(at) { at } else { day.start() });
        self.scroll.first = first;
        self.keep_in_view();
    }

    /// After a new picture: the same claim, else the same room and instant, else the room that is there now.
    pub(super) fn revalidate(&mut self, room_before: usize) {
        let Some(board) = &self.board else { return };
        if self
            .cursor
            .room
            .is_none_or(|room| board.room_index(room).is_none())
        {
            let last = board.rooms().len().saturating_sub(1);
            self.cursor.room = board.rooms().get(room_before.min(last)).map(|room| room.id);
            self.cursor.anchor = None;
            self.look();
        } else if let Some(claim) = self.cursor.on.and_then(|claim| board.claim(claim)) {
            let (room, period) = (claim.room, claim.period);
            if self.cursor.room != Some(room) || !self.touches(&period) {
                self.cursor.room = Some(room);
                self.cursor.at = period.start();
            }
            self.keep_in_view();
        } else {
            let had = self.cursor.on;
            let surprised = self.cursor.surprised;
            self.look();
            self.cursor.surprised = surprised || (had.is_some() && self.cursor.on.is_some());
        }
        self.revalidate_stock();
    }

    /// Whether an instant lies in the cell under the cursor.
    pub fn is_in_cell(&self, at: DateTime<Utc>) -> bool {
        self.room()
            .is_some_and(|room| self.cell(room, self.cursor.at).contains(at))
    }

    fn touches(&self, period: &Period) -> bool {
        self.room()
            .is_some_and(|room| self.cell(room, self.cursor.at).overlaps(period))
    }

    fn revalidate_stock(&mut self) {
        let rows = self.stock_rows();
        let kept = self.stock_cursor.filter(|cursor| rows.contains(cursor));
        let item = match self.stock_cursor {
            Some(StockCursor::Claim(_, item)) => {
                Some(StockCursor::Item(item)).filter(|row| rows.contains(row))
            }
            _ => None,
        };
        self.stock_cursor = kept.or(item).or(rows.first().copied());
    }

    /// The lines of the stock panel: each item, and beneath it what is held of it.
    ///
    /// A hold that has just been sold stays while the cursor is on it, so that the person sees what became of it.
    pub fn stock_rows(&self) -> Vec<StockCursor> {
        let Some(board) = &self.board else {
            return Vec::new();
        };
        let mut rows = Vec::new();
        for item in board.items() {
            rows.push(StockCursor::Item(item.id));
            let claims = board
                .holds_of(item.id)
                .map(|hold| (StockCursor::Claim(hold.id, item.id), hold.state))
                .filter(|(row, state)| {
                    *state == ClaimState::Held || self.stock_cursor == Some(*row)
                });
            rows.extend(claims.map(|(row, _)| row));
        }
        rows
    }

    /// Moves in the stock.
    pub fn step_stock(&mut self, lines: isize) {
        let rows = self.stock_rows();
        let index = self
            .stock_cursor
            .and_then(|cursor| rows.iter().position(|row| *row == cursor))
            .unwrap_or(0);
        let index = index
            .saturating_add_signed(lines)
            .min(rows.len().saturating_sub(1));
        self.stock_cursor = rows.get(index).copied();
    }

    /// Moves in the feed.
    pub fn step_feed(&mut self, lines: isize) {
        let Some(board) = &self.board else { return };
        let events = &board.picture().events;
        let index = self
            .scroll
            .feed
            .and_then(|id| events.iter().position(|event| event.id == id))
            .unwrap_or(0);
        let index = index
            .saturating_add_signed(lines)
            .min(events.len().saturating_sub(1));
        self.scroll.feed = events
            .get(index)
            .filter(|_| index > 0)
            .map(|event| event.id);
    }

    /// Scrolls so that the cursor can be seen, and no further than needed.
    pub fn keep_in_view(&mut self) {
        let Screen::Full(layout) = self.screen() else {
            return;
        };
        let day = self.day();
        let span = layout.scale.span(layout.grid.width);
        let cell = match self.room() {
            Some(room) if room.booked_by == BookedBy::Hour => self.cell(room, self.cursor.at),
            _ => Period::new(self.cursor.at, self.cursor.at + layout.scale.slot).unwrap_or(day),
        };
        let latest = whole_hour(&day, day.end() - span, true).max(day.start());
        let mut first = whole_hour(&day, self.scroll.first.clamp(day.start(), latest), false);
        if cell.start() < first {
            first = whole_hour(&day, cell.start(), false);
        } else if cell.end() > first + span {
            first = whole_hour(&day, cell.end() - span, true);
        }
        self.scroll.first = first.clamp(day.start(), latest);

        let rows = layout.rooms();
        let Some(board) = &self.board else { return };
        let index = self
            .cursor
            .room
            .and_then(|room| board.room_index(room))
            .unwrap_or(0);
        let most = board.rooms().len().saturating_sub(rows);
        self.scroll.first_room = self
            .scroll
            .first_room
            .clamp((index + 1).saturating_sub(rows), index)
            .min(most);
    }

    /// Scrolls to the hours in which a house is awake, and to the present if it is another.
    pub fn scroll_to_business(&mut self) {
        let calendar = self.calendar();
        let opening = self.date().and_hms_opt(8, 0, 0);
        let opening = opening
            .and_then(|local| calendar.instant(local).ok())
            .unwrap_or(self.cursor.at);
        self.scroll.first = opening.min(self.cursor.at);
        self.keep_in_view();
    }
}

/// The instant, moved to a whole number of hours from the start of the day.
fn whole_hour(day: &Period, at: DateTime<Utc>, up: bool) -> DateTime<Utc> {
    let seconds = (at - day.start()).num_seconds();
    let hours = seconds.div_euclid(3600) + i64::from(up && seconds.rem_euclid(3600) > 0);
    day.start() + TimeDelta::seconds(hours * 3600)
}
