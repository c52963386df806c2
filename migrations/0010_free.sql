-- What is free: for somebody who looks for a time, and for somebody who has just been refused one.

-- The periods that could be taken in one room, as starts and ends in a window, soonest first: right after each claim,
-- at the window's beginning, and for a room by the night each arrival date. Not all of them are free; the caller asks.
CREATE FUNCTION candidate_periods(
    p_site bigint, p_zone text, p_room room, p_from timestamptz, p_to timestamptz, p_length interval
) RETURNS TABLE (starts_at timestamptz, ends_at timestamptz)
LANGUAGE sql STABLE
AS $$
    SELECT start, start + p_length
    FROM (
        SELECT p_from AS start
        UNION
        SELECT upper(s.occupied) FROM slot_hold AS s
        WHERE s.site_id = p_site AND s.room_id = p_room.room_id AND s.state IN ('held', 'confirmed')
            -- A window that is over begins after its end, and has no candidates.
            AND s.occupied && tstzrange(p_from, greatest(p_from, p_to), '[)')
    ) AS starts
    WHERE p_room.booked_by = 'hour' AND start >= p_from AND start + p_length <= p_to
    UNION ALL
    SELECT start, stop
    FROM (
        SELECT
            (day::date + p_room.check_in) AT TIME ZONE p_zone AS start,
            (day::date + greatest(1, ceil(extract(epoch FROM p_length) / 86400))::integer + p_room.check_out)
                AT TIME ZONE p_zone AS stop
        FROM generate_series(
            (p_from AT TIME ZONE p_zone)::date::timestamp, (p_to AT TIME ZONE p_zone)::date::timestamp, interval '1 day'
        ) AS day
    ) AS nights
    WHERE p_room.booked_by = 'night' AND start >= p_from AND stop <= p_to
    ORDER BY 1
$$;

-- Whether a room is free for a period, its turnaround included; a hold that is due is in nobody's way (R11).
CREATE FUNCTION is_free(
    p_site bigint, p_room room, p_from timestamptz, p_to timestamptz, p_except bigint[] DEFAULT '{}'
) RETURNS boolean
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN NOT EXISTS (
        SELECT FROM slot_hold AS s
        WHERE s.site_id = p_site AND s.room_id = p_room.room_id AND s.state IN ('held', 'confirmed')
            AND s.occupied && occupied_span(tstzrange(p_from, p_to, '[)'), p_room.turnaround)
            AND NOT (s.state = 'held' AND s.expires_at <= clock_timestamp())
            AND s.hold_id <> ALL (p_except)
    );
END
$$;

-- The first free period of a length in each room that is large enough and has what is asked for, soonest first.
CREATE FUNCTION find_free(
    p_site bigint, p_from timestamptz, p_to timestamptz, p_length interval, p_party integer DEFAULT NULL,
    p_features text[] DEFAULT '{}'
) RETURNS TABLE (
    room_id bigint, room text, capacity integer, starts_at timestamptz, ends_at timestamptz, nights integer
)
LANGUAGE sql STABLE
AS $$
    SELECT
        r.room_id,
        r.name,
        r.capacity,
        free.starts_at,
        free.ends_at,
        CASE WHEN r.booked_by = 'night' THEN
            (free.ends_at AT TIME ZONE site.time_zone)::date - (free.starts_at AT TIME ZONE site.time_zone)::date
        END
    FROM site
    JOIN room AS r ON r.site_id = site.site_id
    CROSS JOIN LATERAL (
        SELECT c.starts_at, c.ends_at
        FROM candidate_periods(
            site.site_id, site.time_zone, r,
            -- From now on, at a quarter of an hour.
            greatest(p_from, date_bin('15 minutes', clock_timestamp() + interval '15 minutes', 'epoch'::timestamptz)),
            p_to, elapsed(p_length)
        ) AS c
        WHERE is_free(r.site_id, r, c.starts_at, c.ends_at)
        ORDER BY c.starts_at
        LIMIT 1
    ) AS free
    WHERE site.site_id = p_site
        AND r.retired_at IS NULL
        AND r.capacity >= coalesce(p_party, 1)
        AND r.features @> p_features
        AND free.ends_at <= clock_timestamp() + elapsed(site.horizon)
    ORDER BY free.starts_at, r.capacity, r.room_id
$$;

COMMENT ON FUNCTION find_free(bigint, timestamptz, timestamptz, interval, integer, text[]) IS
$$The first free period of a length in each room, soonest first, then the smallest room that will do.
SELECT * FROM find_free(1, '2027-01-01 08:00+00', '2027-01-01 20:00+00', '2 hours', 8, '{screen}');$$;

-- Up to three nearest free choices for somebody who was refused a period: the same room sooner and later, and the
-- smallest other room of at least its size at the same time. As details of the refusal: {"choices": […]}.
CREATE FUNCTION free_choices(
    p_site site, p_room room, p_from timestamptz, p_to timestamptz, p_except bigint[] DEFAULT '{}'
) RETURNS jsonb
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN (
        WITH wanted AS (
            SELECT
                p_to - p_from AS length,
                greatest(p_from - interval '168 hours', clock_timestamp()) AS earliest,
                least(p_to + interval '168 hours', clock_timestamp() + elapsed(p_site.horizon)) AS latest
        ),
        -- Before a claim: the latest period that ends, turnaround included, where an active claim begins.
        before AS (
            SELECT s.start AS starts_at, s.start + wanted.length AS ends_at
            FROM wanted
            CROSS JOIN LATERAL (
                SELECT lower(h.occupied) - p_room.turnaround - wanted.length AS start
                FROM slot_hold AS h
                WHERE p_room.booked_by = 'hour' AND h.site_id = p_room.site_id AND h.room_id = p_room.room_id
                    AND h.state IN ('held', 'confirmed') AND h.occupied && tstzrange(wanted.earliest, p_to, '[)')
            ) AS s
            WHERE s.start >= wanted.earliest AND s.start < p_from
            UNION ALL
            SELECT c.starts_at, c.ends_at
            FROM wanted, candidate_periods(p_site.site_id, p_site.time_zone, p_room, wanted.earliest, p_to, wanted.length) AS c
            WHERE p_room.booked_by = 'night' AND c.starts_at < p_from
        ),
        choices AS (
            (
                SELECT 1 AS kind, p_room AS room, b.starts_at, b.ends_at
                FROM before AS b
                WHERE is_free(p_site.site_id, p_room, b.starts_at, b.ends_at, p_except)
                ORDER BY b.starts_at DESC
                LIMIT 1
            )
            UNION ALL
            (
                SELECT 2, p_room, c.starts_at, c.ends_at
                FROM wanted, candidate_periods(p_site.site_id, p_site.time_zone, p_room, p_from, wanted.latest, wanted.length) AS c
                WHERE c.starts_at > p_from AND is_free(p_site.site_id, p_room, c.starts_at, c.ends_at, p_except)
                ORDER BY c.starts_at
                LIMIT 1
            )
            UNION ALL
            (
                SELECT 3, r, p_from, p_to
                FROM room AS r
                WHERE r.site_id = p_room.site_id AND r.room_id <> p_room.room_id AND r.retired_at IS NULL
                    AND r.capacity >= p_room.capacity AND r.booked_by = p_room.booked_by
                    AND (r.booked_by = 'hour' OR (r.check_in, r.check_out) = (p_room.check_in, p_room.check_out))
                    AND is_free(r.site_id, r, p_from, p_to, p_except)
                ORDER BY r.capacity, r.room_id
                LIMIT 1
            )
        )
        SELECT jsonb_build_object('choices', coalesce(jsonb_agg(jsonb_build_object(
            'room_id', (c.room).room_id,
            'room', (c.room).name,
            'from', site_time(p_site.time_zone, c.starts_at),
            'to', site_time(p_site.time_zone, c.ends_at)
        ) ORDER BY abs(extract(epoch FROM c.starts_at - p_from)), kind DESC), '[]'))
        FROM choices AS c
    );
END
$$;

-- When held units of an item come back at the soonest, for somebody who was refused: {"next_release": …} or nothing.
CREATE FUNCTION next_release(p_site site, p_item bigint) RETURNS jsonb
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN (
        SELECT coalesce(
            (
                SELECT jsonb_build_object('next_release', jsonb_build_object(
                    'at', site_time(p_site.time_zone, s.expires_at), 'quantity', s.quantity
                ))
                FROM stock_hold AS s
                WHERE s.site_id = p_site.site_id AND s.item_id = p_item AND s.state = 'held'
                ORDER BY s.expires_at
                LIMIT 1
            ),
            '{}'
        )
    );
END
$$;
