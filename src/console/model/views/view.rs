//! What a view is: how it lays time out.

use chrono::{DateTime, Utc};

use crate::console::model::Model;
use crate::console::model::cursor::ViewName;
use crate::console::model::layout::Layout;
use crate::domain::{Period, Room};

/// A way to look at the rooms. How it is painted is said by the painter of its name.
pub(crate) struct View {
    /// Its name.
    pub(crate) name: ViewName,
    /// The period that the snapshot should cover.
    pub(crate) window: fn(&Model) -> Period,
    /// The cell of a room that an instant lies in.
    pub(crate) cell: fn(&Model, &Room, DateTime<Utc>) -> Period,
    /// Where the cursor comes to from a cell of a room, forwards or backwards.
    pub(crate) step: fn(&Model, &Room, bool) -> DateTime<Utc>,
    /// The first instant to show, so that the cursor can be seen, and no further from what is shown than needed.
    pub(crate) scroll: fn(&Model, &Layout) -> DateTime<Utc>,
    /// The instant that a column of the grid stands for.
    pub(crate) instant: fn(&Model, &Layout, u16) -> DateTime<Utc>,
}
