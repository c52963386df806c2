-- Whoever looks for a free time looks no further than the house takes bookings (R8), however large the window; the rest of
-- find_free is as it was.
CREATE OR REPLACE FUNCTION find_free(
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
            least(p_to, clock_timestamp() + elapsed(site.horizon)), elapsed(p_length)
        ) AS c
        WHERE is_free(r.site_id, r, c.starts_at, c.ends_at)
        ORDER BY c.starts_at
        LIMIT 1
    ) AS free
    WHERE site.site_id = p_site
        AND r.retired_at IS NULL
        AND r.capacity >= coalesce(p_party, 1)
        AND r.features @> p_features
    ORDER BY free.starts_at, r.capacity, r.room_id
$$;

-- Also the latest period before a claim that only the turnaround of what was asked for runs into (R4); the rest of
-- free_choices is as it was.
CREATE OR REPLACE FUNCTION free_choices(
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
                    AND h.state IN ('held', 'confirmed')
                    AND h.occupied && tstzrange(wanted.earliest, p_to + p_room.turnaround, '[)')
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
