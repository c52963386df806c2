//! Names from everywhere, and hostile ones; a terminal in another time zone.

use serde_json::Value;

use crate::desk::{Desk, claims, house_at_noon, keyrack, keyrack_in, program};
use crate::support::TestHouse;

const FAMILY: &str = "👩\u{200d}❤\u{fe0f}\u{200d}👨 محمد";
const HOSTILE: &str = "evil\x1b[2J\x1b]0;pwned\x07\u{202e}\x1b[?1049l";

/// Every row of the grid has its border in the column in which the ruler has it.
fn is_aligned(desk: &Desk, rooms: u16) {
    desk.until("a straight border", |frame| {
        let border = frame.columns_of("┬", 1);
        border.len() == 1
            && (2..2 + rooms).all(|row| frame.cell(border[0], row).contents() == "│")
            && (2..2 + rooms).all(|row| frame.columns_of("│", row) == border)
    });
}

/// Writes a guest down through the dialog, on the claim under the cursor.
fn write_down(desk: &Desk, guest: &str) {
    desk.press(&["e"]);
    desk.shows("Guest and note");
    desk.until("a cursor to type at", |frame| frame.has_cursor());
    desk.paste(guest);
    desk.press(&["Enter"]);
    desk.hides("Guest and note");
    desk.says("Written down: Blue room");
}

#[tokio::test(flavor = "multi_thread")]
async fn r26_any_guest_is_stored_exactly_and_the_grid_stays_straight() {
    let test = house_at_noon().await;
    let desk = Desk::with(program(&test.database, "anna").size(120, 18));
    desk.turn_to_tomorrow();
    // A wide period, so that the name stands in the grid and not only beside it.
    desk.press(&["Shift-Right"; 11]);
    desk.shows(", 3h");
    desk.hold();
    write_down(&desk, FAMILY);
    desk.shows("👩❤👨");
    is_aligned(&desk, 4);
    assert_eq!(claims(&test.database).await[0].guest, FAMILY);

    desk.press(&["Down"]);
    desk.until("the next room", |frame| frame.has("›Garden room"));
    desk.hold();
    desk.press(&["e"]);
    desk.shows("Guest and note");
    desk.paste(HOSTILE);
    desk.shows("evil␛[2J");
    desk.press(&["Enter"]);
    desk.says("Written down: Garden room");
    is_aligned(&desk, 4);
    assert_eq!(claims(&test.database).await[1].guest, HOSTILE);
    for hostile in ["\x1b[2J\x1b]0;", "\x1b]0;pwned", "\u{202e}"] {
        assert!(!desk.has_written(hostile), "{hostile:?}");
    }
    desk.leave();
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_pasted_with_its_end_is_a_name_and_not_an_enter() {
    let test = TestHouse::new().await;
    let desk = Desk::at(&test, "anna");
    desk.turn_to_tomorrow();
    desk.hold();
    write_down(&desk, "Müller\r\n");
    assert_eq!(claims(&test.database).await[0].guest, "Müller");
    desk.leave();
}

#[tokio::test(flavor = "multi_thread")]
async fn r5_the_terminals_time_zone_changes_nothing_shown_or_stored() {
    let test = TestHouse::new().await;
    let tokyo = Desk::with(program(&test.database, "anna").env("TZ", "Asia/Tokyo"));
    tokyo.turn_to_tomorrow();
    tokyo.hold();
    let (code, stored) = keyrack(&test.database, &["room", "holds"]);
    assert_eq!(code, 0);
    // As the house's clocks show it, in the row and on the screen: `2026-12-01T10:00:00+00:00` is 10:00.
    let clock = |bound: &str| stored[0][bound].as_str().unwrap()[11..16].to_owned();
    let until = if clock("to") == "00:00" {
        "24:00".into()
    } else {
        clock("to")
    };
    tokyo.shows(&format!("{}–{until} on ", clock("from")));

    let london = Desk::with(program(&test.database, "bo").env("TZ", "Europe/London"));
    london.turn_to_tomorrow();
    london.shows(" left, until ");
    let seen_alike = |desk: &Desk| {
        desk.read("the claim and the hours", |frame| {
            let span = frame.line_with(" on ")?;
            let words = span.split_whitespace().take(6);
            let span: Vec<_> = words
                .map(|word| word.trim_end_matches(',').to_owned())
                .collect();
            Some((frame.lines()[1].clone(), span))
        })
    };
    assert_eq!(seen_alike(&tokyo), seen_alike(&london));
    for desk in [&tokyo, &london] {
        desk.until("the house's clock", |frame| {
            let top = &frame.lines()[0];
            top.contains(" GMT") || top.contains(" BST")
        });
    }
    let url = test.database.url();
    let (_, from_tokyo) = keyrack_in(
        &[("DATABASE_URL", &url), ("TZ", "Asia/Tokyo")],
        &["room", "holds"],
    );
    let bounds = |claims: &Value| (claims[0]["from"].clone(), claims[0]["to"].clone());
    assert_eq!(bounds(&from_tokyo), bounds(&stored));
    tokyo.leave();
    london.leave();
}
