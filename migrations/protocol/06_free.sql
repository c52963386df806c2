-- What is free: for somebody who looks for a time, and for somebody who has just been refused one.

-- What a room is taken with in a period: the part of it that the first claim there occupies. Null if it is free; a hold
-- that is due is in nobody's way (R11).
CREATE OR REPLACE FUNCTION taken_in(
    p_site bigint, p_room bigint, p_occupied tstzrange, p_now timestamptz, p_except bigint[] DEFAULT '{}'
) RETURNS tstzrange
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_taken tstzrange;
BEGIN
    SELECT occupied INTO v_taken
    FROM slot_hold
    WHERE site_id = p_site AND room_id = p_room AND active
        AND occupied && p_occupied
        AND NOT (state = 'held' AND expires_at <= p_now)
        AND hold_id <> ALL (p_except)
    ORDER BY lower(occupied)
    LIMIT 1;
    RETURN v_taken;
END
$$;

-- The soonest period of a length in a room that is free within a window, from one claim's end to the next. For a room by
-- the night the length is rounded up to nights. Null if there is none.
CREATE OR REPLACE FUNCTION first_free(
    p_site site, p_room room, p_from timestamptz, p_to timestamptz, p_length interval, p_now timestamptz,
    p_except bigint[] DEFAULT '{}'
) RETURNS tstzrange
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    v_zone text := p_site.time_zone;
    v_nights integer := greatest(1, ceil(extract(epoch FROM p_length) / 86400))::integer;
    v_day date := (p_from AT TIME ZONE v_zone)::date;
    v_from timestamptz := p_from;
    v_to timestamptz;
    v_taken tstzrange;
BEGIN
    LOOP
        IF p_room.booked_by = 'night' THEN
            v_from := (v_day + p_room.check_in) AT TIME ZONE v_zone;
            v_to := (v_day + v_nights + p_room.check_out) AT TIME ZONE v_zone;
        ELSE
            v_to := v_from + p_length;
        END IF;
        EXIT WHEN v_to > p_to;
        v_taken := NULL;
        IF v_from >= p_from THEN
            v_taken := taken_in(
                p_site.site_id, p_room.room_id, occupied_span(tstzrange(v_from, v_to, '[)'), p_room.turnaround), p_now,
                p_except
            );
            IF v_taken IS NULL THEN
                RETURN tstzrange(v_from, v_to, '[)');
            END IF;
        END IF;
        v_day := greatest(v_day + 1, (upper(v_taken) AT TIME ZONE v_zone)::date);
        v_from := upper(v_taken);
    END LOOP;
    RETURN NULL;
END
$$;

-- The latest period of a length in a room that begins before p_before and not before p_earliest: from one claim's
-- beginning back to the one before. Null if there is none.
CREATE OR REPLACE FUNCTION last_free(
    p_site site, p_room room, p_earliest timestamptz, p_before timestamptz, p_length interval, p_now timestamptz,
    p_except bigint[] DEFAULT '{}'
) RETURNS tstzrange
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    v_zone text := p_site.time_zone;
    v_nights integer := greatest(1, ceil(extract(epoch FROM p_length) / 86400))::integer;
    v_day date := (p_before AT TIME ZONE v_zone)::date;
    v_from timestamptz := p_before;
    v_to timestamptz;
    v_taken tstzrange;
BEGIN
    LOOP
        IF p_room.booked_by = 'night' THEN
            v_from := (v_day + p_room.check_in) AT TIME ZONE v_zone;
            v_to := (v_day + v_nights + p_room.check_out) AT TIME ZONE v_zone;
        ELSE
            v_to := v_from + p_length;
        END IF;
        EXIT WHEN v_from < p_earliest;
        v_taken := taken_in(
            p_site.site_id, p_room.room_id, occupied_span(tstzrange(v_from, v_to, '[)'), p_room.turnaround), p_now, p_except
        );
        IF v_taken IS NULL AND v_from < p_before THEN
            RETURN tstzrange(v_from, v_to, '[)');
        END IF;
        -- Free as it was asked for: then nothing before it is wanted.
        EXIT WHEN v_taken IS NULL AND p_room.booked_by = 'hour';
        v_day := v_day - 1;
        v_from := lower(v_taken) - p_room.turnaround - p_length;
    END LOOP;
    RETURN NULL;
END
$$;

-- The first free period of a length in each room that is large enough and has what is asked for, soonest first.
CREATE OR REPLACE FUNCTION find_free(
    p_site bigint, p_from timestamptz, p_to timestamptz, p_length interval, p_party integer DEFAULT NULL,
    p_features text[] DEFAULT '{}'
) RETURNS jsonb
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_site site := site_row(p_site);
    v_now timestamptz := site_clock(v_site);
    v_room room;
    v_free tstzrange;
    v_found jsonb := '[]';
BEGIN
    FOR v_room IN
        SELECT * FROM room
        WHERE site_id = p_site AND retired_at IS NULL AND capacity >= coalesce(p_party, 1) AND features @> p_features
        ORDER BY room_id
    LOOP
        -- From now on, at a quarter of an hour; and no further than the site takes bookings (R8).
        v_free := first_free(
            v_site, v_room,
            greatest(p_from, date_bin('15 minutes', v_now + interval '15 minutes', timestamptz 'epoch')),
            least(p_to, v_now + elapsed(v_site.horizon)), elapsed(p_length), v_now
        );
        IF v_free IS NOT NULL THEN
            v_found := v_found || jsonb_build_object(
                'room_id', v_room.room_id, 'room', v_room.name, 'capacity', v_room.capacity, 'from', lower(v_free),
                'to', upper(v_free), 'nights', CASE WHEN v_room.booked_by = 'night' THEN
                    (upper(v_free) AT TIME ZONE v_site.time_zone)::date
                        - (lower(v_free) AT TIME ZONE v_site.time_zone)::date
                END
            );
        END IF;
    END LOOP;
    RETURN (
        SELECT coalesce(jsonb_agg(
            free ORDER BY (free ->> 'from')::timestamptz, (free ->> 'capacity')::integer, (free ->> 'room_id')::bigint
        ), '[]')
        FROM jsonb_array_elements(v_found) AS free
    );
END
$$;

COMMENT ON FUNCTION find_free(bigint, timestamptz, timestamptz, interval, integer, text[]) IS
$$The first free period of a length in each room, soonest first, then the smallest room that will do.
SELECT find_free(1, '2027-01-01 08:00+00', '2027-01-01 20:00+00', '2 hours', 8, '{screen}');$$;

-- Up to three nearest alternatives for somebody who was refused a period: the same room sooner and later, and the
-- smallest other room of at least its size at the same time. As details of the refusal: {"choices": […]}.
CREATE OR REPLACE FUNCTION alternatives(
    p_site site, p_room room, p_from timestamptz, p_to timestamptz, p_except bigint[] DEFAULT '{}'
) RETURNS jsonb
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    v_now timestamptz := site_clock(p_site);
    v_length interval := elapsed(p_to - p_from);
    v_sooner tstzrange;
    v_later tstzrange;
    v_room room;
    v_other room;
BEGIN
    v_sooner := last_free(
        p_site, p_room, greatest(p_from - interval '168 hours', v_now), p_from, v_length, v_now, p_except
    );
    v_later := first_free(
        p_site, p_room, p_from, least(p_to + interval '168 hours', v_now + elapsed(p_site.horizon)), v_length, v_now,
        p_except
    );
    FOR v_room IN
        SELECT * FROM room
        WHERE site_id = p_site.site_id AND room_id <> p_room.room_id AND retired_at IS NULL
            AND capacity >= p_room.capacity AND booked_by = p_room.booked_by
            AND (booked_by = 'hour' OR (check_in, check_out) = (p_room.check_in, p_room.check_out))
        ORDER BY capacity, room_id
    LOOP
        IF taken_in(
            p_site.site_id, v_room.room_id, occupied_span(tstzrange(p_from, p_to, '[)'), v_room.turnaround), v_now, p_except
        ) IS NULL THEN
            v_other := v_room;
            EXIT;
        END IF;
    END LOOP;
    RETURN (
        SELECT jsonb_build_object('choices', coalesce(jsonb_agg(
            jsonb_build_object(
                'room_id', room_id,
                'room', name,
                'from', site_time(p_site.time_zone, lower(free)),
                'to', site_time(p_site.time_zone, upper(free))
            )
            ORDER BY abs(extract(epoch FROM lower(free) - p_from)), kind DESC
        ), '[]'))
        FROM (
            VALUES
                (1, p_room.room_id, p_room.name, v_sooner),
                (2, p_room.room_id, p_room.name, v_later),
                (3, v_other.room_id, v_other.name, CASE WHEN v_other.room_id IS NOT NULL THEN tstzrange(p_from, p_to) END)
        ) AS choice (kind, room_id, name, free)
        -- The period itself is no alternative to it.
        WHERE free IS NOT NULL AND (kind = 3 OR lower(free) <> p_from)
    );
END
$$;

-- When held units of an item come back at the soonest, for somebody who was refused: {"next_release": …} or nothing.
CREATE OR REPLACE FUNCTION next_release(p_site site, p_item bigint) RETURNS jsonb
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    v_at timestamptz;
    v_quantity integer;
BEGIN
    SELECT expires_at, quantity INTO v_at, v_quantity
    FROM stock_hold
    WHERE site_id = p_site.site_id AND item_id = p_item AND state = 'held'
    ORDER BY expires_at
    LIMIT 1;
    RETURN CASE WHEN v_at IS NULL THEN '{}' ELSE jsonb_build_object('next_release', jsonb_build_object(
        'at', site_time(p_site.time_zone, v_at), 'quantity', v_quantity
    )) END;
END
$$;
