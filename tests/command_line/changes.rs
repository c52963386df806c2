//! Renew, move, exchange, find free, groups and races, as a script sees them.

use chrono::Days;
use serde_json::{Value, json};

use super::support::TestHouse;
use super::{Run, at, keyrack, keyrack_json, soon};

/// Runs a command of words and quoted arguments.
fn ask(test: &TestHouse, words: &str, more: &[&str]) -> Run {
    let mut arguments: Vec<&str> = words.split(' ').collect();
    arguments.extend(more);
    keyrack_json(&test.database, &arguments)
}

/// Holds a room, which must work, and says the number of the hold.
fn hold(test: &TestHouse, room: &str, from: &str, to: &str) -> String {
    ask(test, "room hold", &[room, from, to]).done()["hold_id"].to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn r13_a_hold_is_renewed_as_often_as_the_house_allows() {
    let test = TestHouse::new().await;
    let room = hold(&test, "Blue room", &at("10:00"), &at("11:00"));
    let stock = ask(&test, "stock hold Breakfast 2", &[]).done()["hold_id"].to_string();
    for (noun, number) in [("room", &room), ("stock", &stock)] {
        let renewed = ask(&test, noun, &["renew", number, "--ttl", "2h"]).done();
        let left = renewed["seconds_left"].as_i64().unwrap();
        assert!((7190..=7200).contains(&left), "{renewed}");
        let shorter = ask(&test, noun, &["renew", number, "--ttl", "1m"]).done();
        assert_eq!(shorter["expires_at"], renewed["expires_at"]);
        let too_long = ask(&test, noun, &["renew", number, "--ttl", "99999999d"]);
        too_long.refused("period_invalid");
        ask(&test, noun, &["renew", number, "--expect-version", "1"]).refused("stale");
        ask(&test, noun, &["renew", number]).done();
        let refusal = ask(&test, noun, &["renew", number]).refused("renewals_used_up");
        assert_eq!(refusal["details"]["limit"], 3);
    }
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r14_a_claim_is_moved_and_what_is_not_named_stays() {
    let test = TestHouse::new().await;
    let number = hold(&test, "Blue room", &at("10:00"), &at("11:00"));
    let moved = |more: &[&str]| {
        let mut arguments = vec![number.as_str()];
        arguments.extend(more);
        ask(&test, "room move", &arguments)
    };
    let place = |claim: &Value| {
        let text = |key: &str| claim[key].as_str().unwrap()[11..16].to_owned();
        (claim["room"].clone(), text("from"), text("to"))
    };
    let longer = moved(&["--to", "12:30"]).done();
    assert_eq!(
        place(&longer),
        (json!("Blue room"), "10:00".into(), "12:30".into())
    );
    let other = moved(&["--to-room", "Garden room"]).done();
    assert_eq!(
        place(&other),
        (json!("Garden room"), "10:00".into(), "12:30".into())
    );
    let both = moved(&[
        "--to-room",
        "Studio",
        "--from",
        &at("14:00"),
        "--to",
        "15:00",
    ])
    .done();
    assert_eq!(
        place(&both),
        (json!("Studio"), "14:00".into(), "15:00".into())
    );
    // R13: moving does not reset the deadline.
    assert_eq!(both["expires_at"], longer["expires_at"]);
    moved(&["--from", &at("15:00")]).refused("period_invalid");
    moved(&["--to", &at("16:00"), "--expect-version", "1"]).refused("stale");
    // R7: the other room takes dates, and both of them.
    let (arrival, departure) = (soon().to_string(), (soon() + Days::new(2)).to_string());
    moved(&["--to-room", "Loft"]).refused("period_invalid");
    moved(&["--to-room", "Loft", "--to", &departure]).refused("period_invalid");
    let nights = ["--to-room", "Loft", "--from", &arrival, "--to", &departure];
    assert_eq!(moved(&nights).done()["nights"], 2);
    let longer = (soon() + Days::new(3)).to_string();
    assert_eq!(moved(&["--to", &longer]).done()["nights"], 3);
    ask(&test, "room move 999 --to 12:00", &[]).refused("no_such_hold");
    assert_eq!(moved(&[]).code, 2);
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r14_two_claims_exchange_their_places() {
    let test = TestHouse::new().await;
    let first = hold(&test, "Blue room", &at("10:00"), &at("11:00"));
    let second = hold(&test, "Garden room", &at("14:00"), &at("16:00"));
    let swapped = ask(&test, "room swap", &[&first, &second]).done();
    assert_eq!(
        (&swapped["hold_id"].to_string(), &swapped["room"]),
        (&first, &json!("Garden room"))
    );
    let other = ask(&test, "room show", &[&second]).done();
    assert_eq!(other["room"], "Blue room");
    assert!(other["from"].as_str().unwrap().starts_with(&at("10:00")));
    ask(&test, "room swap", &[&first, "999"]).refused("no_such_hold");
    assert_eq!(ask(&test, "room swap", &[&first, &first]).code, 2);
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_free_time_in_each_room_that_will_do() {
    let test = TestHouse::new().await;
    hold(&test, "Blue room", &at("09:00"), &at("11:00"));
    let (from, to) = (at("09:00"), at("18:00"));
    let free = |more: &[&str]| {
        let mut arguments = vec!["--from", &from, "--to", &to, "--for", "2h"];
        arguments.extend(more);
        let found = ask(&test, "room free", &arguments).done();
        let rooms = found.as_array().unwrap().iter().map(|free| {
            let start = free["from"].as_str().unwrap();
            format!("{} {}", free["room"].as_str().unwrap(), &start[11..16])
        });
        rooms.collect::<Vec<_>>()
    };
    assert_eq!(
        free(&[]),
        ["Studio 09:00", "Garden room 09:00", "Blue room 11:00"]
    );
    assert_eq!(
        free(&["--party", "6"]),
        ["Garden room 09:00", "Blue room 11:00"]
    );
    assert_eq!(free(&["--feature", "sauna"]), [""; 0]);
    let (arrival, last) = (soon().to_string(), (soon() + Days::new(2)).to_string());
    let stay = ask(
        &test,
        "room free --for 2d",
        &["--from", &arrival, "--to", &last],
    )
    .done();
    let stay = stay
        .as_array()
        .unwrap()
        .iter()
        .find(|free| free["room"] == "Loft")
        .unwrap();
    assert_eq!(stay["nights"], 2);
    let nothing = ask(
        &test,
        "room free --for 90000000d",
        &["--from", &arrival, "--to", &last],
    );
    assert_eq!(nothing.done(), json!([]));
    let none = |length: &str| {
        let window = ["--from", &arrival, "--to", &last, "--for", length];
        ask(&test, "room free", &window)
    };
    none("0s").refused("period_invalid");
    let over = ["--from", "2020-01-01", "--to", "2020-01-03", "--for", "1h"];
    assert_eq!(ask(&test, "room free", &over).done(), json!([]));
    assert_eq!(none("soon").code, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_refused_a_room_can_copy_what_is_free_instead() {
    let test = TestHouse::new().await;
    let (from, to) = (at("10:00"), at("12:00"));
    hold(&test, "Blue room", &from, &to);
    let wanted = ["room", "hold", "Blue room", &from, &to, "--guest", "Müller"];
    let said = keyrack(&test.database, &wanted).stderr;
    let copied: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("  keyrack "))
        .collect();
    assert_eq!(copied.len(), 3, "{said}");
    let other = format!("room hold 'Garden room' {from} {to} --guest Müller");
    assert!(copied.contains(&other.as_str()), "{said}");
    let refusal = ask(&test, "room hold", &["Blue room", &from, &to]).refused("slot_taken");
    let choices = refusal["details"]["choices"].as_array().unwrap();
    assert_eq!(choices.len(), 3);
    for choice in choices {
        let text = |key: &str| choice[key].as_str().unwrap();
        hold(&test, text("room"), text("from"), text("to"));
    }
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r20_a_group_is_held_confirmed_and_cancelled_as_one() {
    let test = TestHouse::new().await;
    let (blue, garden) = (
        format!("Blue room,{},12:00", at("10:00")),
        format!("Garden room, {}, 14:00", at("12:00")),
    );
    let lines = [
        "--room",
        &blue,
        "--room",
        &garden,
        "--stock",
        "Breakfast,8",
        "--guest",
        "Müller",
        "--party",
        "6",
        "--ttl",
        "5m",
    ];
    let group = ask(&test, "group hold", &lines).done();
    let number = group["group_id"].to_string();
    assert_eq!(group["state"], "held");
    let claims = group["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 3);
    for claim in claims {
        assert_eq!(claim["group_id"], group["group_id"]);
        assert_eq!(claim["expires_at"], claims[0]["expires_at"]);
        assert_eq!(claim["guest"], "Müller");
    }
    assert_eq!(
        (&claims[0]["party"], &claims[2]["quantity"]),
        (&json!(6), &json!(8))
    );
    let member = claims[0]["hold_id"].to_string();
    let refusal = ask(&test, "room confirm", &[&member]).refused("part_of_group");
    assert_eq!(refusal["details"]["group_id"], group["group_id"]);

    let renewed = ask(&test, "group renew", &[&number, "--ttl", "1h"]).done();
    assert!(renewed["claims"][2]["seconds_left"].as_i64().unwrap() > 3000);
    let confirmed = ask(&test, "group confirm", &[&number]).done();
    assert_eq!(confirmed["state"], "confirmed");
    // R18: the breakfasts are sold.
    ask(&test, "group cancel", &[&number]).refused("sale_is_final");
    ask(
        &test,
        "group cancel --rooms-only",
        &[&number, "--reason", "ill"],
    )
    .done();
    let shown = ask(&test, "group show", &[&number]).done();
    let states: Vec<&str> = shown["claims"]
        .as_array()
        .unwrap()
        .iter()
        .map(|claim| claim["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["cancelled", "cancelled", "confirmed"]);
    ask(&test, "group show 999", &[]).refused("no_such_hold");
    ask(&test, "group confirm 999", &[]).refused("no_such_hold");
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r20_a_refused_group_holds_nothing_and_names_its_line() {
    let test = TestHouse::new().await;
    hold(&test, "Garden room", &at("10:00"), &at("12:00"));
    let (blue, garden) = (
        format!("Blue room,{},12:00", at("10:00")),
        format!("Garden room,{},12:00", at("10:00")),
    );
    let lines = ["--room", &blue, "--room", &garden];
    let refusal = ask(&test, "group hold", &lines).refused("slot_taken");
    assert_eq!(
        refusal["details"]["line"],
        json!({"kind": "room", "number": 2})
    );
    let mut arguments = vec!["group", "hold"];
    arguments.extend(lines);
    let said = keyrack(&test.database, &arguments).stderr;
    assert!(
        said.starts_with("--room number 2: Garden room is taken"),
        "{said}"
    );
    // R20: lines of one item count as one, and the first of them is named.
    let lines = [
        "--room",
        &blue,
        "--stock",
        "Breakfast,6",
        "--stock",
        "Breakfast,6",
    ];
    let refusal = ask(&test, "group hold", &lines).refused("sold_out");
    assert_eq!(
        (&refusal["details"]["asked"], &refusal["details"]["line"]),
        (&json!(12), &json!({"kind": "stock", "number": 1}))
    );
    // What the command line itself finds out has the same shape.
    let lines = [
        "--room",
        &blue,
        "--stock",
        "Breakfast,1",
        "--stock",
        "Nothing,1",
    ];
    let refusal = ask(&test, "group hold", &lines).refused("no_such_item");
    assert_eq!(refusal["details"]["line"]["number"], 2);
    assert_eq!(ask(&test, "group hold", &[]).code, 2);
    assert_eq!(ask(&test, "group hold --room", &["Blue room"]).code, 2);
    let holds = ask(&test, "room holds", &[]).done();
    assert_eq!(holds.as_array().unwrap().len(), 1, "{holds}");
    test.assert_all_is_well().await;
}

/// One winner, everybody else refused with this code, and everybody's answer and wait.
fn assert_one_winner(race: &Value, code: &str) {
    assert_eq!(race["winners"], 1, "{race}");
    assert_eq!(race["refusals"], json!({ code: 49 }), "{race}");
    let clients = race["clients"].as_array().unwrap();
    assert_eq!(clients.len(), 50);
    for (client, number) in clients.iter().zip(1..) {
        assert_eq!(client["client"], number);
        assert!(client["milliseconds"].as_f64().unwrap() > 0.0, "{client}");
        let won = client["answer"] == "held";
        assert!(won || client["answer"] == code, "{client}");
        assert_eq!(won, client["hold_id"].is_i64());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r1_of_fifty_that_want_one_slot_one_gets_it() {
    let test = TestHouse::new().await;
    let wanted = ["Blue room", &at("10:00"), &at("12:00")];
    let race = ask(&test, "race --clients 50 --ttl 1h --room", &wanted).done();
    assert_one_winner(&race, "slot_taken");
    let holds = ask(&test, "room holds", &[]).done();
    assert_eq!(holds.as_array().unwrap().len(), 1, "{holds}");
    assert!(holds[0]["seconds_left"].as_i64().unwrap() > 3000);
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r16_of_fifty_that_want_the_last_unit_one_gets_it() {
    let test = TestHouse::new().await;
    ask(&test, "stock hold Breakfast 9", &[]).done();
    let race = ask(&test, "race --clients 50 --stock Breakfast 1", &[]).done();
    assert_one_winner(&race, "sold_out");
    assert_eq!(ask(&test, "stock list", &[]).done()[0]["available"], 0);
    let said = keyrack(
        &test.database,
        &["race", "--clients", "3", "--stock", "Breakfast", "1"],
    );
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.stdout
            .starts_with("3 clients, 0 winners; refused: 3 sold_out."),
        "{said:?}"
    );
    test.assert_all_is_well().await;
}
