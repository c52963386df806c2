//! Everything that a console knows: the picture, the cursor, what is pending, the open dialog, the connection.
//!
//! Plain data. Only `update` changes it and only views read it; it must not know about tasks, SQL or a clock.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use crate::domain::{
    Command, Desk, ItemId, Period, Request, RequestId, RoomId, Site, SiteCalendar, SlotHold,
    SlotHoldId, StockHold, StockHoldId,
};
use crate::store::Picture;

use super::alternative::{self, AlternativeCommand};
use super::board::{self, Board};
use super::carry::Carried;
use super::dialog::Dialog;
use super::keys::Keymap;
use super::layout::{self, Scale, Screen};
use super::news::Departed;
use super::selection::{Cursor, StockCursor};
use super::text;

/// Which panel has the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Panel {
    /// The grid.
    Rooms,
    /// The stock.
    Stock,
    /// The events.
    Feed,
}

/// Whether the database answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    /// It does.
    Live {
        /// The last round trip, if there was one.
        latency: Option<Duration>,
    },
    /// It does not; the last picture stays.
    Lost {
        /// The last answer, by its own clock.
        since: DateTime<Utc>,
        /// What happened and what is being done.
        sentence: String,
    },
}

/// The database's clock: what it showed at the last answer, and when that was on the console's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    answered: DateTime<Utc>,
    at: Duration,
    now: DateTime<Utc>,
}

impl Clock {
    /// A clock that was read just now.
    pub fn new(answered: DateTime<Utc>, at: Duration) -> Self {
        Self {
            answered,
            at,
            now: answered,
        }
    }

    /// The database's clock, carried on from its last answer by the console's monotonic clock.
    pub fn now(&self) -> DateTime<Utc> {
        self.now
    }

    /// What it showed at the last answer.
    pub fn answered(&self) -> DateTime<Utc> {
        self.answered
    }

    /// Time has passed.
    pub fn tick(&mut self, uptime: Duration) {
        let since = TimeDelta::from_std(uptime.saturating_sub(self.at)).unwrap_or_default();
        self.now = self.answered + since;
    }
}

/// A command that was sent and not answered yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// What was sent.
    pub request: Request,
    /// Whether its outcome is unknown and is being asked again (R24).
    pub checking: bool,
    /// Whether it must be sent again when the database is back (R24).
    pub ask_again: bool,
}

/// What a line to the person is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// For information.
    Plain,
    /// Done.
    Good,
    /// The house, or the console, said no.
    Refused,
    /// Something broke.
    Fault,
}

/// A line to the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// What kind.
    pub tone: Tone,
    /// A full sentence, made for the screen.
    pub text: String,
    /// When it was said, by the database's clock.
    pub said_at: DateTime<Utc>,
    /// What can be had instead, with one key each.
    pub alternatives: Vec<AlternativeCommand>,
    /// The same in words; empty if there are none.
    pub alternatives_in_words: String,
}

impl Notice {
    /// The text in lines of so many cells, and the alternatives, which are shown in any case.
    pub fn lines(&self, cells: usize) -> Vec<String> {
        let mut lines = text::wrap(&self.text, cells);
        if !self.alternatives_in_words.is_empty() {
            let alternatives = text::wrap(&self.alternatives_in_words, cells);
            lines.truncate(
                usize::from(layout::MESSAGE_ROWS)
                    .saturating_sub(alternatives.len())
                    .max(1),
            );
            lines.extend(alternatives);
        }
        lines
    }
}

/// How long good news stays; a refusal stays until a key is pressed.
const GOOD_NEWS: TimeDelta = TimeDelta::seconds(20);

/// A claim as the database answered it, kept until a picture is newer.
#[derive(Debug, Clone, PartialEq)]
enum Settled {
    Slot(SlotHold, DateTime<Utc>),
    Stock(StockHold, DateTime<Utc>),
}

/// What is scrolled into view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scroll {
    /// The first room shown, by its place in the order.
    pub first_room: usize,
    /// The first instant shown.
    pub first: DateTime<Utc>,
    /// The newest event shown, if not the newest of all.
    pub feed: Option<i64>,
}

/// Everything that a console knows.
#[derive(Debug, Clone)]
pub struct Model {
    /// Who works here.
    pub desk: Desk,
    /// The house.
    pub site: Site,
    /// The terminal's columns and rows.
    pub size: (u16, u16),
    /// The last picture; none before the first.
    pub board: Option<Board>,
    /// Where the keys act in the grid.
    pub cursor: Cursor,
    /// Where they act in the stock.
    pub stock_cursor: Option<StockCursor>,
    /// Which panel has them.
    pub panel: Panel,
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
    pub departed: Option<Departed>,
    /// The claim that is being moved or stretched.
    pub carried: Option<Carried>,
    settled: Vec<Settled>,
}

impl Model {
    /// A console that has just opened: at the present moment, without a picture yet.
    pub fn new(
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
            board: None,
            cursor: Cursor::new(now),
            stock_cursor: None,
            panel: Panel::Rooms,
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
            departed: None,
            carried: None,
            settled: Vec::new(),
        };
        model.place_cursor(now);
        model.scroll_to_business();
        model
    }

    /// A console that shows a picture: for benches and tests.
    pub fn from_picture(desk: Desk, picture: Arc<Picture>, size: (u16, u16)) -> Self {
        let (site, now) = (picture.site.clone(), picture.read_at);
        let mut model = Self::new(
            desk,
            site,
            Arc::new(Keymap::default()),
            size,
            now,
            Duration::ZERO,
        );
        model.accept(picture);
        model
    }

    /// The site's calendar.
    pub fn calendar(&self) -> SiteCalendar {
        self.site.calendar
    }

    /// The database's clock.
    pub fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// The date that is shown: the one under the cursor.
    pub fn date(&self) -> NaiveDate {
        self.calendar().date(self.cursor.at)
    }

    /// The day that is shown.
    pub fn day(&self) -> Period {
        self.day_at(self.cursor.at)
    }

    /// Whether the picture says something about the day that is shown.
    pub fn is_day_known(&self) -> bool {
        self.board
            .as_ref()
            .is_some_and(|board| board.covers(&self.day()))
    }

    /// Whether the database is away.
    pub fn is_lost(&self) -> bool {
        matches!(self.connection, Connection::Lost { .. })
    }

    /// The window that the picture should cover: the day shown, the one before, and two more.
    pub fn window(&self) -> Period {
        let calendar = self.calendar();
        let date = self.date();
        let from = calendar.first_instant(calendar.previous_date(date));
        let after = (0..3).fold(date, |date, _| calendar.next_date(date));
        Period::new(from, calendar.first_instant(after)).unwrap_or_else(|_| self.day())
    }

    /// Where everything is.
    pub fn screen(&self) -> Screen {
        let rooms = self.board.as_ref().map_or(1, |board| board.rooms().len());
        layout::screen(self.size.0, self.size.1, rooms, self.message_rows())
    }

    /// How fine the cells are.
    pub fn scale(&self) -> Scale {
        match self.screen() {
            Screen::Full(layout) => layout.scale,
            _ => Scale::NARROW,
        }
    }

    fn message_rows(&self) -> u16 {
        let width = usize::from(self.size.0).saturating_sub(3);
        match &self.notice {
            Some(notice)
                if !notice.alternatives.is_empty() || text::width(&notice.text) > width =>
            {
                u16::try_from(notice.lines(width).len()).unwrap_or(3)
            }
            _ => 1,
        }
    }

    /// Says something to the person.
    pub fn say(&mut self, tone: Tone, sentence: &str) {
        self.notice = Some(Notice {
            tone,
            text: text::display(sentence),
            said_at: self.now(),
            alternatives: Vec::new(),
            alternatives_in_words: String::new(),
        });
    }

    /// Adds to what was just said what can be had instead.
    pub fn offer(&mut self, alternatives: Vec<AlternativeCommand>, wanted: Option<Period>) {
        let calendar = self.calendar();
        if let Some(notice) = self.notice.as_mut().filter(|_| !alternatives.is_empty()) {
            notice.alternatives_in_words = alternative::words(&alternatives, wanted, &calendar);
            notice.alternatives = alternatives;
        }
    }

    /// What can be had with one key; in stock, digits count.
    pub fn alternatives(&self) -> &[AlternativeCommand] {
        match &self.notice {
            Some(notice) if self.panel != Panel::Stock => &notice.alternatives,
            _ => &[],
        }
    }

    /// Lets go of good news that has been read by now.
    pub fn forget_old_news(&mut self) {
        let now = self.now();
        self.notice.take_if(|notice| {
            matches!(notice.tone, Tone::Good | Tone::Plain) && now - notice.said_at > GOOD_NEWS
        });
    }

    /// Takes a new picture in, with what is known from answers that are younger.
    pub fn accept(&mut self, picture: Arc<Picture>) {
        self.read_news(&picture);
        let read_at = picture.read_at;
        self.settled.retain(|settled| match settled {
            Settled::Slot(_, at) | Settled::Stock(_, at) => *at >= read_at,
        });
        self.site = picture.site.clone();
        let picture = if self.settled.is_empty() {
            picture
        } else {
            self.with_settled(picture)
        };
        let room_before = self
            .cursor
            .room
            .and_then(|room| self.board.as_ref()?.room_index(room));
        self.board = Some(Board::new(picture));
        self.revalidate(room_before.unwrap_or(0));
    }

    /// Takes a claim in as the database answered it: from now on it may be painted as such.
    pub fn settle_slot(&mut self, claim: SlotHold, now: DateTime<Utc>) {
        self.settled.push(Settled::Slot(claim, now));
        self.reapply();
    }

    /// The same for a claim on stock.
    pub fn settle_stock(&mut self, claim: StockHold, now: DateTime<Utc>) {
        self.settled.push(Settled::Stock(claim, now));
        self.reapply();
    }

    fn reapply(&mut self) {
        if let Some(board) = &self.board {
            let picture = self.with_settled(Arc::new(board.picture().clone()));
            let room = self
                .cursor
                .room
                .and_then(|room| board.room_index(room))
                .unwrap_or(0);
            self.board = Some(Board::new(picture));
            self.revalidate(room);
        }
    }

    fn with_settled(&self, picture: Arc<Picture>) -> Arc<Picture> {
        let mut picture = Arc::unwrap_or_clone(picture);
        for settled in &self.settled {
            match settled {
                Settled::Slot(claim, _) => board::with_slot(&mut picture, claim),
                Settled::Stock(claim, _) => board::with_stock(&mut picture, claim),
            }
        }
        Arc::new(picture)
    }

    /// A command that is under way.
    pub fn pending(&self, request: RequestId) -> Option<&Pending> {
        self.pending
            .iter()
            .find(|pending| pending.request.id == request)
    }

    /// Holds, blocks and moves into a room that are under way.
    pub fn pending_in(&self, room: RoomId) -> impl Iterator<Item = (&Pending, Period)> {
        self.pending
            .iter()
            .filter_map(move |pending| match pending.request.command {
                Command::HoldSlot {
                    room: wanted,
                    period,
                    ..
                }
                | Command::BlockSlot {
                    room: wanted,
                    period,
                    ..
                } if wanted == room => Some((pending, period)),
                Command::MoveSlot {
                    to_room: Some(wanted),
                    from: Some(from),
                    to: Some(to),
                    ..
                } if wanted == room => Some((pending, Period::new(from, to).ok()?)),
                _ => None,
            })
    }

    /// A command on a claim of a room, or on its group, that is under way.
    pub fn pending_on(&self, claim: SlotHoldId) -> Option<&Pending> {
        let group = || self.board.as_ref()?.claim(claim)?.group;
        self.pending
            .iter()
            .find(|pending| match pending.request.command {
                Command::ConfirmSlot { hold, .. }
                | Command::CancelSlot { hold, .. }
                | Command::EditSlot { hold, .. }
                | Command::RenewSlot { hold, .. }
                | Command::MoveSlot { hold, .. } => hold == claim,
                Command::ConfirmGroup { group: asked }
                | Command::RenewGroup { group: asked, .. } => group() == Some(asked),
                _ => false,
            })
    }

    /// A hold of an item that is under way.
    pub fn pending_of_item(&self, wanted: ItemId) -> Option<&Pending> {
        self.pending.iter().find(
            |pending| matches!(pending.request.command, Command::HoldStock { item, .. } if item == wanted),
        )
    }

    /// A command on a claim on stock, or on its group, that is under way.
    pub fn pending_on_stock(&self, claim: StockHoldId) -> Option<&Pending> {
        let group = || self.board.as_ref()?.stock_claim(claim)?.group;
        self.pending
            .iter()
            .find(|pending| match pending.request.command {
                Command::ConfirmStock { hold, .. }
                | Command::CancelStock { hold, .. }
                | Command::RenewStock { hold, .. } => hold == claim,
                Command::ConfirmGroup { group: asked }
                | Command::RenewGroup { group: asked, .. } => group() == Some(asked),
                _ => false,
            })
    }
}
