//! What is free.

use serde::Serialize;

use crate::cli::output::result::Output;
use crate::cli::output::table::table;
use crate::domain::{Alternative, Site};

#[derive(Serialize)]
struct FreeJson<'a> {
    room_id: i64,
    room: &'a str,
    capacity: Option<i32>,
    from: String,
    to: String,
    nights: Option<i32>,
}

/// Rooms and their first free periods, one a line.
pub(crate) fn free(found: &[Alternative], site: &Site) -> Output {
    let calendar = &site.calendar;
    let json: Vec<_> = found
        .iter()
        .map(|free| FreeJson {
            room_id: free.room.0,
            room: &free.room_name,
            capacity: free.capacity,
            from: calendar.rfc3339(free.period.start()),
            to: calendar.rfc3339(free.period.end()),
            nights: free.nights,
        })
        .collect();
    if found.is_empty() {
        return Output::new(
            "Nothing is free for that long. Look in a longer window, for a shorter time, or for fewer people.",
            &json,
        );
    }
    let number = |number: Option<i32>| number.map_or(String::new(), |number| number.to_string());
    let rows = found.iter().map(|free| {
        [
            format!("#{}", free.room),
            free.room_name.clone(),
            number(free.capacity),
            calendar.date_and_time(free.period.start()),
            calendar.date_and_time(free.period.end()),
            number(free.nights),
        ]
    });
    let header = ["ID", "ROOM", "CAPACITY", "FROM", "TO", "NIGHTS"];
    Output::new(table(header, rows), &json)
}
