//! Events: the history of a house, a claim or a request (R25).

use serde::Serialize;

use crate::domain::{ClaimState, Event, RequestId, SiteCalendar, Subject};

use crate::cli::output::result::Output;
use crate::cli::output::table::table;

#[derive(Serialize)]
struct EventJson<'a> {
    event_id: i64,
    at: String,
    event: &'static str,
    hold_id: Option<i64>,
    room: Option<&'a str>,
    item: Option<&'a str>,
    quantity: Option<i32>,
    guest: &'a str,
    from: Option<ClaimState>,
    to: Option<ClaimState>,
    desk: &'a str,
    reason: &'a str,
    request_id: Option<RequestId>,
}

/// Events, one a line.
pub fn events(events: &[Event], calendar: &SiteCalendar) -> Output {
    let rows = events.iter().map(|event| {
        [
            format!(
                "{} {}",
                calendar.date(event.at).format("%Y-%m-%d"),
                calendar.clock_time(event.at)
            ),
            event.kind.word().to_owned(),
            subject(event),
            event
                .quantity
                .map(|quantity| quantity.to_string())
                .unwrap_or_default(),
            event.guest.clone(),
            event.desk.to_string(),
            event.reason.clone(),
        ]
    });
    let header = [
        "WHEN", "EVENT", "WHAT", "QUANTITY", "GUEST", "DESK", "REASON",
    ];
    let text = table(header, rows);
    let json: Vec<_> = events
        .iter()
        .map(|event| {
            let name = event.subject_name.as_str();
            let (hold_id, room, item) = match event.subject {
                Subject::SlotHold(hold, _) => (Some(hold.0), Some(name), None),
                Subject::StockHold(hold, _) => (Some(hold.0), None, Some(name)),
                Subject::Room(_) => (None, Some(name), None),
                Subject::Item(_) => (None, None, Some(name)),
                Subject::Site => (None, None, None),
            };
            EventJson {
                event_id: event.id,
                at: calendar.rfc3339(event.at),
                event: event.kind.word(),
                hold_id,
                room,
                item,
                quantity: event.quantity,
                guest: &event.guest,
                from: event.from,
                to: event.to,
                desk: &event.desk.0,
                reason: &event.reason,
                request_id: event.request,
            }
        })
        .collect();
    Output::new(text, &json)
}

fn subject(event: &Event) -> String {
    match event.subject {
        Subject::SlotHold(hold, _) => format!("{}, hold {hold}", event.subject_name),
        Subject::StockHold(hold, _) => format!("{}, stock hold {hold}", event.subject_name),
        Subject::Room(_) | Subject::Item(_) | Subject::Site => event.subject_name.clone(),
    }
}
