//! The commands on rooms.

use chrono::TimeDelta;
use keyrack::domain::{Change, Command, SlotEdit, SlotHoldId};

use crate::cases::{
    Case, EXPIRE_ROOM, EXPIRE_TWO_ROOMS, LOCK_ROOM, LOCK_TWO_ROOMS, Needs, RECORD_SLOT,
    RECORD_TWO_SLOTS, REQUEST,
};
use crate::support::period;
use crate::support::tests::hold_slot;
use crate::transaction::Bind::{From, Hold, Request, Room, Site, To};

macro_rules! on_room {
    ($decide:literal, $($bind:ident),+) => {
        &[REQUEST, LOCK_ROOM, EXPIRE_ROOM, ($decide, &[$($bind),+]), RECORD_SLOT]
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
        name: "room block",
        needs: Needs::Nothing,
        command: |bench, n, _| Command::BlockSlot {
            room: bench.room(n),
            period: period(n),
            reason: "paint".into(),
        },
        function: "block_slot(:site, gen_random_uuid(), 'anna', :room, {from}, {to}, 'paint')",
        statements: on_room!(
            "INSERT INTO slot_hold (site_id, room_id, period, purpose, state, note, desk, request_id)
             VALUES ($1, $2, tstzrange($3, $4), 'block', 'confirmed', 'paint', 'anna', $5) RETURNING *",
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
        name: "room edit",
        needs: Needs::Slot,
        command: |_, _, hold| Command::EditSlot { hold: SlotHoldId(hold), expect_version: None, edit: SlotEdit { guest: Some("Müller".into()), party: Change::Set(2), ..SlotEdit::default() } },
        function: "edit_slot(:site, gen_random_uuid(), 'anna', :hold, 'Müller', NULL, 2, NULL)",
        statements: on_room!(
            "UPDATE slot_hold SET guest = 'Müller', party = 2
             WHERE site_id = $1 AND hold_id = $2 AND (state = 'held' AND expires_at > clock_timestamp()
                 OR state = 'confirmed') RETURNING *",
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
        name: "room swap",
        needs: Needs::Slot,
        // With the next claim, which is swapped on after that.
        command: |_, _, hold| Command::SwapSlots {
            first: SlotHoldId(hold),
            second: SlotHoldId(hold + 1),
            expect_version: None,
        },
        function: "swap_slots(:site, gen_random_uuid(), 'anna', :hold, :hold + 1, NULL)",
        statements: &[
            REQUEST,
            LOCK_TWO_ROOMS,
            EXPIRE_TWO_ROOMS,
            // What a client would keep of both claims, and three changes: a constraint that the index holds lets no two
            // claims change places in one.
            (
                "SELECT set_config('bench.first', first::text, true), set_config('bench.second', second::text, true)
                 FROM slot_hold AS first, slot_hold AS second
                 WHERE first.site_id = $1 AND first.hold_id = $2
                     AND second.site_id = $1 AND second.hold_id = $2 + 1",
                &[Site, Hold],
            ),
            (
                "UPDATE slot_hold SET period = tstzrange('9000-01-01 00:00+00', '9000-01-01 00:01+00')
                 WHERE site_id = $1 AND hold_id = $2",
                &[Site, Hold],
            ),
            (
                "UPDATE slot_hold
                 SET room_id = (current_setting('bench.first')::slot_hold).room_id,
                     period = (current_setting('bench.first')::slot_hold).period
                 WHERE site_id = $1 AND hold_id = $2 + 1",
                &[Site, Hold],
            ),
            (
                "UPDATE slot_hold
                 SET room_id = (current_setting('bench.second')::slot_hold).room_id,
                     period = (current_setting('bench.second')::slot_hold).period
                 WHERE site_id = $1 AND hold_id = $2 RETURNING *",
                &[Site, Hold],
            ),
            RECORD_TWO_SLOTS,
        ],
    },
];
