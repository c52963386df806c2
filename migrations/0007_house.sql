-- Rooms and items come and go: added, and retired instead of deleted (R28).

CREATE TYPE room_answer AS (
    refusal text,
    details jsonb,
    repeated boolean,
    now timestamptz,
    room_id bigint
);

CREATE FUNCTION finish_room(p_site bigint, p_request uuid, p_room bigint, p_refused refused) RETURNS room_answer
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM remember_outcome(p_site, p_request, p_refused.refusal, p_refused.details, p_room => p_room);
    RETURN ROW(p_refused.refusal, p_refused.details, false, clock_timestamp(), p_room);
END
$$;

CREATE FUNCTION add_room(
    p_site bigint, p_request uuid, p_desk text, p_name text, p_capacity integer DEFAULT 1,
    p_booked_by text DEFAULT 'hour', p_turnaround interval DEFAULT '0', p_features text[] DEFAULT '{}',
    p_check_in time DEFAULT '15:00', p_check_out time DEFAULT '11:00'
) RETURNS room_answer
LANGUAGE plpgsql
AS $$
DECLARE
    v_seen request;
    v_room bigint;
BEGIN
    PERFORM require_read_committed();
    v_seen := begin_request(p_site, p_request, p_desk, 'add_room', jsonb_build_object(
        'name', p_name, 'capacity', p_capacity, 'booked_by', p_booked_by,
        'turnaround', extract(epoch FROM p_turnaround), 'features', p_features, 'check_in', p_check_in,
        'check_out', p_check_out
    ));
    IF v_seen.request_id IS NOT NULL THEN
        RETURN ROW(v_seen.refusal, v_seen.details, v_seen.refusal IS DISTINCT FROM 'request_reused',
            clock_timestamp(), v_seen.room_id);
    END IF;
    INSERT INTO room (site_id, name, capacity, booked_by, turnaround, features, check_in, check_out)
    VALUES (
        p_site, p_name, p_capacity, p_booked_by, elapsed(p_turnaround), p_features, p_check_in, p_check_out
    )
    RETURNING room_id INTO v_room;
    PERFORM record_house(p_site, v_room, NULL, 'added', NULL, p_desk, '', p_request);
    RETURN finish_room(p_site, p_request, v_room, NULL);
END
$$;

COMMENT ON FUNCTION add_room(bigint, uuid, text, text, integer, text, interval, text[], time, time) IS
$$Add a room. A name that is taken raises.
SELECT * FROM add_room(1, gen_random_uuid(), 'anna', 'Blue room', 8, 'hour', '15 minutes', '{screen}');$$;

CREATE FUNCTION retire_room(p_site bigint, p_request uuid, p_desk text, p_room bigint) RETURNS room_answer
LANGUAGE plpgsql
AS $$
DECLARE
    v_seen request;
    v_room room;
    v_refused refused;
BEGIN
    PERFORM require_read_committed();
    v_seen := begin_request(p_site, p_request, p_desk, 'retire_room', jsonb_build_object('room', p_room));
    IF v_seen.request_id IS NOT NULL THEN
        RETURN ROW(v_seen.refusal, v_seen.details, v_seen.refusal IS DISTINCT FROM 'request_reused',
            clock_timestamp(), v_seen.room_id);
    END IF;
    v_room := lock_room(p_site, p_room);
    IF v_room.room_id IS NULL THEN
        v_refused := refuse('no_such_room', jsonb_build_object('room', '#' || coalesce(p_room::text, '')));
    ELSIF v_room.retired_at IS NOT NULL THEN
        v_refused := refuse('retired', jsonb_build_object('name', v_room.name));
    ELSE
        PERFORM expire_room(p_site, p_room, p_desk);
        UPDATE room SET retired_at = clock_timestamp() WHERE site_id = p_site AND room_id = p_room;
        PERFORM record_house(p_site, p_room, NULL, 'retired', NULL, p_desk, '', p_request);
    END IF;
    RETURN finish_room(p_site, p_request, v_room.room_id, v_refused);
END
$$;

COMMENT ON FUNCTION retire_room(bigint, uuid, text, bigint) IS
$$Take no new claims on a room; those that it has stay.
SELECT * FROM retire_room(1, gen_random_uuid(), 'anna', 2);$$;

CREATE FUNCTION add_item(p_site bigint, p_request uuid, p_desk text, p_name text, p_quantity integer)
RETURNS item_answer
LANGUAGE plpgsql
AS $$
DECLARE
    v_seen request;
    v_item bigint;
    v_refused refused;
BEGIN
    PERFORM require_read_committed();
    v_seen := begin_request(p_site, p_request, p_desk, 'add_item', jsonb_build_object(
        'name', p_name, 'quantity', p_quantity
    ));
    IF v_seen.request_id IS NOT NULL THEN
        RETURN answer_item(p_site, v_seen.item_id, v_seen.refusal, v_seen.details,
            v_seen.refusal IS DISTINCT FROM 'request_reused');
    END IF;
    IF coalesce(p_quantity, -1) < 0 THEN
        v_refused := refuse('quantity_invalid', jsonb_build_object('quantity', coalesce(p_quantity, 0)));
        RETURN finish_item(p_site, p_request, NULL, v_refused);
    END IF;
    INSERT INTO inventory (site_id, name, available) VALUES (p_site, p_name, p_quantity)
    RETURNING item_id INTO v_item;
    -- R19: the movements add up to the total, from the first unit on.
    INSERT INTO stock_movement (site_id, item_id, change, reason, desk, request_id)
    VALUES (p_site, v_item, p_quantity, 'opening quantity', p_desk, p_request);
    PERFORM record_house(p_site, NULL, v_item, 'added', p_quantity, p_desk, '', p_request);
    RETURN finish_item(p_site, p_request, v_item, NULL);
END
$$;

COMMENT ON FUNCTION add_item(bigint, uuid, text, text, integer) IS
$$Add an item with its opening quantity. A name that is taken raises.
SELECT * FROM add_item(1, gen_random_uuid(), 'anna', 'Breakfast', 40);$$;

CREATE FUNCTION retire_item(p_site bigint, p_request uuid, p_desk text, p_item bigint) RETURNS item_answer
LANGUAGE plpgsql
AS $$
DECLARE
    v_seen request;
    v_item inventory;
    v_refused refused;
BEGIN
    PERFORM require_read_committed();
    v_seen := begin_request(p_site, p_request, p_desk, 'retire_item', jsonb_build_object('item', p_item));
    IF v_seen.request_id IS NOT NULL THEN
        RETURN answer_item(p_site, v_seen.item_id, v_seen.refusal, v_seen.details,
            v_seen.refusal IS DISTINCT FROM 'request_reused');
    END IF;
    v_item := lock_item(p_site, p_item);
    IF v_item.item_id IS NULL THEN
        v_refused := refuse('no_such_item', jsonb_build_object('item', '#' || coalesce(p_item::text, '')));
    ELSIF v_item.retired_at IS NOT NULL THEN
        v_refused := refuse('retired', jsonb_build_object('name', v_item.name));
    ELSE
        PERFORM expire_item(p_site, p_item, p_desk);
        UPDATE inventory SET retired_at = clock_timestamp() WHERE site_id = p_site AND item_id = p_item;
        PERFORM record_house(p_site, NULL, p_item, 'retired', NULL, p_desk, '', p_request);
    END IF;
    RETURN finish_item(p_site, p_request, v_item.item_id, v_refused);
END
$$;

COMMENT ON FUNCTION retire_item(bigint, uuid, text, bigint) IS
$$Take no new claims on an item; those that it has stay.
SELECT * FROM retire_item(1, gen_random_uuid(), 'anna', 3);$$;
