-- The named steps that commands are built of: lock, expire, decide, place, record. Step mode stops before each, and the
-- tests of interleavings too. Locks are taken in statements of their own, before the statement that reads, because under
-- READ COMMITTED each statement sees a fresh snapshot.
--
-- What a step looks up, it looks up by key, under a lock that others wait for: what it reads must not grow with what a
-- site holds. Where the planner left to itself would read more, the step's own settings say so.

-- Rooms ---------------------------------------------------------------------------------------------------------

-- Lock the room. NO KEY UPDATE: the foreign-key check of a stray INSERT would deadlock against a stronger one.
CREATE OR REPLACE FUNCTION lock_room(p_site bigint, p_room bigint) RETURNS room
LANGUAGE plpgsql
AS $$
DECLARE
    v_room room;
BEGIN
    SELECT * INTO v_room FROM room WHERE site_id = p_site AND room_id = p_room FOR NO KEY UPDATE;
    RETURN v_room;
END
$$;

-- Expire what is due in a room whose lock is held (R11): the oldest thousand, or one claim. Says how many. A command goes
-- on only while its own answer depends on it, so that a crowd of holds that are due keeps no room locked for long; the
-- sweep does the rest, a commit after each thousand.
--
-- "Is anything due?" is mostly answered no. The planner expects a third of all holds to be due, and so to meet one at once
-- by reading the table from its beginning; it would read all of it. And it would plan anew each time.
CREATE OR REPLACE FUNCTION expire_room(p_site site, p_room bigint, p_desk text, p_hold bigint DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_now timestamptz := site_clock(p_site);
    v_due bigint[] := ARRAY[p_hold];
    v_hold record;
    v_expired integer := 0;
BEGIN
    IF p_hold IS NULL THEN
        v_due := ARRAY(
            SELECT hold_id FROM slot_hold
            WHERE site_id = p_site.site_id AND room_id = p_room AND state = 'held' AND expires_at <= v_now
            ORDER BY expires_at
            LIMIT 1000
        );
        IF v_due = '{}' THEN
            RETURN 0;
        END IF;
    END IF;
    FOR v_hold IN
        UPDATE slot_hold
        SET state = 'expired', changed_at = v_now
        WHERE site_id = p_site.site_id AND hold_id = ANY (v_due) AND state = 'held' AND expires_at <= v_now
        RETURNING hold_id, version
    LOOP
        INSERT INTO hold_event (site_id, at, what, slot_hold_id, room_id, version, from_state, to_state, desk)
        VALUES (p_site.site_id, v_now, 'expired', v_hold.hold_id, p_room, v_hold.version, 'held', 'expired', p_desk);
        v_expired := v_expired + 1;
    END LOOP;
    RETURN v_expired;
END
$$;

-- Lock the room of a claim, wherever it is by then, and for a move also the one where it is to go, in id order: read
-- its room, lock, read again; if the claim has moved meanwhile, let go (the block's rollback does that) and start
-- again. Says locked, missing or busy.
CREATE OR REPLACE FUNCTION lock_room_of_hold(p_site bigint, p_hold bigint, p_to_room bigint DEFAULT NULL) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_before bigint;
    v_after bigint;
BEGIN
    FOR attempt IN 1..5 LOOP
        SELECT room_id INTO v_before FROM slot_hold WHERE site_id = p_site AND hold_id = p_hold;
        IF NOT FOUND THEN
            RETURN 'missing';
        END IF;
        BEGIN
            PERFORM lock_room(p_site, least(v_before, p_to_room));
            IF p_to_room <> v_before THEN
                PERFORM lock_room(p_site, greatest(v_before, p_to_room));
            END IF;
            SELECT room_id INTO v_after FROM slot_hold WHERE site_id = p_site AND hold_id = p_hold;
            IF v_after = v_before THEN
                RETURN 'locked';
            END IF;
            RAISE EXCEPTION USING ERRCODE = 'KR001', MESSAGE = 'the claim has moved meanwhile';
        EXCEPTION WHEN SQLSTATE 'KR001' THEN
            NULL;
        END;
    END LOOP;
    RETURN 'busy';
END
$$;

-- Lock the rooms of two claims in id order, wherever they are by then. Says locked, missing or busy.
CREATE OR REPLACE FUNCTION lock_rooms_of_two(p_site bigint, p_first bigint, p_second bigint) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_before bigint[];
    v_after bigint[];
BEGIN
    FOR attempt IN 1..5 LOOP
        SELECT array_agg(room_id ORDER BY hold_id) INTO v_before
        FROM slot_hold WHERE site_id = p_site AND hold_id IN (p_first, p_second);
        IF cardinality(v_before) IS DISTINCT FROM 2 THEN
            RETURN 'missing';
        END IF;
        BEGIN
            PERFORM lock_room(p_site, least(v_before[1], v_before[2]));
            PERFORM lock_room(p_site, greatest(v_before[1], v_before[2]));
            SELECT array_agg(room_id ORDER BY hold_id) INTO v_after
            FROM slot_hold WHERE site_id = p_site AND hold_id IN (p_first, p_second);
            IF v_after = v_before THEN
                RETURN 'locked';
            END IF;
            RAISE EXCEPTION USING ERRCODE = 'KR001', MESSAGE = 'a claim has moved meanwhile';
        EXCEPTION WHEN SQLSTATE 'KR001' THEN
            NULL;
        END;
    END LOOP;
    RETURN 'busy';
END
$$;

-- Lock a claim's row under the lock of its room, also against writers that go around the protocol.
CREATE OR REPLACE FUNCTION lock_slot_hold(p_site bigint, p_hold bigint) RETURNS slot_hold
LANGUAGE plpgsql
AS $$
DECLARE
    v_hold slot_hold;
BEGIN
    SELECT * INTO v_hold FROM slot_hold WHERE site_id = p_site AND hold_id = p_hold FOR NO KEY UPDATE;
    RETURN v_hold;
END
$$;

-- The first active claim that stands in the way of a period in a room, none of p_except; null if none.
--
-- With the period before its eyes the planner takes a claim in it for so unlikely that any index would do, and reads every
-- claim that the room ever had; without it, the one for overlaps. It also saves planning each time.
CREATE OR REPLACE FUNCTION find_slot_conflict(
    p_site bigint, p_room bigint, p_occupied tstzrange, p_except bigint[] DEFAULT '{}'
) RETURNS slot_hold
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_conflict slot_hold;
BEGIN
    SELECT * INTO v_conflict
    FROM slot_hold
    WHERE site_id = p_site AND room_id = p_room AND active
        AND occupied && p_occupied
        AND hold_id <> ALL (p_except)
    ORDER BY lower(occupied)
    LIMIT 1;
    RETURN v_conflict;
END
$$;

-- Who has it and until when (R12's and R1's answer). The guest only if the site lets desks see it.
CREATE OR REPLACE FUNCTION slot_taken_details(p_site site, p_room room, p_conflict slot_hold) RETURNS jsonb
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN jsonb_strip_nulls(jsonb_build_object(
        'room_id', p_room.room_id,
        'room', p_room.name,
        'hold_id', p_conflict.hold_id,
        'from', site_time(p_site.time_zone, lower(p_conflict.period)),
        'to', site_time(p_site.time_zone, upper(p_conflict.period)),
        'occupied_until', site_time(p_site.time_zone, upper(p_conflict.occupied)),
        'state', p_conflict.state,
        'purpose', p_conflict.purpose,
        'guest', CASE WHEN p_site.conflict_shows_guest THEN p_conflict.guest END,
        'desk', p_conflict.desk,
        'expires_at', CASE WHEN p_conflict.state = 'held' THEN site_time(p_site.time_zone, p_conflict.expires_at) END
    ));
END
$$;

-- What has become of a claim on a room that a command wants to act on: the refusal for one that has ended (R9), or that
-- has changed since (R22); null if it can be acted on.
CREATE OR REPLACE FUNCTION slot_ended_or_stale(
    p_site site, p_command text, p_hold slot_hold, p_expect_version bigint, p_now timestamptz
) RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    v_conflict slot_hold;
    v_retired timestamptz;
BEGIN
    IF p_hold.state = 'expired' THEN
        -- R12: how late, and whether holding again could work.
        v_conflict := find_slot_conflict(p_hold.site_id, p_hold.room_id, p_hold.occupied, ARRAY[p_hold.hold_id]);
        SELECT retired_at INTO v_retired FROM room WHERE site_id = p_hold.site_id AND room_id = p_hold.room_id;
        RETURN refuse('hold_expired', jsonb_build_object(
            'late_seconds', extract(epoch FROM p_now - p_hold.expires_at),
            'expired_at', site_time(p_site.time_zone, p_hold.expires_at),
            'still_free', v_conflict.hold_id IS NULL AND upper(p_hold.period) > p_now AND v_retired IS NULL
        ));
    ELSIF p_hold.state = 'cancelled' THEN
        RETURN refuse('already_cancelled', '{}');
    ELSIF p_hold.state <> 'held' AND p_command IN ('confirm_slot', 'renew_slot') THEN
        RETURN refuse('already_confirmed', '{}');
    ELSIF p_expect_version <> p_hold.version THEN
        RETURN refuse('stale', jsonb_build_object(
            'expected', p_expect_version, 'version', p_hold.version, 'state', p_hold.state
        ));
    END IF;
    RETURN NULL;
END
$$;

-- Write the claim. Null if the constraint, the last guard against a writer that went around the protocol, says no:
-- only this step stands in an EXCEPTION block, so that what was due stays expired when the command is refused.
CREATE OR REPLACE FUNCTION place_slot(
    p_site bigint, p_room room, p_from timestamptz, p_to timestamptz, p_purpose text, p_state text, p_imported boolean,
    p_guest text, p_note text, p_party integer, p_expires_at timestamptz, p_desk text, p_request uuid, p_at timestamptz,
    p_group bigint DEFAULT NULL
) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    v_hold bigint;
BEGIN
    INSERT INTO slot_hold (
        site_id, group_id, room_id, period, turnaround, purpose, state, imported, guest, note, party, expires_at, desk,
        request_id, created_at, changed_at
    )
    VALUES (
        p_site, p_group, p_room.room_id, tstzrange(p_from, p_to, '[)'), p_room.turnaround, p_purpose, p_state, p_imported,
        p_guest, p_note, p_party, p_expires_at, p_desk, p_request, p_at, p_at
    )
    RETURNING hold_id INTO v_hold;
    RETURN v_hold;
EXCEPTION WHEN exclusion_violation THEN
    RETURN NULL;
END
$$;

-- Write the new place of a claim. False if the constraint says no: a writer went around the protocol.
CREATE OR REPLACE FUNCTION replace_slot(
    p_site bigint, p_hold bigint, p_room room, p_from timestamptz, p_to timestamptz, p_at timestamptz
) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE slot_hold
    SET room_id = p_room.room_id, period = tstzrange(p_from, p_to, '[)'), turnaround = p_room.turnaround,
        changed_at = p_at
    WHERE site_id = p_site AND hold_id = p_hold;
    RETURN true;
EXCEPTION WHEN exclusion_violation THEN
    RETURN false;
END
$$;

-- Write both new places (R14): the first claim steps aside to a minute beyond every horizon, the second takes its place,
-- the first takes the second's. False if the constraint says no: a writer went around the protocol.
CREATE OR REPLACE FUNCTION exchange_slots(
    p_site bigint, p_first slot_hold, p_second slot_hold, p_first_to room, p_second_to room, p_at timestamptz
) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE slot_hold SET period = tstzrange('9000-01-01 00:00:00+00', '9000-01-01 00:01:00+00', '[)')
    WHERE site_id = p_site AND hold_id = p_first.hold_id;
    UPDATE slot_hold
    SET room_id = p_second_to.room_id, period = p_first.period, turnaround = p_second_to.turnaround, changed_at = p_at
    WHERE site_id = p_site AND hold_id = p_second.hold_id;
    UPDATE slot_hold
    SET room_id = p_first_to.room_id, period = p_second.period, turnaround = p_first_to.turnaround, changed_at = p_at
    WHERE site_id = p_site AND hold_id = p_first.hold_id;
    RETURN true;
EXCEPTION WHEN exclusion_violation THEN
    RETURN false;
END
$$;

-- Leave the event of a change to a claim on a room (R25).
CREATE OR REPLACE FUNCTION record_slot(
    p_site bigint, p_hold bigint, p_room bigint, p_version bigint, p_what text, p_from text, p_to text, p_at timestamptz,
    p_desk text, p_reason text, p_request uuid, p_details jsonb DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO hold_event (
        site_id, at, what, slot_hold_id, room_id, version, from_state, to_state, desk, reason, request_id, details
    )
    VALUES (
        p_site, p_at, p_what, p_hold, p_room, p_version, p_from, p_to, p_desk, coalesce(p_reason, ''), p_request, p_details
    );
END
$$;

-- Stock ---------------------------------------------------------------------------------------------------------

-- Lock the item.
CREATE OR REPLACE FUNCTION lock_item(p_site bigint, p_item bigint) RETURNS inventory
LANGUAGE plpgsql
AS $$
DECLARE
    v_item inventory;
BEGIN
    SELECT * INTO v_item FROM inventory WHERE site_id = p_site AND item_id = p_item FOR NO KEY UPDATE;
    RETURN v_item;
END
$$;

-- Expire what is due of an item whose lock is held, and give it back: once, because only the transitions that this
-- statement won are counted (R11, R17). The oldest thousand, or one claim. Says how many claims.
CREATE OR REPLACE FUNCTION expire_item(p_site site, p_item bigint, p_desk text, p_hold bigint DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_now timestamptz := site_clock(p_site);
    v_due bigint[] := ARRAY[p_hold];
    v_hold record;
    v_expired integer := 0;
    v_units integer := 0;
BEGIN
    IF p_hold IS NULL THEN
        v_due := ARRAY(
            SELECT hold_id FROM stock_hold
            WHERE site_id = p_site.site_id AND item_id = p_item AND state = 'held' AND expires_at <= v_now
            ORDER BY expires_at
            LIMIT 1000
        );
        IF v_due = '{}' THEN
            RETURN 0;
        END IF;
    END IF;
    FOR v_hold IN
        UPDATE stock_hold
        SET state = 'expired', changed_at = v_now
        WHERE site_id = p_site.site_id AND hold_id = ANY (v_due) AND state = 'held' AND expires_at <= v_now
        RETURNING hold_id, version, quantity
    LOOP
        INSERT INTO hold_event (site_id, at, what, stock_hold_id, version, from_state, to_state, quantity, desk)
        VALUES (
            p_site.site_id, v_now, 'expired', v_hold.hold_id, v_hold.version, 'held', 'expired', v_hold.quantity, p_desk
        );
        v_expired := v_expired + 1;
        v_units := v_units + v_hold.quantity;
    END LOOP;
    IF v_expired > 0 THEN
        UPDATE inventory SET available = available + v_units, held = held - v_units
        WHERE site_id = p_site.site_id AND item_id = p_item;
    END IF;
    RETURN v_expired;
END
$$;

-- Lock a claim's row under the lock of its item, also against writers that go around the protocol.
CREATE OR REPLACE FUNCTION lock_stock_hold(p_site bigint, p_hold bigint) RETURNS stock_hold
LANGUAGE plpgsql
AS $$
DECLARE
    v_hold stock_hold;
BEGIN
    SELECT * INTO v_hold FROM stock_hold WHERE site_id = p_site AND hold_id = p_hold FOR NO KEY UPDATE;
    RETURN v_hold;
END
$$;

-- What has become of a claim on stock that a command wants to act on; null if it can be acted on.
CREATE OR REPLACE FUNCTION stock_ended_or_stale(
    p_site site, p_command text, p_hold stock_hold, p_expect_version bigint, p_now timestamptz
) RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    v_item record;
BEGIN
    IF p_hold.state = 'expired' THEN
        -- R12: how late, and whether holding again could work.
        SELECT available, retired_at INTO v_item FROM item_levels(p_hold.site_id, p_hold.item_id);
        RETURN refuse('hold_expired', jsonb_build_object(
            'late_seconds', extract(epoch FROM p_now - p_hold.expires_at),
            'expired_at', site_time(p_site.time_zone, p_hold.expires_at),
            'still_free', v_item.available >= p_hold.quantity AND v_item.retired_at IS NULL
        ));
    ELSIF p_hold.state = 'cancelled' THEN
        RETURN refuse('already_cancelled', '{}');
    ELSIF p_hold.state = 'confirmed' AND p_command <> 'cancel_stock' THEN
        RETURN refuse('already_confirmed', '{}');
    ELSIF p_expect_version <> p_hold.version THEN
        RETURN refuse('stale', jsonb_build_object(
            'expected', p_expect_version, 'version', p_hold.version, 'state', p_hold.state
        ));
    ELSIF p_hold.state = 'confirmed' THEN
        -- R18: a sale stays. One of the rules, after the version (R22).
        RETURN refuse('sale_is_final', '{}');
    END IF;
    RETURN NULL;
END
$$;

-- Take a quantity off the shelf: one conditional decrement, exactly one row, or nothing (R16).
CREATE OR REPLACE FUNCTION take_stock(p_site bigint, p_item bigint, p_quantity integer) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE inventory SET available = available - p_quantity, held = held + p_quantity
    WHERE site_id = p_site AND item_id = p_item AND available >= p_quantity;
    RETURN FOUND;
END
$$;

-- Write the claim on what was taken. Says its number.
CREATE OR REPLACE FUNCTION place_stock(
    p_site bigint, p_item bigint, p_quantity integer, p_guest text, p_note text, p_expires_at timestamptz, p_desk text,
    p_request uuid, p_at timestamptz, p_group bigint DEFAULT NULL
) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    v_hold bigint;
BEGIN
    INSERT INTO stock_hold (
        site_id, group_id, item_id, quantity, guest, note, expires_at, desk, request_id, created_at, changed_at
    )
    VALUES (p_site, p_group, p_item, p_quantity, p_guest, p_note, p_expires_at, p_desk, p_request, p_at, p_at)
    RETURNING hold_id INTO v_hold;
    RETURN v_hold;
END
$$;

-- Move the units of a hold that has just ended or been sold: confirming does not change what is available; cancelling
-- gives back, once, under the lock (R17).
CREATE OR REPLACE FUNCTION settle_stock(p_site bigint, p_item bigint, p_quantity integer, p_to text) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_sold integer := CASE p_to WHEN 'confirmed' THEN p_quantity ELSE 0 END;
    v_back integer := CASE p_to WHEN 'cancelled' THEN p_quantity ELSE 0 END;
BEGIN
    UPDATE inventory SET held = held - p_quantity, sold = sold + v_sold, available = available + v_back
    WHERE site_id = p_site AND item_id = p_item;
END
$$;

-- Leave the event of a change to a claim on stock (R25).
CREATE OR REPLACE FUNCTION record_stock(
    p_site bigint, p_hold bigint, p_version bigint, p_what text, p_from text, p_to text, p_quantity integer,
    p_at timestamptz, p_desk text, p_reason text, p_request uuid
) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO hold_event (
        site_id, at, what, stock_hold_id, version, from_state, to_state, quantity, desk, reason, request_id
    )
    VALUES (p_site, p_at, p_what, p_hold, p_version, p_from, p_to, p_quantity, p_desk, coalesce(p_reason, ''), p_request);
END
$$;

-- Both ----------------------------------------------------------------------------------------------------------

-- Lock the rooms by id and then the items by id (R20), and expire what is due in each. Says how many claims.
CREATE OR REPLACE FUNCTION lock_rooms_and_items(p_site site, p_rooms bigint[], p_items bigint[], p_desk text)
RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
    v_id bigint;
    v_expired integer := 0;
BEGIN
    FOR v_id IN SELECT DISTINCT wanted FROM unnest(p_rooms) AS wanted ORDER BY wanted LOOP
        PERFORM lock_room(p_site.site_id, v_id);
    END LOOP;
    FOR v_id IN SELECT DISTINCT wanted FROM unnest(p_items) AS wanted ORDER BY wanted LOOP
        PERFORM lock_item(p_site.site_id, v_id);
    END LOOP;
    FOR v_id IN SELECT DISTINCT wanted FROM unnest(p_rooms) AS wanted ORDER BY wanted LOOP
        v_expired := v_expired + expire_room(p_site, v_id, p_desk);
    END LOOP;
    FOR v_id IN SELECT DISTINCT wanted FROM unnest(p_items) AS wanted ORDER BY wanted LOOP
        v_expired := v_expired + expire_item(p_site, v_id, p_desk);
    END LOOP;
    RETURN v_expired;
END
$$;

-- Leave the event of a change to a room, an item or the site itself (R25).
CREATE OR REPLACE FUNCTION record_house(
    p_site bigint, p_room bigint, p_item bigint, p_what text, p_quantity integer, p_at timestamptz, p_desk text,
    p_reason text, p_request uuid
) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO hold_event (site_id, at, what, room_id, item_id, quantity, desk, reason, request_id)
    VALUES (p_site, p_at, p_what, p_room, p_item, p_quantity, p_desk, coalesce(p_reason, ''), p_request);
END
$$;
