-- A retired room takes no new claims (R28), also not in exchange for another. The rest of swap_slots is as it was.
CREATE OR REPLACE FUNCTION swap_slots(
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
    -- R28: within one room nothing is new.
    IF v_refused.refusal IS NULL AND v_first_to.room_id <> v_second_to.room_id
        AND coalesce(v_first_to.retired_at, v_second_to.retired_at) IS NOT NULL
    THEN
        v_refused := refuse('retired', jsonb_build_object(
            'name', CASE WHEN v_first_to.retired_at IS NOT NULL THEN v_first_to.name ELSE v_second_to.name END
        ));
    END IF;
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
