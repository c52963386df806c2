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
pub mod ids;
pub mod mistake;
mod night_times;
pub mod period;
pub mod refusal;
mod sentences;
pub mod server;
pub mod site_file;
pub mod text;
pub mod time_reader;
pub(crate) mod unknown_word;

pub use alternative::Alternative;
pub use calendar::{LocalTimeError, Showing, SiteCalendar, Tick};
pub use catalogue::{BookedBy, Item, NewItem, NewRoom, Room, Site};
pub use claim::{
    Change, Claim, ClaimState, Group, HoldKind, Purpose, SlotDetails, SlotEdit, SlotHold, StockHold,
};
pub use command::{
    Answer, ClaimNumber, Command, FailedLine, LineKind, RefusalAnswer, Request, SlotLine,
    StockLine, Success,
};
pub use event::{Event, EventKind, EventSubject};
pub use ids::{Desk, GroupId, ItemId, RequestId, RoomId, SiteId, SlotHoldId, StockHoldId, Version};
pub use night_times::NightTimes;
pub use period::{Period, PeriodError};
pub use refusal::Refusal;
pub use server::{FileChange, ServerAnswer, ServerCommand, ServerRequest, SiteChange};
pub use site_file::{SiteEntry, SiteFile};
pub use time_reader::{TimeReader, TimeTextError};
pub use unknown_word::UnknownWord;
