//! A small site for tests: hand-made snapshots, presses of keys, and frames as text.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use crokey::KeyCombination;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use uuid::Uuid;

use crate::console::message::{Message, Press};
use crate::console::model::Model;
use crate::console::{update, view};
use crate::domain::{
    BookedBy, ClaimState, Desk, Event, EventKind, EventSubject, Item, ItemId, Period, Purpose,
    RequestId, Room, RoomId, Site, SiteCalendar, SlotHold, SlotHoldId, StockHold, StockHoldId,
    examples,
};
use crate::store::{Snapshot, WatchEvent};
use crate::terminal::theme::Theme;

/// An instant, written as the clocks of London in winter show it.
pub(crate) fn at(written: &str) -> DateTime<Utc> {
    format!("{written}:00Z").parse().unwrap()
}

/// The moment at which most tests happen: Thursday 3 December 2026, 10:24.
pub(crate) fn now() -> DateTime<Utc> {
    at("2026-12-03T10:24")
}

/// A period of that day.
pub(crate) fn period(from: &str, to: &str) -> Period {
    Period::new(
        at(&format!("2026-12-03T{from}")),
        at(&format!("2026-12-03T{to}")),
    )
    .unwrap()
}

pub(crate) fn site(zone: &str) -> Site {
    Site {
        calendar: SiteCalendar::new(zone.parse().unwrap()),
        longest_hold: TimeDelta::hours(2),
        horizon: TimeDelta::days(400),
        ..examples::site()
    }
}

pub(crate) fn room(id: i64, name: &str, capacity: i32) -> Room {
    Room {
        id: RoomId(id),
        name: name.into(),
        capacity,
        features: vec!["screen".into()],
        ..examples::room()
    }
}

pub(crate) fn claim(
    id: i64,
    room: &Room,
    period: Period,
    state: ClaimState,
    guest: &str,
) -> SlotHold {
    let held = state == ClaimState::Held;
    SlotHold {
        id: SlotHoldId(id),
        state,
        guest: guest.into(),
        expires_at: held.then(|| now() + TimeDelta::seconds(252)),
        desk: Desk("bo".into()),
        created_at: now() - TimeDelta::minutes(6),
        changed_at: now() - TimeDelta::minutes(6),
        ..examples::slot_hold(room, period)
    }
}

pub(crate) fn stock_claim(id: i64, item: &Item, quantity: i32, guest: &str) -> StockHold {
    StockHold {
        id: StockHoldId(id),
        state: ClaimState::Held,
        guest: guest.into(),
        expires_at: Some(now() + TimeDelta::seconds(95)),
        desk: Desk("bo".into()),
        ..examples::stock_hold(item, quantity, now())
    }
}

pub(crate) fn item(id: i64, name: &str, total: i32, held: i32, sold: i32) -> Item {
    Item {
        id: ItemId(id),
        name: name.into(),
        total,
        available: total - held - sold,
        held,
        sold,
        ..examples::item()
    }
}

pub(crate) fn event(id: i64, minutes_ago: i64, kind: EventKind, room: &Room, guest: &str) -> Event {
    Event {
        id,
        at: now() - TimeDelta::minutes(minutes_ago),
        kind,
        subject: EventSubject::SlotHold(SlotHoldId(id), room.id),
        subject_name: room.name.clone(),
        guest: guest.into(),
        quantity: None,
        from: None,
        to: None,
        desk: Desk("bo".into()),
        reason: String::new(),
        request: None,
    }
}

/// A site with a bit of everything.
pub(crate) fn sample_snapshot() -> Snapshot {
    let mut rooms = vec![
        room(1, "Blue room", 8),
        room(2, "Garden room", 12),
        room(3, "Library", 4),
        room(4, "Attic", 6),
        room(5, "Great hall", 120),
        room(6, "Loft", 2),
        room(7, "Studio", 10),
        room(8, "Cellar with a long name", 20),
        room(9, "Terrace", 40),
        room(10, "Projector", 1),
    ];
    rooms[1].turnaround = TimeDelta::minutes(30);
    rooms[5].booked_by = BookedBy::Night;
    let mut claims = vec![
        claim(
            1,
            &rooms[0],
            period("09:00", "12:00"),
            ClaimState::Confirmed,
            "Müller",
        ),
        claim(
            2,
            &rooms[0],
            period("14:00", "16:00"),
            ClaimState::Held,
            "Ng",
        ),
        claim(
            3,
            &rooms[1],
            period("08:00", "10:00"),
            ClaimState::Confirmed,
            "ACME board",
        ),
        claim(
            4,
            &rooms[2],
            period("12:00", "15:00"),
            ClaimState::Confirmed,
            "",
        ),
        claim(5, &rooms[3], period("10:30", "11:30"), ClaimState::Held, ""),
        claim(
            6,
            &rooms[3],
            period("13:30", "15:00"),
            ClaimState::Confirmed,
            "Okafor",
        ),
        claim(
            7,
            &rooms[4],
            period("06:00", "23:00"),
            ClaimState::Confirmed,
            "Wedding, Ito & Sørensen",
        ),
        claim(
            8,
            &rooms[6],
            period("11:00", "11:30"),
            ClaimState::Held,
            "Li",
        ),
        claim(
            9,
            &rooms[6],
            period("11:30", "12:00"),
            ClaimState::Confirmed,
            "Ana",
        ),
        claim(
            10,
            &rooms[8],
            period("15:00", "18:00"),
            ClaimState::Confirmed,
            "👩\u{200d}❤\u{fe0f}\u{200d}👨 محمد",
        ),
    ];
    claims[0].party = Some(8);
    claims[0].note = "Needs the projector from three o'clock and water for eight.".into();
    claims[3].purpose = Purpose::Block;
    claims[3].note = "maintenance".into();
    let stay = |arrival: &str, departure: &str| {
        let date = |written: &str| written.parse::<NaiveDate>().unwrap();
        site("Europe/London")
            .calendar
            .stay(date(arrival), date(departure), rooms[5].night_times)
            .unwrap()
    };
    let mut nights = claim(
        11,
        &rooms[5],
        stay("2026-12-01", "2026-12-03"),
        ClaimState::Confirmed,
        "Haddad",
    );
    nights.nights = Some(2);
    claims.push(nights);
    let items = vec![
        item(1, "Breakfast", 40, 3, 20),
        item(2, "Museum ticket", 10, 0, 3),
        item(3, "Parking day", 6, 0, 6),
        item(4, "Picnic basket", 12, 2, 0),
        item(5, "Day pass", 200, 0, 141),
        item(6, "Late checkout", 4, 0, 0),
    ];
    let stock_claims = vec![
        stock_claim(1, &items[0], 3, "Ng"),
        stock_claim(2, &items[3], 2, ""),
    ];
    let events = vec![
        event(9, 1, EventKind::Held, &rooms[6], "Li"),
        event(8, 3, EventKind::Confirmed, &rooms[0], "Müller"),
        event(7, 4, EventKind::Expired, &rooms[3], "Brandt"),
        event(6, 9, EventKind::Blocked, &rooms[2], ""),
        event(5, 12, EventKind::Cancelled, &rooms[1], "Petrov"),
        event(
            4,
            1600,
            EventKind::Confirmed,
            &rooms[4],
            "Wedding, Ito & Sørensen",
        ),
    ];
    Snapshot {
        site: site("Europe/London"),
        window: Period::new(at("2026-12-02T00:00"), at("2026-12-06T00:00")).unwrap(),
        rooms,
        claims,
        items,
        stock_claims,
        events,
        read_at: now(),
    }
}

/// A console of desk anna that shows a site.
pub(crate) fn console(snapshot: Snapshot, size: (u16, u16)) -> Model {
    let mut model = update::showing(Desk("anna".into()), Arc::new(snapshot), size).unwrap();
    let event = WatchEvent::Alive {
        now: now(),
        latency: Duration::from_millis(2),
    };
    let at = Duration::ZERO;
    update::update(&mut model, Message::Watch { event, at });
    model
}

/// A press of a key with an id of its own; presses are a second apart.
pub(crate) fn press(key: KeyCombination, number: u32) -> Press {
    Press {
        key,
        id: request(number),
        at: Duration::from_millis(1000 * u64::from(number)),
    }
}

pub(crate) fn request(number: u32) -> RequestId {
    RequestId(Uuid::from_u128(number.into()))
}

/// The frame of a model.
pub(crate) fn frame(model: &Model, theme: &Theme) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(model.size.0, model.size.1)).unwrap();
    terminal
        .draw(|frame| view::draw(frame, model, theme))
        .unwrap();
    terminal.backend().buffer().clone()
}

/// The frame as text: what a person reads, without styles.
pub(crate) fn screen(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let mut line = String::new();
        let mut x = 0;
        while x < buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            x += u16::try_from(crate::terminal::text::width(symbol))
                .unwrap()
                .max(1);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The styles of a frame: each run of cells with another style than the terminal's own.
pub(crate) fn styles(buffer: &Buffer) -> String {
    let mut lines = Vec::new();
    for y in 0..buffer.area.height {
        let mut runs: Vec<(u16, u16, String)> = Vec::new();
        for x in 0..buffer.area.width {
            let cell = &buffer[(x, y)];
            let style = format!("{} on {} {:?}", cell.fg, cell.bg, cell.modifier);
            match runs.last_mut() {
                Some((_, end, last)) if *last == style => *end = x,
                _ => runs.push((x, x, style)),
            }
        }
        let runs = runs
            .into_iter()
            .filter(|(.., style)| style != "Reset on Reset NONE");
        let runs: Vec<String> = runs
            .map(|(from, to, style)| format!("{from}-{to} {style}"))
            .collect();
        lines.push(format!("{y}: {}", runs.join("; ")));
    }
    lines.join("\n")
}
