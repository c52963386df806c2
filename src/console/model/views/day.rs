//! One day: rooms by the hour. A cell is a slot of the day, cut at the bounds of claims; of a room by the night, a night.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use crate::console::model::Model;
use crate::console::model::cursor::ViewName;
use crate::console::model::layout::Layout;
use crate::console::model::views::view::View;
use crate::domain::{BookedBy, Period, Room, RoomId};

pub(crate) const VIEW: View = View {
    name: ViewName::DAY,
    window,
    cell,
    step,
    scroll,
    instant,
};

/// The day shown, the one before, and two more.
fn window(model: &Model) -> Period {
    let calendar = model.calendar();
    let date = model.date();
    let from = calendar.first_instant(calendar.previous_date(date));
    let after = (0..3).fold(date, |date, _| calendar.next_date(date));
    Period::new(from, calendar.first_instant(after)).unwrap_or_else(|_| model.day())
}

/// By the hour: from one stop to the next, where stops are the slots of the day and the bounds of claims, so that every
/// claim can be reached and every gap filled exactly. By the night: one night.
fn cell(model: &Model, room: &Room, at: DateTime<Utc>) -> Period {
    match room.booked_by {
        BookedBy::Hour => hour_cell(model, room.id, at),
        BookedBy::Night => night(model, room, arrival(model, room, at))
            .unwrap_or_else(|| hour_cell(model, room.id, at)),
    }
}

/// One cell on; over the end of a day to the next.
fn step(model: &Model, room: &Room, forwards: bool) -> DateTime<Utc> {
    let here = cell(model, room, model.cursor.at);
    match room.booked_by {
        BookedBy::Hour if forwards => here.end(),
        BookedBy::Hour => {
            let before = here.start() - TimeDelta::milliseconds(1);
            hour_cell(model, room.id, before).start()
        }
        BookedBy::Night => {
            let calendar = model.calendar();
            let arrival = arrival(model, room, model.cursor.at);
            let next = if forwards {
                calendar.next_date(arrival)
            } else {
                calendar.previous_date(arrival)
            };
            night(model, room, next).unwrap_or(here).start()
        }
    }
}

fn night(model: &Model, room: &Room, arrival: NaiveDate) -> Option<Period> {
    let calendar = model.calendar();
    calendar.stay(arrival, calendar.next_date(arrival), room.night_times)
}

/// The night that a cursor means: that of the stay that is there, else the one that begins on the date.
fn arrival(model: &Model, room: &Room, at: DateTime<Utc>) -> NaiveDate {
    let calendar = model.calendar();
    let date = calendar.date(at);
    let before = calendar.previous_date(date);
    let last_night = night(model, room, before);
    let stays = model
        .indexed
        .as_ref()
        .is_some_and(|indexed| indexed.claim_at(room.id, at).is_some());
    match last_night {
        Some(night) if stays && night.contains(at) => before,
        _ => date,
    }
}

fn hour_cell(model: &Model, room: RoomId, at: DateTime<Utc>) -> Period {
    let day = model.day_at(at);
    let slot = model.scale().slot;
    let steps = (at - day.start())
        .num_seconds()
        .div_euclid(slot.num_seconds());
    let mut from = day.start() + slot * i32::try_from(steps).unwrap_or(0);
    let mut to = (from + slot).min(day.end());
    if let Some(indexed) = &model.indexed {
        for (claim, _) in indexed.touching(room, from, to) {
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

fn scroll(model: &Model, layout: &Layout) -> DateTime<Utc> {
    let day = model.day();
    let span = layout.scale.span(layout.grid.width);
    let here = match model.room() {
        Some(room) if room.booked_by == BookedBy::Hour => cell(model, room, model.cursor.at),
        _ => Period::new(model.cursor.at, model.cursor.at + layout.scale.slot).unwrap_or(day),
    };
    let latest = whole_hour(&day, day.end() - span, true).max(day.start());
    let shown = model.scroll.first.clamp(day.start(), latest);
    let mut first = whole_hour(&day, shown, false);
    if here.start() < first {
        first = whole_hour(&day, here.start(), false);
    } else if here.end() > first + span {
        first = whole_hour(&day, here.end() - span, true);
    }
    first.clamp(day.start(), latest)
}

/// The instant, moved to a whole number of hours from the start of the day.
fn whole_hour(day: &Period, at: DateTime<Utc>, up: bool) -> DateTime<Utc> {
    let seconds = (at - day.start()).num_seconds();
    let hours = seconds.div_euclid(3600) + i64::from(up && seconds.rem_euclid(3600) > 0);
    day.start() + TimeDelta::seconds(hours * 3600)
}

fn instant(model: &Model, layout: &Layout, column: u16) -> DateTime<Utc> {
    layout.scale.instant(model.scroll.first, column)
}
