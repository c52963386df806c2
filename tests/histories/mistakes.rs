//! The checker finds what it is there to find: histories that a broken house would leave, and their sound twins.

use crate::checker::{Seen, check};
use crate::item::{self, Item};
use crate::room::{self, Room, Standing};

/// A call in so many parts, between two moments of both clocks.
fn seen<Call>(from: i64, to: i64, call: Call) -> Seen<Vec<Call>> {
    Seen {
        invoked: from as u64,
        returned: to as u64,
        earliest: from,
        latest: to,
        call: vec![call],
    }
}

fn held(claim: i64, deadline: i64) -> room::Part {
    let standing = Standing::Held(deadline);
    room::Part::Place {
        claim,
        from: 0,
        to: 2,
        standing,
    }
}

fn taken(by: i64) -> room::Part {
    room::Part::Taken {
        from: 1,
        to: 3,
        except: None,
        by,
    }
}

fn take(claim: i64, quantity: i64) -> item::Part {
    item::Part::Take {
        claim,
        quantity,
        deadline: 100,
    }
}

fn room(history: Vec<Seen<Vec<room::Part>>>) -> bool {
    check(Room::default(), history).is_ok()
}

fn item(history: Vec<Seen<Vec<item::Part>>>) -> bool {
    check(Item::with(3), history).is_ok()
}

#[test]
fn r1_two_claims_on_the_same_hours() {
    assert!(!room(vec![
        seen(0, 5, held(1, 100)),
        seen(3, 9, held(2, 100))
    ]));
    // One after the other's deadline.
    assert!(room(vec![seen(0, 5, held(1, 7)), seen(3, 9, held(2, 100))]));
}

#[test]
fn an_answer_that_comes_too_late_in_real_time() {
    // It saw the claim before it was made.
    assert!(!room(vec![seen(0, 5, taken(1)), seen(6, 9, held(1, 100))]));
    assert!(room(vec![seen(0, 7, taken(1)), seen(6, 9, held(1, 100))]));
}

#[test]
fn r11_a_hold_that_is_over_does_not_stand_in_the_way() {
    assert!(!room(vec![seen(0, 1, held(1, 10)), seen(10, 12, taken(1))]));
    assert!(room(vec![seen(0, 1, held(1, 10)), seen(9, 12, taken(1))]));
}

#[test]
fn r11_a_hold_that_is_over_is_not_confirmed() {
    let confirm = || room::Part::Confirm { claim: 1 };
    assert!(!room(vec![
        seen(0, 1, held(1, 10)),
        seen(10, 12, confirm())
    ]));
    assert!(room(vec![seen(0, 1, held(1, 10)), seen(9, 12, confirm())]));
    // Nor cancelled, nor expired before its time.
    assert!(!room(vec![
        seen(0, 1, held(1, 10)),
        seen(2, 9, room::Part::WasExpired { claim: 1 })
    ]));
}

#[test]
fn r13_renewing_does_not_shorten() {
    let renew = |deadline| room::Part::Renew { claim: 1, deadline };
    assert!(!room(vec![seen(0, 1, held(1, 10)), seen(2, 3, renew(9))]));
    assert!(room(vec![
        seen(0, 1, held(1, 10)),
        seen(2, 3, renew(11)),
        seen(10, 10, taken(1))
    ]));
}

#[test]
fn a_lost_and_a_resurrected_claim() {
    let rows = |word: &str| room::Part::Rows(vec![(1, 0, word.to_owned())]);
    assert!(!room(vec![
        seen(0, 1, held(1, 100)),
        seen(2, 3, room::Part::Rows(Vec::new()))
    ]));
    assert!(!room(vec![
        seen(0, 1, held(1, 100)),
        seen(2, 3, room::Part::Cancel { claim: 1 }),
        seen(4, 5, rows("held")),
    ]));
    assert!(room(vec![
        seen(0, 1, held(1, 100)),
        seen(2, 3, rows("held"))
    ]));
}

#[test]
fn r16_more_than_there_is() {
    assert!(!item(vec![seen(0, 5, take(1, 2)), seen(3, 9, take(2, 2))]));
    assert!(item(vec![seen(0, 5, take(1, 2)), seen(3, 9, take(2, 1))]));
}

#[test]
fn r17_given_back_twice() {
    let cancel = || item::Part::Cancel { claim: 1 };
    assert!(!item(vec![
        seen(0, 1, take(1, 2)),
        seen(2, 9, cancel()),
        seen(2, 9, cancel())
    ]));
    let rows = |available| item::Part::Rows {
        total: 3,
        available,
        claims: vec![(1, "cancelled".to_owned())],
    };
    assert!(!item(vec![
        seen(0, 1, take(1, 2)),
        seen(2, 9, cancel()),
        seen(10, 11, rows(5))
    ]));
    assert!(item(vec![
        seen(0, 1, take(1, 2)),
        seen(2, 9, cancel()),
        seen(10, 11, rows(3))
    ]));
}

#[test]
fn r19_below_what_is_committed() {
    let count = |change| item::Part::Count {
        change,
        total: None,
    };
    assert!(!item(vec![seen(0, 1, take(1, 2)), seen(2, 9, count(-2))]));
    assert!(item(vec![seen(0, 1, take(1, 2)), seen(2, 9, count(-1))]));
}
