//! Numbers and kinds: claims on rooms, on stock and groups count together, and a wrong kind is told.

use keyrack::domain::{
    Command, GroupId, HoldKind, Refusal, SlotDetails, SlotLine, StockLine, Success,
};
use serde_json::Value;

use crate::support::{TestHouse, hours};
use crate::{ask, call_on, run, until_due};

#[tokio::test]
async fn a_number_is_one_thing_and_a_wrong_kind_is_told() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let room = test.hold(test.blue, hours(0, 1), None).await.id.0;
    let stock = test.hold_stock(test.ticket, 1, None).await.id.0;
    let group = Command::HoldGroup {
        rooms: vec![SlotLine {
            room: test.garden,
            period: hours(0, 1),
        }],
        stock: vec![StockLine {
            item: test.ticket,
            quantity: 1,
        }],
        ttl: None,
        details: SlotDetails::default(),
    };
    let Ok(Success::Group(group)) = test.ask(group).await.outcome else {
        panic!("no group")
    };
    let mut numbers = vec![
        room,
        stock,
        group.id.0,
        group.slots[0].id.0,
        group.stock[0].id.0,
    ];
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 5, "{numbers:?}");

    for (command, number, kind) in [
        ("confirm_slot", stock, "stock"),
        ("cancel_slot", group.id.0, "group"),
        ("renew_slot", stock, "stock"),
        ("edit_slot", group.id.0, "group"),
        ("move_slot", stock, "stock"),
        ("confirm_stock", room, "room"),
        ("cancel_stock", group.id.0, "group"),
        ("renew_stock", room, "room"),
        ("confirm_group", room, "room"),
        ("renew_group", stock, "stock"),
        ("cancel_group", stock, "stock"),
    ] {
        let answer = ask(&mut desk, &call_on(&test, command, number)).await;
        assert_eq!(answer["refusal"], "no_such_hold", "{command}");
        assert_eq!(answer["details"]["hold_id"], number, "{command}");
        assert_eq!(answer["details"]["kind"], kind, "{command}");
    }
    // Of two, the one that is none is named.
    for (first, second) in [(room, stock), (stock, room)] {
        let call = format!(
            "swap_slots({}, gen_random_uuid(), 'anna', {first}, {second})",
            test.site()
        );
        let answer = ask(&mut desk, &call).await;
        assert_eq!(answer["details"]["hold_id"], stock);
        assert_eq!(answer["details"]["kind"], "stock");
    }
    // A number of nothing has no kind.
    let answer = ask(&mut desk, &call_on(&test, "confirm_slot", 999)).await;
    assert_eq!(answer["details"].get("kind"), None);
    let refused = test
        .ask(Command::ConfirmGroup {
            group: GroupId(room),
        })
        .await
        .outcome
        .unwrap_err();
    assert_eq!(
        refused.refusal,
        Refusal::NoSuchHold {
            hold_id: room,
            kind: Some(HoldKind::Room)
        }
    );
    assert_eq!(
        test.house.kind_of(group.id.0).await.unwrap(),
        Some(HoldKind::Group)
    );
    assert_eq!(test.house.kind_of(999).await.unwrap(), None);
}

/// Several things are wrong at once, one less each time: rooms and stock say the same, in the same order (R22).
#[tokio::test]
async fn r22_rooms_and_stock_check_in_the_same_order() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let site = test.site();
    run(&mut desk, "UPDATE site SET renewals = 1").await;
    let long = "x".repeat(501);
    let desk_name = "y".repeat(61);
    let brief = Some(chrono::TimeDelta::milliseconds(100));

    // Claims: due, cancelled, held and in a group.
    let due = (
        test.hold(test.studio, hours(0, 1), brief).await.id.0,
        test.hold_stock(test.breakfast, 1, brief).await.id.0,
    );
    let ended = (
        test.hold(test.blue, hours(0, 1), None).await.id.0,
        test.hold_stock(test.breakfast, 1, None).await.id.0,
    );
    ask(&mut desk, &call_on(&test, "cancel_slot", ended.0)).await;
    ask(&mut desk, &call_on(&test, "cancel_stock", ended.1)).await;
    let held = (
        test.hold(test.blue, hours(2, 3), None).await.id.0,
        test.hold_stock(test.breakfast, 1, None).await.id.0,
    );
    ask(&mut desk, &call_on(&test, "renew_slot", held.0)).await;
    ask(&mut desk, &call_on(&test, "renew_stock", held.1)).await;
    let call = format!(
        "hold_group({site}, gen_random_uuid(), 'anna',
             jsonb_build_array(jsonb_build_object('room', {}, 'from', {}, 'to', {})),
             '[{{\"item\": {}, \"quantity\": 1}}]')",
        test.garden,
        crate::at(0),
        crate::at(1),
        test.breakfast
    );
    let group = ask(&mut desk, &call).await;
    let member = (
        group["slots"][0]["hold_id"].as_i64().unwrap(),
        group["stock"][0]["hold_id"].as_i64().unwrap(),
    );
    until_due(&mut desk, "slot_hold", due.0).await;
    until_due(&mut desk, "stock_hold", due.1).await;

    let mut said = Vec::new();
    for (arguments, claims) in [
        (format!("'{desk_name}', HOLD, '{long}', 7"), due),
        (format!("'{desk_name}', HOLD, '{long}', 7"), ended),
        (format!("'{desk_name}', HOLD, '{long}', 7"), member),
        (format!("'{desk_name}', HOLD, '{long}'"), member),
        (format!("'{desk_name}', HOLD, ''"), held),
    ] {
        let [room, stock] = both(&mut desk, site, "cancel", &arguments, claims).await;
        assert_eq!(room, stock, "cancel {arguments}");
        said.push(room);
    }
    for (arguments, claims) in [
        (format!("'{desk_name}', HOLD, '100 days', 7"), member),
        (format!("'{desk_name}', HOLD, '100 days'"), member),
        ("'anna', HOLD, '100 days'".to_owned(), member),
        ("'anna', HOLD, '100 days'".to_owned(), held),
    ] {
        let [room, stock] = both(&mut desk, site, "renew", &arguments, claims).await;
        assert_eq!(room, stock, "renew {arguments}");
        said.push(room);
    }
    // New claims: retired, the text, the length, and how many.
    let retired = [
        format!(
            "retire_room({site}, gen_random_uuid(), 'anna', {})",
            test.loft
        ),
        format!(
            "retire_item({site}, gen_random_uuid(), 'anna', {})",
            test.ticket
        ),
    ];
    for call in retired {
        assert_eq!(ask(&mut desk, &call).await["refusal"], Value::Null);
    }
    for (room, item, desk_name, length) in [
        (test.loft, test.ticket, desk_name.as_str(), "100 days"),
        (test.blue, test.breakfast, desk_name.as_str(), "100 days"),
        (test.blue, test.breakfast, "anna", "100 days"),
        (test.blue, test.breakfast, "anna", "1 hour"),
    ] {
        let hold_slot = format!(
            "hold_slot({site}, gen_random_uuid(), '{desk_name}', {room}, {}, {}, '{length}', p_party => 0)",
            crate::at(5),
            crate::at(6)
        );
        let hold_stock =
            format!("hold_stock({site}, gen_random_uuid(), '{desk_name}', {item}, 0, '{length}')");
        let room = ask(&mut desk, &hold_slot).await["refusal"].clone();
        let stock = ask(&mut desk, &hold_stock).await["refusal"].clone();
        assert_eq!(room, stock, "{hold_slot}");
        said.push(room);
    }
    assert_eq!(
        said,
        [
            "hold_expired",
            "already_cancelled",
            "stale",
            "text_too_long",
            "text_too_long",
            "stale",
            "text_too_long",
            "part_of_group",
            "renewals_used_up",
            "retired",
            "text_too_long",
            "period_invalid",
            "quantity_invalid",
        ]
    );
}

/// What both kinds of a command say to the same arguments.
async fn both(
    desk: &mut sqlx::postgres::PgConnection,
    site: i64,
    command: &str,
    arguments: &str,
    claims: (i64, i64),
) -> [Value; 2] {
    let mut said = [Value::Null, Value::Null];
    for (place, (kind, claim)) in [("slot", claims.0), ("stock", claims.1)]
        .into_iter()
        .enumerate()
    {
        let call = format!(
            "{command}_{kind}({site}, gen_random_uuid(), {})",
            arguments.replace("HOLD", &claim.to_string())
        );
        said[place] = ask(desk, &call).await["refusal"].clone();
    }
    said
}
