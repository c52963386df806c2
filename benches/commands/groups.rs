//! The commands on groups of two rooms and an item.

use chrono::TimeDelta;
use keyrack::domain::{Command, GroupId, SlotDetails, SlotLine, StockLine};

use crate::cases::{
    Case, EXPIRE_ITEM, EXPIRE_TWO_ROOMS, LOCK_ITEM, LOCK_TWO_ROOMS, Needs, RECORD_GROUP, REQUEST,
};
use crate::support::period;
use crate::transaction::Bind::{From, Group, Hold, Item, NextRoom, Request, Room, Site, To};

/// The rooms' claims are changed, then the item's.
macro_rules! on_group {
    ($slots:literal, $stock:literal, $($bind:ident),+) => {
        &[
            REQUEST, LOCK_TWO_ROOMS, LOCK_ITEM, EXPIRE_TWO_ROOMS, EXPIRE_ITEM,
            ($slots, &[Site, Hold]), ($stock, &[$($bind),+]), RECORD_GROUP,
        ]
    };
}

pub const CASES: &[Case] = &[
    Case {
        name: "group hold",
        needs: Needs::Nothing,
        command: |bench, n, _| Command::HoldGroup { rooms: [n, n + 1]
                .map(|n| bench.room(n))
                .map(|room| SlotLine {
                    room,
                    period: period(n),
                })
                .into(), stock: vec![StockLine {
                item: bench.house.breakfast,
                quantity: 1,
            }], ttl: None, details: SlotDetails::default() },
        function: "hold_group(:site, gen_random_uuid(), 'anna', jsonb_build_array( \
                   jsonb_build_object('room', :room::bigint, 'from', {from}, 'to', {to}), \
                   jsonb_build_object('room', :next::bigint, 'from', {from}, 'to', {to})), \
                   jsonb_build_array(jsonb_build_object('item', :item::bigint, 'quantity', 1)), NULL, '', '', NULL)",
        statements: &[
            REQUEST,
            LOCK_TWO_ROOMS,
            LOCK_ITEM,
            EXPIRE_TWO_ROOMS,
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
            RECORD_GROUP,
        ],
    },
    Case {
        name: "group confirm",
        needs: Needs::Group,
        command: |_, _, group| Command::ConfirmGroup {
            group: GroupId(group),
        },
        function: "confirm_group(:site, gen_random_uuid(), 'anna', :hold)",
        statements: on_group!(
            "UPDATE slot_hold SET state = 'confirmed'
             WHERE site_id = $1 AND group_id = $2 AND state = 'held' AND expires_at > clock_timestamp()
             RETURNING group_id",
            "WITH changed AS (
                 UPDATE stock_hold SET state = 'confirmed'
                 WHERE site_id = $1 AND group_id = $3 AND state = 'held' AND expires_at > clock_timestamp()
                 RETURNING *)
             UPDATE inventory SET held = inventory.held - changed.quantity, sold = sold + changed.quantity FROM changed
             WHERE inventory.site_id = $1 AND inventory.item_id = $2 RETURNING changed.hold_id",
            Site, Item, Hold
        ),
    },
    Case {
        name: "group cancel",
        needs: Needs::Group,
        command: |_, _, group| Command::CancelGroup {
            group: GroupId(group),
            reason: String::new(),
            rooms_only: false,
        },
        function: "cancel_group(:site, gen_random_uuid(), 'anna', :hold, '', false)",
        statements: on_group!(
            "UPDATE slot_hold SET state = 'cancelled'
             WHERE site_id = $1 AND group_id = $2 AND state = 'held' AND expires_at > clock_timestamp()
             RETURNING group_id",
            "WITH changed AS (
                 UPDATE stock_hold SET state = 'cancelled'
                 WHERE site_id = $1 AND group_id = $3 AND state = 'held' AND expires_at > clock_timestamp()
                 RETURNING *)
             UPDATE inventory SET held = inventory.held - changed.quantity, available = available + changed.quantity FROM changed
             WHERE inventory.site_id = $1 AND inventory.item_id = $2 RETURNING changed.hold_id",
            Site, Item, Hold
        ),
    },
    Case {
        name: "group renew",
        needs: Needs::Group,
        command: |_, _, group| Command::RenewGroup {
            group: GroupId(group),
            ttl: Some(TimeDelta::hours(3)),
        },
        function: "renew_group(:site, gen_random_uuid(), 'anna', :hold, '3 hours')",
        statements: on_group!(
            "UPDATE slot_hold
             SET renewals = renewals + 1, expires_at = greatest(expires_at, clock_timestamp() + interval '3 hours')
             WHERE site_id = $1 AND group_id = $2 AND state = 'held' AND expires_at > clock_timestamp()
                 AND renewals < 3 RETURNING group_id",
            "UPDATE stock_hold
             SET renewals = renewals + 1, expires_at = greatest(expires_at, clock_timestamp() + interval '3 hours')
             WHERE site_id = $1 AND group_id = $2 AND state = 'held' AND expires_at > clock_timestamp()
                 AND renewals < 3 RETURNING hold_id",
            Site, Hold
        ),
    },
];
