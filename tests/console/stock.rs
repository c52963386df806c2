//! The stock panel: so many of an item, sold, final, and more than there are.

use crate::desk::{Desk, requests};
use crate::support::TestHouse;

#[tokio::test(flavor = "multi_thread")]
async fn three_breakfasts_are_held_and_sold_and_a_sale_is_final() {
    let test = TestHouse::new().await;
    let desk = Desk::at(&test, "anna");
    desk.press(&["Tab"]);
    desk.shows("10 available, 0 held, 0 sold of 10");
    desk.shows("Enter hold one");
    desk.press(&["3"]);
    desk.shows("Enter holds 3 for 10 minutes");
    desk.press(&["Enter"]);
    desk.says("Held: 3 of Breakfast for 10 minutes. c confirm");
    desk.shows("░ 3 held");
    desk.until("what is left", |frame| frame.flowing().contains("7 3 0 10"));

    // R18: sold is sold; the sale stays under the cursor and says so.
    desk.press(&["c"]);
    desk.says("Sold: 3 of Breakfast");
    desk.shows("▓ 3 sold");
    desk.press(&["x"]);
    desk.says("final");
    assert_eq!(requests(&test.database, "cancel_stock").await, 0);

    // R16: all of it or nothing, and how many are left.
    desk.press(&["Up"]);
    desk.shows("7 available, 0 held, 3 sold of 10");
    desk.hides("▓ 3 sold");
    desk.press(&["9", "Enter"]);
    desk.says("Only 7 of Breakfast are left and 9 were asked for. Nothing was held.");
    desk.shows("7 available, 0 held, 3 sold of 10");
    desk.leave();

    let sold: Vec<(String, i32)> =
        sqlx::query_as("SELECT state::text, quantity FROM stock_hold ORDER BY hold_id")
            .fetch_all(&mut test.database.connect().await)
            .await
            .unwrap();
    assert_eq!(sold, [("confirmed".to_owned(), 3)]);
    test.assert_all_is_well().await;
}
