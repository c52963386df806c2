-- Reading: what a site, a room, a claim, an item and an event look like to everybody who reads, each defined once. As JSON
-- a row has these columns as its keys; times have an offset, and lengths are in seconds.

-- A view is made anew only where it is another one: that locks it against its readers too, who hold one view while they
-- ask for the next.
CREATE OR REPLACE PROCEDURE put_view(p_name text, p_query text)
LANGUAGE plpgsql
AS $$
BEGIN
    EXECUTE 'CREATE VIEW keyrack.view_as_wanted AS' || p_query;
    IF pg_get_viewdef('keyrack.view_as_wanted'::regclass)
        IS DISTINCT FROM pg_get_viewdef(to_regclass('keyrack.' || p_name)) THEN
        EXECUTE format('CREATE OR REPLACE VIEW keyrack.%I AS', p_name) || p_query;
    END IF;
    DROP VIEW keyrack.view_as_wanted RESTRICT;
    -- What is not in this list is dropped at the end.
    PERFORM set_config('keyrack.views', concat(current_setting('keyrack.views', true), p_name, ' '), true);
END
$$;

CALL put_view('site_line', $$
SELECT
    site_id,
    name,
    time_zone,
    extract(epoch FROM default_hold)::bigint AS default_hold_seconds,
    extract(epoch FROM longest_hold)::bigint AS longest_hold_seconds,
    renewals,
    extract(epoch FROM horizon)::bigint AS horizon_seconds,
    is_default,
    demo_lock IS NOT NULL AS is_demo
FROM site
$$);

CALL put_view('room_line', $$
SELECT
    site_id,
    room_id,
    name,
    capacity,
    booked_by,
    check_in,
    check_out,
    extract(epoch FROM turnaround)::bigint AS turnaround_seconds,
    features,
    retired_at
FROM room
$$);

CALL put_view('slot_claim', $$
SELECT
    s.site_id,
    s.hold_id,
    s.group_id,
    s.room_id,
    r.name AS room,
    lower(s.period) AS starts_at,
    upper(s.period) AS ends_at,
    upper(s.occupied) AS occupied_until,
    -- R7: nights are counted in dates.
    CASE WHEN r.booked_by = 'night' THEN
        (upper(s.period) AT TIME ZONE site.time_zone)::date - (lower(s.period) AT TIME ZONE site.time_zone)::date
    END AS nights,
    s.purpose,
    s.state,
    s.guest,
    s.note,
    s.party,
    s.expires_at,
    s.version,
    s.desk,
    s.request_id,
    s.created_at,
    s.changed_at
FROM slot_hold AS s
JOIN room AS r ON r.site_id = s.site_id AND r.room_id = s.room_id
JOIN site ON site.site_id = s.site_id
$$);

CALL put_view('stock_claim', $$
SELECT
    s.site_id,
    s.hold_id,
    s.group_id,
    s.item_id,
    i.name AS item,
    s.quantity,
    s.state,
    s.guest,
    s.note,
    s.expires_at,
    s.version,
    s.desk,
    s.request_id,
    s.created_at,
    s.changed_at
FROM stock_hold AS s
JOIN inventory AS i ON i.site_id = s.site_id AND i.item_id = s.item_id
$$);

CALL put_view('event_line', $$
SELECT
    e.site_id,
    e.event_id,
    e.at,
    e.what,
    e.slot_hold_id,
    e.stock_hold_id,
    coalesce(e.room_id, slot.room_id) AS room_id,
    coalesce(e.item_id, stock.item_id) AS item_id,
    e.version,
    coalesce(r.name, i.name, site.name) AS subject,
    coalesce(slot.guest, stock.guest, '') AS guest,
    coalesce(e.quantity, stock.quantity) AS quantity,
    e.from_state,
    e.to_state,
    e.desk,
    e.database_user,
    e.reason,
    e.request_id
FROM hold_event AS e
JOIN site ON site.site_id = e.site_id
LEFT JOIN slot_hold AS slot ON slot.site_id = e.site_id AND slot.hold_id = e.slot_hold_id
LEFT JOIN stock_hold AS stock ON stock.site_id = e.site_id AND stock.hold_id = e.stock_hold_id
LEFT JOIN room AS r ON r.site_id = e.site_id AND r.room_id = coalesce(e.room_id, slot.room_id)
LEFT JOIN inventory AS i ON i.site_id = e.site_id AND i.item_id = coalesce(e.item_id, stock.item_id)
$$);

-- R15: available is what a hold could get now: the counter plus what is still counted as held though it is due. The item
-- asked for, or all of a site, by number.
CREATE OR REPLACE FUNCTION item_levels(p_site bigint, p_item bigint DEFAULT NULL) RETURNS TABLE (
    item_id bigint, item text, total integer, available integer, held integer, sold integer, retired_at timestamptz
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_now timestamptz := site_clock(NULL);
BEGIN
    FOR item_id, item, total, available, held, sold, retired_at IN
        SELECT i.item_id, i.name, i.total, i.available, i.held, i.sold, i.retired_at
        FROM inventory AS i
        WHERE i.site_id = p_site AND (p_item IS NULL OR i.item_id = p_item)
        ORDER BY i.item_id
    LOOP
        -- Mostly nothing is held, and then nothing is due.
        IF held > 0 THEN
            SELECT item_levels.available + coalesce(sum(s.quantity), 0), item_levels.held - coalesce(sum(s.quantity), 0)
            INTO available, held
            FROM stock_hold AS s
            WHERE s.site_id = p_site AND s.item_id = item_levels.item_id AND s.state = 'held' AND s.expires_at <= v_now;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;

COMMENT ON FUNCTION item_levels(bigint, bigint) IS
$$What there is of an item, or of every item of a site.
SELECT * FROM item_levels(1);$$;

-- Where a group stands: held while any member is, else confirmed while any is, else as its members ended.
CREATE OR REPLACE FUNCTION group_state(p_site bigint, p_group bigint) RETURNS text
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN (
        SELECT state
        FROM (
            SELECT state FROM slot_hold WHERE site_id = p_site AND group_id = p_group
            UNION ALL
            SELECT state FROM stock_hold WHERE site_id = p_site AND group_id = p_group
        ) AS member
        ORDER BY array_position(ARRAY['held', 'confirmed', 'expired', 'cancelled'], state)
        LIMIT 1
    );
END
$$;

-- One thing of a site as it is now: a site, a room, an item, a claim (slot or stock) or a group. Null if there is none.
CREATE OR REPLACE FUNCTION as_it_is(p_site bigint, p_subject text, p_id bigint) RETURNS jsonb
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_found jsonb;
    v_members jsonb;
BEGIN
    CASE p_subject
        WHEN 'slot' THEN
            SELECT to_jsonb(c) INTO v_found FROM slot_claim AS c WHERE site_id = p_site AND hold_id = p_id;
        WHEN 'stock' THEN
            SELECT to_jsonb(c) INTO v_found FROM stock_claim AS c WHERE site_id = p_site AND hold_id = p_id;
        WHEN 'group' THEN
            SELECT jsonb_build_object('group_id', group_id) INTO v_found
            FROM claim_group WHERE site_id = p_site AND group_id = p_id;
            IF FOUND THEN
                SELECT coalesce(jsonb_agg(to_jsonb(c) ORDER BY c.hold_id), '[]') INTO v_members
                FROM slot_claim AS c WHERE site_id = p_site AND group_id = p_id;
                v_found := v_found || jsonb_build_object('state', group_state(p_site, p_id), 'slots', v_members);
                SELECT coalesce(jsonb_agg(to_jsonb(c) ORDER BY c.hold_id), '[]') INTO v_members
                FROM stock_claim AS c WHERE site_id = p_site AND group_id = p_id;
                v_found := v_found || jsonb_build_object('stock', v_members);
            END IF;
        WHEN 'item' THEN
            SELECT to_jsonb(i) INTO v_found FROM item_levels(p_site, p_id) AS i;
        WHEN 'room' THEN
            SELECT to_jsonb(r) INTO v_found FROM room_line AS r WHERE site_id = p_site AND room_id = p_id;
        WHEN 'site' THEN
            SELECT to_jsonb(s) INTO v_found FROM site_line AS s WHERE site_id = p_site;
    END CASE;
    RETURN v_found;
END
$$;

-- The same, for everybody.
CREATE OR REPLACE FUNCTION look_up(p_site bigint, p_subject text, p_id bigint) RETURNS jsonb
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN as_it_is(p_site, p_subject, p_id);
END
$$;

COMMENT ON FUNCTION look_up(bigint, text, bigint) IS
$$One claim on a room (slot) or on stock, one group, item, room or the site, as JSON; null if there is none.
SELECT look_up(1, 'slot', 17);$$;

-- What a number of a claim stands for, so that a wrong kind can be told: room, stock or group; null if nothing.
CREATE OR REPLACE FUNCTION kind_of_claim(p_site bigint, p_id bigint) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN CASE
        WHEN EXISTS (SELECT FROM slot_hold WHERE site_id = p_site AND hold_id = p_id) THEN 'room'
        WHEN EXISTS (SELECT FROM stock_hold WHERE site_id = p_site AND hold_id = p_id) THEN 'stock'
        WHEN EXISTS (SELECT FROM claim_group WHERE site_id = p_site AND group_id = p_id) THEN 'group'
    END;
END
$$;

COMMENT ON FUNCTION kind_of_claim(bigint, bigint) IS
$$What a number stands for: a claim on a room, on stock, or a group.
SELECT kind_of_claim(1, 17);$$;

-- Rooms in the site's order, retired ones too.
CREATE OR REPLACE FUNCTION list_rooms(p_site bigint) RETURNS jsonb
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.room_id), '[]') FROM room_line AS r WHERE r.site_id = p_site
    );
END
$$;

-- Items in the site's order, retired ones too.
CREATE OR REPLACE FUNCTION list_items(p_site bigint) RETURNS jsonb
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN (SELECT coalesce(jsonb_agg(to_jsonb(i) ORDER BY i.item_id), '[]') FROM item_levels(p_site) AS i);
END
$$;

-- Lists are json and not jsonb, which takes three times as long to make and is put together for nobody to look into.

-- Claims on rooms by number, so many after one; what is null does not matter.
CREATE OR REPLACE FUNCTION list_slots(
    p_site bigint, p_room bigint, p_from timestamptz, p_to timestamptz, p_state text, p_guest text, p_after bigint,
    p_limit integer
) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN (
        SELECT coalesce(json_agg(page ORDER BY page.hold_id), '[]')
        FROM (
            SELECT * FROM slot_claim
            WHERE site_id = p_site
                AND hold_id > p_after
                AND (p_room IS NULL OR room_id = p_room)
                AND (p_from IS NULL OR ends_at > p_from)
                AND (p_to IS NULL OR starts_at < p_to)
                AND (p_state IS NULL OR state = p_state)
                AND (p_guest IS NULL OR strpos(lower(guest), lower(p_guest)) > 0)
            ORDER BY hold_id
            LIMIT p_limit
        ) AS page
    );
END
$$;

COMMENT ON FUNCTION list_slots(bigint, bigint, timestamptz, timestamptz, text, text, bigint, integer) IS
$$Claims on rooms by number: of a room, in a window, in a state, with a guest; so many after a number.
SELECT list_slots(1, NULL, NULL, NULL, 'held', NULL, 0, 1000);$$;

-- Claims on stock, likewise.
CREATE OR REPLACE FUNCTION list_stock_claims(
    p_site bigint, p_item bigint, p_state text, p_guest text, p_after bigint, p_limit integer
) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN (
        SELECT coalesce(json_agg(page ORDER BY page.hold_id), '[]')
        FROM (
            SELECT * FROM stock_claim
            WHERE site_id = p_site
                AND hold_id > p_after
                AND (p_item IS NULL OR item_id = p_item)
                AND (p_state IS NULL OR state = p_state)
                AND (p_guest IS NULL OR strpos(lower(guest), lower(p_guest)) > 0)
            ORDER BY hold_id
            LIMIT p_limit
        ) AS page
    );
END
$$;

COMMENT ON FUNCTION list_stock_claims(bigint, bigint, text, text, bigint, integer) IS
$$Claims on stock by number: of an item, in a state, with a guest; so many after a number.
SELECT list_stock_claims(1, NULL, 'held', NULL, 0, 1000);$$;

-- What happened, in the order in which it was written down: of a site, of a claim or of a request; so many after one. The
-- life of one claim is in the order of its versions.
CREATE OR REPLACE FUNCTION list_events(
    p_site bigint, p_slot bigint, p_stock bigint, p_request uuid, p_after bigint, p_limit integer
) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    -- Three questions, because each has an index of its own.
    IF p_slot IS NOT NULL OR p_stock IS NOT NULL THEN
        RETURN (
            SELECT coalesce(json_agg(page ORDER BY page.version), '[]')
            FROM (
                SELECT * FROM event_line
                WHERE site_id = p_site AND version > p_after AND (slot_hold_id = p_slot OR stock_hold_id = p_stock)
                ORDER BY version
                LIMIT p_limit
            ) AS page
        );
    ELSIF p_request IS NOT NULL THEN
        RETURN (
            SELECT coalesce(json_agg(page ORDER BY page.event_id), '[]')
            FROM (
                SELECT * FROM event_line
                WHERE site_id = p_site AND event_id > p_after AND request_id = p_request
                ORDER BY event_id
                LIMIT p_limit
            ) AS page
        );
    END IF;
    RETURN (
        SELECT coalesce(json_agg(page ORDER BY page.event_id), '[]')
        FROM (
            SELECT * FROM event_line
            WHERE site_id = p_site AND event_id > p_after
            ORDER BY event_id
            LIMIT p_limit
        ) AS page
    );
END
$$;

COMMENT ON FUNCTION list_events(bigint, bigint, bigint, uuid, bigint, integer) IS
$$What happened to a claim on a room, to a claim on stock, by a request, or at all; so many after a version (of a claim) or an event.
SELECT list_events(1, 17, NULL, NULL, 0, 1000);$$;

-- What a console paints: everything of a site that touches a window of time, in one snapshot of the data. A claim over
-- midnight is there on every day that it touches (R6). Retired rooms and items only while something is left on them.
CREATE OR REPLACE FUNCTION snapshot(p_site bigint, p_from timestamptz, p_to timestamptz, p_sales integer, p_events integer)
RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_claims json;
    v_rooms json;
    v_items json;
    v_held json;
    v_sold json;
    v_events json;
BEGIN
    SELECT coalesce(json_agg(c ORDER BY c.room_id, c.starts_at), '[]') INTO v_claims
    FROM slot_hold AS s
    JOIN slot_claim AS c ON c.site_id = s.site_id AND c.hold_id = s.hold_id
    WHERE s.site_id = p_site AND s.active AND s.occupied && tstzrange(p_from, p_to, '[)');
    SELECT coalesce(json_agg(r ORDER BY r.room_id), '[]') INTO v_rooms
    FROM room_line AS r
    WHERE r.site_id = p_site AND (
        r.retired_at IS NULL
        OR EXISTS (
            SELECT FROM slot_hold AS s
            WHERE s.site_id = p_site AND s.room_id = r.room_id AND s.active
                AND s.occupied && tstzrange(p_from, p_to, '[)')
        )
    );
    SELECT coalesce(json_agg(i ORDER BY i.item_id), '[]') INTO v_items
    FROM item_levels(p_site) AS i
    WHERE i.retired_at IS NULL OR i.held > 0;
    SELECT coalesce(json_agg(c ORDER BY c.expires_at), '[]') INTO v_held
    FROM stock_claim AS c
    WHERE c.site_id = p_site AND c.state = 'held';
    SELECT coalesce(json_agg(sale ORDER BY sale.hold_id DESC), '[]') INTO v_sold
    FROM (
        SELECT * FROM stock_claim WHERE site_id = p_site AND state = 'confirmed' ORDER BY hold_id DESC LIMIT p_sales
    ) AS sale;
    SELECT coalesce(json_agg(event ORDER BY event.event_id DESC), '[]') INTO v_events
    FROM (SELECT * FROM event_line WHERE site_id = p_site ORDER BY event_id DESC LIMIT p_events) AS event;
    RETURN json_build_object(
        'now', site_clock(NULL), 'site', as_it_is(p_site, 'site', NULL), 'rooms', v_rooms, 'claims', v_claims,
        'items', v_items, 'held_stock', v_held, 'sold_stock', v_sold, 'events', v_events
    );
END
$$;

COMMENT ON FUNCTION snapshot(bigint, timestamptz, timestamptz, integer, integer) IS
$$Everything of a site that touches a window, with so many of the latest sales and events, as JSON.
SELECT snapshot(1, '2027-01-01 00:00+00', '2027-01-02 00:00+00', 50, 200);$$;

-- The active claims that touch a window, by room and start (R6).
CREATE OR REPLACE FUNCTION claims_in_window(p_site bigint, p_from timestamptz, p_to timestamptz) RETURNS SETOF slot_claim
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT c.*
    FROM slot_hold AS s
    JOIN slot_claim AS c ON c.site_id = s.site_id AND c.hold_id = s.hold_id
    WHERE s.site_id = p_site AND s.active AND s.occupied && tstzrange(p_from, p_to, '[)')
    ORDER BY c.room_id, c.starts_at;
END
$$;

COMMENT ON FUNCTION claims_in_window(bigint, timestamptz, timestamptz) IS
$$The active claims on rooms that touch a window.
SELECT * FROM claims_in_window(1, '2027-01-01 00:00+00', '2027-01-02 00:00+00');$$;

-- Every site, in the order in which they were made.
CREATE OR REPLACE FUNCTION list_sites() RETURNS jsonb
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN (SELECT coalesce(jsonb_agg(to_jsonb(s) ORDER BY s.site_id), '[]') FROM site_line AS s);
END
$$;

-- What a command line needs to know before its command, in one question: whether this is the text that it was made for,
-- and the site that is meant: the one of that name; without a name the only one, or the default. A demo's is found by its
-- name only. With the site its rooms and items; and how many there are besides those of demos.
CREATE OR REPLACE FUNCTION open_site(p_name text) RETURNS jsonb
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_text jsonb;
    v_site bigint;
    v_sites bigint;
BEGIN
    SELECT jsonb_build_object('revision', revision, 'checksum', encode(checksum, 'hex')) INTO v_text FROM protocol_text;
    SELECT count(*) INTO v_sites FROM site WHERE demo_lock IS NULL;
    IF p_name IS NOT NULL THEN
        SELECT site_id INTO v_site FROM site WHERE name = p_name;
    ELSE
        SELECT site_id INTO v_site FROM site WHERE demo_lock IS NULL AND (is_default OR v_sites = 1);
    END IF;
    RETURN jsonb_build_object(
        'text', v_text, 'sites', v_sites, 'now', site_clock(NULL), 'site', as_it_is(v_site, 'site', NULL),
        'rooms', list_rooms(v_site), 'items', list_items(v_site)
    );
END
$$;

-- How many changes have become visible since a snapshot, and the snapshot to ask with next time. A transaction that
-- commits late is not in the old snapshot, however early it began, so none is missed; one that idles holds nobody up.
CREATE OR REPLACE FUNCTION changes_since(
    p_site bigint, p_seen text, OUT seen text, OUT now timestamptz, OUT changes bigint
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_now pg_snapshot := pg_current_snapshot();
    v_seen pg_snapshot := coalesce(p_seen::pg_snapshot, v_now);
    v_oldest xid8 := pg_snapshot_xmin(v_seen);
BEGIN
    SELECT count(*) INTO changes
    FROM change_log AS c
    WHERE c.site_id = p_site
        AND c.transaction_id >= v_oldest
        AND NOT pg_visible_in_snapshot(c.transaction_id, v_seen)
        AND pg_visible_in_snapshot(c.transaction_id, v_now);
    seen := v_now::text;
    now := site_clock(NULL);
END
$$;

COMMENT ON FUNCTION changes_since(bigint, text) IS
$$How many changes have come since an earlier answer of this function, the next text to ask with, and the clock.
SELECT * FROM changes_since(1, NULL);$$;
