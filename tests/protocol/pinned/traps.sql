-- A schema of a stranger's own with a trap for every name that the protocol's text says: functions, aggregates and
-- operators with exactly the types that there are, functions of Keyrack's own names, types, and a cast. Whatever runs of
-- it raises "cannot accept a value of type trigger": that is what the internal function behind all of it does.
--
-- Run as superuser, because only he makes functions for every type there is; the stranger could make most of them.

CREATE SCHEMA trap AUTHORIZATION keyrack_stranger;
GRANT USAGE ON SCHEMA trap TO PUBLIC;

-- What the stranger's temporary twins of tables ask before they show a row.
CREATE FUNCTION trap.spring() RETURNS boolean STABLE LANGUAGE internal AS 'trigger_in';

-- "anyarray" is "bigint[]" where elements are bigint, and so on.
CREATE FUNCTION pg_temp.trap_type(any_type text, element text, its_range text, its_multirange text) RETURNS text
LANGUAGE sql AS $$
    SELECT CASE
        WHEN any_type ~ '^any.*multirange$' THEN its_multirange
        WHEN any_type ~ '^any.*range$' THEN its_range
        WHEN any_type IN ('anyarray', 'anycompatiblearray') THEN element || '[]'
        WHEN any_type ~ '^any' THEN element
        ELSE any_type
    END
$$;

DO $$
DECLARE
    v_names text[];
    v_marks text[];
    v_found record;
    v_kind record;
    v_left text;
    v_right text;
    v_result text;
BEGIN
    -- Then PostgreSQL writes the types of every schema but its own in full.
    PERFORM set_config('search_path', 'pg_catalog', true);
    v_names := ARRAY(
        SELECT DISTINCT matched[1]
        FROM pg_proc AS p, regexp_matches(p.prosrc, '[a-z_][a-z_0-9]*', 'g') AS matched
        WHERE p.pronamespace IN ('keyrack'::regnamespace, 'keyrack_step'::regnamespace)
    );
    v_marks := ARRAY(
        SELECT DISTINCT matched[1]
        FROM pg_proc AS p, regexp_matches(p.prosrc, '[-+*/<>=~!@#%^&|?]+', 'g') AS matched
        WHERE p.pronamespace IN ('keyrack'::regnamespace, 'keyrack_step'::regnamespace)
    );

    FOR v_found IN
        SELECT p.proname, p.prokind, pg_get_function_arguments(p.oid) AS parameters, pg_get_function_result(p.oid) AS result
        FROM pg_proc AS p
        WHERE p.prokind IN ('f', 'w') AND p.prorettype NOT IN ('trigger'::regtype, 'internal'::regtype)
            AND 'internal'::regtype <> ALL (p.proargtypes)
            AND (
                p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = ANY (v_names)
                OR p.pronamespace IN ('keyrack'::regnamespace, 'keyrack_step'::regnamespace)
                    AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.objid = p.oid AND d.deptype = 'e')
            )
        ORDER BY p.oid
    LOOP
        EXECUTE format(
            'CREATE OR REPLACE FUNCTION trap.%I(%s) RETURNS %s LANGUAGE internal %s AS ''trigger_in''',
            v_found.proname, v_found.parameters, v_found.result, CASE v_found.prokind WHEN 'w' THEN 'WINDOW' END
        );
    END LOOP;

    FOR v_found IN
        SELECT p.oid, p.proname, p.prorettype::regtype AS result,
            array_to_string(p.proargtypes::regtype[], ', ') AS parameters
        FROM pg_proc AS p
        JOIN pg_aggregate AS a ON a.aggfnoid = p.oid
        WHERE a.aggkind = 'n' AND p.provariadic = 0 AND p.pronamespace = 'pg_catalog'::regnamespace
            AND p.proname = ANY (v_names)
            -- Of which no aggregate can be made in SQL.
            AND p.prorettype NOT IN ('anyenum'::regtype, 'record'::regtype)
    LOOP
        EXECUTE format(
            'CREATE FUNCTION trap.aggregate_%s(%s) RETURNS %s LANGUAGE internal AS ''trigger_in''',
            v_found.oid, concat_ws(', ', v_found.result, nullif(v_found.parameters, '')), v_found.result
        );
        EXECUTE format(
            'CREATE AGGREGATE trap.%I(%s) (SFUNC = trap.aggregate_%s, STYPE = %s)',
            v_found.proname, coalesce(nullif(v_found.parameters, ''), '*'), v_found.oid, v_found.result
        );
    END LOOP;

    -- Operators on any array, range or element: also with each type that the protocol uses them for, because an exact
    -- match is what beats the one that was meant.
    FOR v_found IN
        SELECT o.oid, o.oprname, nullif(o.oprleft, 0)::regtype::text AS left_type, o.oprright::regtype::text AS right_type,
            o.oprresult::regtype::text AS result
        FROM pg_operator AS o
        WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprresult <> 0 AND o.oprname = ANY (v_marks)
    LOOP
        FOR v_kind IN
            SELECT * FROM (VALUES
                (0, NULL, NULL, NULL),
                (1, 'bigint', 'int8range', 'int8multirange'),
                (2, 'integer', 'int4range', 'int4multirange'),
                (3, 'numeric', 'numrange', 'nummultirange'),
                (4, 'timestamptz', 'tstzrange', 'tstzmultirange'),
                (5, 'date', 'daterange', 'datemultirange'),
                (6, 'text', NULL, NULL),
                (7, 'name', NULL, NULL),
                (8, 'boolean', NULL, NULL),
                (9, 'uuid', NULL, NULL),
                (10, 'xid8', NULL, NULL),
                (11, 'jsonb', NULL, NULL)
            ) AS kinds (place, element, its_range, its_multirange)
        LOOP
            v_left := v_found.left_type;
            v_right := v_found.right_type;
            v_result := v_found.result;
            IF v_kind.element IS NOT NULL THEN
                CONTINUE WHEN concat(v_left, v_right) !~ 'any';
                CONTINUE WHEN v_kind.its_range IS NULL AND concat(v_left, v_right) ~ 'range';
                v_left := pg_temp.trap_type(v_left, v_kind.element, v_kind.its_range, v_kind.its_multirange);
                v_right := pg_temp.trap_type(v_right, v_kind.element, v_kind.its_range, v_kind.its_multirange);
                v_result := pg_temp.trap_type(v_result, v_kind.element, v_kind.its_range, v_kind.its_multirange);
            END IF;
            CONTINUE WHEN EXISTS (
                SELECT FROM pg_operator
                WHERE oprnamespace = 'trap'::regnamespace AND oprname = v_found.oprname
                    AND oprleft = coalesce(v_left::regtype, 0) AND oprright = v_right::regtype
            );
            EXECUTE format(
                'CREATE FUNCTION trap.operator_%s_%s(%s) RETURNS %s LANGUAGE internal AS ''trigger_in''',
                v_found.oid, v_kind.place, concat_ws(', ', v_left, v_right), v_result
            );
            EXECUTE format(
                'CREATE OPERATOR trap.%s (%s RIGHTARG = %s, FUNCTION = trap.operator_%s_%s)',
                v_found.oprname, 'LEFTARG = ' || v_left || ',', v_right, v_found.oid, v_kind.place
            );
        END LOOP;
    END LOOP;
END
$$;

-- Types by the names that the text says, which accept nothing, and one of the stranger's own that can be taken for text.
CREATE DOMAIN trap.text AS pg_catalog.text CONSTRAINT trapped CHECK (false);
CREATE DOMAIN trap.date AS pg_catalog.date CONSTRAINT trapped CHECK (false);
CREATE DOMAIN trap.timestamptz AS pg_catalog.timestamptz CONSTRAINT trapped CHECK (false);
CREATE DOMAIN trap.tstzrange AS pg_catalog.tstzrange CONSTRAINT trapped CHECK (false);
CREATE DOMAIN trap.jsonb AS pg_catalog.jsonb CONSTRAINT trapped CHECK (false);
CREATE DOMAIN trap.uuid AS pg_catalog.uuid CONSTRAINT trapped CHECK (false);
CREATE DOMAIN trap.xid8 AS pg_catalog.xid8 CONSTRAINT trapped CHECK (false);
CREATE TYPE trap.mood AS ENUM ('sour');
CREATE FUNCTION trap.mood_as_text(trap.mood) RETURNS pg_catalog.text LANGUAGE internal AS 'trigger_in';
CREATE CAST (trap.mood AS pg_catalog.text) WITH FUNCTION trap.mood_as_text(trap.mood) AS IMPLICIT;
