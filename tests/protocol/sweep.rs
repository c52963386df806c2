//! The sweep: one room or item a call, past whatever somebody works on, by one sweeper at a time (R11).

use chrono::TimeDelta;

use crate::support::{TestHouse, hours};
use crate::{BRIEF, open_transaction, run, state, try_run, until_due, value};

#[tokio::test]
async fn r11_the_sweep_takes_one_room_a_call_and_walks_past_a_locked_one() {
    let test = TestHouse::new().await;
    let mut sweeper = test.database.connect().await;
    let second = Some(TimeDelta::seconds(1));
    let mut holds = Vec::new();
    for (room, from) in [
        (test.blue, 0),
        (test.blue, 1),
        (test.garden, 0),
        (test.studio, 0),
    ] {
        holds.push(test.hold(room, hours(from, from + 1), second).await.id.0);
    }
    let [blue, blue_too, garden, studio] = holds[..] else {
        unreachable!()
    };
    until_due(&mut sweeper, "slot_hold", studio).await;
    let (mut holder, _) = open_transaction(
        &test,
        &format!("SELECT lock_room({}, {})", test.site(), test.blue),
    )
    .await;
    run(&mut sweeper, "SET lock_timeout = '100ms'").await;
    let expire = format!("SELECT expire_slots({})", test.site());
    let mut counts = Vec::new();
    for _ in 0..3 {
        counts.push(value::<i32>(&mut sweeper, &expire).await);
    }
    assert_eq!(counts, [1, 1, 0]);
    for hold in [garden, studio] {
        assert_eq!(state(&mut sweeper, "slot_hold", hold).await, "expired");
    }
    for hold in [blue, blue_too] {
        assert_eq!(state(&mut sweeper, "slot_hold", hold).await, "held");
    }
    run(&mut holder, "COMMIT").await;
    assert_eq!(value::<i32>(&mut sweeper, &expire).await, 2);
    assert_eq!(value::<i32>(&mut sweeper, &expire).await, 0);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r11_two_sweepers_share_the_work_and_neither_waits() {
    let test = TestHouse::new().await;
    let mut second = test.database.connect().await;
    let ttl = BRIEF;
    test.hold_stock(test.ticket, 1, ttl).await;
    let last = test.hold_stock(test.breakfast, 2, ttl).await.id.0;
    until_due(&mut second, "stock_hold", last).await;
    run(&mut second, "SET lock_timeout = '100ms'").await;
    let expire = format!("SELECT expire_stock({})", test.site());
    let (mut first, _) = open_transaction(&test, &expire).await;
    assert_eq!(value::<i32>(&mut second, &expire).await, 1);
    assert_eq!(value::<i32>(&mut second, &expire).await, 0);
    run(&mut first, "COMMIT").await;
    assert_eq!(value::<i32>(&mut second, &expire).await, 0);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r11_a_room_that_another_sweeper_has_just_done_does_not_end_the_sweep() {
    let test = TestHouse::new().await;
    let ttl = BRIEF;
    let mut desk = test.database.connect().await;
    let first = test.hold(test.blue, hours(0, 1), ttl).await.id.0;
    let second = test.hold(test.garden, hours(0, 1), ttl).await.id.0;
    until_due(&mut desk, "slot_hold", second).await;
    // Between looking for a due room and having it, another sweeper did the first one: played by a step that
    // expires nothing in that room.
    run(
        &mut desk,
        &format!(
            "ALTER FUNCTION expire_room(site, bigint, text, bigint) RENAME TO really_expire_room;
             CREATE FUNCTION keyrack.expire_room(p_site site, p_room bigint, p_desk text, p_hold bigint DEFAULT NULL)
             RETURNS integer LANGUAGE plpgsql AS $$
             BEGIN
                 IF p_room = {} THEN
                     -- What the other one wrote.
                     PERFORM really_expire_room(p_site, p_room, 'other');
                     RETURN 0;
                 END IF;
                 RETURN really_expire_room(p_site, p_room, p_desk);
             END
             $$",
            test.blue
        ),
    )
    .await;
    let expired: i32 = value(&mut desk, &format!("SELECT expire_slots({})", test.site())).await;
    assert_eq!(expired, 1, "0 would say that nothing is left");
    assert_eq!(state(&mut desk, "slot_hold", first).await, "expired");
    assert_eq!(state(&mut desk, "slot_hold", second).await, "expired");
}

#[tokio::test]
async fn r11_one_sweeper_has_the_turn_and_another_takes_over() {
    let test = TestHouse::new().await;
    let mut second = test.database.connect().await;
    let hold = test.hold(test.blue, hours(0, 1), BRIEF).await.id.0;
    let turn = format!("SELECT sweep_turn({}, 'sweep')", test.site());
    let (mut first, first_backend) = open_transaction(&test, &turn).await;
    until_due(&mut second, "slot_hold", hold).await;
    assert_eq!(
        value::<i32>(&mut second, &turn).await,
        0,
        "the other one has the turn"
    );
    // It dies.
    run(
        &mut second,
        &format!("SELECT pg_terminate_backend({first_backend}, 5000)"),
    )
    .await;
    assert!(try_run(&mut first, "SELECT 1").await.is_err());
    assert_eq!(value::<i32>(&mut second, &turn).await, 1);
    assert_eq!(value::<i32>(&mut second, &turn).await, 0);
    test.assert_all_is_well().await;
}

#[tokio::test]
async fn r11_an_item_whose_figures_are_corrupt_does_not_stop_the_sweep_of_rooms() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let ttl = BRIEF;
    let stock = test.hold_stock(test.ticket, 2, ttl).await.id.0;
    let slot = test.hold(test.blue, hours(0, 1), ttl).await.id.0;
    run(
        &mut desk,
        &format!(
            "UPDATE inventory SET held = 0 WHERE item_id = {}",
            test.ticket
        ),
    )
    .await;
    until_due(&mut desk, "stock_hold", stock).await;
    until_due(&mut desk, "slot_hold", slot).await;
    let turn = format!("SELECT sweep_turn({}, 'sweep')", test.site());
    assert_eq!(value::<i32>(&mut desk, &turn).await, 1);
    assert_eq!(state(&mut desk, "slot_hold", slot).await, "expired");
    assert!(test.house.sweep(&test.desk).await.is_err());
    let problems = test.house.check().await.unwrap();
    assert!(
        problems
            .iter()
            .any(|problem| problem.rule == "R17" && problem.subject == "item Museum ticket")
    );
}

#[tokio::test]
async fn r11_the_sweep_through_the_store_leaves_nothing_due() {
    let test = TestHouse::new().await;
    let mut desk = test.database.connect().await;
    let ttl = Some(TimeDelta::seconds(1));
    for room in [test.blue, test.garden, test.studio] {
        test.hold(room, hours(0, 1), ttl).await;
    }
    test.hold_stock(test.breakfast, 1, ttl).await;
    let last = test.hold_stock(test.ticket, 1, ttl).await.id.0;
    let kept = test.hold(test.blue, hours(2, 3), None).await.id;
    until_due(&mut desk, "stock_hold", last).await;
    assert_eq!(test.house.sweep(&test.desk).await.unwrap(), 5);
    assert_eq!(test.house.sweep(&test.desk).await.unwrap(), 0);
    assert_eq!(state(&mut desk, "slot_hold", kept.0).await, "held");
    test.assert_all_is_well().await;
}
