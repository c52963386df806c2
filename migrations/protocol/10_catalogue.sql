-- What a site has: sites, rooms and items come and go; added, retired instead of deleted (R28), and made what a file says.

CREATE OR REPLACE FUNCTION add_room(
    p_site bigint, p_request uuid, p_desk text, p_name text, p_capacity integer DEFAULT 1,
    p_booked_by text DEFAULT 'hour', p_turnaround interval DEFAULT '0', p_features text[] DEFAULT '{}',
    p_check_in time DEFAULT '15:00', p_check_out time DEFAULT '11:00'
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_answer jsonb;
    v_site site;
    v_room bigint;
BEGIN
    v_answer := begin_request(p_site, p_request, p_desk, 'add_room', jsonb_build_object(
        'name', p_name, 'capacity', p_capacity, 'booked_by', p_booked_by,
        'turnaround', extract(epoch FROM p_turnaround), 'features', p_features, 'check_in', p_check_in,
        'check_out', p_check_out
    ));
    IF v_answer IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    v_site := site_row(p_site);
    INSERT INTO room (site_id, name, capacity, booked_by, turnaround, features, check_in, check_out)
    VALUES (
        p_site, p_name, p_capacity, p_booked_by, elapsed(p_turnaround), p_features, p_check_in, p_check_out
    )
    RETURNING room_id INTO v_room;
    PERFORM record_house(p_site, v_room, NULL, 'added', NULL, site_clock(v_site), p_desk, '', p_request);
    RETURN finish(v_site, p_request, 'room', v_room, NULL);
END
$$;

COMMENT ON FUNCTION add_room(bigint, uuid, text, text, integer, text, interval, text[], time, time) IS
$$Add a room. A name that is taken raises.
SELECT add_room(1, gen_random_uuid(), 'anna', 'Blue room', 8, 'hour', '15 minutes', '{screen}');$$;

CREATE OR REPLACE FUNCTION retire_room(p_site bigint, p_request uuid, p_desk text, p_room bigint) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_answer jsonb;
    v_site site;
    v_room room;
    v_refusal jsonb;
    v_now timestamptz;
BEGIN
    v_answer := begin_request(p_site, p_request, p_desk, 'retire_room', jsonb_build_object('room', p_room));
    IF v_answer IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    v_site := site_row(p_site);
    v_room := lock_room(p_site, p_room);
    IF v_room.room_id IS NULL THEN
        v_refusal := refuse('no_such_room', jsonb_build_object('room', '#' || coalesce(p_room::text, '')));
    ELSIF v_room.retired_at IS NOT NULL THEN
        v_refusal := refuse('retired', jsonb_build_object('name', v_room.name));
    ELSE
        PERFORM expire_room(v_site, p_room, p_desk);
        v_now := site_clock(v_site);
        UPDATE room SET retired_at = v_now WHERE site_id = p_site AND room_id = p_room;
        PERFORM record_house(p_site, p_room, NULL, 'retired', NULL, v_now, p_desk, '', p_request);
    END IF;
    RETURN finish(v_site, p_request, 'room', p_room, v_refusal);
END
$$;

COMMENT ON FUNCTION retire_room(bigint, uuid, text, bigint) IS
$$Take no new claims on a room; those that it has stay.
SELECT retire_room(1, gen_random_uuid(), 'anna', 2);$$;

CREATE OR REPLACE FUNCTION add_item(p_site bigint, p_request uuid, p_desk text, p_name text, p_quantity integer)
RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_answer jsonb;
    v_site site;
    v_item bigint;
    v_now timestamptz;
BEGIN
    v_answer := begin_request(p_site, p_request, p_desk, 'add_item', jsonb_build_object(
        'name', p_name, 'quantity', p_quantity
    ));
    IF v_answer IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    v_site := site_row(p_site);
    IF coalesce(p_quantity, -1) < 0 THEN
        RETURN finish(v_site, p_request, 'item', NULL, refuse(
            'quantity_invalid', jsonb_build_object('quantity', coalesce(p_quantity, 0))
        ));
    END IF;
    v_now := site_clock(v_site);
    v_item := place_item(p_site, p_name, p_quantity, v_now, p_desk, p_request);
    PERFORM record_house(p_site, NULL, v_item, 'added', p_quantity, v_now, p_desk, '', p_request);
    RETURN finish(v_site, p_request, 'item', v_item, NULL);
END
$$;

COMMENT ON FUNCTION add_item(bigint, uuid, text, text, integer) IS
$$Add an item with its opening quantity. A name that is taken raises.
SELECT add_item(1, gen_random_uuid(), 'anna', 'Breakfast', 40);$$;

-- Write a new item. R19: the movements add up to the total, from the first unit on.
CREATE OR REPLACE FUNCTION place_item(
    p_site bigint, p_name text, p_quantity integer, p_at timestamptz, p_desk text, p_request uuid
) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    v_item bigint;
BEGIN
    INSERT INTO inventory (site_id, name, available) VALUES (p_site, p_name, p_quantity)
    RETURNING item_id INTO v_item;
    INSERT INTO stock_movement (site_id, item_id, change, reason, desk, request_id, at)
    VALUES (p_site, v_item, p_quantity, 'opening quantity', p_desk, p_request, p_at);
    RETURN v_item;
END
$$;

CREATE OR REPLACE FUNCTION retire_item(p_site bigint, p_request uuid, p_desk text, p_item bigint) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_answer jsonb;
    v_site site;
    v_item inventory;
    v_refusal jsonb;
    v_now timestamptz;
BEGIN
    v_answer := begin_request(p_site, p_request, p_desk, 'retire_item', jsonb_build_object('item', p_item));
    IF v_answer IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    v_site := site_row(p_site);
    v_item := lock_item(p_site, p_item);
    IF v_item.item_id IS NULL THEN
        v_refusal := refuse('no_such_item', jsonb_build_object('item', '#' || coalesce(p_item::text, '')));
    ELSIF v_item.retired_at IS NOT NULL THEN
        v_refusal := refuse('retired', jsonb_build_object('name', v_item.name));
    ELSE
        PERFORM expire_item(v_site, p_item, p_desk);
        v_now := site_clock(v_site);
        UPDATE inventory SET retired_at = v_now WHERE site_id = p_site AND item_id = p_item;
        PERFORM record_house(p_site, NULL, p_item, 'retired', NULL, v_now, p_desk, '', p_request);
    END IF;
    RETURN finish(v_site, p_request, 'item', p_item, v_refusal);
END
$$;

COMMENT ON FUNCTION retire_item(bigint, uuid, text, bigint) IS
$$Take no new claims on an item; those that it has stay.
SELECT retire_item(1, gen_random_uuid(), 'anna', 3);$$;

-- Commands that come before there is a site to be the first argument (R29). Their answers carry the site, and what was
-- applied: [{"kind": …, "name": …, "change": …, "detail": …}, …].

CREATE OR REPLACE FUNCTION add_site(p_request uuid, p_desk text, p_name text, p_time_zone text) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_answer jsonb;
    v_site site;
BEGIN
    v_answer := begin_server_request(p_request, p_desk, 'add_site', jsonb_build_object(
        'name', p_name, 'zone', p_time_zone
    ));
    IF v_answer IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    INSERT INTO site (name, time_zone) VALUES (p_name, p_time_zone) RETURNING * INTO v_site;
    PERFORM record_house(v_site.site_id, NULL, NULL, 'added', NULL, site_clock(v_site), p_desk, '', p_request);
    RETURN finish_server_request(v_site, p_request, '[]');
END
$$;

COMMENT ON FUNCTION add_site(uuid, text, text, text) IS
$$Add a site. A name that is taken raises.
SELECT add_site(gen_random_uuid(), 'anna', 'Riverside House', 'Europe/London');$$;

-- The site that is meant when none is named. Two updates, because a unique index is checked row by row.
CREATE OR REPLACE FUNCTION default_site(p_request uuid, p_desk text, p_site bigint) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_answer jsonb;
    v_site site;
    v_before bigint;
BEGIN
    v_answer := begin_server_request(p_request, p_desk, 'default_site', jsonb_build_object('site', p_site));
    IF v_answer IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    v_site := site_row(p_site);
    SELECT site_id INTO v_before FROM site WHERE is_default FOR NO KEY UPDATE;
    IF v_before IS DISTINCT FROM p_site THEN
        UPDATE site SET is_default = false WHERE site_id = v_before;
        UPDATE site SET is_default = true WHERE site_id = p_site;
        PERFORM record_house(p_site, NULL, NULL, 'changed', NULL, site_clock(v_site), p_desk, 'default', p_request);
    END IF;
    RETURN finish_server_request(v_site, p_request, '[]');
END
$$;

COMMENT ON FUNCTION default_site(uuid, text, bigint) IS
$$Make a site the one that is meant when none is named.
SELECT default_site(gen_random_uuid(), 'anna', 1);$$;

-- Makes the site what the file says, and reports: added, changed, not_in_file (nothing is deleted), total_differs
-- (receive and adjust change totals), retired. Applied again it reports and changes nothing. One statement: a site is
-- never half applied. Rooms and items are locked in the order of their ids, as groups do it, before any is changed.
CREATE OR REPLACE FUNCTION apply_house(p_request uuid, p_desk text, p_house jsonb) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_answer jsonb;
    v_site site;
    v_new site;
    v_now timestamptz;
    v_entry jsonb;
    v_room room;
    v_other room;
    v_item inventory;
    v_id bigint;
    v_report jsonb := '[]';
BEGIN
    v_answer := begin_server_request(p_request, p_desk, 'apply_house', p_house);
    IF v_answer IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    INSERT INTO site (name, time_zone)
    VALUES (p_house -> 'site' ->> 'name', p_house -> 'site' ->> 'time_zone')
    ON CONFLICT ON CONSTRAINT site_name_unique DO NOTHING
    RETURNING * INTO v_site;
    IF FOUND THEN
        v_report := v_report || jsonb_build_object('kind', 'site', 'name', v_site.name, 'change', 'added');
        PERFORM record_house(
            v_site.site_id, NULL, NULL, 'added', NULL, site_clock(v_site), p_desk, 'house file', p_request
        );
    ELSE
        SELECT * INTO STRICT v_site FROM site WHERE name = p_house -> 'site' ->> 'name' FOR NO KEY UPDATE;
    END IF;
    PERFORM FROM room WHERE site_id = v_site.site_id ORDER BY room_id FOR NO KEY UPDATE;
    PERFORM FROM inventory WHERE site_id = v_site.site_id ORDER BY item_id FOR NO KEY UPDATE;
    v_now := site_clock(v_site);

    v_new := v_site;
    v_new.time_zone := p_house -> 'site' ->> 'time_zone';
    v_new.default_hold := make_interval(secs => (p_house -> 'site' ->> 'default_hold')::double precision);
    v_new.longest_hold := make_interval(secs => (p_house -> 'site' ->> 'longest_hold')::double precision);
    v_new.renewals := (p_house -> 'site' ->> 'renewals')::integer;
    v_new.horizon := make_interval(secs => (p_house -> 'site' ->> 'horizon')::double precision);
    v_new.conflict_shows_guest := (p_house -> 'site' ->> 'conflict_shows_guest')::boolean;
    IF v_new IS DISTINCT FROM v_site THEN
        UPDATE site
        SET time_zone = v_new.time_zone, default_hold = v_new.default_hold, longest_hold = v_new.longest_hold,
            renewals = v_new.renewals, horizon = v_new.horizon, conflict_shows_guest = v_new.conflict_shows_guest
        WHERE site_id = v_site.site_id;
        IF v_report = '[]' THEN
            v_report := v_report || jsonb_build_object('kind', 'site', 'name', v_site.name, 'change', 'changed');
            PERFORM record_house(v_site.site_id, NULL, NULL, 'changed', NULL, v_now, p_desk, 'house file', p_request);
        END IF;
    END IF;

    FOR v_entry IN SELECT value FROM jsonb_array_elements(p_house -> 'rooms') LOOP
        SELECT * INTO v_room FROM room WHERE site_id = v_site.site_id AND name = v_entry ->> 'name';
        v_other := v_room;
        v_other.capacity := (v_entry ->> 'capacity')::integer;
        v_other.booked_by := v_entry ->> 'booked_by';
        v_other.turnaround := make_interval(secs => (v_entry ->> 'turnaround')::double precision);
        v_other.check_in := (v_entry ->> 'check_in')::time;
        v_other.check_out := (v_entry ->> 'check_out')::time;
        v_other.features := ARRAY(SELECT jsonb_array_elements_text(v_entry -> 'features'));
        IF v_room.room_id IS NULL THEN
            INSERT INTO room (site_id, name, capacity, booked_by, turnaround, features, check_in, check_out)
            VALUES (
                v_site.site_id, v_entry ->> 'name', v_other.capacity, v_other.booked_by, v_other.turnaround,
                v_other.features, v_other.check_in, v_other.check_out
            )
            RETURNING room_id INTO v_id;
            v_report := v_report || jsonb_build_object('kind', 'room', 'name', v_entry ->> 'name', 'change', 'added');
            PERFORM record_house(v_site.site_id, v_id, NULL, 'added', NULL, v_now, p_desk, 'house file', p_request);
            CONTINUE;
        END IF;
        IF v_room.retired_at IS NOT NULL THEN
            v_report := v_report || jsonb_build_object(
                'kind', 'room', 'name', v_room.name, 'change', 'retired', 'detail', 'it is retired and stays so'
            );
        END IF;
        IF v_other IS DISTINCT FROM v_room THEN
            UPDATE room
            SET capacity = v_other.capacity, booked_by = v_other.booked_by, turnaround = v_other.turnaround,
                check_in = v_other.check_in, check_out = v_other.check_out, features = v_other.features
            WHERE site_id = v_site.site_id AND room_id = v_room.room_id;
            v_report := v_report || jsonb_build_object('kind', 'room', 'name', v_room.name, 'change', 'changed');
            PERFORM record_house(
                v_site.site_id, v_room.room_id, NULL, 'changed', NULL, v_now, p_desk, 'house file', p_request
            );
        END IF;
    END LOOP;

    FOR v_entry IN SELECT value FROM jsonb_array_elements(p_house -> 'items') LOOP
        SELECT * INTO v_item FROM inventory WHERE site_id = v_site.site_id AND name = v_entry ->> 'name';
        IF NOT FOUND THEN
            v_id := place_item(
                v_site.site_id, v_entry ->> 'name', (v_entry ->> 'total')::integer, v_now, p_desk, p_request
            );
            v_report := v_report || jsonb_build_object('kind', 'item', 'name', v_entry ->> 'name', 'change', 'added');
            PERFORM record_house(
                v_site.site_id, NULL, v_id, 'added', (v_entry ->> 'total')::integer, v_now, p_desk, 'house file', p_request
            );
        ELSIF v_item.total <> (v_entry ->> 'total')::integer THEN
            v_report := v_report || jsonb_build_object(
                'kind', 'item', 'name', v_item.name, 'change', 'total_differs',
                'detail', format('the file says %s and the house has %s; receive or adjust change it',
                    v_entry ->> 'total', v_item.total));
        END IF;
    END LOOP;

    SELECT v_report || coalesce(jsonb_agg(jsonb_build_object(
        'kind', here.kind, 'name', here.name, 'change', 'not_in_file',
        'detail', 'the file does not name it; retire it if it is gone'
    )), '[]') INTO v_report
    FROM (
        SELECT 'room' AS kind, name, room_id AS id FROM room
        WHERE site_id = v_site.site_id AND retired_at IS NULL
            AND NOT EXISTS (SELECT FROM jsonb_array_elements(p_house -> 'rooms') AS e WHERE e ->> 'name' = name)
        UNION ALL
        SELECT 'item', name, item_id FROM inventory
        WHERE site_id = v_site.site_id AND retired_at IS NULL
            AND NOT EXISTS (SELECT FROM jsonb_array_elements(p_house -> 'items') AS e WHERE e ->> 'name' = name)
        ORDER BY 1 DESC, 3
    ) AS here;
    RETURN finish_server_request(v_site, p_request, v_report);
END
$$;

COMMENT ON FUNCTION apply_house(uuid, text, jsonb) IS
$$What `keyrack site apply FILE.toml` calls, with the file as JSON; lengths in seconds.
SELECT apply_house(gen_random_uuid(), 'anna', '{"site": {…}, "rooms": […], "items": […]}');$$;
