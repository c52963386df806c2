-- Sites: made, and described by a file (design section 9). These two come before there is a site to be the first
-- argument (R29).

CREATE FUNCTION add_site(p_request uuid, p_desk text, p_name text, p_time_zone text) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    v_site bigint;
    v_seen request;
BEGIN
    PERFORM require_read_committed();
    INSERT INTO site (name, time_zone) VALUES (p_name, p_time_zone)
    ON CONFLICT ON CONSTRAINT site_name_unique DO NOTHING
    RETURNING site_id INTO v_site;
    IF v_site IS NOT NULL THEN
        PERFORM begin_request(v_site, p_request, p_desk, 'add_site', jsonb_build_object('zone', p_time_zone));
        RETURN v_site;
    END IF;
    -- The same request again made this site; any other one comes too late for the name.
    SELECT site_id INTO STRICT v_site FROM site WHERE name = p_name;
    v_seen := begin_request(v_site, p_request, p_desk, 'add_site', jsonb_build_object('zone', p_time_zone));
    IF v_seen.request_id IS NULL OR v_seen.refusal IS NOT NULL THEN
        RAISE EXCEPTION 'There is a site of that name already'
            USING ERRCODE = 'unique_violation', CONSTRAINT = 'site_name_unique';
    END IF;
    RETURN v_site;
END
$$;

COMMENT ON FUNCTION add_site(uuid, text, text, text) IS
$$Add a site. A name that is taken raises.
SELECT add_site(gen_random_uuid(), 'anna', 'Riverside House', 'Europe/London');$$;

-- The site that is meant when none is named. Two updates, because a unique index is checked row by row.
CREATE FUNCTION set_default_site(p_site bigint) RETURNS void
LANGUAGE sql
AS $$
    UPDATE site SET is_default = false WHERE is_default AND site_id <> p_site;
    UPDATE site SET is_default = true WHERE site_id = p_site AND NOT is_default;
$$;

-- Makes the house what the file says, and reports: added, changed, not_in_file (nothing is deleted), total_differs
-- (receive and adjust change totals), retired. Applied again it reports and changes nothing. One statement: a house is
-- never half applied.
CREATE FUNCTION apply_house(p_request uuid, p_desk text, p_house jsonb)
RETURNS TABLE (site_id bigint, kind text, name text, change text, detail text)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_site site;
    v_new site;
    v_entry jsonb;
    v_room room;
    v_item inventory;
    v_id bigint;
    v_report jsonb := '[]';
    v_seen request;
BEGIN
    PERFORM require_read_committed();
    INSERT INTO site (name, time_zone)
    VALUES (p_house -> 'site' ->> 'name', p_house -> 'site' ->> 'time_zone')
    ON CONFLICT ON CONSTRAINT site_name_unique DO NOTHING
    RETURNING * INTO v_site;
    IF FOUND THEN
        v_report := v_report || jsonb_build_object('kind', 'site', 'name', v_site.name, 'change', 'added');
    ELSE
        SELECT * INTO STRICT v_site FROM site AS s WHERE s.name = p_house -> 'site' ->> 'name' FOR NO KEY UPDATE;
    END IF;
    v_seen := begin_request(v_site.site_id, p_request, p_desk, 'apply_house', p_house);
    IF v_seen.request_id IS NOT NULL THEN
        v_report := CASE v_seen.refusal WHEN 'request_reused'
            THEN jsonb_build_array(jsonb_build_object(
                'kind', 'request', 'name', v_seen.command, 'change', 'request_reused'))
            ELSE v_seen.details END;
        RETURN QUERY SELECT v_site.site_id, r.kind, r.name, r.change, r.detail
            FROM jsonb_to_recordset(v_report) AS r (kind text, name text, change text, detail text);
        RETURN;
    END IF;

    UPDATE site AS s
    SET time_zone = p_house -> 'site' ->> 'time_zone',
        default_hold = make_interval(secs => (p_house -> 'site' ->> 'default_hold')::double precision),
        longest_hold = make_interval(secs => (p_house -> 'site' ->> 'longest_hold')::double precision),
        renewals = (p_house -> 'site' ->> 'renewals')::integer,
        horizon = make_interval(secs => (p_house -> 'site' ->> 'horizon')::double precision),
        conflict_shows_guest = (p_house -> 'site' ->> 'conflict_shows_guest')::boolean
    WHERE s.site_id = v_site.site_id
    RETURNING * INTO v_new;
    IF v_new IS DISTINCT FROM v_site AND v_report = '[]' THEN
        v_report := v_report || jsonb_build_object('kind', 'site', 'name', v_site.name, 'change', 'changed');
        PERFORM record_house(v_site.site_id, NULL, NULL, 'changed', NULL, p_desk, 'house file', p_request);
    END IF;

    FOR v_entry IN SELECT value FROM jsonb_array_elements(p_house -> 'rooms') LOOP
        SELECT * INTO v_room FROM room AS r
        WHERE r.site_id = v_site.site_id AND r.name = v_entry ->> 'name' FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            INSERT INTO room (site_id, name) VALUES (v_site.site_id, v_entry ->> 'name') RETURNING room_id INTO v_id;
            PERFORM record_house(v_site.site_id, v_id, NULL, 'added', NULL, p_desk, 'house file', p_request);
            v_report := v_report || jsonb_build_object('kind', 'room', 'name', v_entry ->> 'name', 'change', 'added');
        ELSE
            v_id := v_room.room_id;
            IF v_room.retired_at IS NOT NULL THEN
                v_report := v_report || jsonb_build_object(
                    'kind', 'room', 'name', v_room.name, 'change', 'retired',
                    'detail', 'it is retired and stays so');
            END IF;
        END IF;
        UPDATE room AS r
        SET capacity = (v_entry ->> 'capacity')::integer,
            booked_by = v_entry ->> 'booked_by',
            turnaround = make_interval(secs => (v_entry ->> 'turnaround')::double precision),
            check_in = (v_entry ->> 'check_in')::time,
            check_out = (v_entry ->> 'check_out')::time,
            features = ARRAY(SELECT jsonb_array_elements_text(v_entry -> 'features'))
        WHERE r.site_id = v_site.site_id AND r.room_id = v_id
            AND (r.capacity, r.booked_by, r.turnaround, r.check_in, r.check_out, r.features) IS DISTINCT FROM (
                (v_entry ->> 'capacity')::integer, v_entry ->> 'booked_by',
                make_interval(secs => (v_entry ->> 'turnaround')::double precision), (v_entry ->> 'check_in')::time,
                (v_entry ->> 'check_out')::time, ARRAY(SELECT jsonb_array_elements_text(v_entry -> 'features'))
            );
        IF FOUND AND v_room.room_id IS NOT NULL THEN
            v_report := v_report || jsonb_build_object('kind', 'room', 'name', v_room.name, 'change', 'changed');
            PERFORM record_house(v_site.site_id, v_id, NULL, 'changed', NULL, p_desk, 'house file', p_request);
        END IF;
    END LOOP;

    FOR v_entry IN SELECT value FROM jsonb_array_elements(p_house -> 'items') LOOP
        SELECT * INTO v_item FROM inventory AS i
        WHERE i.site_id = v_site.site_id AND i.name = v_entry ->> 'name' FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            INSERT INTO inventory (site_id, name, available)
            VALUES (v_site.site_id, v_entry ->> 'name', (v_entry ->> 'total')::integer)
            RETURNING item_id INTO v_id;
            INSERT INTO stock_movement (site_id, item_id, change, reason, desk, request_id)
            VALUES (v_site.site_id, v_id, (v_entry ->> 'total')::integer, 'opening quantity', p_desk, p_request);
            PERFORM record_house(v_site.site_id, NULL, v_id, 'added', (v_entry ->> 'total')::integer, p_desk,
                'house file', p_request);
            v_report := v_report || jsonb_build_object('kind', 'item', 'name', v_entry ->> 'name', 'change', 'added');
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
        SELECT 'room' AS kind, r.name, r.room_id AS id FROM room AS r
        WHERE r.site_id = v_site.site_id AND r.retired_at IS NULL
            AND NOT EXISTS (SELECT FROM jsonb_array_elements(p_house -> 'rooms') AS e WHERE e ->> 'name' = r.name)
        UNION ALL
        SELECT 'item', i.name, i.item_id FROM inventory AS i
        WHERE i.site_id = v_site.site_id AND i.retired_at IS NULL
            AND NOT EXISTS (SELECT FROM jsonb_array_elements(p_house -> 'items') AS e WHERE e ->> 'name' = i.name)
        ORDER BY 1 DESC, 3
    ) AS here;

    PERFORM log_change(v_site.site_id);
    PERFORM remember_outcome(v_site.site_id, p_request, NULL, v_report);
    RETURN QUERY SELECT v_site.site_id, r.kind, r.name, r.change, r.detail
        FROM jsonb_to_recordset(v_report) AS r (kind text, name text, change text, detail text);
END
$$;

COMMENT ON FUNCTION apply_house(uuid, text, jsonb) IS
'What `keyrack site apply FILE.toml` calls, with the file as JSON: {"site": {…}, "rooms": […], "items": […]}; lengths in seconds.';

-- The change log is no record: an hour is enough for every console that is awake.
CREATE FUNCTION prune_change_log(p_site bigint) RETURNS void
LANGUAGE sql
AS $$
    DELETE FROM change_log WHERE site_id = p_site AND at < clock_timestamp() - interval '1 hour'
$$;
