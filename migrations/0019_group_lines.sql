-- Lines of a group that are in each other's way: said as such, and not as if somebody else had the room (R20).

-- The first line that wants a room while an earlier one occupies it, turnaround included (R4); null if there is none, or if
-- a line has no period, which is found out later.
CREATE FUNCTION line_in_the_way_of_another(p_site bigint, p_rooms jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN (
        WITH lines AS (
            SELECT
                place,
                (line ->> 'room')::bigint AS room_id,
                (line ->> 'from')::timestamptz AS from_at,
                (line ->> 'to')::timestamptz AS to_at
            FROM jsonb_array_elements(p_rooms) WITH ORDINALITY AS lines (line, place)
        ), occupied AS (
            SELECT l.place, l.room_id, occupied_span(tstzrange(l.from_at, l.to_at, '[)'), r.turnaround) AS span
            FROM lines AS l
            JOIN room AS r ON r.site_id = p_site AND r.room_id = l.room_id
            WHERE l.from_at < l.to_at AND isfinite(l.from_at) AND isfinite(l.to_at)
        )
        SELECT jsonb_build_object('kind', 'room', 'number', min(later.place))
        FROM occupied AS earlier
        JOIN occupied AS later
            ON later.room_id = earlier.room_id AND later.place > earlier.place AND later.span && earlier.span
        HAVING count(*) > 0
    );
END
$$;

-- The rest of hold_group is as it was.
CREATE OR REPLACE FUNCTION hold_group(
    p_site bigint, p_request uuid, p_desk text, p_rooms jsonb DEFAULT '[]', p_stock jsonb DEFAULT '[]',
    p_ttl interval DEFAULT NULL, p_guest text DEFAULT '', p_note text DEFAULT '', p_party integer DEFAULT NULL
) RETURNS group_answer
LANGUAGE plpgsql
AS $$
DECLARE
    v_seen request;
    v_site site;
    v_group bigint;
    v_refused refused;
    v_now timestamptz;
    v_expires_at timestamptz;
    v_line record;
    v_failed jsonb;
    v_rooms bigint[];
    v_items bigint[];
BEGIN
    PERFORM require_read_committed();
    -- No list is an empty one.
    p_rooms := coalesce(nullif(p_rooms, 'null'), '[]');
    p_stock := coalesce(nullif(p_stock, 'null'), '[]');
    v_seen := begin_request(p_site, p_request, p_desk, 'hold_group', jsonb_build_object(
        'rooms', (
            SELECT coalesce(jsonb_agg(jsonb_build_array(
                line -> 'room', extract(epoch FROM (line ->> 'from')::timestamptz),
                extract(epoch FROM (line ->> 'to')::timestamptz)) ORDER BY place), '[]')
            FROM jsonb_array_elements(p_rooms) WITH ORDINALITY AS lines (line, place)
        ),
        'stock', p_stock, 'ttl', extract(epoch FROM p_ttl), 'guest', p_guest, 'note', p_note, 'party', p_party
    ));
    IF v_seen.request_id IS NOT NULL THEN
        RETURN answer_group(p_site, v_seen.group_id, v_seen.refusal, v_seen.details,
            v_seen.refusal IS DISTINCT FROM 'request_reused');
    END IF;

    SELECT * INTO STRICT v_site FROM site WHERE site_id = p_site;
    v_refused := text_problem(p_desk, p_guest, p_note, NULL);
    IF v_refused.refusal IS NULL THEN
        v_refused := hold_length_problem(v_site, p_ttl);
    END IF;
    IF v_refused.refusal IS NULL AND p_party <= 0 THEN
        v_refused := refuse('quantity_invalid', jsonb_build_object('quantity', p_party));
    END IF;
    IF v_refused.refusal IS NULL AND jsonb_array_length(p_rooms) + jsonb_array_length(p_stock) = 0 THEN
        v_refused := refuse('quantity_invalid', jsonb_build_object('quantity', 0));
    END IF;
    IF v_refused.refusal IS NOT NULL THEN
        RETURN finish_group(p_site, p_request, NULL, v_refused);
    END IF;

    v_failed := line_in_the_way_of_another(p_site, p_rooms);
    IF v_failed IS NOT NULL THEN
        v_refused := refuse('period_invalid', jsonb_build_object('problem', 'own_lines_overlap', 'line', v_failed));
        RETURN finish_group(p_site, p_request, NULL, v_refused);
    END IF;

    v_rooms := ARRAY(SELECT (line ->> 'room')::bigint FROM jsonb_array_elements(p_rooms) AS line);
    v_items := ARRAY(SELECT (line ->> 'item')::bigint FROM jsonb_array_elements(p_stock) AS line);
    PERFORM lock_rooms_and_items(p_site, v_rooms, v_items, p_desk);
    LOOP
        -- Everything or nothing: the first line that fails undoes those before it. What was due stays expired.
        BEGIN
            v_now := clock_timestamp();
            v_expires_at := v_now + elapsed(coalesce(p_ttl, v_site.default_hold));
            INSERT INTO claim_group (site_id, desk, request_id, created_at) VALUES (p_site, p_desk, p_request, v_now)
            RETURNING group_id INTO v_group;
            FOR v_line IN
                SELECT (line ->> 'room')::bigint AS room, (line ->> 'from')::timestamptz AS from_at,
                    (line ->> 'to')::timestamptz AS to_at, place
                FROM jsonb_array_elements(p_rooms) WITH ORDINALITY AS lines (line, place)
                ORDER BY place
            LOOP
                v_refused := place_group_slot(v_site, v_group, v_line.room, v_line.from_at, v_line.to_at,
                    coalesce(p_guest, ''), coalesce(p_note, ''), p_party, v_expires_at, p_desk, p_request, v_now);
                IF v_refused.refusal IS NOT NULL THEN
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
                v_refused := place_group_stock(v_site, v_group, v_line.item,
                    CASE WHEN v_line.smallest <= 0 THEN v_line.smallest ELSE v_line.quantity END,
                    coalesce(p_guest, ''), coalesce(p_note, ''), v_expires_at, p_desk, p_request, v_now);
                IF v_refused.refusal IS NOT NULL THEN
                    v_failed := jsonb_build_object('kind', 'stock', 'number', v_line.place);
                    RAISE EXCEPTION USING ERRCODE = 'KR002', MESSAGE = 'a line of the group failed';
                END IF;
            END LOOP;
            EXIT;
        EXCEPTION WHEN SQLSTATE 'KR002' THEN
            -- What came due since it was last looked at does not make a claim fail (R11).
            IF lock_rooms_and_items(p_site, v_rooms, v_items, p_desk) = 0 THEN
                v_refused.details := v_refused.details || jsonb_build_object('line', v_failed);
                RETURN finish_group(p_site, p_request, NULL, v_refused);
            END IF;
        END;
    END LOOP;
    RETURN finish_group(p_site, p_request, v_group, NULL);
END
$$;
