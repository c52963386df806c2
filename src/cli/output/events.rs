//! Events: the history of a house, a claim or a request (R25).

use serde::Serialize;

use crate::cli::output::result::Output;
use crate::cli::output::table::table;
use crate::domain::{ClaimState, Event, EventSubject, RequestId, SiteCalendar};

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
pub(crate) fn events(events: &[Event], calendar: &SiteCalendar) -> Output {
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
                EventSubject::SlotHold(hold, _) => (Some(hold.0), Some(name), None),
                EventSubject::StockHold(hold, _) => (Some(hold.0), None, Some(name)),
                EventSubject::Room(_) => (None, Some(name), None),
                EventSubject::Item(_) => (None, None, Some(name)),
                EventSubject::Site => (None, None, None),
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
        EventSubject::SlotHold(hold, _) => format!("{}, hold {hold}", event.subject_name),
        EventSubject::StockHold(hold, _) => format!("{}, stock hold {hold}", event.subject_name),
        EventSubject::Room(_) | EventSubject::Item(_) | EventSubject::Site => {
            event.subject_name.clone()
        }
    }
}
