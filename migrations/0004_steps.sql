-- The named steps that every command is built of: claim the request, lock, expire, place, record, remember.
--
-- Each can be called by itself in an open transaction: the step-by-step demo and the interleaving tests do that, so
-- that there is one text of the protocol. Locks are taken in statements of their own, before the statement that
-- reads, because under READ COMMITTED each statement sees a fresh snapshot.
--
-- PL/pgSQL also where SQL would do: it keeps its plans, and a function in SQL is planned anew in every transaction,
-- which made half the time of a command.

CREATE FUNCTION require_read_committed() RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'Commands run under READ COMMITTED, not under %: with an old snapshot a lock proves nothing',
            upper(current_setting('transaction_isolation'))
            USING ERRCODE = 'invalid_transaction_state', CONSTRAINT = 'read_committed_only';
    END IF;
END
$$;

-- Claims the request id (R21). A twin waits here until the first has committed, and then sees its answer.
-- Returns null for a new request, else the remembered one, as request_reused if it was another question.
CREATE FUNCTION begin_request(p_site bigint, p_request uuid, p_desk text, p_command text, p_body jsonb) RETURNS request
LANGUAGE plpgsql
AS $$
DECLARE
    v_fingerprint bytea := sha256(convert_to(p_command || p_body::text, 'UTF8'));
    v_seen request;
BEGIN
    IF p_request IS NULL THEN
        RAISE EXCEPTION 'A command needs a request id; gen_random_uuid() makes one'
            USING ERRCODE = 'null_value_not_allowed', CONSTRAINT = 'request_id_given';
    END IF;
    INSERT INTO request (site_id, request_id, command, fingerprint, desk)
    VALUES (p_site, p_request, p_command, v_fingerprint, coalesce(p_desk, ''))
    ON CONFLICT ON CONSTRAINT request_pkey DO NOTHING;
    IF FOUND THEN
        RETURN NULL;
    END IF;
    SELECT * INTO STRICT v_seen FROM request WHERE site_id = p_site AND request_id = p_request;
    IF v_seen.fingerprint <> v_fingerprint THEN
        v_seen.refusal := 'request_reused';
        v_seen.details := jsonb_build_object('command', v_seen.command);
        v_seen.slot_hold_id := NULL;
        v_seen.stock_hold_id := NULL;
        v_seen.room_id := NULL;
        v_seen.item_id := NULL;
    END IF;
    RETURN v_seen;
END
$$;

-- Writes the outcome beside the request, in the transaction of the change (R21). Busy is no answer: it is forgotten,
-- so that asking again with the same id asks anew (R23).
CREATE FUNCTION remember_outcome(
    p_site bigint, p_request uuid, p_refusal text, p_details jsonb,
    p_slot_hold bigint DEFAULT NULL, p_stock_hold bigint DEFAULT NULL,
    p_room bigint DEFAULT NULL, p_item bigint DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF p_refusal = 'busy' THEN
        DELETE FROM request WHERE site_id = p_site AND request_id = p_request;
    ELSE
        UPDATE request
        SET refusal = p_refusal, details = p_details, slot_hold_id = p_slot_hold, stock_hold_id = p_stock_hold,
            room_id = p_room, item_id = p_item, at = clock_timestamp()
        WHERE site_id = p_site AND request_id = p_request;
    END IF;
END
$$;

-- Tells the consoles that something of this site changed.
CREATE FUNCTION log_change(p_site bigint) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO change_log (site_id) VALUES (p_site);
END
$$;

-- A refusal and its details, or null.
CREATE TYPE refused AS (refusal text, details jsonb);

CREATE FUNCTION refuse(p_refusal text, p_details jsonb) RETURNS refused
LANGUAGE sql IMMUTABLE
AS $$
    SELECT p_refusal, p_details
$$;

-- R26: too long is refused, not cut. Null if every text fits. The reason before the note, because a block's note is
-- its reason.
CREATE FUNCTION text_problem(p_desk text, p_guest text, p_note text, p_reason text) RETURNS refused
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
    v_refused refused;
BEGIN
    SELECT 'text_too_long', jsonb_build_object('field', field, 'length', char_length(value), 'limit', longest)
    INTO v_refused
    FROM (VALUES ('guest', p_guest, 200), ('reason', p_reason, 500), ('note', p_note, 2000), ('desk name', p_desk, 60))
        AS texts (field, value, longest)
    WHERE char_length(value) > longest
    LIMIT 1;
    RETURN v_refused;
END
$$;

-- An elapsed length, whatever the zone of the session (R5): days of an interval count as 24 hours.
CREATE FUNCTION elapsed(p_length interval) RETURNS interval
LANGUAGE sql IMMUTABLE
AS $$
    SELECT make_interval(secs => extract(epoch FROM p_length)::double precision)
$$;

-- R10: how long a hold may be asked for. Null if this is fine.
CREATE FUNCTION hold_length_problem(p_site site, p_ttl interval) RETURNS refused
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
    v_refused refused;
BEGIN
    SELECT 'period_invalid', jsonb_build_object('problem', 'hold_length')
    INTO v_refused
    WHERE extract(epoch FROM p_ttl) <= 0 OR extract(epoch FROM p_ttl) > extract(epoch FROM p_site.longest_hold);
    RETURN v_refused;
END
$$;

-- Rooms ---------------------------------------------------------------------------------------------------------

-- Lock the room. NO KEY UPDATE: the foreign-key check of a stray INSERT would deadlock against a stronger one.
CREATE FUNCTION lock_room(p_site bigint, p_room bigint) RETURNS room
LANGUAGE plpgsql
AS $$
DECLARE
    v_room room;
BEGIN
    SELECT * INTO v_room FROM room WHERE site_id = p_site AND room_id = p_room FOR NO KEY UPDATE;
    RETURN v_room;
END
$$;

-- Expire what is due in a room whose lock is held (R11). Says how many.
CREATE FUNCTION expire_room(p_site bigint, p_room bigint, p_desk text) RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_expired integer;
BEGIN
    -- Mostly nothing is: to look costs a tenth of an UPDATE that finds nothing.
    PERFORM FROM slot_hold
    WHERE site_id = p_site AND room_id = p_room AND state = 'held' AND expires_at <= v_now
    LIMIT 1;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    WITH due AS (
        UPDATE slot_hold
        SET state = 'expired', changed_at = v_now
        WHERE site_id = p_site AND room_id = p_room AND state = 'held' AND expires_at <= v_now
        RETURNING hold_id
    )
    INSERT INTO hold_event (site_id, at, what, slot_hold_id, room_id, from_state, to_state, desk)
    SELECT p_site, v_now, 'expired', hold_id, p_room, 'held', 'expired', p_desk FROM due;
    GET DIAGNOSTICS v_expired = ROW_COUNT;
    IF v_expired > 0 THEN
        PERFORM log_change(p_site);
    END IF;
    RETURN v_expired;
END
$$;

-- Lock the room of a claim, wherever it is by then, and for a move also the one where it is to go, in id order: read
-- its room, lock, read again; if the claim has moved meanwhile, let go (the block's rollback does that) and start
-- again. Says locked, missing or busy.
CREATE FUNCTION lock_room_of_hold(p_site bigint, p_hold bigint, p_to_room bigint DEFAULT NULL) RETURNS text
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

-- What is wrong with a period for this room, by rule (R2, R7, R8); null if nothing. The house's own blocks need not
-- be nights.
CREATE FUNCTION period_problem(
    p_site site, p_room room, p_from timestamptz, p_to timestamptz, p_now timestamptz, p_purpose text
) RETURNS refused
LANGUAGE plpgsql
AS $$
DECLARE
    v_arrival date;
    v_departure date;
    v_problem text;
    v_horizon timestamptz := p_now + elapsed(p_site.horizon);
BEGIN
    v_problem := CASE
        WHEN p_from IS NULL OR p_to IS NULL THEN 'missing'
        WHEN NOT isfinite(p_from) OR NOT isfinite(p_to) THEN 'infinite'
        WHEN p_from = p_to THEN 'empty'
        WHEN p_from > p_to THEN 'reversed'
    END;
    IF v_problem IS NULL AND p_room.booked_by = 'night' AND p_purpose = 'guest' THEN
        v_arrival := (p_from AT TIME ZONE p_site.time_zone)::date;
        v_departure := (p_to AT TIME ZONE p_site.time_zone)::date;
        v_problem := CASE
            WHEN v_departure <= v_arrival THEN 'no_nights'
            WHEN p_from <> (v_arrival + p_room.check_in) AT TIME ZONE p_site.time_zone
                OR p_to <> (v_departure + p_room.check_out) AT TIME ZONE p_site.time_zone THEN 'not_nights'
        END;
    END IF;
    IF v_problem IS NOT NULL THEN
        RETURN refuse('period_invalid', jsonb_build_object('problem', v_problem));
    ELSIF p_to <= p_now THEN
        RETURN refuse('in_the_past', jsonb_build_object('to', site_time(p_site.time_zone, p_to)));
    ELSIF p_to > v_horizon THEN
        RETURN refuse('beyond_horizon', jsonb_build_object('horizon', site_time(p_site.time_zone, v_horizon)));
    END IF;
    RETURN NULL;
END
$$;

-- The first active claim that stands in the way of a period in a room, none of p_except; null if none.
CREATE FUNCTION find_slot_conflict(p_site bigint, p_room bigint, p_occupied tstzrange, p_except bigint[] DEFAULT '{}')
RETURNS slot_hold
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    v_conflict slot_hold;
BEGIN
    SELECT * INTO v_conflict
    FROM slot_hold
    WHERE site_id = p_site AND room_id = p_room AND state IN ('held', 'confirmed')
        AND occupied && p_occupied
        AND hold_id <> ALL (p_except)
    ORDER BY lower(occupied)
    LIMIT 1;
    RETURN v_conflict;
END
$$;

-- Who has it and until when (R12's and R1's answer). The guest only if the site lets desks see it.
CREATE FUNCTION slot_taken_details(p_site site, p_room room, p_conflict slot_hold) RETURNS jsonb
LANGUAGE sql STABLE
AS $$
    SELECT jsonb_strip_nulls(jsonb_build_object(
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
    ))
$$;

-- Write the claim. Null if the constraint, the last guard against a writer that went around the protocol, says no:
-- only this step stands in an EXCEPTION block, so that what was due stays expired when the command is refused.
CREATE FUNCTION place_slot(
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

-- Leave the event of a change to a claim on a room (R25), and tell the consoles.
CREATE FUNCTION record_slot(
    p_site bigint, p_hold bigint, p_what text, p_from text, p_to text, p_at timestamptz, p_desk text,
    p_reason text, p_request uuid, p_details jsonb DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO hold_event (
        site_id, at, what, slot_hold_id, room_id, from_state, to_state, desk, reason, request_id, details
    )
    SELECT p_site, p_at, p_what, p_hold, room_id, p_from, p_to, p_desk, coalesce(p_reason, ''), p_request, p_details
    FROM slot_hold
    WHERE site_id = p_site AND hold_id = p_hold;
    PERFORM log_change(p_site);
END
$$;

-- Stock ---------------------------------------------------------------------------------------------------------

-- Lock the item.
CREATE FUNCTION lock_item(p_site bigint, p_item bigint) RETURNS inventory
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
-- statement won are counted (R11, R17). Says how many claims.
CREATE FUNCTION expire_item(p_site bigint, p_item bigint, p_desk text) RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_expired integer;
    v_units integer;
BEGIN
    -- Mostly nothing is: to look costs a tenth of an UPDATE that finds nothing.
    PERFORM FROM stock_hold
    WHERE site_id = p_site AND item_id = p_item AND state = 'held' AND expires_at <= v_now
    LIMIT 1;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    WITH due AS (
        UPDATE stock_hold
        SET state = 'expired', changed_at = v_now
        WHERE site_id = p_site AND item_id = p_item AND state = 'held' AND expires_at <= v_now
        RETURNING hold_id, quantity
    ), events AS (
        INSERT INTO hold_event (site_id, at, what, stock_hold_id, from_state, to_state, quantity, desk)
        SELECT p_site, v_now, 'expired', hold_id, 'held', 'expired', quantity, p_desk FROM due
    )
    SELECT count(*), coalesce(sum(quantity), 0) INTO v_expired, v_units FROM due;
    IF v_expired > 0 THEN
        UPDATE inventory SET available = available + v_units, held = held - v_units
        WHERE site_id = p_site AND item_id = p_item;
        PERFORM log_change(p_site);
    END IF;
    RETURN v_expired;
END
$$;

-- Take a quantity off the shelf: one conditional decrement, exactly one row, or nothing (R16).
CREATE FUNCTION take_stock(p_site bigint, p_item bigint, p_quantity integer) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE inventory SET available = available - p_quantity, held = held + p_quantity
    WHERE site_id = p_site AND item_id = p_item AND available >= p_quantity;
    RETURN FOUND;
END
$$;

-- Leave the event of a change to a claim on stock (R25), and tell the consoles.
CREATE FUNCTION record_stock(
    p_site bigint, p_hold bigint, p_what text, p_from text, p_to text, p_quantity integer, p_at timestamptz,
    p_desk text, p_reason text, p_request uuid
) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO hold_event (
        site_id, at, what, stock_hold_id, from_state, to_state, quantity, desk, reason, request_id
    )
    VALUES (p_site, p_at, p_what, p_hold, p_from, p_to, p_quantity, p_desk, coalesce(p_reason, ''), p_request);
    PERFORM log_change(p_site);
END
$$;

-- Leave the event of a change to a room or an item itself (R25), and tell the consoles.
CREATE FUNCTION record_house(
    p_site bigint, p_room bigint, p_item bigint, p_what text, p_quantity integer, p_desk text, p_reason text,
    p_request uuid
) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO hold_event (site_id, at, what, room_id, item_id, quantity, desk, reason, request_id)
    VALUES (p_site, clock_timestamp(), p_what, p_room, p_item, p_quantity, p_desk, coalesce(p_reason, ''), p_request);
    PERFORM log_change(p_site);
END
$$;
