-- Changes to claims that are there: renewed (R13), moved, extended and exchanged (R14).

-- Write the new place of a claim. False if the constraint says no: a writer went around the protocol.
CREATE FUNCTION replace_slot(
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

CREATE FUNCTION move_slot(
    p_site bigint, p_request uuid, p_desk text, p_hold bigint, p_to_room bigint DEFAULT NULL,
    p_from timestamptz DEFAULT NULL, p_to timestamptz DEFAULT NULL, p_expect_version bigint DEFAULT NULL
) RETURNS slot_answer
LANGUAGE plpgsql
AS $$
DECLARE
    v_seen request;
    v_site site;
    v_room room;
    v_hold slot_hold;
    v_conflict slot_hold;
    v_locked locked_slot;
    v_refused refused;
    v_found text;
    v_from timestamptz;
    v_to timestamptz;
    v_occupied tstzrange;
    v_now timestamptz;
BEGIN
    PERFORM require_read_committed();
    v_seen := begin_request(p_site, p_request, p_desk, 'move_slot', jsonb_build_object(
        'hold', p_hold, 'version', p_expect_version, 'room', p_to_room, 'from', extract(epoch FROM p_from),
        'to', extract(epoch FROM p_to)
    ));
    IF v_seen.request_id IS NOT NULL THEN
        RETURN answer_slot(p_site, v_seen.slot_hold_id, v_seen.refusal, v_seen.details,
            v_seen.refusal IS DISTINCT FROM 'request_reused');
    END IF;

    SELECT * INTO STRICT v_site FROM site WHERE site_id = p_site;
    v_found := lock_room_of_hold(p_site, p_hold, p_to_room);
    IF v_found = 'missing' THEN
        v_refused := refuse('no_such_hold', jsonb_build_object('hold_id', coalesce(p_hold, 0)));
        RETURN finish_slot(p_site, p_request, NULL, v_refused);
    ELSIF v_found = 'busy' THEN
        v_refused := refuse('busy', '{}'::jsonb);
        RETURN finish_slot(p_site, p_request, p_hold, v_refused);
    END IF;
    v_locked := lock_slot_hold(p_site, p_hold, p_desk);
    v_hold := v_locked.hold;
    v_now := v_locked.now;
    v_refused := slot_ended_or_stale(v_site, 'move_slot', v_hold, p_expect_version, v_now);
    IF v_refused.refusal IS NOT NULL THEN
        RETURN finish_slot(p_site, p_request, p_hold, v_refused);
    END IF;

    SELECT * INTO v_room FROM room WHERE site_id = p_site AND room_id = coalesce(p_to_room, v_hold.room_id);
    v_from := coalesce(p_from, lower(v_hold.period));
    v_to := coalesce(p_to, upper(v_hold.period));
    IF v_room.room_id IS NULL THEN
        v_refused := refuse('no_such_room', jsonb_build_object('room', '#' || p_to_room));
    ELSIF v_room.retired_at IS NOT NULL AND v_room.room_id <> v_hold.room_id THEN
        v_refused := refuse('retired', jsonb_build_object('name', v_room.name));
    ELSE
        PERFORM expire_room(p_site, v_room.room_id, p_desk);
        v_refused := text_problem(p_desk, NULL, NULL, NULL);
        IF v_refused.refusal IS NULL THEN
            v_refused := period_problem(v_site, v_room, v_from, v_to, clock_timestamp(), v_hold.purpose);
        END IF;
    END IF;
    IF v_refused.refusal IS NOT NULL THEN
        RETURN finish_slot(p_site, p_request, p_hold, v_refused);
    END IF;

    v_occupied := occupied_span(tstzrange(v_from, v_to, '[)'), v_room.turnaround);
    LOOP
        v_now := clock_timestamp();
        -- A claim does not conflict with itself (R14).
        v_conflict := find_slot_conflict(p_site, v_room.room_id, v_occupied, ARRAY[p_hold]);
        EXIT WHEN v_conflict.hold_id IS NULL OR v_conflict.state <> 'held' OR v_conflict.expires_at > v_now;
        PERFORM expire_room(p_site, v_room.room_id, p_desk);
    END LOOP;
    -- The moved hold itself may have come due while that was being found out.
    IF v_hold.state = 'held' AND v_hold.expires_at <= v_now THEN
        v_locked := lock_slot_hold(p_site, p_hold, p_desk);
        v_hold := v_locked.hold;
        v_now := v_locked.now;
        v_refused := slot_ended_or_stale(v_site, 'move_slot', v_hold, NULL, v_now);
        RETURN finish_slot(p_site, p_request, p_hold, v_refused);
    END IF;
    IF v_conflict.hold_id IS NULL AND replace_slot(p_site, p_hold, v_room, v_from, v_to, v_now) THEN
        PERFORM record_slot(p_site, p_hold, 'moved', v_hold.state, v_hold.state, v_now, p_desk, '', p_request,
            jsonb_build_object(
                'from_room', v_hold.room_id, 'to_room', v_room.room_id,
                'from_period', v_hold.period::text, 'to_period', tstzrange(v_from, v_to, '[)')::text
            ));
        RETURN finish_slot(p_site, p_request, p_hold, NULL);
    END IF;
    IF v_conflict.hold_id IS NULL THEN
        v_conflict := find_slot_conflict(p_site, v_room.room_id, v_occupied, ARRAY[p_hold]);
    END IF;
    v_refused := refuse('slot_taken', slot_taken_details(v_site, v_room, v_conflict)
        || free_choices(v_site, v_room, v_from, v_to, ARRAY[p_hold]));
    RETURN finish_slot(p_site, p_request, p_hold, v_refused);
END
$$;

COMMENT ON FUNCTION move_slot(bigint, uuid, text, bigint, bigint, timestamptz, timestamptz, bigint) IS
$$Move or extend a claim on a room as one change; what is null stays as it is, and so does the deadline.
SELECT * FROM move_slot(1, gen_random_uuid(), 'anna', 17, p_to_room => 2, p_to => '2027-01-01 13:00+00');$$;

-- Lock the rooms of two claims in id order, wherever they are by then. Says locked, missing or busy.
CREATE FUNCTION lock_rooms_of_two(p_site bigint, p_first bigint, p_second bigint) RETURNS text
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

-- Write both new places in one UPDATE, which the deferrable constraint allows. False if it says no all the same.
CREATE FUNCTION exchange_slots(p_site bigint, p_first slot_hold, p_second slot_hold, p_first_to room, p_second_to room,
    p_at timestamptz) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE slot_hold
    SET room_id = CASE hold_id WHEN p_first.hold_id THEN p_second.room_id ELSE p_first.room_id END,
        period = CASE hold_id WHEN p_first.hold_id THEN p_second.period ELSE p_first.period END,
        turnaround = CASE hold_id WHEN p_first.hold_id THEN p_first_to.turnaround ELSE p_second_to.turnaround END,
        changed_at = p_at
    WHERE site_id = p_site AND hold_id IN (p_first.hold_id, p_second.hold_id);
    RETURN true;
EXCEPTION WHEN exclusion_violation THEN
    RETURN false;
END
$$;

CREATE FUNCTION swap_slots(
    p_site bigint, p_request uuid, p_desk text, p_first bigint, p_second bigint, p_expect_version bigint DEFAULT NULL
) RETURNS slot_answer
LANGUAGE plpgsql
AS $$
DECLARE
    v_seen request;
    v_site site;
    v_first slot_hold;
    v_second slot_hold;
    v_first_to room;
    v_second_to room;
    v_refused refused;
    v_found text;
    v_conflict slot_hold;
    v_where room;
    v_now timestamptz;
    v_both bigint[] := ARRAY[p_first, p_second];
BEGIN
    PERFORM require_read_committed();
    v_seen := begin_request(p_site, p_request, p_desk, 'swap_slots', jsonb_build_object(
        'first', p_first, 'second', p_second, 'version', p_expect_version
    ));
    IF v_seen.request_id IS NOT NULL THEN
        RETURN answer_slot(p_site, v_seen.slot_hold_id, v_seen.refusal, v_seen.details,
            v_seen.refusal IS DISTINCT FROM 'request_reused');
    END IF;

    SELECT * INTO STRICT v_site FROM site WHERE site_id = p_site;
    v_found := lock_rooms_of_two(p_site, p_first, p_second);
    IF v_found = 'missing' THEN
        v_refused := refuse('no_such_hold', jsonb_build_object('hold_id', (
            SELECT coalesce(min(wanted), p_second, 0) FROM unnest(v_both) AS wanted
            WHERE NOT EXISTS (SELECT FROM slot_hold WHERE site_id = p_site AND hold_id = wanted)
        )));
        RETURN finish_slot(p_site, p_request, NULL, v_refused);
    ELSIF v_found = 'busy' THEN
        v_refused := refuse('busy', '{}'::jsonb);
        RETURN finish_slot(p_site, p_request, p_first, v_refused);
    END IF;
    LOOP
        -- Rows in id order; the clock after the last of them (R10).
        PERFORM FROM slot_hold WHERE site_id = p_site AND hold_id = least(p_first, p_second) FOR NO KEY UPDATE;
        PERFORM FROM slot_hold WHERE site_id = p_site AND hold_id = greatest(p_first, p_second) FOR NO KEY UPDATE;
        SELECT * INTO v_first FROM slot_hold WHERE site_id = p_site AND hold_id = p_first;
        SELECT * INTO v_second FROM slot_hold WHERE site_id = p_site AND hold_id = p_second;
        v_now := clock_timestamp();
        EXIT WHEN (v_first.state <> 'held' OR v_first.expires_at > v_now)
            AND (v_second.state <> 'held' OR v_second.expires_at > v_now);
        PERFORM expire_room(p_site, v_first.room_id, p_desk);
        PERFORM expire_room(p_site, v_second.room_id, p_desk);
    END LOOP;
    v_refused := slot_ended_or_stale(v_site, 'swap_slots', v_first, p_expect_version, v_now);
    IF v_refused.refusal IS NULL THEN
        v_refused := slot_ended_or_stale(v_site, 'swap_slots', v_second, NULL, v_now);
    END IF;
    IF v_refused.refusal IS NULL THEN
        v_refused := text_problem(p_desk, NULL, NULL, NULL);
    END IF;
    SELECT * INTO v_first_to FROM room WHERE site_id = p_site AND room_id = v_second.room_id;
    SELECT * INTO v_second_to FROM room WHERE site_id = p_site AND room_id = v_first.room_id;
    IF v_refused.refusal IS NULL THEN
        v_refused := period_problem(v_site, v_first_to, lower(v_second.period), upper(v_second.period), v_now,
            v_first.purpose);
    END IF;
    IF v_refused.refusal IS NULL THEN
        v_refused := period_problem(v_site, v_second_to, lower(v_first.period), upper(v_first.period), v_now,
            v_second.purpose);
    END IF;
    IF v_refused.refusal IS NOT NULL THEN
        RETURN finish_slot(p_site, p_request, p_first, v_refused);
    END IF;

    -- The turnaround of the other room may reach further than the one that was there (R4).
    LOOP
        v_now := clock_timestamp();
        v_where := v_first_to;
        v_conflict := find_slot_conflict(p_site, v_first_to.room_id,
            occupied_span(v_second.period, v_first_to.turnaround), v_both);
        IF v_conflict.hold_id IS NULL THEN
            v_where := v_second_to;
            v_conflict := find_slot_conflict(p_site, v_second_to.room_id,
                occupied_span(v_first.period, v_second_to.turnaround), v_both);
        END IF;
        EXIT WHEN v_conflict.hold_id IS NULL OR v_conflict.state <> 'held' OR v_conflict.expires_at > v_now;
        PERFORM expire_room(p_site, v_conflict.room_id, p_desk);
    END LOOP;
    -- A claim that came due while that was being found out is no longer there to exchange.
    IF v_first.state = 'held' AND v_first.expires_at <= v_now OR v_second.state = 'held' AND v_second.expires_at <= v_now
    THEN
        PERFORM expire_room(p_site, v_first.room_id, p_desk);
        PERFORM expire_room(p_site, v_second.room_id, p_desk);
        SELECT * INTO v_first FROM slot_hold WHERE site_id = p_site AND hold_id = p_first;
        SELECT * INTO v_second FROM slot_hold WHERE site_id = p_site AND hold_id = p_second;
        v_refused := slot_ended_or_stale(v_site, 'swap_slots',
            CASE v_first.state WHEN 'expired' THEN v_first ELSE v_second END, NULL, v_now);
        RETURN finish_slot(p_site, p_request, p_first, v_refused);
    END IF;
    IF v_conflict.hold_id IS NULL AND exchange_slots(p_site, v_first, v_second, v_first_to, v_second_to, v_now) THEN
        PERFORM record_slot(p_site, p_first, 'moved', v_first.state, v_first.state, v_now, p_desk, 'exchanged',
            p_request, jsonb_build_object('exchanged_with', p_second));
        IF p_second <> p_first THEN
            PERFORM record_slot(p_site, p_second, 'moved', v_second.state, v_second.state, v_now, p_desk, 'exchanged',
                p_request, jsonb_build_object('exchanged_with', p_first));
        END IF;
        RETURN finish_slot(p_site, p_request, p_first, NULL);
    END IF;
    IF v_conflict.hold_id IS NULL THEN
        v_conflict := coalesce(
            find_slot_conflict(p_site, v_first_to.room_id, occupied_span(v_second.period, v_first_to.turnaround), v_both),
            find_slot_conflict(p_site, v_second_to.room_id, occupied_span(v_first.period, v_second_to.turnaround), v_both)
        );
    END IF;
    v_refused := refuse('slot_taken', slot_taken_details(v_site, v_where, v_conflict));
    RETURN finish_slot(p_site, p_request, p_first, v_refused);
END
$$;

COMMENT ON FUNCTION swap_slots(bigint, uuid, text, bigint, bigint, bigint) IS
$$Two claims exchange rooms and periods as one change; deadlines stay. Answers with the first.
SELECT * FROM swap_slots(1, gen_random_uuid(), 'anna', 17, 18);$$;

-- R13: what is wrong with renewing; null if nothing.
CREATE FUNCTION renewal_problem(p_site site, p_renewals integer, p_ttl interval) RETURNS refused
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
    RETURN (
        SELECT CASE
            WHEN p_renewals >= p_site.renewals
                THEN refuse('renewals_used_up', jsonb_build_object('limit', p_site.renewals))
            ELSE hold_length_problem(p_site, p_ttl)
        END
    );
END
$$;

CREATE FUNCTION renew_slot(
    p_site bigint, p_request uuid, p_desk text, p_hold bigint, p_ttl interval DEFAULT NULL,
    p_expect_version bigint DEFAULT NULL
) RETURNS slot_answer
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN change_slot(
        p_site, 'renew_slot', p_request, p_desk, p_hold, p_expect_version, NULL, NULL, NULL, NULL, p_ttl
    );
END
$$;

COMMENT ON FUNCTION renew_slot(bigint, uuid, text, bigint, interval, bigint) IS
$$Give a hold on a room more time, as often as the site allows; never less than it has.
SELECT * FROM renew_slot(1, gen_random_uuid(), 'anna', 17, '10 minutes');$$;

CREATE FUNCTION renew_stock(
    p_site bigint, p_request uuid, p_desk text, p_hold bigint, p_ttl interval DEFAULT NULL,
    p_expect_version bigint DEFAULT NULL
) RETURNS stock_answer
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN change_stock(p_site, 'renew_stock', p_request, p_desk, p_hold, p_expect_version, NULL, p_ttl);
END
$$;

COMMENT ON FUNCTION renew_stock(bigint, uuid, text, bigint, interval, bigint) IS
$$Give a hold on stock more time, as often as the site allows; never less than it has.
SELECT * FROM renew_stock(1, gen_random_uuid(), 'anna', 5, '10 minutes');$$;
