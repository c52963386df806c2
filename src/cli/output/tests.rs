//! The shapes that scripts rely on.
#![allow(clippy::unwrap_used)]

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::*;
use crate::cli::failure::RefusalText;
use crate::cli::fixtures::{site, slot_hold, utc};
use crate::domain::refusal_details::{NextRelease, SlotTaken};
use crate::domain::{
    Alternative, BookedBy, ClaimState, Command, Desk, Event, EventKind, EventSubject, FailedLine,
    HoldKind, Item, ItemId, LineKind, NightTimes, Period, Purpose, Refusal, Room, RoomId,
    SlotDetails, SlotHold, SlotHoldId, StockHold, StockHoldId, Version, examples,
};

fn stock_hold() -> StockHold {
    let breakfast = Item {
        id: ItemId(2),
        ..examples::item()
    };
    StockHold {
        id: StockHoldId(5),
        guest: "Okafor".into(),
        note: "early".into(),
        version: Version(2),
        ..examples::stock_hold(&breakfast, 3, utc("2027-06-30T12:00:00Z"))
    }
}

/// The claim that docs/json.md shows; its request and its guest are said shorter there than they are.
fn claim_on_the_page(guest: &str) -> Value {
    let page = include_str!("../../../docs/json.md");
    let (_, section) = page.split_once("\n## A claim\n").unwrap();
    let (_, shown) = section.split_once("```json\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    let mut claim: Value = serde_json::from_str(shown).unwrap();
    claim["guest"] = guest.into();
    claim["request_id"] = Value::Null;
    claim
}

fn refused(refusal: Refusal, line: Option<FailedLine>) -> Value {
    let refused = RefusalText {
        refusal,
        calendar: site().calendar,
        line,
        alternatives: Vec::new(),
    };
    serde_json::from_str(&refusal_json(&refused)).unwrap()
}

fn parsed(output: &Output) -> Value {
    serde_json::from_str(&output.json).unwrap()
}

#[test]
fn a_held_claim_has_the_shape_that_the_page_shows_with_the_sites_offset() {
    let site = site();
    let printer = ClaimPrinter {
        site: &site,
        now: utc("2027-06-30T12:00:00Z"),
        repeated: false,
    };
    let output = printer.slot(&slot_hold());
    assert_eq!(parsed(&output), claim_on_the_page(&slot_hold().guest));
    assert!(output.text.starts_with(
        "Hold 17 on Blue room is held until 13:10:00 (10 minutes left): 10:00–11:30 on Thu 1 Jul 2027."
    ));
}

#[test]
fn r26_text_is_harmless_and_json_is_exact() {
    let site = site();
    let printer = ClaimPrinter {
        site: &site,
        now: utc("2027-06-30T12:00:00Z"),
        repeated: true,
    };
    for output in [printer.slot(&slot_hold()), printer.slots(&[slot_hold()])] {
        assert!(!output.text.contains('\u{1b}'), "{}", output.text);
        assert!(output.text.contains("␛[2J"), "{}", output.text);
    }
    assert_eq!(
        parsed(&printer.slot(&slot_hold()))["guest"],
        "Müller \u{1b}[2J"
    );
    assert_eq!(parsed(&printer.slot(&slot_hold()))["repeated"], true);
}

#[test]
fn a_claim_that_is_not_held_has_no_deadline() {
    let site = site();
    let printer = ClaimPrinter {
        site: &site,
        now: utc("2027-06-30T12:20:00Z"),
        repeated: false,
    };
    let expired = SlotHold {
        state: ClaimState::Expired,
        ..slot_hold()
    };
    let json = parsed(&printer.slots(&[expired]));
    assert_eq!(json[0]["expires_at"], Value::Null);
    assert_eq!(json[0]["seconds_left"], Value::Null);
    assert_eq!(
        parsed(&printer.stock(&stock_hold())),
        json!({
            "hold_id": 5, "group_id": null, "site": "Riverside House", "item": "Breakfast", "quantity": 3,
            "purpose": "guest", "state": "confirmed", "guest": "Okafor", "note": "early", "party": null,
            "expires_at": null, "seconds_left": null, "version": 2, "desk": "anna", "request_id": null,
            "repeated": false,
        })
    );
}

#[test]
fn r11_a_hold_that_is_due_says_so() {
    let site = site();
    let printer = ClaimPrinter {
        site: &site,
        now: utc("2027-06-30T12:10:00Z"),
        repeated: false,
    };
    let output = printer.slot(&slot_hold());
    assert_eq!(parsed(&output)["seconds_left"], 0);
    assert!(output.text.contains("is expiring"), "{}", output.text);
}

#[test]
fn rooms_items_and_sites_have_the_agreed_shapes() {
    let room = Room {
        id: RoomId(1),
        name: "Blue room".into(),
        capacity: 8,
        booked_by: BookedBy::Hour,
        night_times: NightTimes::default(),
        turnaround: TimeDelta::minutes(15),
        features: vec!["screen".into()],
        retired_at: None,
    };
    assert_eq!(
        rooms(&[room]).json,
        r#"[{"room_id":1,"room":"Blue room","capacity":8,"booked_by":"hour","turnaround":"15m","features":["screen"],"retired":false}]"#
    );
    let item = Item {
        id: ItemId(1),
        name: "Breakfast".into(),
        total: 10,
        available: 7,
        held: 2,
        sold: 1,
        retired_at: None,
    };
    assert_eq!(
        items(&[item]).json,
        r#"[{"item_id":1,"item":"Breakfast","total":10,"available":7,"held":2,"sold":1}]"#
    );
    assert_eq!(
        parsed(&sites(&[site()])),
        json!([{
            "site_id": 1, "site": "Riverside House", "time_zone": "Europe/London", "default_hold": "10m",
            "longest_hold": "1d", "renewals": 3, "horizon": "730d", "default": true,
        }])
    );
    assert_eq!(rooms(&[]).json, "[]");
}

#[test]
fn a_refusal_has_the_agreed_shape_with_the_sites_offset() {
    let refusal = Refusal::SlotTaken(Box::new(SlotTaken {
        room_id: RoomId(1),
        room: "Blue room".into(),
        hold_id: Some(SlotHoldId(17)),
        period: Some(slot_hold().period),
        occupied_until: Some(utc("2027-07-01T10:45:00Z")),
        state: Some(ClaimState::Held),
        purpose: Some(Purpose::Guest),
        // A guest may be called what an instant looks like.
        guest: Some("2027-07-01T10:45:00Z".into()),
        desk: Some("anna".into()),
        expires_at: Some(utc("2027-06-30T12:10:00Z")),
        choices: vec![Alternative {
            room: RoomId(2),
            room_name: "Garden room".into(),
            period: slot_hold().period,
            capacity: None,
            nights: None,
        }],
    }));
    let json = refused(refusal, None);
    assert_eq!(json["refusal"], "slot_taken");
    assert_eq!(json["retryable"], false);
    assert!(
        json["message"]
            .as_str()
            .unwrap()
            .starts_with("Blue room is taken by")
    );
    assert_eq!(
        json["details"],
        json!({
            "room_id": 1, "room": "Blue room", "hold_id": 17, "from": "2027-07-01T10:00:00+01:00",
            "to": "2027-07-01T11:30:00+01:00", "occupied_until": "2027-07-01T11:45:00+01:00", "state": "held",
            "purpose": "guest", "guest": "2027-07-01T10:45:00Z", "desk": "anna",
            "choices": [{"room_id": 2, "room": "Garden room", "from": "2027-07-01T10:00:00+01:00",
                "to": "2027-07-01T11:30:00+01:00"}],
            "expires_at": "2027-06-30T13:10:00+01:00",
        })
    );
    let busy = refused(Refusal::Busy {}, None);
    assert_eq!(
        (&busy["retryable"], &busy["details"]),
        (&json!(true), &json!({}))
    );
}

#[test]
fn r20_a_refused_group_names_its_line() {
    let refusal = Refusal::SoldOut {
        item: "Breakfast".into(),
        asked: 3,
        available: 1,
        next_release: Some(NextRelease {
            at: utc("2027-06-30T12:10:00Z"),
            quantity: 2,
        }),
    };
    let line = FailedLine {
        kind: LineKind::Stock,
        number: 2,
    };
    let json = refused(refusal, Some(line));
    assert!(
        json["message"]
            .as_str()
            .unwrap()
            .starts_with("--stock number 2: ")
    );
    assert_eq!(
        json["details"],
        json!({
            "item": "Breakfast", "asked": 3, "available": 1, "line": {"kind": "stock", "number": 2},
            "next_release": {"at": "2027-06-30T13:10:00+01:00", "quantity": 2},
        })
    );
}

#[test]
fn a_number_of_another_kind_comes_with_the_command_that_takes_it() {
    let kind = |kind| Refusal::NoSuchHold { hold_id: 17, kind };
    let json = refused(kind(Some(HoldKind::Stock)), None);
    assert_eq!(
        json["message"],
        "17 is a hold on stock, which can't be meant here. `keyrack stock` takes it."
    );
    assert_eq!(json["details"], json!({"hold_id": 17, "kind": "stock"}));
    let json = refused(kind(None), None);
    assert_eq!(json["message"], "Nothing in this house has the number 17.");
    assert_eq!(json["details"], json!({"hold_id": 17}));
}

#[test]
fn what_is_free_instead_is_said_as_a_command_to_copy() {
    let hold = Command::HoldSlot {
        room: RoomId(1),
        period: slot_hold().period,
        ttl: Some(TimeDelta::minutes(5)),
        details: SlotDetails {
            guest: "Müller's, 8".into(),
            party: Some(8),
            ..SlotDetails::default()
        },
    };
    let room = Room {
        id: RoomId(3),
        name: "Loft".into(),
        capacity: 2,
        booked_by: BookedBy::Night,
        night_times: NightTimes::default(),
        turnaround: TimeDelta::zero(),
        features: Vec::new(),
        retired_at: None,
    };
    let free = |room, name: &str, from: &str, to: &str| Alternative {
        room: RoomId(room),
        room_name: name.into(),
        period: Period::new(utc(from), utc(to)).unwrap(),
        capacity: None,
        nights: None,
    };
    let said = |command: &Command, alternative: Alternative, named: Option<&str>| {
        alternatives(
            command,
            &[alternative],
            std::slice::from_ref(&room),
            named,
            &site().calendar,
        )
        .join("\n")
    };
    let garden = free(
        2,
        "Garden room",
        "2027-07-01T09:00:00Z",
        "2027-07-01T23:00:00Z",
    );
    assert_eq!(
        said(&hold, garden.clone(), Some("Riverside House")),
        "keyrack room hold 'Garden room' 2027-07-01T10:00 2027-07-02T00:00 --ttl 5m --guest 'Müller'\\''s, 8' \
         --party 8 --site 'Riverside House'"
    );
    // R5: half past one happens twice that night.
    let twice = free(
        2,
        "Garden room",
        "2027-10-31T00:30:00Z",
        "2027-10-31T02:00:00Z",
    );
    let block = Command::BlockSlot {
        room: RoomId(1),
        period: slot_hold().period,
        reason: "paint".into(),
    };
    assert_eq!(
        said(&block, twice, None),
        "keyrack room block 'Garden room' 2027-10-31T01:30:00+01:00 2027-10-31T02:00 --reason paint"
    );
    let nights = free(3, "Loft", "2027-07-01T14:00:00Z", "2027-07-03T10:00:00Z");
    let moved = Command::MoveSlot {
        hold: SlotHoldId(17),
        expect_version: None,
        to_room: None,
        from: None,
        to: None,
    };
    assert_eq!(
        said(&moved, nights, None),
        "keyrack room move 17 --to-room Loft --from 2027-07-01 --to 2027-07-03"
    );
    let group = Command::HoldGroup {
        rooms: Vec::new(),
        stock: Vec::new(),
        ttl: None,
        details: SlotDetails::default(),
    };
    assert_eq!(
        said(&group, garden, None),
        "--room 'Garden room,2027-07-01T10:00,2027-07-02T00:00'"
    );
}

#[test]
fn an_event_says_who_what_when_and_why() {
    let event = Event {
        id: 3,
        at: utc("2027-06-30T12:00:00Z"),
        kind: EventKind::Cancelled,
        subject: EventSubject::SlotHold(SlotHoldId(17), RoomId(1)),
        subject_name: "Blue room".into(),
        guest: "Müller".into(),
        quantity: None,
        from: Some(ClaimState::Held),
        to: Some(ClaimState::Cancelled),
        desk: Desk("anna".into()),
        reason: "guest called".into(),
        request: None,
    };
    let output = events(&[event], &site().calendar);
    assert_eq!(
        parsed(&output),
        json!([{
            "event_id": 3, "at": "2027-06-30T13:00:00+01:00", "event": "cancelled", "hold_id": 17,
            "room": "Blue room", "item": null, "quantity": null, "guest": "Müller", "from": "held",
            "to": "cancelled", "desk": "anna", "reason": "guest called", "request_id": null,
        }])
    );
    assert!(output.text.ends_with(
        "2027-06-30 13:00:00  cancelled  Blue room, hold 17            Müller  anna  guest called"
    ));
}

#[test]
fn columns_line_up_whatever_the_script() {
    let rows = [
        ["김철수".to_owned(), "a".to_owned()],
        ["é".to_owned(), "b".to_owned()],
    ];
    assert_eq!(
        table(["NAME", "X"], rows),
        "NAME    X\n김철수  a\né       b"
    );
}
