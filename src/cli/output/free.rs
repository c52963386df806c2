//! What is free.

use serde::Serialize;

use crate::domain::Site;
use crate::store::Free;

use super::{Output, table};

#[derive(Serialize)]
struct FreeJson<'a> {
    room_id: i64,
    room: &'a str,
    capacity: i32,
    from: String,
    to: String,
    nights: Option<i32>,
}

/// Rooms and their first free periods, one a line.
pub fn free(found: &[Free], site: &Site) -> Output {
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
    let rows = found.iter().map(|free| {
        [
            format!("#{}", free.room),
            free.room_name.clone(),
            free.capacity.to_string(),
            calendar.date_and_time(free.period.start()),
            calendar.date_and_time(free.period.end()),
            free.nights
                .map(|nights| nights.to_string())
                .unwrap_or_default(),
        ]
    });
    let header = ["ID", "ROOM", "CAPACITY", "FROM", "TO", "NIGHTS"];
    Output::new(table(header, rows), &json)
}
