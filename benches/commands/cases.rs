//! The commands that are measured, each in the words of the three sides.

use keyrack::domain::{Command, SlotHoldId, SlotLine, StockHoldId, StockLine};

use crate::support::tests::{hold_slot, hold_stock};
use crate::support::{Bench, period};
use crate::transaction::Bind::{
    From, Group, Hold, Item, NextRoom, Request, Room, Site, To, Written,
};
use crate::transaction::Statement;
use chrono::TimeDelta;

/// What must be held before the command can be given.
pub enum Needs {
    Nothing,
    Slot,
    Stock,
}

/// One command.
pub struct Case {
    pub name: &'static str,
    pub needs: Needs,
    /// For the store, from the number of the claim and the prepared hold.
    pub command: fn(&Bench, i64, i64) -> Command,
    /// For pgbench.
    pub function: &'static str,
    /// For the client that has no function to call.
    pub statements: &'static [Statement],
}

const REQUEST: Statement = (
    "INSERT INTO request (site_id, request_id, command, fingerprint, desk)
     VALUES ($1, $2, 'transaction', sha256($2::text::bytea), 'anna')",
    &[Site, Request],
);
const LOCK_ROOM: Statement = (
    "SELECT * FROM room WHERE site_id = $1 AND room_id = $2 FOR NO KEY UPDATE",
    &[Site, Room],
);
const EXPIRE_ROOM: Statement = (
    "WITH due AS (
         UPDATE slot_hold SET state = 'expired'
         WHERE site_id = $1 AND room_id = $2 AND state = 'held' AND expires_at <= clock_timestamp()
         RETURNING hold_id)
     INSERT INTO hold_event (site_id, at, what, slot_hold_id, from_state, to_state, desk)
     SELECT $1, clock_timestamp(), 'expired', hold_id, 'held', 'expired', 'anna' FROM due",
    &[Site, Room],
);
const RECORD_SLOT: Statement = (
    "WITH change AS (INSERT INTO change_log (site_id) VALUES ($1)),
         outcome AS (UPDATE request SET slot_hold_id = $3 WHERE site_id = $1 AND request_id = $2)
     INSERT INTO hold_event (site_id, at, what, slot_hold_id, to_state, desk, request_id)
     VALUES ($1, clock_timestamp(), 'changed', $3, 'held', 'anna', $2)",
    &[Site, Request, Written],
);
const LOCK_ITEM: Statement = (
    "SELECT * FROM inventory WHERE site_id = $1 AND item_id = $2 FOR NO KEY UPDATE",
    &[Site, Item],
);
const EXPIRE_ITEM: Statement = (
    "WITH due AS (
         UPDATE stock_hold SET state = 'expired'
         WHERE site_id = $1 AND item_id = $2 AND state = 'held' AND expires_at <= clock_timestamp()
         RETURNING hold_id, quantity
     ), events AS (
         INSERT INTO hold_event (site_id, at, what, stock_hold_id, from_state, to_state, quantity, desk)
         SELECT $1, clock_timestamp(), 'expired', hold_id, 'held', 'expired', quantity, 'anna' FROM due)
     UPDATE inventory SET available = available + due.quantity, held = held - due.quantity
     FROM (SELECT sum(quantity) AS quantity FROM due) AS due
     WHERE site_id = $1 AND item_id = $2 AND due.quantity > 0",
    &[Site, Item],
);
const RECORD_STOCK: Statement = (
    "WITH change AS (INSERT INTO change_log (site_id) VALUES ($1)),
         outcome AS (UPDATE request SET stock_hold_id = $3 WHERE site_id = $1 AND request_id = $2)
     INSERT INTO hold_event (site_id, at, what, stock_hold_id, to_state, quantity, desk, request_id)
     VALUES ($1, clock_timestamp(), 'changed', $3, 'held', 1, 'anna', $2)",
    &[Site, Request, Written],
);

macro_rules! on_room {
    ($decide:literal, $($bind:ident),+) => {
        &[REQUEST, LOCK_ROOM, EXPIRE_ROOM, ($decide, &[$($bind),+]), RECORD_SLOT]
    };
}

macro_rules! on_item {
    ($decide:literal, $($bind:ident),+) => {
        &[REQUEST, LOCK_ITEM, EXPIRE_ITEM, ($decide, &[$($bind),+]), RECORD_STOCK]
    };
}

pub const CASES: &[Case] = &[
    Case {
        name: "room hold",
        needs: Needs::Nothing,
        command: |bench, n, _| hold_slot(bench.room(n), period(n), None),
        function: "hold_slot(:site, gen_random_uuid(), 'anna', :room, {from}, {to}, NULL, '', '', NULL)",
        statements: on_room!(
            "INSERT INTO slot_hold (site_id, room_id, period, expires_at, desk, request_id)
             VALUES ($1, $2, tstzrange($3, $4), clock_timestamp() + interval '10 minutes', 'anna', $5) RETURNING *",
            Site, Room, From, To, Request
        ),
    },
    Case {
        name: "room confirm",
        needs: Needs::Slot,
        command: |_, _, hold| Command::ConfirmSlot {
            hold: SlotHoldId(hold),
            expect_version: None,
        },
        function: "confirm_slot(:site, gen_random_uuid(), 'anna', :hold, NULL)",
        statements: on_room!(
            "UPDATE slot_hold SET state = 'confirmed'
             WHERE site_id = $1 AND hold_id = $2 AND state = 'held' AND expires_at > clock_timestamp() RETURNING *",
            Site, Hold
        ),
    },
    Case {
        name: "room cancel",
        needs: Needs::Slot,
        command: |_, _, hold| Command::CancelSlot {
            hold: SlotHoldId(hold),
            expect_version: None,
            reason: String::new(),
        },
        function: "cancel_slot(:site, gen_random_uuid(), 'anna', :hold, '', NULL)",
        statements: on_room!(
            "UPDATE slot_hold SET state = 'cancelled'
             WHERE site_id = $1 AND hold_id = $2 AND state IN ('held', 'confirmed') RETURNING *",
            Site, Hold
        ),
    },
    Case {
        name: "room renew",
        needs: Needs::Slot,
        command: |_, _, hold| Command::RenewSlot {
            hold: SlotHoldId(hold),
            expect_version: None,
            ttl: Some(TimeDelta::hours(3)),
        },
        function: "renew_slot(:site, gen_random_uuid(), 'anna', :hold, '3 hours', NULL)",
        statements: on_room!(
            "UPDATE slot_hold
             SET renewals = renewals + 1, expires_at = greatest(expires_at, clock_timestamp() + interval '3 hours')
             WHERE site_id = $1 AND hold_id = $2 AND state = 'held' AND expires_at > clock_timestamp()
                 AND renewals < 3 RETURNING *",
            Site, Hold
        ),
    },
    Case {
        name: "room move",
        needs: Needs::Slot,
        command: |_, n, hold| Command::MoveSlot {
            hold: SlotHoldId(hold),
            expect_version: None,
            to_room: None,
            from: Some(period(n).start() + TimeDelta::seconds(1)),
            to: Some(period(n).end() + TimeDelta::seconds(1)),
        },
        function: "move_slot(:site, gen_random_uuid(), 'anna', :hold, NULL, {from} + interval '1 second', \
                   {to} + interval '1 second', NULL)",
        statements: on_room!(
            "UPDATE slot_hold SET period = tstzrange($3 + interval '1 second', $4 + interval '1 second')
             WHERE site_id = $1 AND hold_id = $2 AND (state = 'held' AND expires_at > clock_timestamp()
                 OR state = 'confirmed') RETURNING *",
            Site, Hold, From, To
        ),
    },
    Case {
        name: "stock hold",
        needs: Needs::Nothing,
        command: |bench, _, _| hold_stock(bench.house.breakfast, 1, None),
        function: "hold_stock(:site, gen_random_uuid(), 'anna', :item, 1, NULL, '', '')",
        statements: on_item!(
            "WITH taken AS (
                 UPDATE inventory SET available = available - 1, held = held + 1
                 WHERE site_id = $1 AND item_id = $2 AND available >= 1 RETURNING item_id)
             INSERT INTO stock_hold (site_id, item_id, quantity, expires_at, desk, request_id)
             SELECT $1, item_id, 1, clock_timestamp() + interval '10 minutes', 'anna', $3 FROM taken RETURNING *",
            Site, Item, Request
        ),
    },
    Case {
        name: "stock confirm",
        needs: Needs::Stock,
        command: |_, _, hold| Command::ConfirmStock {
            hold: StockHoldId(hold),
            expect_version: None,
        },
        function: "confirm_stock(:site, gen_random_uuid(), 'anna', :hold, NULL)",
        statements: on_item!(
            "WITH sold AS (
                 UPDATE stock_hold SET state = 'confirmed'
                 WHERE site_id = $1 AND hold_id = $3 AND state = 'held' AND expires_at > clock_timestamp()
                 RETURNING *)
             UPDATE inventory SET held = held - quantity, sold = sold + quantity FROM sold
             WHERE inventory.site_id = $1 AND inventory.item_id = $2 RETURNING sold.*",
            Site, Item, Hold
        ),
    },
    Case {
        name: "stock cancel",
        needs: Needs::Stock,
        command: |_, _, hold| Command::CancelStock {
            hold: StockHoldId(hold),
            expect_version: None,
            reason: String::new(),
        },
        function: "cancel_stock(:site, gen_random_uuid(), 'anna', :hold, '', NULL)",
        statements: on_item!(
            "WITH given_back AS (
                 UPDATE stock_hold SET state = 'cancelled'
                 WHERE site_id = $1 AND hold_id = $3 AND state = 'held' RETURNING *)
             UPDATE inventory SET held = held - quantity, available = available + quantity FROM given_back
             WHERE inventory.site_id = $1 AND inventory.item_id = $2 RETURNING given_back.*",
            Site, Item, Hold
        ),
    },
    Case {
        name: "group hold of two rooms and an item",
        needs: Needs::Nothing,
        command: |bench, n, _| Command::HoldGroup {
            rooms: [n, n + 1]
                .map(|n| bench.room(n))
                .map(|room| SlotLine {
                    room,
                    period: period(n),
                })
                .into(),
            stock: vec![StockLine {
                item: bench.house.breakfast,
                quantity: 1,
            }],
            ttl: None,
            guest: String::new(),
            note: String::new(),
            party: None,
        },
        function: "hold_group(:site, gen_random_uuid(), 'anna', jsonb_build_array( \
                   jsonb_build_object('room', :room::bigint, 'from', {from}, 'to', {to}), \
                   jsonb_build_object('room', :next::bigint, 'from', {from}, 'to', {to})), \
                   jsonb_build_array(jsonb_build_object('item', :item::bigint, 'quantity', 1)), NULL, '', '', NULL)",
        statements: &[
            REQUEST,
            (
                "SELECT * FROM room WHERE site_id = $1 AND room_id IN ($2, $3) ORDER BY room_id FOR NO KEY UPDATE",
                &[Site, Room, NextRoom],
            ),
            LOCK_ITEM,
            (
                "WITH due AS (
                     UPDATE slot_hold SET state = 'expired'
                     WHERE site_id = $1 AND room_id IN ($2, $3) AND state = 'held' AND expires_at <= clock_timestamp()
                     RETURNING hold_id)
                 INSERT INTO hold_event (site_id, at, what, slot_hold_id, from_state, to_state, desk)
                 SELECT $1, clock_timestamp(), 'expired', hold_id, 'held', 'expired', 'anna' FROM due",
                &[Site, Room, NextRoom],
            ),
            EXPIRE_ITEM,
            (
                "INSERT INTO claim_group (site_id, desk, request_id) VALUES ($1, 'anna', $2) RETURNING group_id",
                &[Site, Request],
            ),
            (
                "INSERT INTO slot_hold (site_id, group_id, room_id, period, expires_at, desk, request_id)
                 SELECT $1, $2, room, tstzrange($5, $6), clock_timestamp() + interval '10 minutes', 'anna', $7
                 FROM unnest(ARRAY[$3, $4]) AS room RETURNING *",
                &[Site, Group, Room, NextRoom, From, To, Request],
            ),
            (
                "WITH taken AS (
                     UPDATE inventory SET available = available - 1, held = held + 1
                     WHERE site_id = $1 AND item_id = $2 AND available >= 1 RETURNING item_id)
                 INSERT INTO stock_hold (site_id, group_id, item_id, quantity, expires_at, desk, request_id)
                 SELECT $1, $3, item_id, 1, clock_timestamp() + interval '10 minutes', 'anna', $4 FROM taken
                 RETURNING *",
                &[Site, Item, Group, Request],
            ),
            (
                "WITH change AS (INSERT INTO change_log (site_id) VALUES ($1)),
                     claims AS (
                         SELECT hold_id, NULL::bigint AS stock_hold_id FROM slot_hold
                         WHERE site_id = $1 AND group_id = $3
                         UNION ALL
                         SELECT NULL, hold_id FROM stock_hold WHERE site_id = $1 AND group_id = $3)
                 INSERT INTO hold_event (site_id, at, what, slot_hold_id, stock_hold_id, to_state, desk, request_id)
                 SELECT $1, clock_timestamp(), 'held', hold_id, stock_hold_id, 'held', 'anna', $2 FROM claims",
                &[Site, Request, Group],
            ),
        ],
    },
];
