//! Names and notes: any Unicode, stored exactly, and refused rather than cut (R26).

use keyrack::domain::{Command, Refusal, SlotDetails, Success};
use serde_json::Value;

use crate::support::{TestHouse, hours, refusal};
use crate::{ask, at, guard, try_run, value};

#[tokio::test]
async fn r26_texts_are_stored_exactly() {
    let test = TestHouse::new().await;
    let mut reader = test.database.connect().await;
    for (position, text) in [
        "👩‍❤️‍👨 محمد",
        "\u{1b}[2J\u{1b}]0;owned\u{7}",
        "\u{202e}nekorb\u{202c} \u{2066}x\u{2069}",
        "Cafe\u{301} and Café",
        "  spaces, tabs\t and\r\nlines  ",
        "'; DROP TABLE slot_hold; -- $$ \\ %s {}",
        "\u{1}\u{7f}\u{9b}\u{feff}\u{10ffff}",
    ]
    .into_iter()
    .enumerate()
    {
        let from = i64::try_from(position).unwrap();
        let answer = test
            .ask(Command::HoldSlot {
                room: test.blue,
                period: hours(from, from + 1),
                ttl: None,
                details: SlotDetails {
                    guest: text.into(),
                    note: text.into(),
                    ..SlotDetails::default()
                },
            })
            .await;
        let Ok(Success::Slot(hold)) = answer.outcome else {
            panic!()
        };
        assert_eq!((hold.guest.as_str(), hold.note.as_str()), (text, text));
        let stored: Vec<u8> = value(
            &mut reader,
            &format!(
                "SELECT convert_to(guest, 'UTF8') FROM slot_hold WHERE hold_id = {}",
                hold.id
            ),
        )
        .await;
        assert_eq!(stored, text.as_bytes());
        let event = test
            .house
            .history(keyrack::store::HistoryOf::SlotHold(hold.id))
            .await
            .unwrap();
        assert_eq!(event[0].guest, text);
    }
}

#[tokio::test]
async fn r26_too_long_is_refused_with_the_field_and_not_cut() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let site = test.site();
    let hold = test.hold(test.garden, hours(0, 1), None).await.id;
    let stock = test.hold_stock(test.ticket, 1, None).await.id;
    let long = |length: usize| "é".repeat(length);
    let times = format!("{}, {}", at(2), at(3));
    for (call, field, limit) in [
        (
            format!(
                "hold_slot({site}, ID, 'a', {}, {times}, '10m', 'TEXT')",
                test.blue
            ),
            "guest",
            200,
        ),
        (
            format!(
                "hold_slot({site}, ID, 'a', {}, {times}, '10m', '', 'TEXT')",
                test.blue
            ),
            "note",
            2000,
        ),
        (
            format!("hold_slot({site}, ID, 'TEXT', {}, {times})", test.blue),
            "desk name",
            60,
        ),
        (
            format!(
                "block_slot({site}, ID, 'a', {}, {times}, 'TEXT')",
                test.blue
            ),
            "reason",
            500,
        ),
        (
            format!("edit_slot({site}, ID, 'a', {hold}, 'TEXT')"),
            "guest",
            200,
        ),
        (
            format!("edit_slot({site}, ID, 'a', {hold}, NULL, 'TEXT')"),
            "note",
            2000,
        ),
        (
            format!("cancel_slot({site}, ID, 'a', {hold}, 'TEXT')"),
            "reason",
            500,
        ),
        (
            format!("confirm_slot({site}, ID, 'TEXT', {hold})"),
            "desk name",
            60,
        ),
        (
            format!(
                "hold_stock({site}, ID, 'a', {}, 1, '10m', 'TEXT')",
                test.ticket
            ),
            "guest",
            200,
        ),
        (
            format!(
                "hold_stock({site}, ID, 'a', {}, 1, '10m', '', 'TEXT')",
                test.ticket
            ),
            "note",
            2000,
        ),
        (
            format!("cancel_stock({site}, ID, 'a', {stock}, 'TEXT')"),
            "reason",
            500,
        ),
        (
            format!("receive_stock({site}, ID, 'a', {}, 1, 'TEXT')", test.ticket),
            "reason",
            500,
        ),
        (
            format!("adjust_stock({site}, ID, 'TEXT', {}, 1, '')", test.ticket),
            "desk name",
            60,
        ),
    ] {
        let call = call.replace("ID", "gen_random_uuid()");
        // Longer than every limit: it is this field that is named.
        for length in [limit + 1, 5000] {
            let answer = ask(&mut desk, &call.replace("TEXT", &long(length))).await;
            assert_eq!(answer["refusal"], "text_too_long", "{call}");
            assert_eq!(answer["details"]["field"], field, "{call}");
            assert_eq!(answer["details"]["length"], length, "{call}");
            assert_eq!(answer["details"]["limit"], limit, "{call}");
        }
    }
    // What fits to the last character is stored to the last character.
    let fits = format!(
        "hold_slot({site}, gen_random_uuid(), 'a', {}, {times}, '10m', '{}', '{}')",
        test.blue,
        long(200),
        long(2000)
    );
    let answer = ask(&mut desk, &fits).await;
    assert_eq!(answer["refusal"], Value::Null);
    assert_eq!(answer["note"], long(2000));
    // And the table holds every writer to it.
    for (change, expected) in [
        ("guest", "slot_hold_guest_length"),
        ("note", "slot_hold_note_length"),
        ("desk", "slot_hold_desk_length"),
    ] {
        let update =
            format!("UPDATE slot_hold SET {change} = repeat('x', 2001) WHERE hold_id = {hold}");
        assert_eq!(guard(try_run(&mut desk, &update).await), expected);
    }
}

#[tokio::test]
async fn r26_the_store_names_the_field_too() {
    let test = TestHouse::new().await;
    let refused = refusal(
        test.ask(Command::BlockSlot {
            room: test.blue,
            period: hours(0, 1),
            reason: "x".repeat(2001),
        })
        .await,
    );
    let Refusal::TextTooLong {
        field,
        length,
        limit,
    } = refused
    else {
        panic!()
    };
    assert_eq!((field.as_str(), length, limit), ("reason", 2001, 500));
}
