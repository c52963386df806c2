-- Groups: several claims made, confirmed, renewed and cancelled as one (R20). Rooms are locked by id, then items by id.

-- Place one room line of a group, or say why not. The rooms are locked and swept.
CREATE OR REPLACE FUNCTION place_group_slot(
    p_site site, p_group bigint, p_room bigint, p_from timestamptz, p_to timestamptz, p_guest text, p_note text,
    p_party integer, p_expires_at timestamptz, p_desk text, p_request uuid, p_now timestamptz
) RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    v_room room;
    v_refusal jsonb;
    v_conflict slot_hold;
    v_hold bigint;
    v_occupied tstzrange;
BEGIN
    SELECT * INTO v_room FROM room WHERE site_id = p_site.site_id AND room_id = p_room;
    IF v_room.room_id IS NULL THEN
        RETURN refuse('no_such_room', jsonb_build_object('room', '#' || coalesce(p_room::text, '')));
    ELSIF v_room.retired_at IS NOT NULL THEN
        RETURN refuse('retired', jsonb_build_object('name', v_room.name));
    END IF;
    v_refusal := period_problem(p_site, v_room, p_from, p_to, p_now, 'guest');
    IF v_refusal IS NOT NULL THEN
        RETURN v_refusal;
    END IF;
    v_occupied := occupied_span(tstzrange(p_from, p_to, '[)'), v_room.turnaround);
    v_conflict := find_slot_conflict(p_site.site_id, p_room, v_occupied);
    IF v_conflict.state = 'held' AND v_conflict.expires_at <= p_now THEN
        -- Beyond the oldest thousand that were swept (R11).
        PERFORM expire_room(p_site, p_room, p_desk, v_conflict.hold_id);
        v_conflict := find_slot_conflict(p_site.site_id, p_room, v_occupied);
    END IF;
    IF v_conflict.hold_id IS NULL THEN
        v_hold := place_slot(
            p_site.site_id, v_room, p_from, p_to, 'guest', 'held', false, p_guest, p_note, p_party, p_expires_at, p_desk,
            p_request, p_now, p_group
        );
        IF v_hold IS NOT NULL THEN
            PERFORM record_slot(
                p_site.site_id, v_hold, p_room, 1, 'held', NULL, 'held', p_now, p_desk, '', p_request,
                jsonb_build_object('group_id', p_group)
            );
            RETURN NULL;
        END IF;
        v_conflict := find_slot_conflict(p_site.site_id, p_room, v_occupied);
    END IF;
    RETURN refuse('slot_taken', slot_taken_details(p_site, v_room, v_conflict)
        || alternatives(p_site, v_room, p_from, p_to));
END
$$;

-- Place one item line of a group, or say why not. The items are locked and swept.
CREATE OR REPLACE FUNCTION place_group_stock(
    p_site site, p_group bigint, p_item bigint, p_quantity bigint, p_guest text, p_note text,
    p_expires_at timestamptz, p_desk text, p_request uuid, p_now timestamptz
) RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    v_item inventory;
    v_hold bigint;
BEGIN
    SELECT * INTO v_item FROM inventory WHERE site_id = p_site.site_id AND item_id = p_item;
    IF v_item.item_id IS NULL THEN
        RETURN refuse('no_such_item', jsonb_build_object('item', '#' || coalesce(p_item::text, '')));
    ELSIF v_item.retired_at IS NOT NULL THEN
        RETURN refuse('retired', jsonb_build_object('name', v_item.name));
    ELSIF coalesce(p_quantity, 0) <= 0 OR p_quantity > 2147483647 THEN
        RETURN refuse('quantity_invalid', jsonb_build_object('quantity', coalesce(p_quantity, 0)));
    ELSIF NOT take_stock(p_site.site_id, p_item, p_quantity::integer) THEN
        RETURN refuse('sold_out', jsonb_build_object(
            'item', v_item.name, 'asked', p_quantity, 'available', v_item.available
        ) || next_release(p_site, p_item));
    END IF;
    v_hold := place_stock(
        p_site.site_id, p_item, p_quantity::integer, p_guest, p_note, p_expires_at, p_desk, p_request, p_now, p_group
    );
    PERFORM record_stock(
        p_site.site_id, v_hold, 1, 'held', NULL, 'held', p_quantity::integer, p_now, p_desk, '', p_request
    );
    RETURN NULL;
END
$$;

-- The first line that wants a room while an earlier one occupies it, turnaround included (R4): lines that are in each
-- other's way are said as such, and not as if somebody else had the room. Null if there is none, or if a line has no
-- period, which is found out later.
CREATE OR REPLACE FUNCTION line_in_the_way_of_another(p_site bigint, p_rooms jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    v_line record;
    v_turnaround interval;
    v_spans jsonb := '{}';
    v_before nummultirange;
    v_occupied tstzrange;
    v_span numrange;
BEGIN
    FOR v_line IN
        SELECT place, (line ->> 'room')::bigint AS room_id, (line ->> 'from')::timestamptz AS from_at,
            (line ->> 'to')::timestamptz AS to_at
        FROM jsonb_array_elements(p_rooms) WITH ORDINALITY AS lines (line, place)
        ORDER BY place
    LOOP
        CONTINUE WHEN NOT coalesce(v_line.from_at < v_line.to_at AND isfinite(v_line.from_at) AND isfinite(v_line.to_at), false);
        SELECT turnaround INTO v_turnaround FROM room WHERE site_id = p_site AND room_id = v_line.room_id;
        CONTINUE WHEN NOT FOUND;
        v_occupied := occupied_span(tstzrange(v_line.from_at, v_line.to_at, '[)'), v_turnaround);
        -- In seconds: as text a time has the session's style and zone, and may be read as another (R33).
        v_span := numrange(extract(epoch FROM lower(v_occupied)), extract(epoch FROM upper(v_occupied)), '[)');
        v_before := coalesce((v_spans ->> v_line.room_id::text)::nummultirange, '{}');
        IF v_before && v_span THEN
            RETURN jsonb_build_object('kind', 'room', 'number', v_line.place);
        END IF;
        v_spans := v_spans || jsonb_build_object(v_line.room_id::text, (v_before + nummultirange(v_span))::text);
    END LOOP;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION hold_group(
    p_site bigint, p_request uuid, p_desk text, p_rooms jsonb DEFAULT '[]', p_stock jsonb DEFAULT '[]',
    p_ttl interval DEFAULT NULL, p_guest text DEFAULT '', p_note text DEFAULT '', p_party integer DEFAULT NULL
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_answer jsonb;
    v_site site;
    v_group bigint;
    v_refusal jsonb;
    v_now timestamptz;
    v_expires_at timestamptz;
    v_line record;
    v_failed jsonb;
    v_rooms bigint[];
    v_items bigint[];
BEGIN
    -- No list is an empty one.
    p_rooms := coalesce(nullif(p_rooms, 'null'), '[]');
    p_stock := coalesce(nullif(p_stock, 'null'), '[]');
    v_answer := begin_request(p_site, p_request, p_desk, 'hold_group', jsonb_build_object(
        'rooms', (
            SELECT coalesce(jsonb_agg(jsonb_build_array(
                line -> 'room', extract(epoch FROM (line ->> 'from')::timestamptz),
                extract(epoch FROM (line ->> 'to')::timestamptz)) ORDER BY place), '[]')
            FROM jsonb_array_elements(p_rooms) WITH ORDINALITY AS lines (line, place)
        ),
        'stock', p_stock, 'ttl', extract(epoch FROM p_ttl), 'guest', p_guest, 'note', p_note, 'party', p_party
    ));
    IF v_answer IS NOT NULL THEN
        RETURN v_answer;
    END IF;

    v_site := site_row(p_site);
    v_refusal := coalesce(
        text_problem('guest', p_guest, 'note', p_note, 'desk name', p_desk),
        hold_length_problem(v_site, p_ttl),
        party_problem(p_party),
        CASE WHEN jsonb_array_length(p_rooms) + jsonb_array_length(p_stock) = 0
            THEN refuse('quantity_invalid', '{"quantity": 0}') END
    );
    IF v_refusal IS NULL THEN
        v_failed := line_in_the_way_of_another(p_site, p_rooms);
        IF v_failed IS NOT NULL THEN
            v_refusal := refuse('period_invalid', jsonb_build_object('problem', 'own_lines_overlap', 'line', v_failed));
        END IF;
    END IF;
    IF v_refusal IS NOT NULL THEN
        RETURN finish(v_site, p_request, 'group', NULL, v_refusal);
    END IF;

    v_rooms := ARRAY(SELECT (line ->> 'room')::bigint FROM jsonb_array_elements(p_rooms) AS line);
    v_items := ARRAY(SELECT (line ->> 'item')::bigint FROM jsonb_array_elements(p_stock) AS line);
    PERFORM lock_rooms_and_items(v_site, v_rooms, v_items, p_desk);
    LOOP
        -- Everything or nothing: the first line that fails undoes those before it. What was due stays expired.
        BEGIN
            v_now := site_clock(v_site);
            v_expires_at := deadline_from(v_site, v_now, p_ttl);
            INSERT INTO claim_group (site_id, desk, request_id, created_at) VALUES (p_site, p_desk, p_request, v_now)
            RETURNING group_id INTO v_group;
            FOR v_line IN
                SELECT (line ->> 'room')::bigint AS room, (line ->> 'from')::timestamptz AS from_at,
                    (line ->> 'to')::timestamptz AS to_at, place
                FROM jsonb_array_elements(p_rooms) WITH ORDINALITY AS lines (line, place)
                ORDER BY place
            LOOP
                v_refusal := place_group_slot(v_site, v_group, v_line.room, v_line.from_at, v_line.to_at,
                    coalesce(p_guest, ''), coalesce(p_note, ''), p_party, v_expires_at, p_desk, p_request, v_now);
                IF v_refusal IS NOT NULL THEN
                    v_failed := jsonb_build_object('kind', 'room', 'number', v_line.place);
                    RAISE EXCEPTION USING ERRCODE = 'KR002', MESSAGE = 'a line of the group failed';
                END IF;
            END LOOP;
            FOR v_line IN
                -- Lines of the same item are one line (R20); the first of them is named if it fails.
                SELECT (line ->> 'item')::bigint AS item, sum((line ->> 'quantity')::bigint)::bigint AS quantity,
                    min((line ->> 'quantity')::bigint) AS smallest, min(place) AS place
                FROM jsonb_array_elements(p_stock) WITH ORDINALITY AS lines (line, place)
                GROUP BY 1
                ORDER BY min(place)
            LOOP
                v_refusal := place_group_stock(v_site, v_group, v_line.item,
                    CASE WHEN v_line.smallest <= 0 THEN v_line.smallest ELSE v_line.quantity END,
                    coalesce(p_guest, ''), coalesce(p_note, ''), v_expires_at, p_desk, p_request, v_now);
                IF v_refusal IS NOT NULL THEN
                    v_failed := jsonb_build_object('kind', 'stock', 'number', v_line.place);
                    RAISE EXCEPTION USING ERRCODE = 'KR002', MESSAGE = 'a line of the group failed';
                END IF;
            END LOOP;
            EXIT;
        EXCEPTION WHEN SQLSTATE 'KR002' THEN
            -- What came due since it was last looked at does not make a claim fail (R11).
            IF lock_rooms_and_items(v_site, v_rooms, v_items, p_desk) = 0 THEN
                v_refusal := jsonb_set(v_refusal, '{details,line}', v_failed);
                RETURN finish(v_site, p_request, 'group', NULL, v_refusal);
            END IF;
        END;
    END LOOP;
    RETURN finish(v_site, p_request, 'group', v_group, NULL);
END
$$;

COMMENT ON FUNCTION hold_group(bigint, uuid, text, jsonb, jsonb, interval, text, text, integer) IS
$$Hold several rooms and quantities as one: everything or nothing, with one deadline.
SELECT hold_group(1, gen_random_uuid(), 'anna',
    '[{"room": 2, "from": "2027-01-01 10:00+00", "to": "2027-01-01 12:00+00"}]', '[{"item": 3, "quantity": 8}]',
    '10 minutes', 'Müller');$$;

-- Whether everything of a group that ran out could be held again at this moment (R12).
CREATE OR REPLACE FUNCTION group_is_free(p_site bigint, p_group bigint, p_now timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    v_member record;
    v_level record;
BEGIN
    FOR v_member IN
        SELECT s.room_id, s.period, r.turnaround, r.retired_at
        FROM slot_hold AS s
        JOIN room AS r ON r.site_id = s.site_id AND r.room_id = s.room_id
        WHERE s.site_id = p_site AND s.group_id = p_group AND s.state = 'expired'
    LOOP
        IF v_member.retired_at IS NOT NULL OR upper(v_member.period) <= p_now OR taken_in(
            p_site, v_member.room_id, occupied_span(v_member.period, v_member.turnaround), p_now
        ) IS NOT NULL THEN
            RETURN false;
        END IF;
    END LOOP;
    FOR v_member IN
        SELECT item_id, quantity FROM stock_hold WHERE site_id = p_site AND group_id = p_group AND state = 'expired'
    LOOP
        SELECT retired_at, available INTO v_level FROM item_levels(p_site, v_member.item_id);
        IF v_level.retired_at IS NOT NULL OR v_level.available < v_member.quantity THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN true;
END
$$;

-- Lock where the members of a group are, and expire what is due there; a member that is moved meanwhile makes the list
-- wrong: let go and start again. Says locked, missing or busy.
CREATE OR REPLACE FUNCTION lock_group(p_site site, p_group bigint, p_desk text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_rooms bigint[];
    v_items bigint[];
BEGIN
    PERFORM FROM claim_group WHERE site_id = p_site.site_id AND group_id = p_group;
    IF NOT FOUND THEN
        RETURN 'missing';
    END IF;
    FOR attempt IN 1..5 LOOP
        v_rooms := ARRAY(SELECT DISTINCT room_id FROM slot_hold
            WHERE site_id = p_site.site_id AND group_id = p_group ORDER BY room_id);
        v_items := ARRAY(SELECT DISTINCT item_id FROM stock_hold
            WHERE site_id = p_site.site_id AND group_id = p_group ORDER BY item_id);
        BEGIN
            PERFORM lock_rooms_and_items(p_site, v_rooms, v_items, p_desk);
            IF v_rooms = ARRAY(SELECT DISTINCT room_id FROM slot_hold
                WHERE site_id = p_site.site_id AND group_id = p_group ORDER BY room_id) THEN
                RETURN 'locked';
            END IF;
            RAISE EXCEPTION USING ERRCODE = 'KR001', MESSAGE = 'a member has moved meanwhile';
        EXCEPTION WHEN SQLSTATE 'KR001' THEN
            NULL;
        END;
    END LOOP;
    RETURN 'busy';
END
$$;

-- A change to a whole group: what confirm_group, renew_group and cancel_group share. Only members that are still
-- active take part; those that were cancelled alone stay so.
CREATE OR REPLACE FUNCTION change_group(
    p_site bigint, p_command text, p_request uuid, p_desk text, p_group bigint, p_ttl interval, p_reason text,
    p_rooms_only boolean
) RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    v_answer jsonb;
    v_site site;
    v_refusal jsonb;
    v_now timestamptz;
    v_state text;
    v_renewals integer := 0;
    v_deadline timestamptz;
    v_due integer;
    v_version bigint;
    v_what text := CASE p_command
        WHEN 'confirm_group' THEN 'confirmed' WHEN 'renew_group' THEN 'renewed' ELSE 'cancelled' END;
    v_member record;
BEGIN
    v_answer := begin_request(p_site, p_request, p_desk, p_command, jsonb_build_object(
        'group', p_group, 'ttl', extract(epoch FROM p_ttl), 'reason', p_reason, 'rooms_only', p_rooms_only
    ));
    IF v_answer IS NOT NULL THEN
        RETURN v_answer;
    END IF;

    v_site := site_row(p_site);
    v_refusal := not_locked(p_site, 'group', p_group, lock_group(v_site, p_group, p_desk));
    IF v_refusal IS NOT NULL THEN
        RETURN finish(v_site, p_request, 'group', p_group, v_refusal);
    END IF;
    LOOP
        PERFORM FROM slot_hold WHERE site_id = p_site AND group_id = p_group ORDER BY hold_id FOR NO KEY UPDATE;
        PERFORM FROM stock_hold WHERE site_id = p_site AND group_id = p_group ORDER BY hold_id FOR NO KEY UPDATE;
        v_now := site_clock(v_site);
        v_due := 0;
        FOR v_member IN
            SELECT hold_id, room_id, NULL::bigint AS item_id, expires_at, renewals FROM slot_hold
            WHERE site_id = p_site AND group_id = p_group AND state = 'held'
            UNION ALL
            SELECT hold_id, NULL, item_id, expires_at, renewals FROM stock_hold
            WHERE site_id = p_site AND group_id = p_group AND state = 'held'
        LOOP
            v_renewals := greatest(v_renewals, v_member.renewals);
            IF v_member.expires_at <= v_now AND v_member.room_id IS NOT NULL THEN
                v_due := v_due + expire_room(v_site, v_member.room_id, p_desk, v_member.hold_id);
            ELSIF v_member.expires_at <= v_now THEN
                v_due := v_due + expire_item(v_site, v_member.item_id, p_desk, v_member.hold_id);
            END IF;
        END LOOP;
        EXIT WHEN v_due = 0;
    END LOOP;
    v_state := group_state(p_site, p_group);

    IF v_state = 'expired' THEN
        SELECT max(expires_at) INTO v_deadline
        FROM (
            SELECT expires_at FROM slot_hold
            WHERE site_id = p_site AND group_id = p_group AND state = 'expired'
            UNION ALL
            SELECT expires_at FROM stock_hold
            WHERE site_id = p_site AND group_id = p_group AND state = 'expired'
        ) AS member;
        v_refusal := refuse('hold_expired', jsonb_build_object(
            'late_seconds', extract(epoch FROM v_now - v_deadline),
            'expired_at', site_time(v_site.time_zone, v_deadline),
            'still_free', group_is_free(p_site, p_group, v_now)
        ));
    ELSIF v_state = 'cancelled' OR p_rooms_only AND NOT EXISTS (
        SELECT FROM slot_hold WHERE site_id = p_site AND group_id = p_group AND active
    ) THEN
        v_refusal := refuse('already_cancelled', '{}');
    ELSIF v_state <> 'held' AND v_what <> 'cancelled' THEN
        v_refusal := refuse('already_confirmed', '{}');
    ELSIF v_what = 'cancelled' AND NOT p_rooms_only AND EXISTS (
        SELECT FROM stock_hold WHERE site_id = p_site AND group_id = p_group AND state = 'confirmed'
    ) THEN
        v_refusal := refuse('sale_is_final', '{}');
    ELSE
        v_refusal := coalesce(
            text_problem('reason', p_reason, 'desk name', p_desk),
            CASE WHEN v_what = 'renewed' THEN renewal_problem(v_site, v_renewals, p_ttl) END
        );
    END IF;
    IF v_refusal IS NOT NULL THEN
        RETURN finish(v_site, p_request, 'group', p_group, v_refusal);
    END IF;

    v_deadline := deadline_from(v_site, v_now, p_ttl);
    FOR v_member IN
        SELECT * FROM slot_hold
        WHERE site_id = p_site AND group_id = p_group
            AND (state = 'held' OR active AND v_what = 'cancelled')
        ORDER BY hold_id
    LOOP
        v_state := v_what;
        IF v_what = 'renewed' THEN
            -- R13: never shorter than it was.
            v_state := v_member.state;
            v_member.expires_at := greatest(v_member.expires_at, v_deadline);
            v_member.renewals := v_member.renewals + 1;
        END IF;
        UPDATE slot_hold
        SET state = v_state, expires_at = v_member.expires_at, renewals = v_member.renewals, changed_at = v_now
        WHERE site_id = p_site AND hold_id = v_member.hold_id
        RETURNING version INTO v_version;
        PERFORM record_slot(
            p_site, v_member.hold_id, v_member.room_id, v_version, v_what, v_member.state, v_state, v_now, p_desk, p_reason,
            p_request, jsonb_build_object('group_id', p_group)
        );
    END LOOP;
    FOR v_member IN
        SELECT * FROM stock_hold
        WHERE site_id = p_site AND group_id = p_group AND state = 'held'
            AND NOT (v_what = 'cancelled' AND p_rooms_only)
        ORDER BY hold_id
    LOOP
        v_state := v_what;
        IF v_what = 'renewed' THEN
            v_state := v_member.state;
            v_member.expires_at := greatest(v_member.expires_at, v_deadline);
            v_member.renewals := v_member.renewals + 1;
        END IF;
        UPDATE stock_hold
        SET state = v_state, expires_at = v_member.expires_at, renewals = v_member.renewals, changed_at = v_now
        WHERE site_id = p_site AND hold_id = v_member.hold_id
        RETURNING version INTO v_version;
        IF v_what <> 'renewed' THEN
            PERFORM settle_stock(p_site, v_member.item_id, v_member.quantity, v_what);
        END IF;
        PERFORM record_stock(
            p_site, v_member.hold_id, v_version, v_what, 'held', v_state, v_member.quantity, v_now, p_desk, p_reason,
            p_request
        );
    END LOOP;
    RETURN finish(v_site, p_request, 'group', p_group, NULL);
END
$$;

CREATE OR REPLACE FUNCTION confirm_group(p_site bigint, p_request uuid, p_desk text, p_group bigint) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN change_group(p_site, 'confirm_group', p_request, p_desk, p_group, NULL, NULL, false);
END
$$;

COMMENT ON FUNCTION confirm_group(bigint, uuid, text, bigint) IS
$$Make every held member of a group last.
SELECT confirm_group(1, gen_random_uuid(), 'anna', 3);$$;

CREATE OR REPLACE FUNCTION renew_group(
    p_site bigint, p_request uuid, p_desk text, p_group bigint, p_ttl interval DEFAULT NULL
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN change_group(p_site, 'renew_group', p_request, p_desk, p_group, p_ttl, NULL, false);
END
$$;

COMMENT ON FUNCTION renew_group(bigint, uuid, text, bigint, interval) IS
$$Give every held member of a group more time.
SELECT renew_group(1, gen_random_uuid(), 'anna', 3, '10 minutes');$$;

CREATE OR REPLACE FUNCTION cancel_group(
    p_site bigint, p_request uuid, p_desk text, p_group bigint, p_reason text DEFAULT '',
    p_rooms_only boolean DEFAULT false
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN change_group(p_site, 'cancel_group', p_request, p_desk, p_group, NULL, p_reason, p_rooms_only);
END
$$;

COMMENT ON FUNCTION cancel_group(bigint, uuid, text, bigint, text, boolean) IS
$$Give everything of a group back. If stock of it is sold that is refused, unless only its rooms are meant.
SELECT cancel_group(1, gen_random_uuid(), 'anna', 3, 'guest called', p_rooms_only => true);$$;
