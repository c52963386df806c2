-- What a test's database has besides the schema: gates before the protocol's steps, a clock that the test moves on,
-- houses to play in, and a picture of a house in which nothing depends on chance. The text of the protocol stays as it is.

CREATE SCHEMA stage;

-- The clock of the protocol, which it reads in one place: the database's own, and so many hours. A sequence, because its
-- value is seen by every transaction at once.
CREATE SEQUENCE stage.jumped MINVALUE 0 START 0;

CREATE OR REPLACE FUNCTION keyrack.site_clock(p_site site) RETURNS timestamptz
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN clock_timestamp() + (SELECT last_value FROM stage.jumped) * interval '1 hour';
END
$$;

-- The time at which the transaction began, on the same clock. stage.began is set with BEGIN.
CREATE FUNCTION stage.now() RETURNS timestamptz
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN now()
        + coalesce(nullif(current_setting('stage.began', true), '')::integer, 0) * interval '1 hour';
END
$$;

-- Gates: a session with a number stops at each until the controller lets go of the advisory lock (session, gate). Gates
-- are counted by a sequence, so that a rolled-back subtransaction does not count back; which step comes next is told by
-- one, because its value is seen by every transaction at once.
CREATE SEQUENCE stage.gate_1;
CREATE SEQUENCE stage.gate_2;
CREATE SEQUENCE stage.gate_3;
CREATE SEQUENCE stage.step_1;
CREATE SEQUENCE stage.step_2;
CREATE SEQUENCE stage.step_3;

CREATE FUNCTION stage.tell_step(p_step integer) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM setval('stage.step_' || current_setting('stage.session'), p_step);
END
$$;

-- The step that a session takes next.
CREATE FUNCTION stage.step_of(p_session integer) RETURNS bigint
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN CASE p_session
        WHEN 1 THEN (SELECT last_value FROM stage.step_1)
        WHEN 2 THEN (SELECT last_value FROM stage.step_2)
        ELSE (SELECT last_value FROM stage.step_3)
    END;
END
$$;

CREATE FUNCTION stage.gate(p_step integer) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_session integer := nullif(current_setting('stage.session', true), '')::integer;
    v_gate integer;
BEGIN
    IF v_session IS NOT NULL THEN
        v_gate := nextval('stage.gate_' || v_session);
        PERFORM stage.tell_step(p_step);
        PERFORM pg_advisory_lock(v_session, v_gate);
        PERFORM pg_advisory_unlock(v_session, v_gate);
    END IF;
END
$$;

-- Where sessions are: at a gate, behind another session, done with the command (p_answered), or still running; as soon as
-- none of them runs, else after some looks. Seen twice: one that was looked at before another one let go of something, and
-- that one after it, is not behind it any more. A session whose command fails does not say that it is done.
CREATE FUNCTION stage.look(
    p_controller integer, p_sessions integer[], p_backends integer[], p_all integer[], p_answered bigint
) RETURNS TABLE (place text, step bigint)
LANGUAGE plpgsql
AS $$
DECLARE
    v_places text[];
    v_before text[];
BEGIN
    FOR attempt IN 1..20 LOOP
        v_before := v_places;
        v_places := ARRAY(
            SELECT CASE
                WHEN stage.step_of(session) = p_answered THEN 'answered'
                WHEN pg_isolation_test_session_is_blocked(backend, ARRAY[p_controller]) THEN 'gate'
                WHEN pg_isolation_test_session_is_blocked(backend, array_remove(p_all, backend)) THEN 'waiting'
                ELSE 'running' END
            FROM unnest(p_sessions, p_backends) WITH ORDINALITY AS asked (session, backend, n)
            ORDER BY n
        );
        EXIT WHEN v_places = v_before AND 'running' <> ALL (v_places);
    END LOOP;
    -- Not settled yet: whoever has only just stopped is looked at again.
    IF v_places <> v_before THEN
        v_places := array_fill('running'::text, ARRAY[cardinality(v_places)]);
    END IF;
    RETURN QUERY
    SELECT v_places[n], stage.step_of(session) FROM unnest(p_sessions) WITH ORDINALITY AS asked (session, n) ORDER BY n;
END
$$;

-- Puts a gate before each step: the step is renamed, and its name goes to a function that passes the gate first.
CREATE FUNCTION stage.put_gates(p_steps text[]) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_step record;
    v_count integer := 0;
BEGIN
    FOR v_step IN
        SELECT
            proname AS name,
            pg_get_function_identity_arguments(oid) AS identity,
            pg_get_function_arguments(oid) AS arguments,
            pg_get_function_result(oid) AS result,
            (SELECT string_agg('$' || n, ', ' ORDER BY n) FROM generate_series(1, pronargs) AS n) AS passed
        FROM pg_proc
        WHERE pronamespace = 'keyrack'::regnamespace AND proname = ANY (p_steps)
    LOOP
        EXECUTE format('ALTER FUNCTION keyrack.%I(%s) RENAME TO %I',
            v_step.name, v_step.identity, v_step.name || '_ungated');
        EXECUTE format(
            'CREATE FUNCTION keyrack.%1$I(%2$s) RETURNS %3$s LANGUAGE plpgsql AS $step$'
            'BEGIN PERFORM stage.gate(%7$s); %4$s keyrack.%5$I(%6$s); END $step$',
            v_step.name, v_step.arguments, v_step.result,
            CASE v_step.result WHEN 'void' THEN 'PERFORM' ELSE 'RETURN' END,
            v_step.name || '_ungated', v_step.passed, array_position(p_steps, v_step.name::text));
        v_count := v_count + 1;
    END LOOP;
    IF v_count <> cardinality(p_steps) THEN
        RAISE EXCEPTION 'There are % of these steps: %', v_count, p_steps;
    END IF;
END
$$;

-- So many hours after ten o'clock a week from the day on which the database was made.
DO $$
BEGIN
    EXECUTE format('CREATE FUNCTION stage.at(p_hours integer) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS '
        '$at$ SELECT timestamptz %L + p_hours * interval ''1 hour'' $at$',
        date_trunc('day', now(), 'UTC') + interval '178 hours');
END
$$;

-- A house: rooms A and B, three tickets. Whatever is held is held for an hour. In it, by setting:
--   free        nothing but another booking in room B
--   held        a hold in room A, and one on two tickets
--   confirmed   the same, confirmed
--   group       a group of room A and two tickets, held
--   booked      the same group, confirmed
CREATE FUNCTION stage.build_house(p_setting text) RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    v_site bigint;
    v_a bigint;
    v_b bigint;
    v_item bigint;
    v_other bigint;
    v_claim bigint;
    v_stock bigint;
    v_group bigint;
    v_made jsonb;
BEGIN
    v_site := add_site(gen_random_uuid(), 'stage', gen_random_uuid()::text, 'UTC') -> 'site' -> 'site_id';
    v_a := add_room(v_site, gen_random_uuid(), 'stage', 'A') -> 'room' -> 'room_id';
    v_b := add_room(v_site, gen_random_uuid(), 'stage', 'B') -> 'room' -> 'room_id';
    v_item := add_item(v_site, gen_random_uuid(), 'stage', 'Ticket', 3) -> 'item' -> 'item_id';
    v_other := hold_slot(
        v_site, gen_random_uuid(), 'stage', v_b, stage.at(0), stage.at(2), '1 hour', 'Okafor', 'other'
    ) -> 'slot' -> 'hold_id';
    PERFORM confirm_slot(v_site, gen_random_uuid(), 'stage', v_other);
    IF p_setting IN ('held', 'confirmed') THEN
        v_claim := hold_slot(
            v_site, gen_random_uuid(), 'stage', v_a, stage.at(0), stage.at(2), '1 hour', 'Guest', 'claim'
        ) -> 'slot' -> 'hold_id';
        v_stock := hold_stock(v_site, gen_random_uuid(), 'stage', v_item, 2, '1 hour', 'Guest', 'claim')
            -> 'stock' -> 'hold_id';
    END IF;
    IF p_setting = 'confirmed' THEN
        PERFORM confirm_slot(v_site, gen_random_uuid(), 'stage', v_claim);
        PERFORM confirm_stock(v_site, gen_random_uuid(), 'stage', v_stock);
    END IF;
    IF p_setting IN ('group', 'booked') THEN
        v_made := hold_group(v_site, gen_random_uuid(), 'stage',
            jsonb_build_array(jsonb_build_object('room', v_a, 'from', stage.at(0), 'to', stage.at(2))),
            jsonb_build_array(jsonb_build_object('item', v_item, 'quantity', 2)), '1 hour', 'Guest', 'claim') -> 'group';
        v_group := v_made -> 'group_id';
        v_claim := v_made -> 'slots' -> 0 -> 'hold_id';
        v_stock := v_made -> 'stock' -> 0 -> 'hold_id';
    END IF;
    IF p_setting = 'booked' THEN
        PERFORM confirm_group(v_site, gen_random_uuid(), 'stage', v_group);
    END IF;
    RETURN jsonb_build_object(
        'site', v_site, 'a', v_a, 'b', v_b, 'item', v_item, 'other', v_other, 'claim', coalesce(v_claim, 0),
        'stock', coalesce(v_stock, 0), 'group', coalesce(v_group, 0)
    );
END
$$;

-- A copy of a house under another number, row by row. Nothing crosses a site (R29), so everything else stays as it is.
-- The guards want a claim to begin held (R9); what was confirmed is confirmed again, which makes it version 2 as before.
DO $$
DECLARE
    v_table text;
    v_columns text;
    v_copied text;
    v_statements text := '';
BEGIN
    FOREACH v_table IN ARRAY ARRAY[
        'site', 'room', 'inventory', 'stock_movement', 'claim_group', 'slot_hold', 'stock_hold', 'hold_event', 'request'
    ] LOOP
        SELECT
            string_agg(attname, ', ' ORDER BY attnum),
            string_agg(CASE
                WHEN attname = 'site_id' THEN 'p_to'
                WHEN (v_table, attname) = ('site', 'name') THEN 'gen_random_uuid()::text'
                WHEN v_table IN ('slot_hold', 'stock_hold') AND attname = 'state' THEN $held$'held'$held$
                WHEN v_table IN ('slot_hold', 'stock_hold') AND attname = 'version' THEN '1'
                ELSE attname END, ', ' ORDER BY attnum)
        INTO v_columns, v_copied
        FROM pg_attribute
        WHERE attrelid = v_table::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '';
        v_statements := v_statements || format('INSERT INTO keyrack.%1$I (%2$s) SELECT %3$s FROM keyrack.%1$I WHERE site_id = p_from; ',
            v_table, v_columns, v_copied);
        IF v_table IN ('slot_hold', 'stock_hold') THEN
            v_statements := v_statements || format('UPDATE keyrack.%1$I AS copy SET state = it.state FROM keyrack.%1$I AS it '
                'WHERE copy.site_id = p_to AND it.site_id = p_from AND it.hold_id = copy.hold_id AND it.state <> copy.state; ',
                v_table);
        END IF;
    END LOOP;
    EXECUTE format('CREATE FUNCTION stage.copy_house(p_from bigint, p_to bigint) RETURNS void LANGUAGE plpgsql '
        'AS $copy$ BEGIN %s END $copy$', v_statements);
END
$$;

CREATE TABLE stage.built (setting text PRIMARY KEY, house jsonb NOT NULL, at timestamptz NOT NULL);

-- A new house, and the numbers of what is in it: a copy of one that was built a moment ago.
CREATE FUNCTION stage.fresh_house(p_setting text) RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    v_built stage.built;
    v_site bigint := nextval(pg_get_serial_sequence('site', 'site_id'));
BEGIN
    PERFORM setval('stage.jumped', 0);
    -- Nobody has answered yet.
    PERFORM setval('stage.step_1', 1), setval('stage.step_2', 1), setval('stage.step_3', 1);
    SELECT * INTO v_built FROM stage.built
    -- What is held in it must not come due by itself.
    WHERE setting = p_setting AND at > clock_timestamp() - interval '10 minutes';
    IF NOT FOUND THEN
        INSERT INTO stage.built VALUES (p_setting, stage.build_house(p_setting), clock_timestamp())
        ON CONFLICT (setting) DO UPDATE SET house = excluded.house, at = excluded.at
        RETURNING * INTO v_built;
    END IF;
    PERFORM stage.copy_house((v_built.house ->> 'site')::bigint, v_site);
    RETURN v_built.house || jsonb_build_object('site', v_site);
END
$$;

-- Everything that a house has come to, with numbers and times put in words that are the same in another house: claims
-- by who made them, deadlines in hours from the beginning, each with its events.
CREATE FUNCTION stage.picture(p_site bigint, p_requests uuid[]) RETURNS jsonb
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN (
        WITH claim AS (
            SELECT
                format('%s %s-%s', r.name, extract(epoch FROM lower(s.period) - stage.at(0))::bigint / 3600,
                    extract(epoch FROM upper(s.period) - stage.at(0))::bigint / 3600) AS what,
                s.hold_id AS slot, NULL::bigint AS stock, s.state, s.version, s.purpose, s.guest, s.note, s.renewals,
                s.expires_at, s.request_id, s.group_id
            FROM slot_hold AS s
            JOIN room AS r ON r.site_id = s.site_id AND r.room_id = s.room_id
            WHERE s.site_id = p_site
            UNION ALL
            SELECT quantity || ' tickets', NULL, hold_id, state, version, '', guest, note, renewals, expires_at, request_id,
                group_id
            FROM stock_hold
            WHERE site_id = p_site
        ), told AS (
            SELECT jsonb_build_object(
                'what', what, 'state', state, 'version', version, 'purpose', purpose, 'guest', guest, 'note', note,
                'renewals', renewals, 'made by', array_position(p_requests, request_id), 'grouped', group_id IS NOT NULL,
                'deadline', round(extract(epoch FROM expires_at - (SELECT created_at FROM site WHERE site_id = p_site)) / 3600),
                'events', (
                    SELECT jsonb_agg(concat_ws(' ', e.what, e.from_state, e.to_state, array_position(p_requests, e.request_id))
                        ORDER BY e.version)
                    FROM hold_event AS e
                    WHERE e.site_id = p_site AND (e.slot_hold_id = claim.slot OR e.stock_hold_id = claim.stock)
                )
            ) AS line
            FROM claim
        )
        SELECT jsonb_build_object(
            'claims', (SELECT jsonb_agg(line ORDER BY line::text) FROM told),
            'tickets', (
                SELECT jsonb_build_array(available, held, sold) FROM inventory WHERE site_id = p_site
            ),
            'retired', (
                SELECT jsonb_agg(name ORDER BY name)
                FROM (
                    SELECT name FROM room WHERE site_id = p_site AND retired_at IS NOT NULL
                    UNION ALL
                    SELECT name FROM inventory WHERE site_id = p_site AND retired_at IS NOT NULL
                ) AS retired
            )
        )
    );
END
$$;

-- What was remembered of each request (R21).
CREATE FUNCTION stage.remembered(p_site bigint, p_requests uuid[]) RETURNS jsonb
LANGUAGE sql
AS $$
    SELECT jsonb_agg(CASE WHEN r.request_id IS NULL THEN '"forgotten"'::jsonb ELSE to_jsonb(r.refusal) END ORDER BY place)
    FROM unnest(p_requests) WITH ORDINALITY AS asked (request_id, place)
    LEFT JOIN request AS r ON r.site_id = p_site AND r.request_id = asked.request_id
$$;
