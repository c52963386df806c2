//! The words of the site: periods, the site's calendar, rooms, holds, stock, commands and refusals.
//!
//! Pure values and pure functions. This module must not know about I/O, async, SQL, a terminal or a clock: whoever
//! needs "now" hands it in.

pub(crate) mod alternative;
pub(crate) mod calendar;
pub(crate) mod catalogue;
pub(crate) mod claim;
mod clock_text;
pub(crate) mod command;
mod dates;
pub(crate) mod duration;
pub(crate) mod event;
pub mod examples;
pub(crate) mod ids;
pub(crate) mod mistake;
mod night_times;
pub(crate) mod period;
pub(crate) mod refusal;
pub mod rule;
pub mod sentences;
pub(crate) mod server;
pub(crate) mod site_file;
pub(crate) mod text;
pub(crate) mod time_reader;
pub(crate) mod unknown_word;

pub(crate) use alternative::Alternative;
pub use calendar::SiteCalendar;
pub use catalogue::{BookedBy, Item, NewItem, NewRoom, Room, Site};
pub use claim::{
    Change, Claim, ClaimState, Group, HoldKind, Purpose, SlotDetails, SlotEdit, SlotHold, StockHold,
};
pub(crate) use command::FailedLine;
pub use command::{
    Answer, Command, LineKind, RefusalAnswer, Request, SlotLine, StockLine, Success,
};
pub use event::{Event, EventKind, EventSubject};
pub use ids::{
    ClaimId, Desk, GroupId, ItemId, RequestId, RoomId, SiteId, SlotHoldId, StockHoldId, Version,
};
pub use night_times::NightTimes;
pub use period::Period;
pub(crate) use period::PeriodError;
pub use refusal::Refusal;
pub(crate) use server::{FileChange, ServerAnswer};
pub use server::{ServerCommand, ServerRequest, SiteChange};
pub(crate) use site_file::SiteEntry;
pub use site_file::SiteFile;
pub(crate) use time_reader::{TimeReader, TimeTextError};
