-- Commands on rooms. Order of the checks (R22): repeated request, does the claim exist, expire what is due, has it ended, is
-- the version right, the rules: text, group, renewals, party, period, in this order for rooms, stock and groups alike.

-- A new claim on a room of any kind: what hold_slot, block_slot and import_slot share.
CREATE OR REPLACE FUNCTION claim_slot(
    p_site bigint, p_command text, p_request uuid, p_desk text, p_room bigint, p_from timestamptz, p_to timestamptz,
    p_ttl interval, p_guest text, p_note text, p_party integer, p_reason text
) RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    v_answer jsonb;
    v_site site;
    v_room room;
    v_refusal jsonb;
    v_occupied tstzrange;
    v_conflict slot_hold;
    v_now timestamptz;
    v_hold bigint;
    v_purpose text := CASE p_command WHEN 'block_slot' THEN 'block' ELSE 'guest' END;
    v_state text := CASE p_command WHEN 'hold_slot' THEN 'held' ELSE 'confirmed' END;
    v_what text := CASE p_command WHEN 'hold_slot' THEN 'held' WHEN 'block_slot' THEN 'blocked' ELSE 'imported' END;
BEGIN
    v_answer := begin_request(p_site, p_request, p_desk, p_command, jsonb_build_object(
        'room', p_room, 'from', extract(epoch FROM p_from), 'to', extract(epoch FROM p_to),
        'ttl', extract(epoch FROM p_ttl), 'guest', p_guest, 'note', p_note, 'party', p_party, 'reason', p_reason
    ));
    IF v_answer IS NOT NULL THEN
        RETURN v_answer;
    END IF;

    v_site := site_row(p_site);
    v_room := lock_room(p_site, p_room);
    IF v_room.room_id IS NULL THEN
        v_refusal := refuse('no_such_room', jsonb_build_object('room', '#' || coalesce(p_room::text, '')));
        RETURN finish(v_site, p_request, 'slot', NULL, v_refusal);
    END IF;
    PERFORM expire_room(v_site, p_room, p_desk);

    v_now := site_clock(v_site);
    v_refusal := coalesce(
        CASE WHEN v_room.retired_at IS NOT NULL THEN refuse('retired', jsonb_build_object('name', v_room.name)) END,
        text_problem('guest', p_guest, 'reason', p_reason, 'note', p_note, 'desk name', p_desk),
        CASE WHEN p_command = 'hold_slot' THEN hold_length_problem(v_site, p_ttl) END,
        party_problem(p_party),
        period_problem(v_site, v_room, p_from, p_to, v_now, v_purpose)
    );
    -- What comes from elsewhere may be over already, but not since before all years (R2).
    IF v_refusal ->> 'refusal' = 'in_the_past' AND p_command = 'import_slot'
        AND p_from >= timestamptz '0001-01-02 00:00:00+00' THEN
        v_refusal := NULL;
    END IF;
    IF v_refusal IS NOT NULL THEN
        RETURN finish(v_site, p_request, 'slot', NULL, v_refusal);
    END IF;

    v_occupied := occupied_span(tstzrange(p_from, p_to, '[)'), v_room.turnaround);
    -- Once is enough, unless a writer that goes around the protocol is faster; then look again who that was.
    FOR attempt IN 1..3 LOOP
        LOOP
            v_now := site_clock(v_site);
            v_conflict := find_slot_conflict(p_site, p_room, v_occupied);
            -- What came due since it was last looked at does not make a claim fail (R11).
            EXIT WHEN v_conflict.hold_id IS NULL OR v_conflict.state <> 'held' OR v_conflict.expires_at > v_now;
            PERFORM expire_room(v_site, p_room, p_desk, v_conflict.hold_id);
        END LOOP;
        EXIT WHEN v_conflict.hold_id IS NOT NULL;
        v_hold := place_slot(
            p_site, v_room, p_from, p_to, v_purpose, v_state, p_command = 'import_slot', coalesce(p_guest, ''),
            coalesce(p_note, ''), p_party, CASE WHEN v_state = 'held' THEN deadline_from(v_site, v_now, p_ttl) END,
            p_desk, p_request, v_now
        );
        IF v_hold IS NOT NULL THEN
            PERFORM record_slot(
                p_site, v_hold, p_room, 1, v_what, NULL, v_state, v_now, p_desk, p_reason, p_request
            );
            RETURN finish(v_site, p_request, 'slot', v_hold, NULL);
        END IF;
    END LOOP;
    v_refusal := refuse('slot_taken', slot_taken_details(v_site, v_room, v_conflict)
        || alternatives(v_site, v_room, p_from, p_to));
    RETURN finish(v_site, p_request, 'slot', NULL, v_refusal);
END
$$;

CREATE OR REPLACE FUNCTION hold_slot(
    p_site bigint, p_request uuid, p_desk text, p_room bigint, p_from timestamptz, p_to timestamptz,
    p_ttl interval DEFAULT NULL, p_guest text DEFAULT '', p_note text DEFAULT '', p_party integer DEFAULT NULL
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN claim_slot(
        p_site, 'hold_slot', p_request, p_desk, p_room, p_from, p_to, p_ttl, p_guest, p_note, p_party, ''
    );
END
$$;

COMMENT ON FUNCTION hold_slot(bigint, uuid, text, bigint, timestamptz, timestamptz, interval, text, text, integer) IS
$$Hold a room for a period until a deadline.
SELECT hold_slot(1, gen_random_uuid(), 'anna', 2, '2027-01-01 10:00+00', '2027-01-01 12:00+00', '10 minutes', 'Müller');
Without a length the site's default counts. A room by the night takes its own check-in and check-out times.$$;

CREATE OR REPLACE FUNCTION block_slot(
    p_site bigint, p_request uuid, p_desk text, p_room bigint, p_from timestamptz, p_to timestamptz, p_reason text
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    -- The note carries the reason, so that the grid can say it.
    RETURN claim_slot(
        p_site, 'block_slot', p_request, p_desk, p_room, p_from, p_to, NULL, '', p_reason, NULL, p_reason
    );
END
$$;

COMMENT ON FUNCTION block_slot(bigint, uuid, text, bigint, timestamptz, timestamptz, text) IS
$$Take a room for the house itself; confirmed at once.
SELECT block_slot(1, gen_random_uuid(), 'anna', 2, '2027-01-01 10:00+00', '2027-01-01 12:00+00', 'maintenance');$$;

CREATE OR REPLACE FUNCTION import_slot(
    p_site bigint, p_request uuid, p_desk text, p_room bigint, p_from timestamptz, p_to timestamptz,
    p_guest text DEFAULT '', p_note text DEFAULT '', p_party integer DEFAULT NULL
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN claim_slot(
        p_site, 'import_slot', p_request, p_desk, p_room, p_from, p_to, NULL, p_guest, p_note, p_party, ''
    );
END
$$;

COMMENT ON FUNCTION import_slot(bigint, uuid, text, bigint, timestamptz, timestamptz, text, text, integer) IS
$$Take over a booking from elsewhere; confirmed at once, and it may be over already.
SELECT import_slot(1, gen_random_uuid(), 'anna', 2, '2026-01-01 10:00+00', '2026-01-01 12:00+00', 'Müller');$$;

-- A change to one existing claim on a room: what confirm_slot, cancel_slot, edit_slot and renew_slot share.
CREATE OR REPLACE FUNCTION change_slot(
    p_site bigint, p_command text, p_request uuid, p_desk text, p_hold bigint, p_expect_version bigint, p_reason text,
    p_guest text, p_note text, p_party integer, p_ttl interval DEFAULT NULL
) RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    v_answer jsonb;
    v_site site;
    v_hold slot_hold;
    v_refusal jsonb;
    v_now timestamptz;
    v_what text := CASE p_command
        WHEN 'confirm_slot' THEN 'confirmed' WHEN 'cancel_slot' THEN 'cancelled' WHEN 'renew_slot' THEN 'renewed'
        ELSE 'edited' END;
    v_state text;
    v_deadline timestamptz;
    v_renewals integer;
    v_version bigint;
BEGIN
    v_answer := begin_request(p_site, p_request, p_desk, p_command, jsonb_build_object(
        'hold', p_hold, 'version', p_expect_version, 'reason', p_reason, 'guest', p_guest, 'note', p_note,
        'party', p_party, 'ttl', extract(epoch FROM p_ttl)
    ));
    IF v_answer IS NOT NULL THEN
        RETURN v_answer;
    END IF;

    v_site := site_row(p_site);
    v_refusal := not_locked(p_site, 'room', p_hold, lock_room_of_hold(p_site, p_hold));
    IF v_refusal IS NOT NULL THEN
        RETURN finish(v_site, p_request, 'slot', p_hold, v_refusal);
    END IF;
    LOOP
        v_hold := lock_slot_hold(p_site, p_hold);
        -- After the last lock (R10).
        v_now := site_clock(v_site);
        EXIT WHEN v_hold.state <> 'held' OR v_hold.expires_at > v_now;
        PERFORM expire_room(v_site, v_hold.room_id, p_desk, p_hold);
    END LOOP;

    v_refusal := coalesce(
        slot_ended_or_stale(v_site, p_command, v_hold, p_expect_version, v_now),
        text_problem('guest', p_guest, 'reason', p_reason, 'note', p_note, 'desk name', p_desk),
        CASE WHEN v_what IN ('confirmed', 'renewed') AND v_hold.group_id IS NOT NULL
            THEN refuse('part_of_group', jsonb_build_object('group_id', v_hold.group_id)) END,
        CASE WHEN v_what = 'renewed' THEN renewal_problem(v_site, v_hold.renewals, p_ttl) END,
        party_problem(nullif(p_party, 0))
    );
    IF v_refusal IS NOT NULL THEN
        RETURN finish(v_site, p_request, 'slot', p_hold, v_refusal);
    END IF;

    v_state := CASE WHEN v_what IN ('confirmed', 'cancelled') THEN v_what ELSE v_hold.state END;
    v_deadline := v_hold.expires_at;
    v_renewals := v_hold.renewals;
    IF v_what = 'renewed' THEN
        -- R13: never shorter than it was.
        v_deadline := greatest(v_deadline, deadline_from(v_site, v_now, p_ttl));
        v_renewals := v_renewals + 1;
    END IF;
    UPDATE slot_hold
    SET state = v_state, guest = coalesce(p_guest, guest), note = coalesce(p_note, note),
        party = nullif(coalesce(p_party, party), 0), expires_at = v_deadline, renewals = v_renewals, changed_at = v_now
    WHERE site_id = p_site AND hold_id = p_hold
    RETURNING version INTO v_version;
    PERFORM record_slot(
        p_site, p_hold, v_hold.room_id, v_version, v_what, v_hold.state, v_state, v_now, p_desk, p_reason, p_request
    );
    RETURN finish(v_site, p_request, 'slot', p_hold, NULL);
END
$$;

CREATE OR REPLACE FUNCTION confirm_slot(
    p_site bigint, p_request uuid, p_desk text, p_hold bigint, p_expect_version bigint DEFAULT NULL
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN change_slot(p_site, 'confirm_slot', p_request, p_desk, p_hold, p_expect_version, NULL, NULL, NULL, NULL);
END
$$;

COMMENT ON FUNCTION confirm_slot(bigint, uuid, text, bigint, bigint) IS
$$Make a hold on a room last, before its deadline.
SELECT confirm_slot(1, gen_random_uuid(), 'anna', 17);
A fifth argument is the version that you saw: if the claim has changed since, the answer is stale.$$;

CREATE OR REPLACE FUNCTION cancel_slot(
    p_site bigint, p_request uuid, p_desk text, p_hold bigint, p_reason text DEFAULT '',
    p_expect_version bigint DEFAULT NULL
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN change_slot(p_site, 'cancel_slot', p_request, p_desk, p_hold, p_expect_version, p_reason, NULL, NULL, NULL);
END
$$;

COMMENT ON FUNCTION cancel_slot(bigint, uuid, text, bigint, text, bigint) IS
$$Give a room back, held or confirmed.
SELECT cancel_slot(1, gen_random_uuid(), 'anna', 17, 'guest called');$$;

CREATE OR REPLACE FUNCTION edit_slot(
    p_site bigint, p_request uuid, p_desk text, p_hold bigint, p_guest text DEFAULT NULL, p_note text DEFAULT NULL,
    p_party integer DEFAULT NULL, p_expect_version bigint DEFAULT NULL
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN change_slot(
        p_site, 'edit_slot', p_request, p_desk, p_hold, p_expect_version, NULL, p_guest, p_note, p_party
    );
END
$$;

COMMENT ON FUNCTION edit_slot(bigint, uuid, text, bigint, text, text, integer, bigint) IS
$$Change guest, note or party of a claim on a room; what is null stays as it is, and a party of 0 is not known any more.
SELECT edit_slot(1, gen_random_uuid(), 'anna', 17, p_guest => 'Müller', p_party => 8);$$;

CREATE OR REPLACE FUNCTION renew_slot(
    p_site bigint, p_request uuid, p_desk text, p_hold bigint, p_ttl interval DEFAULT NULL,
    p_expect_version bigint DEFAULT NULL
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN change_slot(
        p_site, 'renew_slot', p_request, p_desk, p_hold, p_expect_version, NULL, NULL, NULL, NULL, p_ttl
    );
END
$$;

COMMENT ON FUNCTION renew_slot(bigint, uuid, text, bigint, interval, bigint) IS
$$Give a hold on a room more time, as often as the site allows; never less than it has.
SELECT renew_slot(1, gen_random_uuid(), 'anna', 17, '10 minutes');$$;

CREATE OR REPLACE FUNCTION move_slot(
    p_site bigint, p_request uuid, p_desk text, p_hold bigint, p_to_room bigint DEFAULT NULL,
    p_from timestamptz DEFAULT NULL, p_to timestamptz DEFAULT NULL, p_expect_version bigint DEFAULT NULL
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_answer jsonb;
    v_site site;
    v_room room;
    v_hold slot_hold;
    v_conflict slot_hold;
    v_refusal jsonb;
    v_from timestamptz;
    v_to timestamptz;
    v_occupied tstzrange;
    v_now timestamptz;
BEGIN
    v_answer := begin_request(p_site, p_request, p_desk, 'move_slot', jsonb_build_object(
        'hold', p_hold, 'version', p_expect_version, 'room', p_to_room, 'from', extract(epoch FROM p_from),
        'to', extract(epoch FROM p_to)
    ));
    IF v_answer IS NOT NULL THEN
        RETURN v_answer;
    END IF;

    v_site := site_row(p_site);
    v_refusal := not_locked(p_site, 'room', p_hold, lock_room_of_hold(p_site, p_hold, p_to_room));
    IF v_refusal IS NOT NULL THEN
        RETURN finish(v_site, p_request, 'slot', p_hold, v_refusal);
    END IF;
    LOOP
        v_hold := lock_slot_hold(p_site, p_hold);
        v_now := site_clock(v_site);
        EXIT WHEN v_hold.state <> 'held' OR v_hold.expires_at > v_now;
        PERFORM expire_room(v_site, v_hold.room_id, p_desk, p_hold);
    END LOOP;
    v_refusal := slot_ended_or_stale(v_site, 'move_slot', v_hold, p_expect_version, v_now);
    IF v_refusal IS NOT NULL THEN
        RETURN finish(v_site, p_request, 'slot', p_hold, v_refusal);
    END IF;

    SELECT * INTO v_room FROM room WHERE site_id = p_site AND room_id = coalesce(p_to_room, v_hold.room_id);
    v_from := coalesce(p_from, lower(v_hold.period));
    v_to := coalesce(p_to, upper(v_hold.period));
    IF v_room.room_id IS NULL THEN
        v_refusal := refuse('no_such_room', jsonb_build_object('room', '#' || p_to_room));
    ELSIF v_room.retired_at IS NOT NULL AND v_room.room_id <> v_hold.room_id THEN
        v_refusal := refuse('retired', jsonb_build_object('name', v_room.name));
    ELSE
        PERFORM expire_room(v_site, v_room.room_id, p_desk);
        v_refusal := coalesce(
            text_problem('desk name', p_desk),
            period_problem(v_site, v_room, v_from, v_to, site_clock(v_site), v_hold.purpose)
        );
    END IF;
    IF v_refusal IS NOT NULL THEN
        RETURN finish(v_site, p_request, 'slot', p_hold, v_refusal);
    END IF;

    v_occupied := occupied_span(tstzrange(v_from, v_to, '[)'), v_room.turnaround);
    LOOP
        v_now := site_clock(v_site);
        -- A claim does not conflict with itself (R14).
        v_conflict := find_slot_conflict(p_site, v_room.room_id, v_occupied, ARRAY[p_hold]);
        EXIT WHEN v_conflict.hold_id IS NULL OR v_conflict.state <> 'held' OR v_conflict.expires_at > v_now;
        PERFORM expire_room(v_site, v_room.room_id, p_desk, v_conflict.hold_id);
    END LOOP;
    -- The moved hold itself may have come due while that was being found out.
    IF v_hold.state = 'held' AND v_hold.expires_at <= v_now THEN
        PERFORM expire_room(v_site, v_hold.room_id, p_desk, p_hold);
        v_hold := lock_slot_hold(p_site, p_hold);
        v_refusal := slot_ended_or_stale(v_site, 'move_slot', v_hold, NULL, v_now);
        RETURN finish(v_site, p_request, 'slot', p_hold, v_refusal);
    END IF;
    IF v_conflict.hold_id IS NULL AND replace_slot(p_site, p_hold, v_room, v_from, v_to, v_now) THEN
        PERFORM record_slot(
            p_site, p_hold, v_room.room_id, v_hold.version + 1, 'moved', v_hold.state, v_hold.state, v_now, p_desk, '',
            p_request, jsonb_build_object(
                'from_room', v_hold.room_id, 'to_room', v_room.room_id,
                'from_period', period_text(v_hold.period), 'to_period', period_text(tstzrange(v_from, v_to, '[)'))
            )
        );
        RETURN finish(v_site, p_request, 'slot', p_hold, NULL);
    END IF;
    IF v_conflict.hold_id IS NULL THEN
        v_conflict := find_slot_conflict(p_site, v_room.room_id, v_occupied, ARRAY[p_hold]);
    END IF;
    v_refusal := refuse('slot_taken', slot_taken_details(v_site, v_room, v_conflict)
        || alternatives(v_site, v_room, v_from, v_to, ARRAY[p_hold]));
    RETURN finish(v_site, p_request, 'slot', p_hold, v_refusal);
END
$$;

COMMENT ON FUNCTION move_slot(bigint, uuid, text, bigint, bigint, timestamptz, timestamptz, bigint) IS
$$Move or extend a claim on a room as one change; what is null stays as it is, and so does the deadline.
SELECT move_slot(1, gen_random_uuid(), 'anna', 17, p_to_room => 2, p_to => '2027-01-01 13:00+00');$$;

CREATE OR REPLACE FUNCTION swap_slots(
    p_site bigint, p_request uuid, p_desk text, p_first bigint, p_second bigint, p_expect_version bigint DEFAULT NULL
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_answer jsonb;
    v_site site;
    v_first slot_hold;
    v_second slot_hold;
    v_first_to room;
    v_second_to room;
    v_refusal jsonb;
    v_found text;
    v_conflict slot_hold;
    v_where room;
    v_now timestamptz;
    v_both bigint[] := ARRAY[p_first, p_second];
BEGIN
    v_answer := begin_request(p_site, p_request, p_desk, 'swap_slots', jsonb_build_object(
        'first', p_first, 'second', p_second, 'version', p_expect_version
    ));
    IF v_answer IS NOT NULL THEN
        RETURN v_answer;
    END IF;

    v_site := site_row(p_site);
    v_found := lock_rooms_of_two(p_site, p_first, p_second);
    IF v_found <> 'locked' THEN
        -- The first of them that is no claim on a room is named.
        v_refusal := not_locked(
            p_site, 'room', CASE WHEN kind_of_claim(p_site, p_first) = 'room' THEN p_second ELSE p_first END, v_found
        );
        RETURN finish(v_site, p_request, 'slot', p_first, v_refusal);
    END IF;
    LOOP
        -- Rows in id order; the clock after the last of them (R10).
        PERFORM lock_slot_hold(p_site, least(p_first, p_second));
        PERFORM lock_slot_hold(p_site, greatest(p_first, p_second));
        SELECT * INTO v_first FROM slot_hold WHERE site_id = p_site AND hold_id = p_first;
        SELECT * INTO v_second FROM slot_hold WHERE site_id = p_site AND hold_id = p_second;
        v_now := site_clock(v_site);
        EXIT WHEN (v_first.state <> 'held' OR v_first.expires_at > v_now)
            AND (v_second.state <> 'held' OR v_second.expires_at > v_now);
        PERFORM expire_room(v_site, v_first.room_id, p_desk, p_first);
        PERFORM expire_room(v_site, v_second.room_id, p_desk, p_second);
    END LOOP;
    SELECT * INTO v_first_to FROM room WHERE site_id = p_site AND room_id = v_second.room_id;
    SELECT * INTO v_second_to FROM room WHERE site_id = p_site AND room_id = v_first.room_id;
    v_refusal := coalesce(
        slot_ended_or_stale(v_site, 'swap_slots', v_first, p_expect_version, v_now),
        slot_ended_or_stale(v_site, 'swap_slots', v_second, NULL, v_now),
        text_problem('desk name', p_desk),
        -- R28: within one room nothing is new.
        CASE WHEN v_first_to.room_id <> v_second_to.room_id
            AND coalesce(v_first_to.retired_at, v_second_to.retired_at) IS NOT NULL
            THEN refuse('retired', jsonb_build_object(
                'name', CASE WHEN v_first_to.retired_at IS NOT NULL THEN v_first_to.name ELSE v_second_to.name END
            )) END,
        period_problem(
            v_site, v_first_to, lower(v_second.period), upper(v_second.period), v_now, v_first.purpose
        ),
        period_problem(v_site, v_second_to, lower(v_first.period), upper(v_first.period), v_now, v_second.purpose)
    );
    IF v_refusal IS NOT NULL THEN
        RETURN finish(v_site, p_request, 'slot', p_first, v_refusal);
    END IF;

    -- The turnaround of the other room may reach further than the one that was there (R4).
    LOOP
        v_now := site_clock(v_site);
        v_where := v_first_to;
        v_conflict := find_slot_conflict(
            p_site, v_first_to.room_id, occupied_span(v_second.period, v_first_to.turnaround), v_both
        );
        IF v_conflict.hold_id IS NULL THEN
            v_where := v_second_to;
            v_conflict := find_slot_conflict(
                p_site, v_second_to.room_id, occupied_span(v_first.period, v_second_to.turnaround), v_both
            );
        END IF;
        EXIT WHEN v_conflict.hold_id IS NULL OR v_conflict.state <> 'held' OR v_conflict.expires_at > v_now;
        PERFORM expire_room(v_site, v_conflict.room_id, p_desk, v_conflict.hold_id);
    END LOOP;
    -- A claim that came due while that was being found out is no longer there to exchange.
    IF v_first.state = 'held' AND v_first.expires_at <= v_now OR v_second.state = 'held' AND v_second.expires_at <= v_now
    THEN
        PERFORM expire_room(v_site, v_first.room_id, p_desk, p_first);
        PERFORM expire_room(v_site, v_second.room_id, p_desk, p_second);
        SELECT * INTO v_first FROM slot_hold WHERE site_id = p_site AND hold_id = p_first;
        SELECT * INTO v_second FROM slot_hold WHERE site_id = p_site AND hold_id = p_second;
        v_refusal := coalesce(
            slot_ended_or_stale(v_site, 'swap_slots', v_first, NULL, v_now),
            slot_ended_or_stale(v_site, 'swap_slots', v_second, NULL, v_now)
        );
        RETURN finish(v_site, p_request, 'slot', p_first, v_refusal);
    END IF;
    IF v_conflict.hold_id IS NULL AND exchange_slots(p_site, v_first, v_second, v_first_to, v_second_to, v_now) THEN
        PERFORM record_slot(
            p_site, p_first, v_first_to.room_id, v_first.version + 1, 'moved', v_first.state, v_first.state, v_now, p_desk,
            'exchanged', p_request, jsonb_build_object('exchanged_with', p_second)
        );
        PERFORM record_slot(
            p_site, p_second, v_second_to.room_id, v_second.version + 1, 'moved', v_second.state, v_second.state, v_now,
            p_desk, 'exchanged', p_request, jsonb_build_object('exchanged_with', p_first)
        );
        RETURN finish(v_site, p_request, 'slot', p_first, NULL);
    END IF;
    IF v_conflict.hold_id IS NULL THEN
        v_where := v_first_to;
        v_conflict := find_slot_conflict(
            p_site, v_first_to.room_id, occupied_span(v_second.period, v_first_to.turnaround), v_both
        );
    END IF;
    IF v_conflict.hold_id IS NULL THEN
        v_where := v_second_to;
        v_conflict := find_slot_conflict(
            p_site, v_second_to.room_id, occupied_span(v_first.period, v_second_to.turnaround), v_both
        );
    END IF;
    v_refusal := refuse('slot_taken', slot_taken_details(v_site, v_where, v_conflict));
    RETURN finish(v_site, p_request, 'slot', p_first, v_refusal);
END
$$;

COMMENT ON FUNCTION swap_slots(bigint, uuid, text, bigint, bigint, bigint) IS
$$Two claims exchange rooms and periods as one change; deadlines stay. Answers with the first.
SELECT swap_slots(1, gen_random_uuid(), 'anna', 17, 18);$$;
