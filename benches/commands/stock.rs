//! The commands on stock.

use chrono::TimeDelta;
use keyrack::domain::{Command, StockHoldId};

use crate::cases::{Case, EXPIRE_ITEM, LOCK_ITEM, Needs, RECORD_MOVEMENT, RECORD_STOCK, REQUEST};
use crate::support::tests::hold_stock;
use crate::transaction::Bind::{Hold, Item, Request, Site};

macro_rules! on_item {
    ($decide:literal, $($bind:ident),+) => {
        &[REQUEST, LOCK_ITEM, EXPIRE_ITEM, ($decide, &[$($bind),+]), RECORD_STOCK]
    };
}

macro_rules! moves {
    ($change:literal, $reason:literal) => {
        &[
            REQUEST,
            LOCK_ITEM,
            EXPIRE_ITEM,
            (
                concat!(
                    "WITH moved AS (
                         UPDATE inventory SET available = available + ", $change, "
                         WHERE site_id = $1 AND item_id = $2 AND available + ", $change, " >= 0 RETURNING item_id)
                     INSERT INTO stock_movement (site_id, item_id, change, reason, desk, request_id)
                     SELECT $1, item_id, ", $change, ", '", $reason, "', 'anna', $3 FROM moved
                     RETURNING movement_id AS hold_id"
                ),
                &[Site, Item, Request],
            ),
            RECORD_MOVEMENT,
        ]
    };
}

pub const CASES: &[Case] = &[
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
        name: "stock renew",
        needs: Needs::Stock,
        command: |_, _, hold| Command::RenewStock {
            hold: StockHoldId(hold),
            expect_version: None,
            ttl: Some(TimeDelta::hours(3)),
        },
        function: "renew_stock(:site, gen_random_uuid(), 'anna', :hold, '3 hours', NULL)",
        statements: on_item!(
            "UPDATE stock_hold
             SET renewals = renewals + 1, expires_at = greatest(expires_at, clock_timestamp() + interval '3 hours')
             WHERE site_id = $1 AND hold_id = $2 AND state = 'held' AND expires_at > clock_timestamp()
                 AND renewals < 3 RETURNING *",
            Site, Hold
        ),
    },
    Case {
        name: "stock receive",
        needs: Needs::Nothing,
        command: |bench, _, _| Command::ReceiveStock {
            item: bench.house.breakfast,
            quantity: 1,
            reason: "delivery".into(),
        },
        function: "receive_stock(:site, gen_random_uuid(), 'anna', :item, 1, 'delivery')",
        statements: moves!("1", "delivery"),
    },
    Case {
        name: "stock adjust",
        needs: Needs::Nothing,
        command: |bench, _, _| Command::AdjustStock {
            item: bench.house.breakfast,
            change: -1,
            reason: "spoilt".into(),
        },
        function: "adjust_stock(:site, gen_random_uuid(), 'anna', :item, -1, 'spoilt')",
        statements: moves!("-1", "spoilt"),
    },
];
