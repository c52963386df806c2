//! What a command prints: for people aligned text that can't harm a terminal (R26), for programs one JSON value.
//!
//! The JSON shapes are those of design section 9. This module must not know how the values were got.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::domain::text::harmless;
use crate::domain::{
    BookedBy, ClaimState, Event, Item, Purpose, Refusal, RequestId, Room, Site, SiteCalendar,
    SlotHold, StockHold, Subject, duration,
};

/// The result of a command, ready for either reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// For people.
    pub text: String,
    /// For programs: one JSON value.
    pub json: String,
    /// Whether a check failed: printed as usual, exit code 1.
    pub failed: bool,
}

impl Output {
    /// A result that both readers get.
    pub fn new(text: impl Into<String>, json: &impl Serialize) -> Self {
        Self {
            text: text.into(),
            json: to_json(json),
            failed: false,
        }
    }
}

fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value)
        .unwrap_or_else(|error| unreachable!("these shapes have string keys only: {error}"))
}

/// Where and when a claim is looked at: its house, and the database's clock (R10).
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The house.
    pub site: &'a Site,
    /// The database's clock.
    pub now: DateTime<Utc>,
    /// Whether the claim answers a request that had been answered before (R21).
    pub repeated: bool,
}

#[derive(Serialize)]
struct SlotJson<'a> {
    hold_id: i64,
    group_id: Option<i64>,
    site: &'a str,
    room: &'a str,
    from: String,
    to: String,
    nights: Option<i32>,
    #[serde(flatten)]
    rest: ClaimJson<'a>,
}

#[derive(Serialize)]
struct StockJson<'a> {
    hold_id: i64,
    group_id: Option<i64>,
    site: &'a str,
    item: &'a str,
    quantity: i32,
    #[serde(flatten)]
    rest: ClaimJson<'a>,
}

/// What claims of both kinds have.
#[derive(Serialize)]
struct ClaimJson<'a> {
    purpose: Purpose,
    state: ClaimState,
    guest: &'a str,
    note: &'a str,
    party: Option<i32>,
    expires_at: Option<String>,
    seconds_left: Option<i64>,
    version: i64,
    desk: &'a str,
    request_id: Option<RequestId>,
    repeated: bool,
}

impl View<'_> {
    /// A claim on a room, for programs.
    pub fn slot_json<'a>(&'a self, hold: &'a SlotHold) -> impl Serialize + 'a {
        let calendar = &self.site.calendar;
        SlotJson {
            hold_id: hold.id.0,
            group_id: hold.group.map(|group| group.0),
            site: &self.site.name,
            room: &hold.room_name,
            from: calendar.rfc3339(hold.period.start()),
            to: calendar.rfc3339(hold.period.end()),
            nights: hold.nights,
            rest: ClaimJson {
                purpose: hold.purpose,
                state: hold.state,
                guest: &hold.guest,
                note: &hold.note,
                party: hold.party,
                expires_at: self.deadline(hold.state, hold.expires_at),
                seconds_left: hold.seconds_left(self.now),
                version: hold.version.0,
                desk: &hold.desk.0,
                request_id: hold.request,
                repeated: self.repeated,
            },
        }
    }

    /// A claim on stock, for programs.
    pub fn stock_json<'a>(&'a self, hold: &'a StockHold) -> impl Serialize + 'a {
        StockJson {
            hold_id: hold.id.0,
            group_id: hold.group.map(|group| group.0),
            site: &self.site.name,
            item: &hold.item_name,
            quantity: hold.quantity,
            rest: ClaimJson {
                purpose: Purpose::Guest,
                state: hold.state,
                guest: &hold.guest,
                note: &hold.note,
                party: None,
                expires_at: self.deadline(hold.state, hold.expires_at),
                seconds_left: hold.seconds_left(self.now),
                version: hold.version.0,
                desk: &hold.desk.0,
                request_id: hold.request,
                repeated: self.repeated,
            },
        }
    }

    fn deadline(&self, state: ClaimState, deadline: Option<DateTime<Utc>>) -> Option<String> {
        deadline
            .filter(|_| state == ClaimState::Held)
            .map(|deadline| self.site.calendar.rfc3339(deadline))
    }

    /// One claim on a room.
    pub fn slot(&self, hold: &SlotHold) -> Output {
        let calendar = &self.site.calendar;
        let what = match hold.purpose {
            Purpose::Guest => format!("Hold {} on {}", hold.id, harmless(&hold.room_name)),
            Purpose::Block => format!("Block {} on {}", hold.id, harmless(&hold.room_name)),
        };
        let nights = match hold.nights {
            Some(1) => ", 1 night".to_owned(),
            Some(nights) => format!(", {nights} nights"),
            None => String::new(),
        };
        let standing = self.standing(hold.state, hold.seconds_left(self.now), hold.expires_at);
        let mut text = format!(
            "{what} is {standing}: {}{nights}.",
            calendar.span(&hold.period)
        );
        let party = hold
            .party
            .map(|party| party.to_string())
            .unwrap_or_default();
        let facts = [
            ("guest", hold.guest.as_str()),
            ("party", &party),
            ("note", &hold.note),
        ];
        self.finish(&mut text, &facts, &hold.desk.0, hold.version.0);
        Output::new(text, &self.slot_json(hold))
    }

    /// One claim on stock.
    pub fn stock(&self, hold: &StockHold) -> Output {
        let standing = self.standing(hold.state, hold.seconds_left(self.now), hold.expires_at);
        let mut text = format!(
            "Hold {} on {} of {} is {standing}.",
            hold.id,
            hold.quantity,
            harmless(&hold.item_name)
        );
        let facts = [("guest", hold.guest.as_str()), ("note", &hold.note)];
        self.finish(&mut text, &facts, &hold.desk.0, hold.version.0);
        Output::new(text, &self.stock_json(hold))
    }

    fn standing(
        &self,
        state: ClaimState,
        seconds_left: Option<i64>,
        deadline: Option<DateTime<Utc>>,
    ) -> String {
        match (seconds_left, deadline) {
            (Some(0), _) => "expiring".to_owned(),
            (Some(seconds), Some(deadline)) => format!(
                "held until {} ({} left)",
                self.site.calendar.clock_time(deadline),
                duration::spoken(chrono::TimeDelta::seconds(seconds))
            ),
            _ => state.word().to_owned(),
        }
    }

    fn finish(&self, text: &mut String, facts: &[(&str, &str)], desk: &str, version: i64) {
        for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
            text.push_str(&format!("\n  {name:<8} {}", harmless(value)));
        }
        text.push_str(&format!(
            "\n  desk     {}\n  version  {version}",
            harmless(desk)
        ));
        if self.repeated {
            text.push_str("\n  This request had been answered before; nothing was changed now.");
        }
    }

    /// Claims on rooms, one a line.
    pub fn slots(&self, holds: &[SlotHold]) -> Output {
        let calendar = &self.site.calendar;
        let rows = holds.iter().map(|hold| {
            [
                hold.id.to_string(),
                hold.room_name.clone(),
                calendar.date_and_time(hold.period.start()),
                calendar.date_and_time(hold.period.end()),
                self.short_standing(hold.state, hold.seconds_left(self.now), hold.purpose),
                hold.guest.clone(),
                hold.party
                    .map(|party| party.to_string())
                    .unwrap_or_default(),
                hold.note.clone(),
            ]
        });
        let header = [
            "HOLD", "ROOM", "FROM", "TO", "STATE", "GUEST", "PARTY", "NOTE",
        ];
        let json: Vec<_> = holds.iter().map(|hold| self.slot_json(hold)).collect();
        Output::new(table(header, rows), &json)
    }

    /// Claims on stock, one a line.
    pub fn stocks(&self, holds: &[StockHold]) -> Output {
        let rows = holds.iter().map(|hold| {
            [
                hold.id.to_string(),
                hold.item_name.clone(),
                hold.quantity.to_string(),
                self.short_standing(hold.state, hold.seconds_left(self.now), Purpose::Guest),
                hold.guest.clone(),
                hold.note.clone(),
            ]
        });
        let header = ["HOLD", "ITEM", "QUANTITY", "STATE", "GUEST", "NOTE"];
        let json: Vec<_> = holds.iter().map(|hold| self.stock_json(hold)).collect();
        Output::new(table(header, rows), &json)
    }

    /// `confirmed`, `held 4m12s`, `block`.
    pub fn short_standing(
        &self,
        state: ClaimState,
        seconds_left: Option<i64>,
        purpose: Purpose,
    ) -> String {
        match (seconds_left, purpose) {
            (Some(0), _) => "expiring".to_owned(),
            (Some(seconds), _) => {
                format!(
                    "held {}",
                    duration::written(chrono::TimeDelta::seconds(seconds))
                )
            }
            (None, Purpose::Block) if state == ClaimState::Confirmed => "block".to_owned(),
            (None, _) => state.word().to_owned(),
        }
    }
}

#[derive(Serialize)]
struct RoomJson<'a> {
    room_id: i64,
    room: &'a str,
    capacity: i32,
    booked_by: BookedBy,
    turnaround: String,
    features: &'a [String],
    retired: bool,
}

/// A room, for programs.
pub fn room_json(room: &Room) -> impl Serialize + '_ {
    RoomJson {
        room_id: room.id.0,
        room: &room.name,
        capacity: room.capacity,
        booked_by: room.booked_by,
        turnaround: duration::written(room.turnaround),
        features: &room.features,
        retired: room.retired_at.is_some(),
    }
}

/// One room, and what became of it.
pub fn room(room: &Room, done: &str) -> Output {
    let text = format!("{} (#{}) is {done}.", harmless(&room.name), room.id);
    Output::new(text, &room_json(room))
}

/// Rooms, one a line.
pub fn rooms(rooms: &[Room]) -> Output {
    let rows = rooms.iter().map(|room| {
        [
            format!("#{}", room.id),
            room.name.clone(),
            room.capacity.to_string(),
            room.booked_by.to_string(),
            duration::written(room.turnaround),
            room.features.join(", "),
            retired_word(room.retired_at),
        ]
    });
    let header = ["ID", "ROOM", "CAPACITY", "BY", "TURNAROUND", "FEATURES", ""];
    let json: Vec<_> = rooms.iter().map(room_json).collect();
    Output::new(table(header, rows), &json)
}

#[derive(Serialize)]
struct ItemJson<'a> {
    item_id: i64,
    item: &'a str,
    total: i32,
    available: i32,
    held: i32,
    sold: i32,
}

/// An item, for programs.
pub fn item_json(item: &Item) -> impl Serialize + '_ {
    ItemJson {
        item_id: item.id.0,
        item: &item.name,
        total: item.total,
        available: item.available,
        held: item.held,
        sold: item.sold,
    }
}

/// One item.
pub fn item(item: &Item) -> Output {
    let text = format!(
        "{} (#{}): {} available, {} held, {} sold, {} in all.",
        harmless(&item.name),
        item.id,
        item.available,
        item.held,
        item.sold,
        item.total
    );
    Output::new(text, &item_json(item))
}

/// Items, one a line.
pub fn items(items: &[Item]) -> Output {
    let json: Vec<_> = items.iter().map(item_json).collect();
    Output::new(items_table(items), &json)
}

/// Items, one a line, for people.
pub fn items_table(items: &[Item]) -> String {
    let rows = items.iter().map(|item| {
        [
            format!("#{}", item.id),
            item.name.clone(),
            item.available.to_string(),
            item.held.to_string(),
            item.sold.to_string(),
            item.total.to_string(),
            retired_word(item.retired_at),
        ]
    });
    table(
        ["ID", "ITEM", "AVAILABLE", "HELD", "SOLD", "TOTAL", ""],
        rows,
    )
}

fn retired_word(retired_at: Option<DateTime<Utc>>) -> String {
    retired_at.map_or("", |_| "retired").to_owned()
}

/// A site, for programs.
#[derive(Serialize)]
pub struct SiteJson<'a> {
    site_id: i64,
    site: &'a str,
    time_zone: &'a str,
    default_hold: String,
    longest_hold: String,
    renewals: i32,
    horizon: String,
    default: bool,
}

/// A site, for programs.
pub fn site_json(site: &Site) -> SiteJson<'_> {
    SiteJson {
        site_id: site.id.0,
        site: &site.name,
        time_zone: site.calendar.zone().name(),
        default_hold: duration::written(site.default_hold),
        longest_hold: duration::written(site.longest_hold),
        renewals: site.renewals,
        horizon: duration::written(site.horizon),
        default: site.is_default,
    }
}

/// Sites, one a line.
pub fn sites(sites: &[Site]) -> Output {
    let rows = sites.iter().map(|site| {
        [
            site.name.clone(),
            site.calendar.zone().name().to_owned(),
            if site.is_default { "default" } else { "" }.to_owned(),
        ]
    });
    let json: Vec<_> = sites.iter().map(site_json).collect();
    Output::new(table(["SITE", "TIME ZONE", ""], rows), &json)
}

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
        Subject::Room(_) | Subject::Item(_) => event.subject_name.clone(),
    }
}

#[derive(Serialize)]
struct RefusalJson {
    refusal: &'static str,
    message: String,
    retryable: bool,
    details: Value,
}

/// A refusal, for programs; instants in the details have the site's offset.
pub fn refusal_json(refusal: &Refusal, calendar: &SiteCalendar) -> String {
    to_json(&RefusalJson {
        refusal: refusal.code(),
        message: refusal.sentence(calendar),
        retryable: refusal.is_retryable(),
        details: details(refusal, calendar),
    })
}

/// The keys under which a refusal's details have instants. Never a guest's own words.
const INSTANTS: [&str; 7] = [
    "from",
    "to",
    "occupied_until",
    "expires_at",
    "expired_at",
    "horizon",
    "gap_at",
];

fn details(refusal: &Refusal, calendar: &SiteCalendar) -> Value {
    let mut value = serde_json::to_value(refusal).unwrap_or_default();
    let mut details = value["details"].take();
    for key in INSTANTS {
        if let Some(Value::String(text)) = details.get_mut(key)
            && let Ok(instant) = text.parse::<DateTime<Utc>>()
        {
            *text = calendar.rfc3339(instant);
        }
    }
    details
}

/// Rows under a header, in columns as wide as their widest cell; every cell is made harmless (R26).
pub fn table<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let rows: Vec<[String; N]> = std::iter::once(header.map(str::to_owned))
        .chain(rows.into_iter().map(|row| row.map(|cell| harmless(&cell))))
        .collect();
    let mut widths = [0; N];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    let lines: Vec<String> = rows.iter().map(|row| line(row, &widths)).collect();
    lines.join("\n")
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (cell, width) in cells.iter().zip(widths).filter(|(_, width)| **width > 0) {
        line.push_str(cell);
        line.push_str(&" ".repeat(width - cell.width() + 2));
    }
    line.truncate(line.trim_end().len());
    line
}

#[cfg(test)]
mod tests;
