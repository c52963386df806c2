//! The words of the site: periods, the site's calendar, rooms, holds, stock, commands and refusals.
//!
//! Pure values and pure functions. This module must not know about I/O, async, SQL, a terminal or a clock: whoever
//! needs "now" hands it in.

pub mod alternative;
pub mod calendar;
pub mod catalogue;
pub mod claim;
mod clock_text;
pub mod command;
mod dates;
pub mod duration;
pub mod event;
pub mod examples;
pub mod ids;
pub mod mistake;
mod night_times;
pub mod period;
pub mod refusal;
pub mod rule;
pub mod sentences;
pub mod server;
pub mod site_file;
pub mod text;
pub mod time_reader;
mod unknown_word;

pub use alternative::Alternative;
pub use calendar::{LocalTimeError, Showing, SiteCalendar, Tick};
pub use catalogue::{BookedBy, Item, NewItem, NewRoom, Room, Site};
pub use claim::{Claim, ClaimState, Group, HoldKind, Purpose, SlotHold, StockHold};
pub use command::{
    Answer, Change, Command, Done, FailedLine, LineKind, Refused, Request, SlotLine, StockLine,
};
pub use event::{Event, EventKind, Subject};
pub use ids::{
    ClaimId, Desk, GroupId, ItemId, RequestId, RoomId, SiteId, SlotHoldId, StockHoldId, Version,
};
pub use night_times::NightTimes;
pub use period::{Period, PeriodError};
pub use refusal::Refusal;
pub use server::{Applied, ServerAnswer, ServerCommand, ServerRequest, SiteChange};
pub use site_file::{SiteEntry, SiteFile};
pub use time_reader::{TimeReader, TimeTextError};
pub use unknown_word::UnknownWord;
