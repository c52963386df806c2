//! Views: one file for each way to look at the rooms. Each says how it lays time out, so that selection, movement and the
//! mouse work in all of them alike.

mod day;
mod view;

use chrono::{DateTime, Utc};

use crate::console::model::Model;
use crate::console::model::layout::Layout;
use crate::console::model::views::view::View;
use crate::domain::{Period, Room};

static VIEWS: &[View] = &[day::VIEW];

impl Model {
    fn view(&self) -> &'static View {
        let named = VIEWS.iter().find(|view| view.name == self.view);
        named.unwrap_or(&VIEWS[0])
    }

    /// The window that the snapshot should cover.
    pub(crate) fn window(&self) -> Period {
        (self.view().window)(self)
    }

    /// The cell of a room that an instant lies in: what the cursor selects there.
    pub(crate) fn cell(&self, room: &Room, at: DateTime<Utc>) -> Period {
        (self.view().cell)(self, room, at)
    }

    /// Where the cursor comes to from where it is in a room.
    pub(super) fn next_cell(&self, room: &Room, forwards: bool) -> DateTime<Utc> {
        (self.view().step)(self, room, forwards)
    }

    /// The first instant to show, so that the cursor can be seen.
    pub(super) fn first_shown(&self, layout: &Layout) -> DateTime<Utc> {
        (self.view().scroll)(self, layout)
    }

    /// The instant that a column of the grid stands for.
    pub(crate) fn instant(&self, layout: &Layout, column: u16) -> DateTime<Utc> {
        (self.view().instant)(self, layout, column)
    }
}
