//! What is free, where somebody looks far ahead or is refused because of a turnaround.

use chrono::TimeDelta;
use keyrack::domain::{Period, Refusal};
use keyrack::store::FreeSearch;

use crate::support::{TestHouse, hold_slot, hour, hours, refusal};

#[tokio::test]
async fn r8_a_search_far_beyond_the_horizon_ends_at_the_horizon() {
    let test = TestHouse::new().await;
    let far = hour(0) + TimeDelta::days(365 * 7000);
    let search = |length| FreeSearch {
        window: Period::new(hour(0), far).unwrap(),
        length,
        party: None,
        features: Vec::new(),
    };
    // Longer than the house takes bookings ahead: to say so must not take looking at two million nights.
    let none = test.house.find_free(&search(TimeDelta::days(900))).await;
    assert_eq!(none.unwrap(), []);
    let free = test.house.find_free(&search(TimeDelta::hours(1))).await;
    assert_eq!(free.unwrap().len(), 4);
}

#[tokio::test]
async fn r4_who_only_needs_the_room_made_ready_too_late_is_offered_the_time_before() {
    let test = TestHouse::new().await;
    // The studio is made ready for a quarter of an hour.
    test.hold(test.studio, hours(2, 4), None).await;
    let asked = Period::new(hour(0), hour(2)).unwrap();
    let refused = refusal(test.ask(hold_slot(test.studio, asked, None)).await);
    let Refusal::SlotTaken(taken) = refused else {
        panic!("{refused:?}")
    };
    let sooner = TimeDelta::minutes(15);
    let wanted = Period::new(hour(0) - sooner, hour(2) - sooner).unwrap();
    let offered: Vec<_> = taken
        .choices
        .iter()
        .map(|choice| (choice.room, choice.period))
        .collect();
    assert!(offered.contains(&(test.studio, wanted)), "{offered:?}");
}
