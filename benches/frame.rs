//! A frame of 200 rooms at 200×60 (docs/speed.md), against a frame of that size with nothing on it: what ratatui
//! itself takes to clear, compare and write.
//!
//! Everything up to the bytes for the terminal is in it. The clock ticks between frames, so that countdowns change.
#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;
use std::io::{Sink, sink};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use criterion::{Criterion, criterion_group, criterion_main};
use keyrack::console::model::Model;
use keyrack::console::{update, view};
use keyrack::domain::{
    ClaimState, Desk, Event, EventKind, EventSubject, Item, ItemId, Period, Purpose, Room, RoomId,
    SlotHold, SlotHoldId, StockHold, StockHoldId, examples,
};
use keyrack::store::Snapshot;
use keyrack::terminal::theme::{Background, Colours, Theme};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};

const SIZE: (u16, u16) = (200, 60);
const ROOMS: i64 = 200;
const ITEMS: i64 = 12;
const EVENTS: i64 = 200;
/// As many days as the console reads at once.
const DAYS: i64 = 4;
const AIM: Duration = Duration::from_millis(1);

fn now() -> DateTime<Utc> {
    "2026-12-03T10:24:07Z".parse().unwrap()
}

fn desk() -> Desk {
    Desk("anna".into())
}

fn room(id: i64) -> Room {
    Room {
        id: RoomId(id),
        name: format!("Room {id}"),
        capacity: 4,
        turnaround: TimeDelta::minutes(15),
        features: vec!["screen".into(), "step-free".into()],
        ..examples::room()
    }
}

/// Three or four claims a day in each room, a third of them held, and a maintenance now and then.
fn claims(rooms: &[Room], first_day: DateTime<Utc>) -> Vec<SlotHold> {
    let guests = ["Müller", "ACME board", "Okafor", "田中 健", "👩‍❤️‍👨 محمد"];
    let mut claims = Vec::new();
    for room in rooms {
        for day in 0..DAYS {
            let mut start = first_day + TimeDelta::days(day) + TimeDelta::hours(7 + room.id.0 % 3);
            for number in 0..3 + room.id.0 % 2 {
                let id = i64::try_from(claims.len()).unwrap() + 1;
                let period =
                    Period::new(start, start + TimeDelta::minutes(90 + 30 * number)).unwrap();
                let held = id % 3 == 0;
                claims.push(SlotHold {
                    id: SlotHoldId(id),
                    purpose: if id % 17 == 1 {
                        Purpose::Block
                    } else {
                        Purpose::Guest
                    },
                    state: if held {
                        ClaimState::Held
                    } else {
                        ClaimState::Confirmed
                    },
                    guest: guests[usize::try_from(id).unwrap() % guests.len()].into(),
                    note: "wants the window open".into(),
                    party: Some(3),
                    expires_at: held.then(|| now() + TimeDelta::seconds(300 + id % 600)),
                    ..examples::slot_hold(room, period)
                });
                start = period.end() + TimeDelta::hours(1);
            }
        }
    }
    claims
}

fn items() -> Vec<Item> {
    let item = |id| Item {
        id: ItemId(id),
        name: format!("Item {id}"),
        available: 20,
        held: 8,
        sold: 12,
        ..examples::item()
    };
    (1..=ITEMS).map(item).collect()
}

fn stock_claims(items: &[Item]) -> Vec<StockHold> {
    let claim = |(id, item): (i64, &Item)| StockHold {
        id: StockHoldId(id),
        state: ClaimState::Held,
        guest: "Lindqvist".into(),
        expires_at: Some(now() + TimeDelta::seconds(300 + id)),
        ..examples::stock_hold(item, 2, now())
    };
    (1..)
        .zip(items.iter().cycle().take(48))
        .map(claim)
        .collect()
}

fn events(claims: &[SlotHold]) -> Vec<Event> {
    let event = |(id, claim): (i64, &SlotHold)| Event {
        id,
        at: now() - TimeDelta::seconds(id),
        kind: EventKind::Held,
        subject: EventSubject::SlotHold(claim.id, claim.room),
        subject_name: claim.room_name.clone(),
        guest: claim.guest.clone(),
        quantity: None,
        from: None,
        to: Some(ClaimState::Held),
        desk: desk(),
        reason: String::new(),
        request: None,
    };
    (1..=EVENTS).rev().zip(claims).map(event).collect()
}

fn picture() -> Snapshot {
    let first_day: DateTime<Utc> = "2026-12-02T00:00:00Z".parse().unwrap();
    let rooms: Vec<Room> = (1..=ROOMS).map(room).collect();
    let claims = claims(&rooms, first_day);
    let items = items();
    Snapshot {
        site: examples::site(),
        window: Period::new(first_day, first_day + TimeDelta::days(DAYS)).unwrap(),
        stock_claims: stock_claims(&items),
        events: events(&claims),
        rooms,
        claims,
        items,
        read_at: now(),
    }
}

/// A terminal of the size, whose bytes go nowhere.
fn terminal() -> Terminal<CrosstermBackend<Sink>> {
    let viewport = Viewport::Fixed(Rect::new(0, 0, SIZE.0, SIZE.1));
    Terminal::with_options(CrosstermBackend::new(sink()), TerminalOptions { viewport }).unwrap()
}

/// The console at one second after another, for four minutes and then from the start.
struct Console {
    terminal: Terminal<CrosstermBackend<Sink>>,
    model: Model,
    theme: Theme,
    second: u64,
}

impl Console {
    fn new() -> Self {
        Self {
            terminal: terminal(),
            model: update::showing(desk(), Arc::new(picture()), SIZE).unwrap(),
            theme: Theme::new(Background::Dark, Colours::True, false),
            second: 0,
        }
    }

    fn draw(&mut self) {
        self.second = (self.second + 1) % 240;
        self.model.clock.tick(Duration::from_secs(self.second));
        self.terminal
            .draw(|frame| view::draw(frame, black_box(&self.model), &self.theme))
            .unwrap();
    }
}

fn draw_nothing(terminal: &mut Terminal<CrosstermBackend<Sink>>) {
    terminal
        .draw(|frame: &mut Frame| {
            black_box(frame);
        })
        .unwrap();
}

/// The median of what a thing takes.
fn typical(mut act: impl FnMut()) -> Duration {
    const TIMES: usize = 500;
    let mut taken: Vec<Duration> = (0..TIMES)
        .map(|_| {
            let started = Instant::now();
            act();
            started.elapsed()
        })
        .collect();
    taken.sort();
    taken[TIMES / 2]
}

fn frames(criterion: &mut Criterion) {
    let mut console = Console::new();
    let mut blank = terminal();
    let mut group = criterion.benchmark_group("frame");
    group.bench_function("200 rooms at 200x60", |bencher| {
        bencher.iter(|| console.draw())
    });
    group.bench_function("nothing at 200x60", |bencher| {
        bencher.iter(|| draw_nothing(&mut blank))
    });
    group.finish();

    let frame = typical(|| console.draw());
    let nothing = typical(|| draw_nothing(&mut blank));
    let over = |other: Duration| frame.as_secs_f64() / other.as_secs_f64();
    println!(
        "ratio: a frame of {ROOMS} rooms over a blank one {:.1} ({frame:.0?} and {nothing:.0?}); {:.2} of the \
         {AIM:?} that it may take",
        over(nothing),
        over(AIM),
    );
}

criterion_group!(benches, frames);
criterion_main!(benches);
