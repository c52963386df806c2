//! Hands that move the cursor to a place by the console's own keys, one press after the other, as a person would. Pure:
//! it looks at what a desk shows and says which key comes next.

use chrono::{DateTime, NaiveDate, Utc};
use crokey::{KeyCombination, key};

use crate::console::model::Model;
use crate::console::model::cursor::{Panel, StockCursor};
use crate::console::model::layout::Screen;
use crate::domain::{ItemId, Period, RoomId};

/// Where the cursor is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// On the cell of a room that begins then, stretched until then.
    Slot {
        /// The room.
        room: RoomId,
        /// Where it begins.
        from: DateTime<Utc>,
        /// Where it ends, if it is to be stretched.
        to: Option<DateTime<Utc>>,
    },
    /// On the night of a room that begins on a date, stretched over so many days.
    Night {
        /// The room.
        room: RoomId,
        /// The date of arrival.
        date: NaiveDate,
        /// From arrival to departure.
        stay: Period,
    },
    /// On an item.
    Item(ItemId),
}

/// What the hand does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Presses this.
    Press(KeyCombination),
    /// Waits for the desk to show more.
    Look,
    /// Nothing: it is there.
    There,
}

/// The next key on the way to a goal; why there is no way, in a sentence.
pub fn next(model: &Model, goal: &Goal) -> Result<Next, String> {
    if model.screen() == Screen::TooSmall {
        return Err("The desk's window is too small for its keys.".into());
    }
    if model.dialog.is_some() {
        return Err("A dialog is open and takes all keys.".into());
    }
    let Some(indexed) = &model.indexed else {
        return Ok(Next::Look);
    };
    let (room, date) = match *goal {
        Goal::Item(item) => return Ok(to_item(model, item)),
        Goal::Slot { room, from, .. } => (room, model.calendar().date(from)),
        Goal::Night { room, date, .. } => (room, date),
    };
    if model.panel != Panel::Rooms {
        return Ok(Next::Press(key!(tab)));
    }
    let Some(wanted) = indexed.room_index(room) else {
        return Ok(Next::Look);
    };
    if model.date() != date {
        let forwards = model.date() < date;
        return Ok(Next::Press(if forwards { key!(n) } else { key!(p) }));
    }
    if !model.is_day_known() {
        return Ok(Next::Look);
    }
    let Some(here) = model.cursor.room.and_then(|room| indexed.room_index(room)) else {
        return Ok(Next::Look);
    };
    if here != wanted {
        let down = here < wanted;
        return Ok(Next::Press(if down { key!(down) } else { key!(up) }));
    }
    match *goal {
        Goal::Slot { from, to, .. } => along(model, from, to),
        Goal::Night { stay, .. } => along(model, stay.start(), Some(stay.end())),
        Goal::Item(_) => Ok(Next::There),
    }
}

/// Along the row of the room, and then stretching.
fn along(model: &Model, from: DateTime<Utc>, to: Option<DateTime<Utc>>) -> Result<Next, String> {
    let Some(room) = model.room() else {
        return Ok(Next::Look);
    };
    let selected = model.selected(room);
    let (start, end) = (selected.start(), selected.end());
    if model.cursor.anchor.is_some() && (start != from || to.is_none_or(|to| end > to)) {
        return Ok(Next::Press(key!(esc)));
    }
    if start != from {
        if start < from && from < model.cell(room, model.cursor.at).end() {
            return Err(format!(
                "The cursor can't begin at {}: its cells don't.",
                model.calendar().local(from).format("%H:%M")
            ));
        }
        let later = start < from;
        return Ok(Next::Press(if later { key!(right) } else { key!(left) }));
    }
    match to {
        Some(to) if end < to => Ok(Next::Press(key!(shift - right))),
        Some(to) if end > to => Err(format!(
            "The cursor can't end at {}: its cells don't.",
            model.calendar().local(to).format("%H:%M")
        )),
        _ => Ok(Next::There),
    }
}

fn to_item(model: &Model, item: ItemId) -> Next {
    if model.panel != Panel::Stock {
        return Next::Press(key!(tab));
    }
    let rows = model.stock_rows();
    let wanted = rows.iter().position(|row| *row == StockCursor::Item(item));
    let here = model
        .stock_cursor
        .and_then(|cursor| rows.iter().position(|row| *row == cursor));
    match (here, wanted) {
        (Some(here), Some(wanted)) if here < wanted => Next::Press(key!(down)),
        (Some(here), Some(wanted)) if here > wanted => Next::Press(key!(up)),
        (Some(_), Some(_)) => Next::There,
        _ => Next::Look,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::console::message::{Message, Press};
    use crate::console::tests::fixtures::{at, console, sample_snapshot};
    use crate::console::update::update;
    use crate::domain::RequestId;

    /// Lets the hand press until it is there.
    fn go(model: &mut Model, goal: Goal) -> Result<usize, String> {
        for presses in 0..500 {
            match next(model, &goal)? {
                Next::Press(key) => {
                    let press = Press {
                        key,
                        id: RequestId::fresh(),
                        at: Duration::ZERO,
                    };
                    update(model, Message::Key(press));
                }
                Next::Look => return Err("waits for a picture".into()),
                Next::There => return Ok(presses),
            }
        }
        Err("never comes there".into())
    }

    #[test]
    fn the_hand_finds_periods_rooms_and_items_by_keys_alone() {
        for size in [(40, 24), (80, 24), (200, 60)] {
            let mut model = console(sample_snapshot(), size);
            let rooms = model.indexed.as_ref().unwrap().rooms().to_vec();
            let items = model.indexed.as_ref().unwrap().items().to_vec();
            let (from, to) = (at("2026-12-03T17:00"), at("2026-12-03T18:30"));
            let room = rooms[1].id;
            let goal = Goal::Slot {
                room,
                from,
                to: Some(to),
            };
            go(&mut model, goal).unwrap();
            let shown = model.room().unwrap();
            assert_eq!(shown.id, room);
            assert_eq!(model.selected(shown), Period::new(from, to).unwrap());
            assert_eq!(go(&mut model, goal), Ok(0), "it is there already");

            go(&mut model, Goal::Item(items[1].id)).unwrap();
            assert_eq!(model.stock_cursor, Some(StockCursor::Item(items[1].id)));

            // Back to an earlier cell of another room, with the old stretch let go of.
            let goal = Goal::Slot {
                room: rooms[0].id,
                from: at("2026-12-03T16:30"),
                to: None,
            };
            go(&mut model, goal).unwrap();
            assert_eq!(model.cursor.anchor, None);
            let shown = model.room().unwrap();
            assert_eq!(
                model.cell(shown, model.cursor.at).start(),
                at("2026-12-03T16:30")
            );
        }
    }

    #[test]
    fn what_no_cell_begins_with_is_said() {
        let mut model = console(sample_snapshot(), (80, 24));
        let room = model.indexed.as_ref().unwrap().rooms()[1].id;
        let odd = Goal::Slot {
            room,
            from: at("2026-12-03T17:07"),
            to: None,
        };
        assert!(go(&mut model, odd).unwrap_err().contains("17:07"));
    }
}
