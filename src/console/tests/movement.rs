//! Moving by time and rooms: cells, midnight, nights, and days on which the clocks change.

use chrono::{DateTime, TimeDelta, Utc};
use crokey::key;

use crate::console::message::Message;
use crate::console::model::cursor::Target;
use crate::console::tests::Desk;
use crate::console::tests::fixtures::{at, claim, period, room, sample_snapshot, site};
use crate::domain::{ClaimState, Command, Period, RoomId};

fn selected(desk: &Desk) -> Period {
    desk.model.selected(desk.model.room().unwrap())
}

/// Down to a room.
fn go_to(desk: &mut Desk, room: i64) {
    while desk.model.cursor.room != Some(RoomId(room)) {
        desk.press(key!(down));
    }
}

#[test]
fn cells_are_half_hours_when_narrow_and_quarters_when_wide() {
    let mut desk = Desk::new();
    go_to(&mut desk, 8);
    assert_eq!(selected(&desk), period("10:00", "10:30"));
    desk.tell(Message::Resized {
        width: 120,
        height: 40,
    });
    assert_eq!(selected(&desk), period("10:15", "10:30"));
}

#[test]
fn stops_are_the_bounds_of_claims_too() {
    let mut snapshot = sample_snapshot();
    let cellar = snapshot.rooms[7].clone();
    snapshot.claims.push(claim(
        90,
        &cellar,
        period("11:05", "11:20"),
        ClaimState::Confirmed,
        "A",
    ));
    snapshot.claims.push(claim(
        91,
        &cellar,
        period("11:20", "11:25"),
        ClaimState::Confirmed,
        "B",
    ));
    let mut desk = Desk::at(snapshot);
    go_to(&mut desk, 8);
    let mut cells = Vec::new();
    for _ in 0..7 {
        cells.push(selected(&desk));
        desk.press(key!(right));
    }
    let wanted = [
        "10:00", "10:30", "11:00", "11:05", "11:20", "11:25", "11:30", "12:00",
    ];
    let wanted: Vec<Period> = wanted
        .windows(2)
        .map(|pair| period(pair[0], pair[1]))
        .collect();
    assert_eq!(cells, wanted);
    for cell in cells.iter().rev() {
        desk.press(key!(left));
        assert_eq!(selected(&desk), *cell);
    }
}

#[test]
fn turnaround_is_a_stop_so_that_the_rest_of_the_cell_can_be_held() {
    let mut snapshot = sample_snapshot();
    snapshot.rooms[7].turnaround = TimeDelta::minutes(10);
    let cellar = snapshot.rooms[7].clone();
    snapshot.claims.push(claim(
        90,
        &cellar,
        period("10:30", "11:00"),
        ClaimState::Confirmed,
        "A",
    ));
    let mut desk = Desk::at(snapshot);
    go_to(&mut desk, 8);
    desk.press(key!(right));
    desk.press(key!(right));
    assert_eq!(selected(&desk), period("11:00", "11:10"));
    assert_eq!(desk.asks(key!(enter)).len(), 0, "{}", desk.notice());
    desk.press(key!(right));
    assert_eq!(selected(&desk), period("11:10", "11:30"));
    assert_eq!(desk.asks(key!(enter)).len(), 1);
}

#[test]
fn stretching_goes_both_ways_and_ends_with_escape_or_a_plain_move() {
    let mut desk = Desk::new();
    go_to(&mut desk, 8);
    desk.press(key!(right));
    desk.press(key!(shift - right));
    desk.press(key!(shift - l));
    assert_eq!(selected(&desk), period("10:30", "12:00"));
    for _ in 0..3 {
        desk.press(key!(shift - left));
    }
    assert_eq!(selected(&desk), period("10:00", "11:00"));
    desk.press(key!(esc));
    assert_eq!(selected(&desk), period("10:00", "10:30"));
    desk.press(key!(v));
    desk.press(key!(right));
    desk.press(key!(l));
    assert_eq!(selected(&desk), period("10:00", "11:30"));
    let asked = desk.asks(key!(enter));
    let [Command::HoldSlot { period: asked, .. }] = asked[..] else {
        panic!("{asked:?}")
    };
    assert_eq!(asked, period("10:00", "11:30"));
}

#[test]
fn a_stretched_period_over_a_claim_is_explained() {
    let mut desk = Desk::new();
    go_to(&mut desk, 4);
    desk.press(key!(shift - right));
    assert!(matches!(desk.model.target(), Target::Free(..)));
    assert_eq!(desk.asks(key!(enter)).len(), 0);
    assert!(desk.notice().contains("held until"), "{}", desk.notice());
}

#[test]
fn r6_moving_over_midnight_shows_the_next_day_and_a_period_can_cross_it() {
    let mut desk = Desk::new();
    go_to(&mut desk, 8);
    desk.model.place_cursor(at("2026-12-03T23:30"));
    assert_eq!(desk.model.date().to_string(), "2026-12-03");
    let effects = desk.press(key!(shift - right));
    assert_eq!(desk.model.date().to_string(), "2026-12-04");
    assert!(
        effects
            .iter()
            .any(|effect| matches!(effect, crate::console::tests::Effect::LookAt(_)))
    );
    let wanted = Period::new(at("2026-12-03T23:30"), at("2026-12-04T00:30")).unwrap();
    assert_eq!(selected(&desk), wanted);
    desk.press(key!(esc));
    desk.press(key!(left));
    assert_eq!(selected(&desk).start(), at("2026-12-03T23:30"));
}

#[test]
fn r7_a_room_by_the_night_is_selected_by_arrival_and_stretched_by_nights() {
    let mut desk = Desk::new();
    go_to(&mut desk, 6);
    // The stay that ends this morning is under the cursor at ten o'clock.
    assert!(matches!(desk.model.target(), Target::Claim(claim) if claim.guest == "Haddad"));
    desk.model.place_cursor(at("2026-12-03T12:00"));
    let night = |from: &str, to: &str| {
        Period::new(
            at(&format!("2026-12-{from}T15:00")),
            at(&format!("2026-12-{to}T11:00")),
        )
        .unwrap()
    };
    assert_eq!(selected(&desk), night("03", "04"));
    desk.press(key!(shift - right));
    desk.press(key!(shift - right));
    assert_eq!(selected(&desk), night("03", "06"));
    let asked = desk.asks(key!(enter));
    let [Command::HoldSlot { period: asked, .. }] = asked[..] else {
        panic!("{asked:?} {}", desk.notice())
    };
    assert_eq!(asked, night("03", "06"));
}

/// How many cells a day has, and how often the clocks show one o'clock in it.
fn walk(zone: &str, midnight: &str) -> (i64, Vec<DateTime<Utc>>) {
    let mut snapshot = sample_snapshot();
    snapshot.site = site(zone);
    snapshot.rooms = vec![room(1, "Room", 2)];
    snapshot.claims.clear();
    let mut desk = Desk::at(snapshot);
    let date = midnight.parse().unwrap();
    desk.model.show_date(date);
    let start = desk.model.day().start();
    desk.model.place_cursor(start);
    let mut cells = Vec::new();
    while desk.model.date() == date {
        cells.push(selected(&desk).start());
        desk.press(key!(right));
    }
    (i64::try_from(cells.len()).unwrap(), cells)
}

#[test]
fn r5_a_day_has_as_many_cells_as_it_has_elapsed_half_hours() {
    assert_eq!(walk("Europe/London", "2026-12-03").0, 48);
    assert_eq!(walk("Europe/London", "2027-03-28").0, 46);
    assert_eq!(walk("Europe/London", "2026-10-25").0, 50);
    assert_eq!(walk("Australia/Lord_Howe", "2027-04-04").0, 49);
    assert_eq!(walk("Australia/Lord_Howe", "2026-10-04").0, 47);
}

#[test]
fn r5_both_halves_of_a_repeated_hour_are_cells_of_their_own() {
    let (_, cells) = walk("Europe/London", "2026-10-25");
    let calendar = site("Europe/London").calendar;
    let labels: Vec<String> = cells.iter().map(|at| calendar.tick(*at).label()).collect();
    assert_eq!(labels[2..6], ["01:00a", "01:30a", "01:00b", "01:30b"]);
}

#[test]
fn days_keep_the_time_of_day_and_now_comes_back() {
    let mut desk = Desk::new();
    let before = desk.cursor_at();
    desk.press(key!(n));
    assert_eq!(desk.cursor_at(), before + TimeDelta::days(1));
    desk.press(key!(p));
    desk.press(key!(p));
    assert_eq!(desk.model.date().to_string(), "2026-12-02");
    desk.press(key!(t));
    assert_eq!(desk.cursor_at(), desk.model.now());
}

#[test]
fn the_cursor_is_always_in_view() {
    for size in [(60, 16), (80, 24), (120, 40), (200, 60)] {
        let mut desk = Desk::new();
        desk.tell(Message::Resized {
            width: size.0,
            height: size.1,
        });
        for step in 0..300 {
            desk.press(match step % 7 {
                0 => key!(down),
                3 if step > 150 => key!(up),
                _ if step > 150 => key!(left),
                _ => key!(right),
            });
            let crate::console::model::layout::Screen::Full(layout) = desk.model.screen() else {
                panic!("{size:?}")
            };
            let room = desk.model.room().unwrap();
            let column = layout
                .scale
                .column(desk.model.scroll.first, desk.model.cursor.at);
            assert!(
                (0..i64::from(layout.grid.width)).contains(&column),
                "{size:?} {step}: {column}"
            );
            let index = desk
                .model
                .indexed
                .as_ref()
                .unwrap()
                .room_index(room.id)
                .unwrap();
            let shown = desk.model.scroll.first_room..desk.model.scroll.first_room + layout.rooms();
            assert!(
                shown.contains(&index),
                "{size:?} {step}: {index} in {shown:?}"
            );
        }
    }
}

#[test]
fn a_click_selects_what_is_under_it() {
    let mut desk = Desk::new();
    desk.tell(Message::Click {
        column: 18 + 1 + 12,
        row: 2 + 7,
    });
    assert_eq!(desk.model.cursor.room, Some(RoomId(8)));
    assert_eq!(selected(&desk), period("10:00", "10:30"));
    desk.tell(Message::Click {
        column: 60,
        row: 15,
    });
    assert_eq!(
        desk.model.panel,
        crate::console::model::cursor::Panel::Stock
    );
    desk.tell(Message::Click {
        column: 79,
        row: 23,
    });
}

#[test]
fn dragging_stretches_the_period_and_a_click_lets_go() {
    let mut desk = Desk::new();
    let column = |cells: u16| 18 + 1 + cells;
    desk.tell(Message::Click {
        column: column(12),
        row: 2 + 7,
    });
    assert!(
        desk.tell(Message::Drag { column: column(13) }).is_empty(),
        "still the same cell"
    );
    desk.tell(Message::Drag { column: column(18) });
    assert_eq!(selected(&desk), period("10:00", "11:30"));
    desk.tell(Message::Drag { column: column(15) });
    assert_eq!(selected(&desk), period("10:00", "11:00"));
    desk.tell(Message::Click {
        column: column(15),
        row: 2 + 7,
    });
    assert_eq!(selected(&desk), period("10:30", "11:00"));
}
