//! Frames: what a person sees at each size, with and without colours and Unicode.

use chrono::TimeDelta;
use crokey::key;
use insta::assert_snapshot;

use crate::console::message::Message;
use crate::console::model::Model;
use crate::console::model::layout::Screen;
use crate::console::tests::fixtures::{
    at, console, frame, item, now, sample_snapshot, screen, site, styles,
};
use crate::console::tests::{Desk, press, update};
use crate::domain::RoomId;
use crate::terminal::text::width;
use crate::terminal::theme::{Background, Colours, Theme};

fn plain() -> Theme {
    Theme::new(Background::Dark, Colours::None, false)
}

fn shown(model: &Model) -> String {
    screen(&frame(model, &plain()))
}

fn with_styles(model: &Model, theme: &Theme) -> String {
    let buffer = frame(model, theme);
    format!("{}\n{}", screen(&buffer), styles(&buffer))
}

#[test]
fn at_80_by_24() {
    assert_snapshot!(shown(&console(sample_snapshot(), (80, 24))));
}

#[test]
fn large_figures_of_stock_keep_apart() {
    let mut snapshot = sample_snapshot();
    snapshot.items[0] = item(1, "Museum ticket", 3058, 1013, 15);
    snapshot.items[1] = item(2, "Leaflet", 2_000_000_000, 120_000, 0);
    let shown = shown(&console(snapshot, (80, 24)));
    let figures = |name: &str| {
        let line = shown.lines().rfind(|line| line.contains(name)).unwrap();
        line.split_whitespace().rev().take(4).collect::<Vec<_>>()
    };
    assert_eq!(figures("Museum"), ["3058", "15", "1013", "2030"]);
    assert_eq!(figures("Leaflet"), ["2000M", "0", "120k", "1999M"]);
}

#[test]
fn at_120_by_40() {
    assert_snapshot!(shown(&console(sample_snapshot(), (120, 40))));
}

#[test]
fn at_200_by_60() {
    assert_snapshot!(shown(&console(sample_snapshot(), (200, 60))));
}

#[test]
fn as_an_agenda() {
    assert_snapshot!(shown(&console(sample_snapshot(), (50, 14))));
}

#[test]
fn too_small() {
    assert_snapshot!(shown(&console(sample_snapshot(), (39, 9))));
}

#[test]
fn much_too_small_says_so_in_whole_words() {
    let shown = shown(&console(sample_snapshot(), (20, 5)));
    let lines: Vec<&str> = shown.lines().map(str::trim).collect();
    assert_eq!(
        lines[..4],
        ["Too small.", "At least", "40 by 10.", "q quits."]
    );
}

#[test]
fn on_a_dark_background() {
    let theme = Theme::new(Background::Dark, Colours::True, false);
    assert_snapshot!(with_styles(&console(sample_snapshot(), (80, 24)), &theme));
}

#[test]
fn on_a_light_background() {
    let theme = Theme::new(Background::Light, Colours::True, false);
    assert_snapshot!(with_styles(&console(sample_snapshot(), (80, 24)), &theme));
}

#[test]
fn in_sixteen_colours() {
    let theme = Theme::new(Background::Dark, Colours::Sixteen, false);
    assert_snapshot!(with_styles(&console(sample_snapshot(), (80, 24)), &theme));
}

#[test]
fn without_colour() {
    assert_snapshot!(with_styles(&console(sample_snapshot(), (80, 24)), &plain()));
}

#[test]
fn without_colour_no_cell_has_one() {
    let mut desk = Desk::new();
    for key in [
        key!(tab),
        key!('?'),
        key!(esc),
        key!(tab),
        key!(tab),
        key!(x),
    ] {
        desk.press(key);
        let buffer = frame(&desk.model, &plain());
        let colours = [ratatui::style::Color::Reset];
        assert!(
            buffer
                .content()
                .iter()
                .all(|cell| colours.contains(&cell.fg) && colours.contains(&cell.bg))
        );
    }
}

#[test]
fn in_ascii() {
    let theme = Theme::new(Background::Dark, Colours::None, true);
    let shown = screen(&frame(&console(sample_snapshot(), (80, 24)), &theme));
    assert!(shown.is_ascii(), "{shown}");
    assert_snapshot!(shown);
}

#[test]
fn the_help_page() {
    let mut desk = Desk::new();
    desk.press(key!('?'));
    assert_snapshot!(shown(&desk.model));
}

#[test]
fn the_cancel_dialog() {
    let mut desk = Desk::new();
    desk.press(key!(x));
    desk.type_text("guest is ill");
    desk.press(key!(enter));
    assert_snapshot!(shown(&desk.model));
}

#[test]
fn the_guest_dialog_with_a_complaint() {
    let mut desk = Desk::new();
    desk.press(key!(e));
    desk.type_text(" 東京 👩\u{200d}❤\u{fe0f}\u{200d}👨");
    desk.press(key!(enter));
    let id = desk.last();
    desk.refuse(
        id,
        crate::domain::Refusal::TextTooLong {
            field: "guest".into(),
            length: 300,
            limit: 200,
        },
    );
    assert_snapshot!(shown(&desk.model));
}

#[test]
fn a_pending_hold_a_stretched_period_and_stock() {
    let mut desk = Desk::new();
    (0..7).for_each(|_| _ = desk.press(key!(down)));
    desk.press(key!(enter));
    desk.press(key!(right));
    desk.press(key!(shift - right));
    let stretched = shown(&desk.model);
    desk.press(key!(tab));
    desk.press(key!('3'));
    assert_snapshot!(format!("{stretched}\n{}", shown(&desk.model)));
}

#[test]
fn a_refusal_in_two_lines() {
    let mut desk = Desk::new();
    desk.press(key!(enter));
    assert_snapshot!(shown(&desk.model));
}

#[test]
fn a_conflict_with_what_is_free_instead() {
    let desk = crate::console::tests::moves::refused();
    assert_snapshot!(shown(&desk.model));
}

#[test]
fn a_claim_in_hand_and_one_by_its_end() {
    let mut desk = Desk::new();
    desk.model.place_cursor(at("2026-12-03T14:00"));
    desk.press(key!(m));
    (0..7).for_each(|_| _ = desk.press(key!(down)));
    let moved = shown(&desk.model);
    desk.press(key!(esc));
    (0..7).for_each(|_| _ = desk.press(key!(up)));
    desk.press(key!(shift - right));
    desk.press(key!(shift - right));
    assert_snapshot!(format!("{moved}\n{}", shown(&desk.model)));
}

#[test]
fn members_of_a_group_are_marked() {
    let mut desk = Desk::new();
    desk.snapshot(|snapshot| {
        for claim in &mut snapshot.claims[..3] {
            claim.group = Some(crate::domain::GroupId(3));
        }
        snapshot.stock_claims[0].group = Some(crate::domain::GroupId(3));
    });
    assert_snapshot!(shown(&desk.model));
}

#[test]
fn while_the_database_is_away() {
    let mut desk = Desk::new();
    desk.lose();
    desk.tell(Message::Tick {
        uptime: std::time::Duration::from_secs(12),
    });
    let theme = Theme::new(Background::Dark, Colours::Sixteen, false);
    assert_snapshot!(with_styles(&desk.model, &theme));
}

#[test]
fn when_a_countdown_has_run_out() {
    let mut desk = Desk::new();
    desk.tell(Message::Tick {
        uptime: std::time::Duration::from_secs(252),
    });
    let shown = shown(&desk.model);
    assert!(shown.contains("expiring…"), "{shown}");
    assert!(!shown.contains("00:00 Ng"), "{shown}");
}

#[test]
fn r5_the_repeated_hour_is_shown_twice_and_the_skipped_one_not_at_all() {
    let ruler = |date: &str| {
        let mut model = console(sample_snapshot(), (120, 40));
        model.show_date(date.parse().unwrap());
        let start = model.day().start();
        model.place_cursor(start);
        shown(&model).lines().take(2).collect::<Vec<_>>().join("\n")
    };
    let autumn = ruler("2026-10-25");
    assert!(autumn.contains("25 h day"), "{autumn}");
    assert!(
        autumn.contains("00──────01a─────01b─────02──────03"),
        "{autumn}"
    );
    let spring = ruler("2027-03-28");
    assert!(spring.contains("23 h day"), "{spring}");
    assert!(spring.contains("00──────02──────03"), "{spring}");
}

#[test]
fn r5_half_an_hour_twice_is_labelled_where_the_clocks_jump() {
    let mut snapshot = sample_snapshot();
    snapshot.site = site("Australia/Lord_Howe");
    let mut model = console(snapshot, (120, 40));
    model.show_date("2027-04-04".parse().unwrap());
    let start = model.day().start();
    model.place_cursor(start);
    let shown = shown(&model);
    let top: Vec<&str> = shown.lines().take(2).collect();
    assert!(top[0].contains("24½ h day"), "{}", top[0]);
    assert!(top[1].contains("01──────30b─02──────03"), "{}", top[1]);
}

#[test]
fn r26_every_row_of_the_grid_ends_where_the_others_end_whatever_guests_are_called() {
    let hostile = [
        "👩\u{200d}❤\u{fe0f}\u{200d}👨 محمد",
        "\u{1b}[2J\u{1b}[H\u{7}boo",
        "\u{202e}drawkcab\u{2066}",
        "e\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}",
        "🇩🇪🇫🇷 1\u{fe0f}\u{20e3} 👋🏽",
        "東京タワーの会",
        "नमस्ते क्षत्रिय",
        "a\tb\nc\rd",
        "\u{301}\u{200d}\u{feff}",
        "ﷺ",
    ];
    // vt100 takes � for a broken byte and skips it; it is as wide as any letter.
    let drawable = |line: &str| line.replace('\u{fffd}', "?");
    let mut snapshot = sample_snapshot();
    let room = snapshot.rooms[0].clone();
    snapshot.claims.clear();
    for (index, guest) in hostile.iter().enumerate() {
        let id = i64::try_from(index).unwrap();
        let mut claim = crate::console::tests::fixtures::claim(
            id,
            &room,
            crate::console::tests::fixtures::period("09:00", "16:00"),
            crate::domain::ClaimState::Confirmed,
            guest,
        );
        claim.room = RoomId(id + 1);
        snapshot.claims.push(claim);
    }
    for size in [(80, 24), (120, 40)] {
        let model = console(snapshot.clone(), size);
        let buffer = frame(&model, &plain());
        for cell in buffer.content() {
            assert!(
                !cell.symbol().chars().any(char::is_control),
                "{:?}",
                cell.symbol()
            );
        }
        // A simple terminal gives each character its own width and knows no sequences: it must draw what we counted.
        let mut terminal =
            vt100::Parser::new(size.1.try_into().unwrap(), size.0.try_into().unwrap(), 0);
        let mut bytes = String::new();
        for (y, line) in screen(&buffer).lines().enumerate() {
            let line = drawable(line);
            bytes.push_str(&format!("\u{1b}[{};1H{line}", y + 1));
        }
        terminal.process(bytes.as_bytes());
        for row in 0..size.1 {
            let mut column = 0;
            while column < size.0 {
                let ours = drawable(buffer[(column, row)].symbol());
                let cells = u16::try_from(width(&ours)).unwrap().max(1);
                let drawn: String = (column..column + cells)
                    .map(|column| {
                        terminal
                            .screen()
                            .cell(row, column)
                            .unwrap()
                            .contents()
                            .to_owned()
                    })
                    .collect();
                assert_eq!(
                    drawn.trim_end(),
                    ours.trim_end(),
                    "{row},{column}\n{}",
                    screen(&buffer)
                );
                column += cells;
            }
        }
    }
}

#[test]
fn many_rooms_say_how_many_more_there_are() {
    let mut snapshot = sample_snapshot();
    for id in 11..=200 {
        let mut room = snapshot.rooms[0].clone();
        room.id = RoomId(id);
        room.name = format!("Room {id}");
        snapshot.rooms.push(room);
    }
    let mut model = console(snapshot, (80, 24));
    assert!(shown(&model).contains("▾ 189 ─"), "{}", shown(&model));
    for number in 0..30 {
        update(&mut model, Message::Key(press(key!(down), number)));
    }
    let shown = shown(&model);
    assert!(
        shown.contains("▴ 20 ─") && shown.contains("▾ 169 ─"),
        "{shown}"
    );
}

#[test]
fn the_time_is_the_houses_whatever_the_terminal_says() {
    let mut snapshot = sample_snapshot();
    snapshot.site = site("Asia/Kolkata");
    let model = console(snapshot, (120, 40));
    let top = shown(&model);
    assert!(top.contains("15:54:00 IST"), "{top}");
    assert_eq!(model.now(), now());
}

#[test]
fn business_hours_come_into_view_and_the_night_when_it_is_night() {
    let first = |clock: &str| {
        let mut snapshot = sample_snapshot();
        snapshot.read_at = at(clock);
        console(snapshot, (80, 24)).scroll.first
    };
    assert_eq!(first("2026-12-03T10:24"), at("2026-12-03T08:00"));
    assert_eq!(first("2026-12-03T05:10"), at("2026-12-03T05:00"));
    assert!(first("2026-12-03T23:10") + TimeDelta::hours(10) >= at("2026-12-03T23:30"));
}
#[test]
fn a_terminal_that_was_resized_a_moment_ago_is_not_drawn_over() {
    let model = console(sample_snapshot(), (200, 60));
    for size in [(80, 24), (201, 60), (1, 1)] {
        let mut terminal =
            ratatui::Terminal::new(ratatui::backend::TestBackend::new(size.0, size.1)).unwrap();
        terminal
            .draw(|frame| crate::console::view::draw(frame, &model, &plain()))
            .unwrap();
    }
}

#[test]
fn every_state_can_be_drawn_at_every_size() {
    let theme = Theme::new(Background::Light, Colours::Sixteen, true);
    for keys in [
        &[key!(tab), key!(down)][..],
        &[key!('?')],
        &[key!(e)],
        &[key!(x), key!(enter)],
        &[key!(enter)],
        &[key!(m), key!(down), key!(left)],
        &[key!(shift - right)],
        &[],
    ] {
        let mut desk = match keys.is_empty() {
            true => crate::console::tests::moves::refused(),
            false => Desk::new(),
        };
        keys.iter().for_each(|key| _ = desk.press(*key));
        for width in [1, 2, 39, 40, 41, 59, 60, 61, 80, 109, 110, 149, 150, 230] {
            for height in [1, 9, 10, 11, 15, 16, 17, 22, 24, 45] {
                desk.tell(Message::Resized { width, height });
                frame(&desk.model, &theme);
            }
        }
    }
}

#[test]
fn a_note_that_does_not_fit_says_that_it_goes_on() {
    let mut desk = Desk::new();
    desk.model.place_cursor(at("2026-12-03T14:00"));
    let room = desk.model.cursor.room.unwrap();
    desk.snapshot(|snapshot| {
        for claim in snapshot
            .claims
            .iter_mut()
            .filter(|claim| claim.room == room)
        {
            claim.note = "wheelchair, ".repeat(60);
        }
    });
    let shown = shown(&desk.model);
    assert!(
        shown.contains("wheelchair…") || shown.contains(",…"),
        "{shown}"
    );
}

#[test]
fn what_is_under_the_cursor_is_told_in_whole_words_at_any_width() {
    for columns in (59..=120).chain([200]) {
        let mut desk = Desk::new();
        desk.model = console(sample_snapshot(), (columns, 40));
        let mut told = String::new();
        // Stretched until a claim is in the way.
        desk.press(key!(home));
        for _ in 0..16 {
            desk.press(key!(shift - right));
        }
        for key in [
            key!(shift - right),
            key!(esc),
            key!(right),
            key!(right),
            key!(down),
            key!(right),
            key!(down),
            key!(left),
            key!(tab),
            key!(down),
        ] {
            desk.press(key);
            let Screen::Full(layout) = desk.model.screen() else {
                panic!("no grid at {columns}");
            };
            let buffer = frame(&desk.model, &plain());
            for y in layout.details.top()..layout.details.bottom() {
                for x in layout.details.left()..layout.details.right() {
                    told.push_str(buffer[(x, y)].symbol());
                }
                told.push('\n');
            }
        }
        let words: Vec<&str> = told.split_whitespace().collect();
        let words = words.join(" ");
        assert!(!words.contains('…'), "{columns}: {told}");
        assert!(
            words.contains("holds it for 10 minutes"),
            "{columns}: {told}"
        );
        assert!(words.contains(" is taken "), "{columns}: {told}");
        assert!(words.contains("left, until 10:"), "{columns}: {told}");
    }
}
