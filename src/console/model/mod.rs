//! Everything that a console knows: the snapshot, the cursor, what is pending, the open dialog, the connection.
//!
//! Plain data and what can be read from it. Only `update` and the actions change it and only views paint it; it must not
//! know them, nor tasks, SQL or a clock.
//!
//! The parts, each in a file of its own, know nothing of [`Model`]; `selection` (what the keys act on), `movement` (how
//! the cursor moves), `views` (how time is laid out) and `refresh` (what the database says) are methods of it.

pub(crate) mod alternative;
pub(crate) mod clock;
pub(crate) mod cursor;
pub(crate) mod dialog;
pub(crate) mod grab;
pub(crate) mod keymap;
pub(crate) mod layout;
mod movement;
pub(crate) mod notice;
pub(crate) mod pending;
mod refresh;
mod selection;
pub(crate) mod snapshot_index;
mod views;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, NaiveDate, Utc};

use crate::console::model::alternative::AlternativeCommand;
use crate::console::model::clock::{Clock, Connection};
use crate::console::model::cursor::{Cursor, EndedClaim, Panel, Scroll, StockCursor, ViewName};
use crate::console::model::dialog::Dialog;
use crate::console::model::grab::Grab;
use crate::console::model::keymap::Keymap;
use crate::console::model::layout::{Scale, Screen};
use crate::console::model::notice::{Notice, Tone};
use crate::console::model::pending::Pending;
use crate::console::model::snapshot_index::{AnsweredClaims, SnapshotIndex};
use crate::domain::{Desk, ItemId, Period, RoomId, Site, SiteCalendar, SlotHoldId, StockHoldId};

/// Everything that a console knows.
#[derive(Debug, Clone)]
pub struct Model {
    /// Who works here.
    pub desk: Desk,
    /// The site.
    pub site: Site,
    /// The terminal's columns and rows.
    pub size: (u16, u16),
    /// The last snapshot, indexed; none before the first.
    pub indexed: Option<SnapshotIndex>,
    /// Where the keys act in the grid.
    pub cursor: Cursor,
    /// Where they act in the stock.
    pub stock_cursor: Option<StockCursor>,
    /// Which panel has them.
    pub panel: Panel,
    /// How the rooms are looked at.
    pub view: ViewName,
    /// What is in view.
    pub scroll: Scroll,
    /// Commands under way.
    pub pending: Vec<Pending>,
    /// The open dialog.
    pub dialog: Option<Dialog>,
    /// A number typed before a key.
    pub count: Option<i32>,
    /// Whether the database answers.
    pub connection: Connection,
    /// Its clock.
    pub clock: Clock,
    /// The line to the person.
    pub notice: Option<Notice>,
    /// What the keys mean.
    pub keymap: Arc<Keymap>,
    /// The claim that was under the cursor until it ended.
    pub ended_claim: Option<EndedClaim>,
    /// The claim that is being moved or stretched.
    pub grab: Option<Grab>,
    answered: AnsweredClaims,
}

impl Model {
    /// A console that has just opened: at the present moment, without a snapshot yet.
    pub(crate) fn new(
        desk: Desk,
        site: Site,
        keymap: Arc<Keymap>,
        size: (u16, u16),
        now: DateTime<Utc>,
        uptime: Duration,
    ) -> Self {
        let mut model = Self {
            desk,
            site,
            size,
            indexed: None,
            cursor: Cursor::new(now),
            stock_cursor: None,
            panel: Panel::Rooms,
            view: ViewName::DAY,
            scroll: Scroll {
                first_room: 0,
                first: now,
                feed: None,
            },
            pending: Vec::new(),
            dialog: None,
            count: None,
            connection: Connection::Live { latency: None },
            clock: Clock::new(now, uptime),
            notice: None,
            keymap,
            ended_claim: None,
            grab: None,
            answered: AnsweredClaims::default(),
        };
        model.place_cursor(now);
        model.scroll_to_business();
        model
    }

    /// The site's calendar.
    pub(crate) fn calendar(&self) -> SiteCalendar {
        self.site.calendar
    }

    /// The database's clock.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// The date that is shown: the one under the cursor.
    pub(crate) fn date(&self) -> NaiveDate {
        self.calendar().date(self.cursor.at)
    }

    /// The day that is shown.
    pub(crate) fn day(&self) -> Period {
        self.day_at(self.cursor.at)
    }

    /// Whether the snapshot says something about the day that is shown.
    pub(crate) fn is_day_known(&self) -> bool {
        self.indexed
            .as_ref()
            .is_some_and(|indexed| indexed.covers(&self.day()))
    }

    /// Whether the database is away.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.connection, Connection::Lost { .. })
    }

    /// Where everything is.
    pub(crate) fn screen(&self) -> Screen {
        let (width, height) = self.size;
        let rooms = self
            .indexed
            .as_ref()
            .map_or(1, |indexed| indexed.rooms().len());
        let message_rows = self.notice.as_ref().map_or(1, |notice| notice.rows(width));
        layout::screen(width, height, rooms, message_rows)
    }

    /// How fine the cells are.
    pub(crate) fn scale(&self) -> Scale {
        match self.screen() {
            Screen::Full(layout) => layout.scale,
            _ => Scale::NARROW,
        }
    }

    /// Says something to the person.
    pub(crate) fn say(&mut self, tone: Tone, sentence: &str) {
        self.notice = Some(Notice::new(tone, sentence, self.now()));
    }

    /// What can be had with one key; in stock, digits count.
    pub(crate) fn alternatives(&self) -> &[AlternativeCommand] {
        match &self.notice {
            Some(notice) if self.panel != Panel::Stock => &notice.alternatives,
            _ => &[],
        }
    }

    /// Lets go of good news that has been read by now.
    pub(crate) fn forget_read_notice(&mut self) {
        let now = self.now();
        self.notice.take_if(|notice| notice.is_read(now));
    }

    /// Holds, blocks and moves into a room that are under way.
    pub(crate) fn pending_in(&self, room: RoomId) -> impl Iterator<Item = (&Pending, Period)> {
        self.pending.iter().filter_map(move |pending| {
            let (wanted, period) = pending.place()?;
            (wanted == room).then_some((pending, period))
        })
    }

    /// A command on a claim of a room, or on its group, that is under way.
    pub(crate) fn pending_on(&self, claim: SlotHoldId) -> Option<&Pending> {
        let group = self
            .indexed
            .as_ref()
            .and_then(|indexed| indexed.claim(claim)?.group);
        self.pending
            .iter()
            .find(|pending| pending.is_about_slot(claim, group))
    }

    /// A hold of an item that is under way.
    pub(crate) fn pending_of_item(&self, item: ItemId) -> Option<&Pending> {
        self.pending
            .iter()
            .find(|pending| pending.item() == Some(item))
    }

    /// A command on a claim on stock, or on its group, that is under way.
    pub(crate) fn pending_on_stock(&self, claim: StockHoldId) -> Option<&Pending> {
        let group = self
            .indexed
            .as_ref()
            .and_then(|indexed| indexed.stock_claim(claim)?.group);
        self.pending
            .iter()
            .find(|pending| pending.is_about_stock(claim, group))
    }
}
