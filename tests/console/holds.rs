//! Holding, confirming and giving back; two desks at one slot; a hold that runs out.

use std::time::Instant;

use chrono::{Days, Utc};
use chrono_tz::Europe::London;
use serde_json::json;

use crate::desk::{Desk, claims, keyrack, requests, states};
use crate::support::TestHouse;

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_ticks_is_confirmed_and_is_still_there_after_a_new_start() {
    let test = TestHouse::new().await;
    let desk = Desk::at(&test, "anna");
    desk.turn_to_tomorrow();
    desk.shows("free  Enter holds it for 10 minutes");

    desk.hold();
    desk.says("Held: Blue room");
    desk.shows("░ held");
    desk.until("c confirm first on the hint line", |frame| {
        let lines = frame.lines();
        lines[lines.len() - 1].starts_with(" c confirm   x cancel")
    });
    let first = desk.countdown();
    desk.until("another second", |frame| {
        frame.has(" left, until ") && !frame.has(&format!("{first} left"))
    });
    assert!(desk.countdown() < first);
    assert_eq!(states(&test.database).await, ["held"]);

    desk.press(&["c"]);
    desk.says("Confirmed: Blue room");
    desk.shows("▓ confirmed");
    desk.hides(" left, until ");
    assert_eq!(states(&test.database).await, ["confirmed"]);
    desk.press(&["Enter"]);
    desk.says("Blue room is taken (desk anna)");
    desk.leave();

    let desk = Desk::at(&test, "anna");
    desk.turn_to_tomorrow();
    desk.shows("hold 1, version 2");
    desk.shows("▓ confirmed");
    desk.leave();
    assert_eq!(states(&test.database).await, ["confirmed"]);
    assert_eq!(requests(&test.database, "hold_slot").await, 1);
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_desks_go_for_one_slot_and_the_loser_reads_whose_it_is_and_until_when() {
    let test = TestHouse::new().await;
    let desks = [Desk::at(&test, "anna"), Desk::at(&test, "bo")];
    desks.iter().for_each(Desk::turn_to_tomorrow);
    for desk in &desks {
        desk.shows("Enter hold");
    }
    for desk in &desks {
        desk.press(&["Enter"]);
    }
    for desk in &desks {
        desk.until("an answer", |frame| {
            frame.has("Held: ") || frame.flowing().contains("Blue room is taken")
        });
    }
    let rows = claims(&test.database).await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    let [anna, bo] = &desks;
    let (winner, loser) = if rows[0].desk == "anna" {
        (anna, bo)
    } else {
        (bo, anna)
    };
    winner.says("Held: Blue room");
    loser.says(&format!("Blue room is taken (desk {})", rows[0].desk));
    loser.says("held until");
    loser.shows(" left, until ");
    loser.shows(&format!("by desk {}", rows[0].desk));

    winner.press(&["x"]);
    winner.shows("Let go of the hold on Blue room");
    winner.type_text("they called off");
    winner.press(&["Enter"]);
    winner.shows("[ Keep it ]");
    winner.press(&["y"]);
    let asked = Instant::now();
    loser.shows("free  Enter holds it for 10 minutes");
    // A second is promised; measured here, and not a gate on a busy machine.
    eprintln!(
        "the other desk saw the cancelled hold go after {:?}",
        asked.elapsed()
    );
    winner.says("Given back: Blue room");
    loser.shows("cancelled Blue room, they");
    assert_eq!(states(&test.database).await, ["cancelled"]);

    loser.hold();
    winner.shows(" left, until ");
    assert_eq!(states(&test.database).await, ["cancelled", "held"]);
    desks.into_iter().for_each(Desk::leave);
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r11_a_hold_left_alone_expires_on_screen_and_in_the_rows_and_its_slot_can_be_held_again() {
    let test = TestHouse::new().await;
    let desk = Desk::at(&test, "anna");
    desk.turn_to_tomorrow();
    let tomorrow = Utc::now().with_timezone(&London).date_naive() + Days::new(1);
    let (from, to) = (format!("{tomorrow}T00:00"), format!("{tomorrow}T24:00"));
    let hold = ["room", "hold", "Blue room", &from, &to, "--guest", "Ng"];
    let (code, held) = keyrack(&test.database, &[&hold[..], &["--ttl", "3s"]].concat());
    assert_eq!(code, 0, "{held}");

    desk.shows("held Blue room, Ng");
    desk.shows("expired Blue room, Ng");
    desk.shows("free  Enter holds it for 10 minutes");
    let (code, expired) = keyrack(&test.database, &["room", "holds", "--state", "expired"]);
    assert_eq!(code, 0);
    assert_eq!(expired.as_array().unwrap().len(), 1, "{expired}");
    assert_eq!(expired[0]["hold_id"], held["hold_id"]);
    assert_eq!(expired[0]["expires_at"], json!(null));

    desk.hold();
    assert_eq!(states(&test.database).await, ["expired", "held"]);
    desk.leave();
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r21_a_key_that_repeats_asks_once_and_the_key_that_opens_a_dialog_does_not_confirm_it() {
    let test = TestHouse::new().await;
    let desk = Desk::at(&test, "anna");
    desk.turn_to_tomorrow();
    desk.shows("Enter hold");
    desk.press(&["Enter"; 8]);
    desk.shows(" left, until ");
    assert_eq!(requests(&test.database, "hold_slot").await, 1);
    assert_eq!(states(&test.database).await, ["held"]);
    desk.press(&["Enter"]);
    desk.says("This is your own hold already, until");

    desk.press(&["x"; 6]);
    desk.shows("Let go of the hold on Blue room");
    desk.shows("Reason");
    // Enter alone, however often, only ever keeps the claim.
    desk.press(&["Enter"]);
    desk.shows("[ Keep it ]");
    desk.press(&["Enter"]);
    desk.hides("Let go of the hold");
    assert_eq!(requests(&test.database, "cancel_slot").await, 0);
    assert_eq!(states(&test.database).await, ["held"]);

    desk.press(&["c"; 8]);
    desk.shows("▓ confirmed");
    desk.leave();
    assert_eq!(requests(&test.database, "confirm_slot").await, 1);
    assert_eq!(states(&test.database).await, ["confirmed"]);
}
