//! Where a transaction stands, and what can be seen of it there.

use keyrack::store::StepPlace;

use crate::support::{TestHouse, hold_slot, hours};
use crate::{begin, gate};

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_stops_before_each_of_its_steps() {
    let test = TestHouse::new().await;
    let stepwise = begin(&test.house, "anna", hold_slot(test.blue, hours(0, 2), None)).await;
    for step in [
        "begin_request",
        "lock_room",
        "expire_room",
        "find_slot_conflict",
        "place_slot",
        "record_slot",
        "remember_outcome",
    ] {
        assert_eq!(gate(&stepwise.look()), step);
        stepwise.step().await;
    }
    let view = stepwise.look();
    assert!(
        matches!(view.place, StepPlace::Answered(_)),
        "{:?}",
        view.place
    );
    let view = stepwise.step().await;
    assert!(matches!(view.place, StepPlace::Done(_)), "{:?}", view.place);
}
