//! How the cursor moves, what it grabs, and what is scrolled into view for it.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use crate::console::model::Model;
use crate::console::model::cursor::{Panel, StockCursor, Target};
use crate::console::model::grab::{Grab, GrabKind};
use crate::console::model::layout::Screen;

impl Model {
    /// Puts the cursor on the cell of an instant.
    pub(crate) fn place_cursor(&mut self, at: DateTime<Utc>) {
        self.cursor.at = at;
        self.cursor_moved();
    }

    /// What is under the cursor is what the person sees from now on.
    pub(crate) fn cursor_moved(&mut self) {
        self.drop_stretch_without_anchor();
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

    /// Moves by one cell in time; over the end of a day to the next.
    pub(crate) fn step_time(&mut self, forwards: bool, stretch: bool) {
        if stretch && self.cursor.anchor.is_none() {
            self.begin_stretch();
        } else if !stretch {
            self.cursor.anchor = None;
        }
        let Some(room) = self.room() else {
            let slot = self.scale().slot;
            self.cursor.at += if forwards { slot } else { -slot };
            return self.cursor_moved();
        };
        let at = self.next_cell(room, forwards);
        self.place_cursor(at);
    }

    /// Moves by rooms.
    pub(crate) fn step_room(&mut self, rows: isize) {
        let Some(indexed) = &self.indexed else { return };
        let last = indexed.rooms().len().saturating_sub(1);
        let index = self
            .cursor
            .room
            .and_then(|room| indexed.room_index(room))
            .unwrap_or(0);
        let index = index.saturating_add_signed(rows).min(last);
        self.cursor.room = indexed.rooms().get(index).map(|room| room.id);
        self.cursor.unstretch();
        self.cursor_moved();
    }

    /// Shows another date, at the same time of day.
    pub(crate) fn show_date(&mut self, date: NaiveDate) {
        let calendar = self.calendar();
        let time = calendar.local(self.cursor.at).time();
        let day = calendar
            .day(date)
            .unwrap_or_else(|| self.day_at(calendar.first_instant(date)));
        let at = calendar.instant(date.and_time(time)).unwrap_or(day.start());
        self.cursor.unstretch();
        let moved = at - self.cursor.at;
        let first = self.scroll.first + moved;
        self.place_cursor(if day.contains(at) { at } else { day.start() });
        self.scroll.first = first;
        self.keep_in_view();
    }

    /// After a new snapshot: the same claim, else the same room and instant, else the room that is there now.
    pub(super) fn revalidate(&mut self, room_before: usize) {
        let Some(indexed) = &self.indexed else { return };
        if self
            .cursor
            .room
            .is_none_or(|room| indexed.room_index(room).is_none())
        {
            let last = indexed.rooms().len().saturating_sub(1);
            self.cursor.room = indexed
                .rooms()
                .get(room_before.min(last))
                .map(|room| room.id);
            self.cursor.anchor = None;
            self.cursor_moved();
        } else if let Some(claim) = self.cursor.on.and_then(|claim| indexed.claim(claim)) {
            let (room, period) = (claim.room, claim.period);
            if self.cursor.room != Some(room) || !self.touches(&period) {
                self.cursor.room = Some(room);
                self.cursor.at = period.start();
            }
            self.keep_in_view();
        } else {
            let had = self.cursor.on;
            let surprised = self.cursor.surprised;
            self.cursor_moved();
            self.cursor.surprised = surprised || (had.is_some() && self.cursor.on.is_some());
        }
        self.revalidate_stock();
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

    /// Moves in the stock.
    pub(crate) fn step_stock(&mut self, lines: isize) {
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
    pub(crate) fn step_feed(&mut self, lines: isize) {
        let Some(indexed) = &self.indexed else { return };
        let events = &indexed.snapshot().events;
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
    pub(crate) fn keep_in_view(&mut self) {
        let Screen::Full(layout) = self.screen() else {
            return;
        };
        self.scroll.first = self.first_shown(&layout);

        let rows = layout.rooms();
        let Some(indexed) = &self.indexed else { return };
        let index = self
            .cursor
            .room
            .and_then(|room| indexed.room_index(room))
            .unwrap_or(0);
        let most = indexed.rooms().len().saturating_sub(rows);
        self.scroll.first_room = self
            .scroll
            .first_room
            .clamp((index + 1).saturating_sub(rows), index)
            .min(most);
    }

    /// Scrolls to the hours in which a site is awake, and to the present if it is another.
    pub(crate) fn scroll_to_business(&mut self) {
        let calendar = self.calendar();
        let opening = self.date().and_hms_opt(8, 0, 0);
        let opening = opening
            .and_then(|local| calendar.instant(local).ok())
            .unwrap_or(self.cursor.at);
        self.scroll.first = opening.min(self.cursor.at);
        self.keep_in_view();
    }

    /// Grabs the claim under the cursor, to move it.
    pub(crate) fn begin_move(&mut self) {
        let Target::Claim(claim) = self.target() else {
            return;
        };
        let (claim, start) = (claim.clone(), claim.period.start());
        self.let_go();
        self.grab = Some(Grab {
            claim,
            kind: GrabKind::Move,
        });
        self.place_cursor(start);
    }

    /// Begins to stretch: the claim under the cursor by its end, or else a period from here.
    pub(crate) fn begin_stretch(&mut self) {
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
        self.grab = Some(Grab {
            claim,
            kind: GrabKind::Stretch,
        });
    }

    /// Lets go of a grabbed claim and of a stretched period: everything stays where it is.
    pub(crate) fn let_go(&mut self) {
        self.grab = None;
        self.cursor.unstretch();
    }

    /// A claim that is stretched by its end is let go of when there is nothing stretched any more.
    fn drop_stretch_without_anchor(&mut self) {
        let unstretched = self.cursor.anchor.is_none();
        self.grab
            .take_if(|grab| unstretched && grab.kind == GrabKind::Stretch);
    }
}
