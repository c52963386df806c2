//! What is measured: a command in the words of the three sides, and the statements that several of them have in common
//! where there is no function to call.

use keyrack::domain::Command;

use crate::support::Bench;
use crate::transaction::Bind::{Group, Hold, Item, NextRoom, Request, Room, Site, Written};
use crate::transaction::Statement;

/// What must be held before the command can be given.
#[derive(Clone, Copy)]
pub enum Needs {
    Nothing,
    Slot,
    Stock,
    /// Of two rooms and an item.
    Group,
}

impl Needs {
    /// How many numbers one of them takes: a group has one, and each of its claims.
    pub fn numbers(self) -> i64 {
        match self {
            Self::Nothing | Self::Slot | Self::Stock => 1,
            Self::Group => 4,
        }
    }
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

pub const REQUEST: Statement = (
    "INSERT INTO request (site_id, request_id, command, fingerprint, desk)
     VALUES ($1, $2, 'transaction', sha256($2::text::bytea), 'anna')",
    &[Site, Request],
);
pub const LOCK_ROOM: Statement = (
    "SELECT * FROM room WHERE site_id = $1 AND room_id = $2 FOR NO KEY UPDATE",
    &[Site, Room],
);
pub const EXPIRE_ROOM: Statement = (
    "WITH due AS (
         UPDATE slot_hold SET state = 'expired'
         WHERE site_id = $1 AND room_id = $2 AND state = 'held' AND expires_at <= clock_timestamp()
         RETURNING hold_id, version)
     INSERT INTO hold_event (site_id, at, what, slot_hold_id, version, from_state, to_state, desk)
     SELECT $1, clock_timestamp(), 'expired', hold_id, version, 'held', 'expired', 'anna' FROM due",
    &[Site, Room],
);
pub const RECORD_SLOT: Statement = (
    "WITH outcome AS (
         UPDATE request SET subject = 'slot', subject_id = $3 WHERE site_id = $1 AND request_id = $2)
     INSERT INTO hold_event (site_id, at, what, slot_hold_id, version, to_state, desk, request_id)
     SELECT $1, clock_timestamp(), 'changed', $3, version, 'held', 'anna', $2
     FROM slot_hold WHERE site_id = $1 AND hold_id = $3",
    &[Site, Request, Written],
);
pub const LOCK_ITEM: Statement = (
    "SELECT * FROM inventory WHERE site_id = $1 AND item_id = $2 FOR NO KEY UPDATE",
    &[Site, Item],
);
pub const EXPIRE_ITEM: Statement = (
    "WITH due AS (
         UPDATE stock_hold SET state = 'expired'
         WHERE site_id = $1 AND item_id = $2 AND state = 'held' AND expires_at <= clock_timestamp()
         RETURNING hold_id, quantity, version
     ), events AS (
         INSERT INTO hold_event (site_id, at, what, stock_hold_id, version, from_state, to_state, quantity, desk)
         SELECT $1, clock_timestamp(), 'expired', hold_id, version, 'held', 'expired', quantity, 'anna' FROM due)
     UPDATE inventory SET available = available + due.quantity, held = held - due.quantity
     FROM (SELECT sum(quantity) AS quantity FROM due) AS due
     WHERE site_id = $1 AND item_id = $2 AND due.quantity > 0",
    &[Site, Item],
);
pub const RECORD_STOCK: Statement = (
    "WITH outcome AS (
         UPDATE request SET subject = 'stock', subject_id = $3 WHERE site_id = $1 AND request_id = $2)
     INSERT INTO hold_event (site_id, at, what, stock_hold_id, version, to_state, quantity, desk, request_id)
     SELECT $1, clock_timestamp(), 'changed', $3, version, 'held', 1, 'anna', $2
     FROM stock_hold WHERE site_id = $1 AND hold_id = $3",
    &[Site, Request, Written],
);
pub const LOCK_TWO_ROOMS: Statement = (
    "SELECT * FROM room WHERE site_id = $1 AND room_id IN ($2, $3) ORDER BY room_id FOR NO KEY UPDATE",
    &[Site, Room, NextRoom],
);
pub const EXPIRE_TWO_ROOMS: Statement = (
    "WITH due AS (
         UPDATE slot_hold SET state = 'expired'
         WHERE site_id = $1 AND room_id IN ($2, $3) AND state = 'held' AND expires_at <= clock_timestamp()
         RETURNING hold_id, version)
     INSERT INTO hold_event (site_id, at, what, slot_hold_id, version, from_state, to_state, desk)
     SELECT $1, clock_timestamp(), 'expired', hold_id, version, 'held', 'expired', 'anna' FROM due",
    &[Site, Room, NextRoom],
);
pub const RECORD_TWO_SLOTS: Statement = (
    "WITH outcome AS (
         UPDATE request SET subject = 'slot', subject_id = $3 WHERE site_id = $1 AND request_id = $2)
     INSERT INTO hold_event (site_id, at, what, slot_hold_id, version, to_state, desk, request_id)
     SELECT $1, clock_timestamp(), 'swapped', hold_id, version, 'held', 'anna', $2
     FROM slot_hold WHERE site_id = $1 AND hold_id IN ($3, $3 + 1)",
    &[Site, Request, Hold],
);
pub const RECORD_MOVEMENT: Statement = (
    "WITH outcome AS (
         UPDATE request SET subject = 'item', subject_id = $3 WHERE site_id = $1 AND request_id = $2)
     INSERT INTO hold_event (site_id, at, what, item_id, quantity, desk, request_id)
     VALUES ($1, clock_timestamp(), 'received', $3, 1, 'anna', $2)",
    &[Site, Request, Item],
);
pub const RECORD_GROUP: Statement = (
    "WITH claims AS (
         SELECT hold_id, NULL::bigint AS stock_hold_id, version FROM slot_hold
         WHERE site_id = $1 AND group_id = $3
         UNION ALL
         SELECT NULL, hold_id, version FROM stock_hold WHERE site_id = $1 AND group_id = $3)
     INSERT INTO hold_event (site_id, at, what, slot_hold_id, stock_hold_id, version, to_state, desk, request_id)
     SELECT $1, clock_timestamp(), 'held', hold_id, stock_hold_id, version, 'held', 'anna', $2 FROM claims",
    &[Site, Request, Group],
);
