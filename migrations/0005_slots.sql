-- Commands on rooms. Each answers with one row: a refusal or null, its details, and the claim as it is now.
-- Order of the checks (R22): repeated request, does the claim exist, expire what is due, has it ended, is the version
-- right, the rules.

CREATE TYPE slot_answer AS (
    refusal text,
    details jsonb,
    repeated boolean,
    now timestamptz,
    hold_id bigint,
    group_id bigint,
    room_id bigint,
    room text,
    starts_at timestamptz,
    ends_at timestamptz,
    occupied_until timestamptz,
    nights integer,
    purpose text,
    state text,
    guest text,
    note text,
    party integer,
    expires_at timestamptz,
    version bigint,
    desk text,
    request_id uuid,
    created_at timestamptz,
    changed_at timestamptz
);

-- The answer, with the claim as it is now if there is one.
CREATE FUNCTION answer_slot(p_site bigint, p_hold bigint, p_refusal text, p_details jsonb, p_repeated boolean)
RETURNS slot_answer
LANGUAGE plpgsql
AS $$
DECLARE
    v_answer slot_answer;
BEGIN
    SELECT
        p_refusal, p_details, p_repeated, clock_timestamp(), c.hold_id, c.group_id, c.room_id, c.room, c.starts_at,
        c.ends_at, c.occupied_until, c.nights, c.purpose, c.state, c.guest, c.note, c.party, c.expires_at, c.version,
        c.desk, c.request_id, c.created_at, c.changed_at
    INTO v_answer
    FROM (VALUES (true)) AS one (row)
    LEFT JOIN slot_claim AS c ON c.site_id = p_site AND c.hold_id = p_hold;
    RETURN v_answer;
END
$$;

-- Remember the outcome and answer.
CREATE FUNCTION finish_slot(p_site bigint, p_request uuid, p_hold bigint, p_refused refused) RETURNS slot_answer
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM remember_outcome(p_site, p_request, p_refused.refusal, p_refused.details, p_slot_hold => p_hold);
    RETURN answer_slot(p_site, p_hold, p_refused.refusal, p_refused.details, false);
END
$$;

-- A new claim on a room of any kind: what hold_slot, block_slot and import_slot share.
CREATE FUNCTION claim_slot(
    p_site bigint, p_command text, p_request uuid, p_desk text, p_room bigint, p_from timestamptz, p_to timestamptz,
    p_ttl interval, p_guest text, p_note text, p_party integer, p_reason text
) RETURNS slot_answer
LANGUAGE plpgsql
AS $$
DECLARE
    v_seen request;
    v_site site;
    v_room room;
    v_refused refused;
    v_occupied tstzrange;
    v_conflict slot_hold;
    v_now timestamptz;
    v_hold bigint;
    v_purpose text := CASE p_command WHEN 'block_slot' THEN 'block' ELSE 'guest' END;
    v_state text := CASE p_command WHEN 'hold_slot' THEN 'held' ELSE 'confirmed' END;
    v_what text := CASE p_command WHEN 'hold_slot' THEN 'held' WHEN 'block_slot' THEN 'blocked' ELSE 'imported' END;
BEGIN
    PERFORM require_read_committed();
    v_seen := begin_request(p_site, p_request, p_desk, p_command, jsonb_build_object(
        'room', p_room, 'from', extract(epoch FROM p_from), 'to', extract(epoch FROM p_to),
        'ttl', extract(epoch FROM p_ttl), 'guest', p_guest, 'note', p_note, 'party', p_party, 'reason', p_reason
    ));
    IF v_seen.request_id IS NOT NULL THEN
        RETURN answer_slot(p_site, v_seen.slot_hold_id, v_seen.refusal, v_seen.details,
            v_seen.refusal IS DISTINCT FROM 'request_reused');
    END IF;

    SELECT * INTO STRICT v_site FROM site WHERE site_id = p_site;
    v_room := lock_room(p_site, p_room);
    IF v_room.room_id IS NULL THEN
        v_refused := refuse('no_such_room', jsonb_build_object('room', '#' || coalesce(p_room::text, '')));
        RETURN finish_slot(p_site, p_request, NULL, v_refused);
    END IF;
    PERFORM expire_room(p_site, p_room, p_desk);

    v_now := clock_timestamp();
    IF v_room.retired_at IS NOT NULL THEN
        v_refused := refuse('retired', jsonb_build_object('name', v_room.name));
    END IF;
    IF v_refused.refusal IS NULL THEN
        v_refused := text_problem(p_desk, p_guest, p_note, p_reason);
    END IF;
    IF v_refused.refusal IS NULL AND p_command = 'hold_slot' THEN
        v_refused := hold_length_problem(v_site, p_ttl);
    END IF;
    IF v_refused.refusal IS NULL AND p_party <= 0 THEN
        v_refused := refuse('quantity_invalid', jsonb_build_object('quantity', p_party));
    END IF;
    IF v_refused.refusal IS NULL THEN
        v_refused := period_problem(v_site, v_room, p_from, p_to, v_now, v_purpose);
        -- What comes from elsewhere may be over already.
        IF v_refused.refusal = 'in_the_past' AND p_command = 'import_slot' THEN
            v_refused := NULL;
        END IF;
    END IF;
    IF v_refused.refusal IS NOT NULL THEN
        RETURN finish_slot(p_site, p_request, NULL, v_refused);
    END IF;

    v_occupied := occupied_span(tstzrange(p_from, p_to, '[)'), v_room.turnaround);
    -- Once is enough, unless a writer that goes around the protocol is faster; then look again who that was.
    FOR attempt IN 1..3 LOOP
        LOOP
            v_now := clock_timestamp();
            v_conflict := find_slot_conflict(p_site, p_room, v_occupied);
            -- What came due since it was last looked at does not make a claim fail (R11).
            EXIT WHEN v_conflict.hold_id IS NULL OR v_conflict.state <> 'held' OR v_conflict.expires_at > v_now;
            PERFORM expire_room(p_site, p_room, p_desk);
        END LOOP;
        EXIT WHEN v_conflict.hold_id IS NOT NULL;
        v_hold := place_slot(
            p_site, v_room, p_from, p_to, v_purpose, v_state, p_command = 'import_slot', coalesce(p_guest, ''),
            coalesce(p_note, ''), p_party,
            CASE WHEN v_state = 'held' THEN v_now + elapsed(coalesce(p_ttl, v_site.default_hold)) END,
            p_desk, p_request, v_now
        );
        IF v_hold IS NOT NULL THEN
            PERFORM record_slot(p_site, v_hold, v_what, NULL, v_state, v_now, p_desk, p_reason, p_request);
            RETURN finish_slot(p_site, p_request, v_hold, NULL);
        END IF;
    END LOOP;
    v_refused := refuse('slot_taken', slot_taken_details(v_site, v_room, v_conflict)
        || free_choices(v_site, v_room, p_from, p_to));
    RETURN finish_slot(p_site, p_request, NULL, v_refused);
END
$$;

CREATE FUNCTION hold_slot(
    p_site bigint, p_request uuid, p_desk text, p_room bigint, p_from timestamptz, p_to timestamptz,
    p_ttl interval DEFAULT NULL, p_guest text DEFAULT '', p_note text DEFAULT '', p_party integer DEFAULT NULL
) RETURNS slot_answer
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN claim_slot(
        p_site, 'hold_slot', p_request, p_desk, p_room, p_from, p_to, p_ttl, p_guest, p_note, p_party, ''
    );
END
$$;

COMMENT ON FUNCTION hold_slot(bigint, uuid, text, bigint, timestamptz, timestamptz, interval, text, text, integer) IS
$$Hold a room for a period until a deadline.
SELECT * FROM hold_slot(1, gen_random_uuid(), 'anna', 2, '2027-01-01 10:00+00', '2027-01-01 12:00+00', '10 minutes', 'Müller');
Without a length the site's default counts. A room by the night takes its own check-in and check-out times.$$;

CREATE FUNCTION block_slot(
    p_site bigint, p_request uuid, p_desk text, p_room bigint, p_from timestamptz, p_to timestamptz, p_reason text
) RETURNS slot_answer
LANGUAGE plpgsql
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
SELECT * FROM block_slot(1, gen_random_uuid(), 'anna', 2, '2027-01-01 10:00+00', '2027-01-01 12:00+00', 'maintenance');$$;

CREATE FUNCTION import_slot(
    p_site bigint, p_request uuid, p_desk text, p_room bigint, p_from timestamptz, p_to timestamptz,
    p_guest text DEFAULT '', p_note text DEFAULT '', p_party integer DEFAULT NULL
) RETURNS slot_answer
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN claim_slot(
        p_site, 'import_slot', p_request, p_desk, p_room, p_from, p_to, NULL, p_guest, p_note, p_party, ''
    );
END
$$;

COMMENT ON FUNCTION import_slot(bigint, uuid, text, bigint, timestamptz, timestamptz, text, text, integer) IS
$$Take over a booking from elsewhere; confirmed at once, and it may be over already.
SELECT * FROM import_slot(1, gen_random_uuid(), 'anna', 2, '2026-01-01 10:00+00', '2026-01-01 12:00+00', 'Müller');$$;

-- Lock a claim's row under the lock of its room, and expire what is due first; the clock is read after the last lock
-- (R10). Returns the claim and the moment of the decision.
CREATE TYPE locked_slot AS (hold slot_hold, now timestamptz);

CREATE FUNCTION lock_slot_hold(p_site bigint, p_hold bigint, p_desk text) RETURNS locked_slot
LANGUAGE plpgsql
AS $$
DECLARE
    v_hold slot_hold;
    v_now timestamptz;
BEGIN
    LOOP
        -- The row too, against writers that went around the protocol.
        SELECT * INTO v_hold FROM slot_hold WHERE site_id = p_site AND hold_id = p_hold FOR NO KEY UPDATE;
        v_now := clock_timestamp();
        EXIT WHEN v_hold.state <> 'held' OR v_hold.expires_at > v_now;
        PERFORM expire_room(p_site, v_hold.room_id, p_desk);
    END LOOP;
    RETURN ROW(v_hold, v_now);
END
$$;

-- What has become of a claim on a room that a command wants to act on: the refusal for one that has ended (R9), that
-- has changed since (R22), or that came due in this very moment (R10); null if it can be acted on.
CREATE FUNCTION slot_ended_or_stale(
    p_site site, p_command text, p_hold slot_hold, p_expect_version bigint, p_now timestamptz
) RETURNS refused
LANGUAGE plpgsql
AS $$
DECLARE
    v_conflict slot_hold;
BEGIN
    IF p_hold.state = 'expired' THEN
        -- R12: how late, and whether holding again could work.
        v_conflict := find_slot_conflict(p_hold.site_id, p_hold.room_id, p_hold.occupied, ARRAY[p_hold.hold_id]);
        RETURN refuse('hold_expired', jsonb_build_object(
            'late_seconds', extract(epoch FROM p_now - p_hold.expires_at),
            'expired_at', site_time(p_site.time_zone, p_hold.expires_at),
            'still_free', v_conflict.hold_id IS NULL AND upper(p_hold.period) > p_now AND EXISTS (
                SELECT FROM room
                WHERE site_id = p_hold.site_id AND room_id = p_hold.room_id AND retired_at IS NULL
            )
        ));
    ELSIF p_hold.state = 'cancelled' THEN
        RETURN refuse('already_cancelled', '{}'::jsonb);
    ELSIF p_hold.state = 'confirmed' AND p_command IN ('confirm_slot', 'renew_slot') THEN
        RETURN refuse('already_confirmed', '{}'::jsonb);
    ELSIF p_expect_version <> p_hold.version THEN
        RETURN refuse('stale', jsonb_build_object(
            'expected', p_expect_version, 'version', p_hold.version, 'state', p_hold.state
        ));
    END IF;
    RETURN NULL;
END
$$;

-- A change to one existing claim on a room: what confirm_slot, cancel_slot, edit_slot and renew_slot share.
CREATE FUNCTION change_slot(
    p_site bigint, p_command text, p_request uuid, p_desk text, p_hold bigint, p_expect_version bigint, p_reason text,
    p_guest text, p_note text, p_party integer, p_ttl interval DEFAULT NULL
) RETURNS slot_answer
LANGUAGE plpgsql
AS $$
DECLARE
    v_seen request;
    v_site site;
    v_hold slot_hold;
    v_locked locked_slot;
    v_refused refused;
    v_found text;
    v_now timestamptz;
    v_what text := CASE p_command
        WHEN 'confirm_slot' THEN 'confirmed' WHEN 'cancel_slot' THEN 'cancelled' WHEN 'renew_slot' THEN 'renewed'
        ELSE 'edited' END;
    v_to text;
BEGIN
    PERFORM require_read_committed();
    v_seen := begin_request(p_site, p_request, p_desk, p_command, jsonb_build_object(
        'hold', p_hold, 'version', p_expect_version, 'reason', p_reason, 'guest', p_guest, 'note', p_note,
        'party', p_party, 'ttl', extract(epoch FROM p_ttl)
    ));
    IF v_seen.request_id IS NOT NULL THEN
        RETURN answer_slot(p_site, v_seen.slot_hold_id, v_seen.refusal, v_seen.details,
            v_seen.refusal IS DISTINCT FROM 'request_reused');
    END IF;

    SELECT * INTO STRICT v_site FROM site WHERE site_id = p_site;
    v_found := lock_room_of_hold(p_site, p_hold);
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

    v_refused := slot_ended_or_stale(v_site, p_command, v_hold, p_expect_version, v_now);
    IF v_refused.refusal IS NULL THEN
        v_refused := text_problem(p_desk, p_guest, p_note, p_reason);
    END IF;
    IF v_refused.refusal IS NULL AND v_what IN ('confirmed', 'renewed') AND v_hold.group_id IS NOT NULL THEN
        v_refused := refuse('part_of_group', jsonb_build_object('group_id', v_hold.group_id));
    ELSIF v_refused.refusal IS NULL AND v_what = 'renewed' THEN
        v_refused := renewal_problem(v_site, v_hold.renewals, p_ttl);
    ELSIF v_refused.refusal IS NULL AND p_party <= 0 THEN
        v_refused := refuse('quantity_invalid', jsonb_build_object('quantity', p_party));
    END IF;
    IF v_refused.refusal IS NOT NULL THEN
        RETURN finish_slot(p_site, p_request, p_hold, v_refused);
    END IF;

    v_to := CASE WHEN v_what IN ('confirmed', 'cancelled') THEN v_what ELSE v_hold.state END;
    UPDATE slot_hold
    SET state = v_to,
        guest = coalesce(p_guest, guest),
        note = coalesce(p_note, note),
        party = coalesce(p_party, party),
        -- R13: never shorter than it was.
        expires_at = CASE v_what
            WHEN 'renewed' THEN greatest(expires_at, v_now + elapsed(coalesce(p_ttl, v_site.default_hold)))
            ELSE expires_at END,
        renewals = renewals + CASE v_what WHEN 'renewed' THEN 1 ELSE 0 END,
        changed_at = v_now
    WHERE site_id = p_site AND hold_id = p_hold;
    PERFORM record_slot(p_site, p_hold, v_what, v_hold.state, v_to, v_now, p_desk, p_reason, p_request);
    RETURN finish_slot(p_site, p_request, p_hold, NULL);
END
$$;

CREATE FUNCTION confirm_slot(
    p_site bigint, p_request uuid, p_desk text, p_hold bigint, p_expect_version bigint DEFAULT NULL
) RETURNS slot_answer
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN change_slot(p_site, 'confirm_slot', p_request, p_desk, p_hold, p_expect_version, NULL, NULL, NULL, NULL);
END
$$;

COMMENT ON FUNCTION confirm_slot(bigint, uuid, text, bigint, bigint) IS
$$Make a hold on a room last, before its deadline.
SELECT * FROM confirm_slot(1, gen_random_uuid(), 'anna', 17);
A fifth argument is the version that you saw: if the claim has changed since, the answer is stale.$$;

CREATE FUNCTION cancel_slot(
    p_site bigint, p_request uuid, p_desk text, p_hold bigint, p_reason text DEFAULT '',
    p_expect_version bigint DEFAULT NULL
) RETURNS slot_answer
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN change_slot(p_site, 'cancel_slot', p_request, p_desk, p_hold, p_expect_version, p_reason, NULL, NULL, NULL);
END
$$;

COMMENT ON FUNCTION cancel_slot(bigint, uuid, text, bigint, text, bigint) IS
$$Give a room back, held or confirmed.
SELECT * FROM cancel_slot(1, gen_random_uuid(), 'anna', 17, 'guest called');$$;

CREATE FUNCTION edit_slot(
    p_site bigint, p_request uuid, p_desk text, p_hold bigint, p_guest text DEFAULT NULL, p_note text DEFAULT NULL,
    p_party integer DEFAULT NULL, p_expect_version bigint DEFAULT NULL
) RETURNS slot_answer
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN change_slot(
        p_site, 'edit_slot', p_request, p_desk, p_hold, p_expect_version, NULL, p_guest, p_note, p_party
    );
END
$$;

COMMENT ON FUNCTION edit_slot(bigint, uuid, text, bigint, text, text, integer, bigint) IS
$$Change guest, note or party of a claim on a room; what is null stays as it is.
SELECT * FROM edit_slot(1, gen_random_uuid(), 'anna', 17, p_guest => 'Müller', p_party => 8);$$;

-- The sweep: one due room a call, none that somebody is working on; says how many claims it expired, 0 when nothing
-- is left to do here (R11).
CREATE FUNCTION expire_slots(p_site bigint, p_request uuid DEFAULT NULL, p_desk text DEFAULT 'sweep') RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
    v_room bigint;
    v_now timestamptz;
    v_expired integer;
BEGIN
    PERFORM require_read_committed();
    LOOP
        v_now := clock_timestamp();
        SELECT r.room_id INTO v_room
        FROM room AS r
        WHERE r.site_id = p_site AND r.room_id IN (
            SELECT s.room_id FROM slot_hold AS s
            WHERE s.site_id = p_site AND s.state = 'held' AND s.expires_at <= v_now
        )
        LIMIT 1
        FOR NO KEY UPDATE OF r SKIP LOCKED;
        IF NOT FOUND THEN
            RETURN 0;
        END IF;
        v_expired := expire_room(p_site, v_room, p_desk);
        -- None: another sweeper did this room just before it was locked. There may be others.
        EXIT WHEN v_expired > 0;
    END LOOP;
    RETURN v_expired;
END
$$;

COMMENT ON FUNCTION expire_slots(bigint, uuid, text) IS
$$Write expired over the holds of one room that are due; call again until it says 0. It changes nothing that was not
due, so the request id (which may be null) is not kept.
SELECT expire_slots(1);$$;
