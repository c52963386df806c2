//! Claims that are moved, stretched and renewed; what is free instead of what was refused; groups.

use serde_json::Value;

use crate::desk::{Desk, house_at_noon, keyrack, states};
use crate::support::TestHouse;

/// A claim as the command line shows it.
fn shown(test: &TestHouse, hold: &str) -> Value {
    keyrack(&test.database, &["room", "show", hold]).1
}

/// How long a claim is.
fn minutes(claim: &Value) -> i64 {
    let instant = |key: &str| {
        let written = claim[key].as_str().unwrap();
        chrono::DateTime::parse_from_rfc3339(written).unwrap()
    };
    (instant("to") - instant("from")).num_minutes()
}

#[tokio::test(flavor = "multi_thread")]
async fn r14_a_claim_is_taken_along_to_another_room_and_stretched_there() {
    let test = house_at_noon().await;
    let desk = Desk::at(&test, "anna");
    desk.turn_to_tomorrow();
    desk.hold();
    let before = shown(&test, "1");

    desk.press(&["m"]);
    desk.shows("Enter puts it down, Esc lets go");
    desk.press(&["Down"]);
    desk.shows("now Blue room");
    assert_eq!(
        shown(&test, "1")["room"],
        "Blue room",
        "nothing is asked yet"
    );
    desk.press(&["Enter"]);
    desk.says("Moved: Garden room");
    let moved = shown(&test, "1");
    assert_eq!(moved["room"], "Garden room");
    assert_eq!(
        (&moved["from"], &moved["to"]),
        (&before["from"], &before["to"])
    );
    assert_eq!(moved["expires_at"], before["expires_at"]);

    desk.press(&["Shift-Right"]);
    desk.shows("Enter puts it down, Esc lets go");
    desk.press(&["Enter"]);
    desk.hides("Esc lets go");
    desk.says("Moved: Garden room");
    let longer = shown(&test, "1");
    assert_eq!(longer["from"], before["from"]);
    assert!(minutes(&longer) > minutes(&before), "{longer}");

    desk.press(&["+"]);
    desk.says("Renewed: Garden room");
    assert_ne!(shown(&test, "1")["expires_at"], before["expires_at"]);
    desk.leave();
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_refused_holds_what_is_free_instead_with_one_key() {
    let test = house_at_noon().await;
    let desk = Desk::at(&test, "anna");
    desk.turn_to_tomorrow();
    // The studio needs a quarter of an hour after each claim: that the one before doesn't fit is for the house to say.
    desk.press(&["Down", "Down", "Right"]);
    desk.shows("›Studio");
    desk.hold();
    desk.press(&["Left"]);
    desk.shows("Enter hold");
    desk.press(&["Enter"]);
    desk.says("Studio is taken (desk anna)");
    desk.says("Free instead: press 1 for");
    assert_eq!(states(&test.database).await, ["held"]);
    desk.press(&["1"]);
    desk.says("Held: ");
    assert_eq!(states(&test.database).await, ["held", "held"]);
    desk.leave();
    test.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r20_a_group_is_confirmed_from_one_of_its_members() {
    let test = house_at_noon().await;
    let desk = Desk::at(&test, "anna");
    desk.turn_to_tomorrow();
    desk.hold();
    let place = shown(&test, "1");
    let line = |room: &str| {
        let text = |key: &str| place[key].as_str().unwrap();
        format!("{room},{},{}", text("from"), text("to"))
    };
    let (garden, studio) = (line("Garden room"), line("Studio"));
    let (code, group) = keyrack(
        &test.database,
        &[
            "group",
            "hold",
            "--room",
            &garden,
            "--room",
            &studio,
            "--stock",
            "Breakfast,2",
        ],
    );
    assert_eq!(code, 0, "{group}");
    desk.press(&["Down"]);
    // Claims and groups have their numbers from one sequence.
    desk.shows("hold 3 of group 2");
    desk.press(&["c"]);
    desk.says("Confirmed: group 2, 3 claims.");
    assert_eq!(
        states(&test.database).await,
        ["held", "confirmed", "confirmed"]
    );
    desk.leave();
    test.assert_all_is_well().await;
}
