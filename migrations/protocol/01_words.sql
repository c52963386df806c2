-- What every part of the protocol says and reckons with. None of it reads a table.
--
-- The files of this folder are the whole current text of the protocol, in reading order, each function, view and trigger
-- once. They run in one transaction, as the owner, with the schema keyrack in front (store/connection/schema.rs).
--
-- Entry functions (commands), guards and readers are pinned: whatever the caller's search_path, temporary tables,
-- operators and functions are, the text means what it says here (R33). The path is the same for all of them, and never
-- has public in it: an exact match planted there beats the built-in one. They run with their owner's rights. The steps
-- between them are not pinned; they are called by entry functions alone, and inherit their path.
--
-- Statements that change rows keep to what a table spread by site_id can do (R34): each names its site as a parameter,
-- values are reckoned in a variable before, and nothing is read and written in one statement.

-- R10: the only clock. Read in one place, for the site in whose row the command has it, after the last lock and
-- immediately before the statement that decides.
CREATE OR REPLACE FUNCTION site_clock(p_site site) RETURNS timestamptz
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN clock_timestamp();
END
$$;

-- RFC 3339 with the offset that the zone has at that instant (R5): what answers carry in their details.
CREATE OR REPLACE FUNCTION site_time(p_zone text, p_at timestamptz) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    v_there timestamp := p_at AT TIME ZONE p_zone;
    v_shift interval := v_there - (p_at AT TIME ZONE 'UTC');
BEGIN
    RETURN to_char(v_there, 'YYYY-MM-DD"T"HH24:MI:SS')
        || CASE WHEN extract(microseconds FROM p_at)::bigint % 1000000 = 0 THEN '' ELSE to_char(p_at, '.US') END
        || CASE WHEN v_shift < interval '0' THEN '-' ELSE '+' END
        || to_char(greatest(v_shift, -v_shift), 'HH24:MI');
END
$$;

-- A period in a form that no session setting changes (R25).
CREATE OR REPLACE FUNCTION period_text(p_period tstzrange) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN to_char(lower(p_period) AT TIME ZONE 'UTC', '"["YYYY-MM-DD"T"HH24:MI:SS.US"Z,"')
        || to_char(upper(p_period) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z)"');
END
$$;

-- An elapsed length, whatever the zone of the session (R5): days of an interval count as 24 hours.
CREATE OR REPLACE FUNCTION elapsed(p_length interval) RETURNS interval
LANGUAGE sql IMMUTABLE
AS $$
    SELECT make_interval(secs => extract(epoch FROM p_length)::double precision)
$$;

-- What a claim would keep others out of: its period and the turnaround after it (R4), as the column occupied says it.
CREATE OR REPLACE FUNCTION occupied_span(p_period tstzrange, p_turnaround interval) RETURNS tstzrange
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN tstzrange(
        lower(p_period), (upper(p_period) AT TIME ZONE 'UTC' + p_turnaround) AT TIME ZONE 'UTC', '[)'
    );
END
$$;

-- The edges of a claim's life (R9): whether a claim in this table may go from one state to another. A sale of stock stays
-- (R18).
CREATE OR REPLACE FUNCTION is_edge(p_table text, p_from text, p_to text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN (p_from, p_to) IN (('held', 'confirmed'), ('held', 'cancelled'), ('held', 'expired'))
        OR p_table = 'slot_hold' AND (p_from, p_to) IN (('confirmed', 'cancelled'));
END
$$;

-- Whether a claim stands between two places (R14): the first of two that exchange theirs waits in a minute far beyond
-- every horizon while the second takes its place. Nothing is committed there.
CREATE OR REPLACE FUNCTION is_between_places(p_period tstzrange) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN lower(p_period) >= timestamptz '9000-01-01 00:00:00+00';
END
$$;

-- A refusal: its code, and details to act on. No refusal is null, so that the first of several checks that says no is
-- what coalesce gives, and those after it are not made.
CREATE OR REPLACE FUNCTION refuse(p_refusal text, p_details jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
    RETURN jsonb_build_object('refusal', p_refusal, 'details', p_details);
END
$$;

-- R26: too long is refused, not cut. The reason before the note, because a block's note is its reason.
CREATE OR REPLACE FUNCTION text_problem(VARIADIC p_names_and_texts text[]) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
    v_name text;
    v_text text;
    v_longest integer;
BEGIN
    FOR place IN 1..cardinality(p_names_and_texts) BY 2 LOOP
        v_name := p_names_and_texts[place];
        v_text := p_names_and_texts[place + 1];
        v_longest := CASE
            WHEN v_name = 'note' THEN 2000 WHEN v_name = 'reason' THEN 500 WHEN v_name = 'desk name' THEN 60 ELSE 200 END;
        IF char_length(v_text) > v_longest THEN
            RETURN refuse('text_too_long', jsonb_build_object(
                'field', v_name, 'length', char_length(v_text), 'limit', v_longest
            ));
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;

-- How many people: at least one, where a number is said.
CREATE OR REPLACE FUNCTION party_problem(p_party integer) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
    RETURN CASE WHEN p_party <= 0 THEN refuse('quantity_invalid', jsonb_build_object('quantity', p_party)) END;
END
$$;

-- R10: how long a hold may be asked for.
CREATE OR REPLACE FUNCTION hold_length_problem(p_site site, p_ttl interval) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
    RETURN CASE WHEN extract(epoch FROM p_ttl) <= 0 OR extract(epoch FROM p_ttl) > extract(epoch FROM p_site.longest_hold)
        THEN refuse('period_invalid', jsonb_build_object(
            'problem', 'hold_length', 'longest_seconds', extract(epoch FROM p_site.longest_hold)::bigint
        )) END;
END
$$;

-- R13: what is wrong with renewing.
CREATE OR REPLACE FUNCTION renewal_problem(p_site site, p_renewals integer, p_ttl interval) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
    RETURN CASE WHEN p_renewals >= p_site.renewals
        THEN refuse('renewals_used_up', jsonb_build_object('limit', p_site.renewals))
        ELSE hold_length_problem(p_site, p_ttl) END;
END
$$;

-- The deadline of a hold that is made or renewed at this moment.
CREATE OR REPLACE FUNCTION deadline_from(p_site site, p_now timestamptz, p_ttl interval) RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
    RETURN p_now + elapsed(coalesce(p_ttl, p_site.default_hold));
END
$$;

-- What is wrong with a period for this room, by rule (R2, R7, R8). The house's own blocks need not be nights.
CREATE OR REPLACE FUNCTION period_problem(
    p_site site, p_room room, p_from timestamptz, p_to timestamptz, p_now timestamptz, p_purpose text
) RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    v_arrival date;
    v_departure date;
    v_problem text;
    v_horizon timestamptz;
BEGIN
    v_problem := CASE
        WHEN p_from IS NULL OR p_to IS NULL THEN 'missing'
        WHEN NOT isfinite(p_from) OR NOT isfinite(p_to) THEN 'infinite'
        WHEN p_from = p_to THEN 'empty'
        WHEN p_from > p_to THEN 'reversed'
    END;
    IF v_problem IS NULL AND p_room.booked_by = 'night' AND p_purpose = 'guest' THEN
        v_arrival := (p_from AT TIME ZONE p_site.time_zone)::date;
        v_departure := (p_to AT TIME ZONE p_site.time_zone)::date;
        v_problem := CASE
            WHEN v_departure <= v_arrival THEN 'no_nights'
            WHEN p_from <> (v_arrival + p_room.check_in) AT TIME ZONE p_site.time_zone
                OR p_to <> (v_departure + p_room.check_out) AT TIME ZONE p_site.time_zone THEN 'not_nights'
        END;
    END IF;
    IF v_problem IS NOT NULL THEN
        RETURN refuse('period_invalid', jsonb_build_object('problem', v_problem));
    ELSIF p_to <= p_now THEN
        RETURN refuse('in_the_past', jsonb_build_object('to', site_time(p_site.time_zone, p_to)));
    END IF;
    -- However long a horizon is, it ends before the minute in which two claims exchange places (R14).
    v_horizon := least(p_now + elapsed(p_site.horizon), timestamptz '8999-01-01 00:00:00+00');
    IF p_to > v_horizon THEN
        RETURN refuse('beyond_horizon', jsonb_build_object('horizon', site_time(p_site.time_zone, v_horizon)));
    END IF;
    RETURN NULL;
END
$$;
