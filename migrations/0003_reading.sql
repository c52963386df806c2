-- Reading: what a claim, an item and an event look like to everybody who reads, defined once.

-- RFC 3339 with the offset that the zone has at that instant (R5): what answers carry in their details.
CREATE FUNCTION site_time(p_zone text, p_at timestamptz) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT to_char(p_at AT TIME ZONE p_zone, 'YYYY-MM-DD"T"HH24:MI:SS')
        || CASE WHEN extract(microseconds FROM p_at)::bigint % 1000000 = 0 THEN '' ELSE to_char(p_at, '.US') END
        || CASE WHEN shift < interval '0' THEN '-' ELSE '+' END
        || to_char(greatest(shift, -shift), 'HH24:MI')
    FROM (SELECT (p_at AT TIME ZONE p_zone) - (p_at AT TIME ZONE 'UTC') AS shift) AS offset_there
$$;

CREATE VIEW slot_claim AS
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
JOIN site ON site.site_id = s.site_id;

CREATE VIEW stock_claim AS
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
JOIN inventory AS i ON i.site_id = s.site_id AND i.item_id = s.item_id;

-- R15: available is what a hold could get now: the counter plus what is still counted as held though it is due.
CREATE VIEW item_now AS
SELECT
    i.site_id,
    i.item_id,
    i.name AS item,
    i.total,
    i.available + due.quantity AS available,
    i.held - due.quantity AS held,
    i.sold,
    i.retired_at
FROM inventory AS i
CROSS JOIN LATERAL (
    SELECT coalesce(sum(s.quantity), 0)::integer AS quantity
    FROM stock_hold AS s
    WHERE s.site_id = i.site_id AND s.item_id = i.item_id AND s.state = 'held' AND s.expires_at <= clock_timestamp()
) AS due;

CREATE VIEW event_line AS
SELECT
    e.site_id,
    e.event_id,
    e.at,
    e.what,
    e.slot_hold_id,
    e.stock_hold_id,
    coalesce(e.room_id, slot.room_id) AS room_id,
    coalesce(e.item_id, stock.item_id) AS item_id,
    coalesce(r.name, i.name, site.name) AS subject,
    coalesce(slot.guest, stock.guest, '') AS guest,
    coalesce(e.quantity, stock.quantity) AS quantity,
    e.from_state,
    e.to_state,
    e.desk,
    e.reason,
    e.request_id
FROM hold_event AS e
JOIN site ON site.site_id = e.site_id
LEFT JOIN slot_hold AS slot ON slot.site_id = e.site_id AND slot.hold_id = e.slot_hold_id
LEFT JOIN stock_hold AS stock ON stock.site_id = e.site_id AND stock.hold_id = e.stock_hold_id
LEFT JOIN room AS r ON r.site_id = e.site_id AND r.room_id = coalesce(e.room_id, slot.room_id)
LEFT JOIN inventory AS i ON i.site_id = e.site_id AND i.item_id = coalesce(e.item_id, stock.item_id);

-- The active claims that touch a window, a claim over midnight on every day that it touches (R6).
CREATE FUNCTION claims_in_window(p_site bigint, p_from timestamptz, p_to timestamptz) RETURNS SETOF slot_claim
LANGUAGE sql STABLE
AS $$
    SELECT c.*
    FROM slot_hold AS s
    JOIN slot_claim AS c ON c.site_id = s.site_id AND c.hold_id = s.hold_id
    WHERE s.site_id = p_site
        AND s.state IN ('held', 'confirmed')
        AND s.occupied && tstzrange(p_from, p_to, '[)')
    ORDER BY c.room_id, c.starts_at
$$;

-- Held stock and what was sold last.
CREATE FUNCTION current_stock_claims(p_site bigint, p_sales integer) RETURNS SETOF stock_claim
LANGUAGE sql STABLE
AS $$
    (
        SELECT c.* FROM stock_claim AS c
        WHERE c.site_id = p_site AND c.state = 'held'
        ORDER BY c.expires_at
    )
    UNION ALL
    (
        SELECT c.* FROM stock_claim AS c
        WHERE c.site_id = p_site AND c.state = 'confirmed'
        ORDER BY c.hold_id DESC
        LIMIT p_sales
    )
$$;

CREATE FUNCTION recent_events(p_site bigint, p_limit integer) RETURNS SETOF event_line
LANGUAGE sql STABLE
AS $$
    SELECT * FROM event_line WHERE site_id = p_site ORDER BY event_id DESC LIMIT p_limit
$$;

-- How many changes have become visible since a snapshot, and the snapshot to ask with next time. A transaction that
-- commits late is not in the old snapshot, however early it began, so none is missed; one that idles holds nobody up.
CREATE FUNCTION changes_since(
    p_site bigint, p_seen text, OUT seen text, OUT now timestamptz, OUT changes bigint
)
LANGUAGE sql STABLE
AS $$
    SELECT
        pg_current_snapshot()::text,
        clock_timestamp(),
        (
            SELECT count(*) FROM change_log AS c
            WHERE c.site_id = p_site
                AND c.transaction_id >= pg_snapshot_xmin(p_seen::pg_snapshot)
                AND NOT pg_visible_in_snapshot(c.transaction_id, p_seen::pg_snapshot)
                AND pg_visible_in_snapshot(c.transaction_id, pg_current_snapshot())
        )
$$;

COMMENT ON FUNCTION changes_since(bigint, text) IS
'changes_since(site, seen): seen is the text of an earlier pg_current_snapshot(); answers the next one, the clock and how many changes came between.';
