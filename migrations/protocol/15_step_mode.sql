-- Step mode: the same text once more, with a gate before each step.
--
-- The schema keyrack_step has every entry function again, of the same source, pinned to a path that begins with that
-- schema; and for each step a gate of the same name, which reports the step, stops, calls the step itself, and reports
-- what it returned. Entry functions call steps by unqualified names and steps inherit their path, so whoever calls an
-- entry function there meets the gates, and everybody else does not know of them and loses nothing.
--
-- A session that stops has two settings: stepwise.run, the number of its run, and stepwise.limit, how many
-- milliseconds its transaction may last. A conductor, which is another session, holds the advisory lock (run, gate) of
-- the next gate and lets go of it when the step may be taken; gates are counted from 1. Without a run there is nothing
-- to stop at and the steps are only told, which can be watched in psql:
--     SELECT keyrack_step.hold_slot(1, gen_random_uuid(), 'anna', 2, '2027-01-01 10:00+00', '2027-01-01 12:00+00');

CREATE SCHEMA IF NOT EXISTS keyrack_step;

-- Before a step: report it, and stop until the conductor lets go. Returns the gate's number. INFO is sent at once,
-- whatever client_min_messages says.
CREATE OR REPLACE FUNCTION keyrack_step.reach(p_step text, p_call text, p_arguments jsonb) RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
    v_run integer := nullif(current_setting('stepwise.run', true), '')::integer;
    v_gate integer;
BEGIN
    IF v_run IS NULL THEN
        RAISE INFO '%', p_call;
        RETURN NULL;
    END IF;
    -- The lock of the gate passed last is kept, to count by: a block that is rolled back does not take it away, as it
    -- would a setting.
    SELECT coalesce(max(objid::bigint), 0) + 1 INTO v_gate
    FROM pg_locks
    WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND classid::bigint = v_run AND objsubid = 2;
    RAISE INFO '%', jsonb_build_object(
        'stepwise', v_run, 'report', 'reached', 'gate', v_gate, 'step', p_step, 'call', p_call,
        'arguments', p_arguments, 'kept', coalesce(current_setting('stepwise.kept', true), ''),
        'at', clock_timestamp()
    );
    PERFORM pg_advisory_lock(v_run, v_gate);
    IF v_gate > 1 THEN
        PERFORM pg_advisory_unlock(v_run, v_gate - 1);
    END IF;
    RETURN v_gate;
END
$$;

-- After a step: report what it returned. A block of the protocol that is rolled back takes its steps off the list of
-- those that are kept, because a setting is rolled back with it.
CREATE OR REPLACE FUNCTION keyrack_step.leave(p_gate integer, p_step text, p_began timestamptz, p_result jsonb)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    IF p_gate IS NULL THEN
        RAISE INFO '% returned %', p_step, coalesce(p_result::text, 'nothing');
        RETURN;
    END IF;
    PERFORM set_config('stepwise.kept', concat(current_setting('stepwise.kept', true), p_gate, ' '), true);
    -- The statement's own limit ends with its answer. From there on this one holds for what is left, so that no
    -- transaction outlasts its limit, even if nobody is there any more to end it.
    PERFORM set_config('idle_in_transaction_session_timeout', greatest(1,
        current_setting('stepwise.limit')::integer - ceil(1000 * extract(epoch FROM v_now - transaction_timestamp()))
    )::integer::text, true);
    RAISE INFO '%', jsonb_build_object(
        'stepwise', current_setting('stepwise.run')::integer, 'report', 'returned', 'gate', p_gate, 'step', p_step,
        'result', p_result, 'kept', current_setting('stepwise.kept'), 'began', p_began, 'at', v_now
    );
END
$$;

-- Puts the gate before a step, and what the step does in words beside it. The gate is VOLATILE whatever the step is, so
-- that the step sees what was committed while it was waited for.
CREATE OR REPLACE FUNCTION keyrack_step.put_gate(p_step text, p_words text) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_step record;
BEGIN
    SELECT
        p.oid::regprocedure AS signature,
        format('keyrack.%I', p.proname) AS itself,
        pg_get_function_arguments(p.oid) AS parameters,
        pg_get_function_result(p.oid) AS result,
        argument.passed, argument.called, argument.told
    INTO STRICT v_step
    FROM pg_proc AS p
    CROSS JOIN LATERAL (
        SELECT
            string_agg('$' || n, ', ' ORDER BY n) AS passed,
            string_agg(format('%L || %s', p.proargnames[n] || ' => ', CASE
                -- The site's row is long and the same in every step.
                WHEN p.proargtypes[n - 1] = 'keyrack.site'::regtype
                    THEN format('''site_row('' || coalesce(($%s).site_id::text, ''NULL'') || '')''', n)
                WHEN p.proargtypes[n - 1] IN ('bigint'::regtype, 'integer'::regtype, 'boolean'::regtype)
                    THEN format('coalesce($%s::text, ''NULL'')', n)
                ELSE format('quote_nullable($%s::text)', n)
            END), ' || '', '' || ' ORDER BY n) AS called,
            string_agg(format('%L, $%s', p.proargnames[n], n), ', ' ORDER BY n) AS told
        FROM generate_series(1, p.pronargs) AS n
    ) AS argument
    WHERE p.proname = p_step AND p.pronamespace = 'keyrack'::regnamespace;

    EXECUTE format(
        'CREATE OR REPLACE FUNCTION keyrack_step.%1$I(%2$s) RETURNS %8$s LANGUAGE plpgsql AS $gate$
DECLARE
    v_gate integer;
    v_began timestamptz;
    %9$s
BEGIN
    v_gate := keyrack_step.reach(%1$L, %3$L || %4$s || '')'', jsonb_build_object(%5$s));
    v_began := clock_timestamp();
    %10$s %6$s(%7$s);
    PERFORM keyrack_step.leave(v_gate, %1$L, v_began, %11$s);
    %12$s
END $gate$',
        p_step, v_step.parameters, p_step || '(', v_step.called, v_step.told, v_step.itself, v_step.passed,
        v_step.result,
        CASE v_step.result WHEN 'void' THEN '' ELSE format('v_result %s;', v_step.result) END,
        CASE v_step.result WHEN 'void' THEN 'PERFORM' ELSE 'v_result :=' END,
        CASE v_step.result WHEN 'void' THEN 'NULL' ELSE 'to_jsonb(v_result)' END,
        CASE v_step.result WHEN 'void' THEN '' ELSE 'RETURN v_result;' END
    );
    EXECUTE format('COMMENT ON FUNCTION %s IS %L', v_step.signature, p_words);
END
$$;

-- Every entry function again: what has a request id among its arguments, and whatever the sweep calls.
CREATE OR REPLACE FUNCTION keyrack_step.copy_entries() RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_entry record;
BEGIN
    FOR v_entry IN
        SELECT proname, pg_get_function_arguments(oid) AS parameters, pg_get_function_result(oid) AS result, prosrc
        FROM pg_proc
        WHERE pronamespace = 'keyrack'::regnamespace AND prosecdef AND 'p_request' = ANY (proargnames)
            AND provolatile = 'v'
        ORDER BY proname
    LOOP
        EXECUTE format(
            'CREATE OR REPLACE FUNCTION keyrack_step.%I(%s) RETURNS %s LANGUAGE plpgsql SECURITY DEFINER '
            'SET search_path = pg_catalog, keyrack_step, keyrack, pg_temp AS %L',
            v_entry.proname, v_entry.parameters, v_entry.result, v_entry.prosrc
        );
    END LOOP;
END
$$;

DO $$
BEGIN
    PERFORM keyrack_step.put_gate(step, words)
    FROM (VALUES
        ('begin_request',
            'Claim the request id: a twin of this press waits here for the first one''s answer, and whatever was '
            'answered before is answered again.'),
        ('lock_room',
            'Lock the room''s row: from here on nobody else decides about this room until this transaction ends.'),
        ('lock_room_of_hold',
            'Find the room of the claim and lock it, then look again whether the claim has moved meanwhile.'),
        ('lock_rooms_of_two',
            'Find the rooms of both claims and lock them in the order of their numbers, so that two exchanges can''t '
            'wait for each other.'),
        ('lock_rooms_and_items',
            'Lock every room of the group in the order of their numbers, then every item, so that two groups can''t '
            'wait for each other; then expire what is due in each.'),
        ('lock_item',
            'Lock the item''s row: from here on nobody else takes or gives back its units until this transaction '
            'ends.'),
        ('lock_slot_hold',
            'Lock the claim''s row too. Only then is the database''s clock read: that moment decides whether the hold '
            'is still in time.'),
        ('lock_stock_hold',
            'Lock the claim''s row too. Only then is the database''s clock read: that moment decides whether the hold '
            'is still in time.'),
        ('expire_room',
            'Write “expired” over the holds in this room whose deadline has passed, or over the one that is named, so '
            'that they stand in nobody''s way.'),
        ('expire_item',
            'Write “expired” over the holds of this item whose deadline has passed, or over the one that is named, and '
            'give their units back.'),
        ('slot_ended_or_stale',
            'Decide whether the claim can still be acted on: it has not ended, and it is still as the desk saw it.'),
        ('stock_ended_or_stale',
            'Decide whether the claim can still be acted on: it has not ended, it is still as the desk saw it, and '
            'it is not a sale.'),
        ('find_slot_conflict',
            'Look for an active claim in this room that overlaps what is asked for, turnaround included.'),
        ('place_slot',
            'Insert the claim; the exclusion constraint slot_hold_no_overlap is the last guard behind the lock.'),
        ('replace_slot',
            'Write the claim''s new place in one UPDATE; the exclusion constraint is the last guard behind the lock.'),
        ('exchange_slots',
            'Write both claims'' new places: the first steps aside, the second takes its place, the first takes the '
            'second''s. The exclusion constraint looks at each.'),
        ('place_group_slot',
            'Place one room of the group, or say why that can''t be; then nothing of the group is kept.'),
        ('place_group_stock',
            'Take the units of one item of the group, or say why that can''t be; then nothing of the group is kept.'),
        ('take_stock', 'Take the units off the shelf: one conditional UPDATE that takes all of them or nothing.'),
        ('place_stock', 'Insert the claim on the units that were taken.'),
        ('settle_stock', 'Move the units of the hold that has just ended: to the sold ones, or back to the shelf.'),
        ('record_slot', 'The claim is written; now append the event that tells who did what.'),
        ('record_stock', 'The claim is written; now append the event that tells who did what.'),
        ('record_house', 'The change is written; now append the event that tells who did what.'),
        ('remember_outcome',
            'Write the outcome beside the request id, so that whoever asks again with it hears the same.')
    ) AS steps (step, words);
    PERFORM keyrack_step.copy_entries();
END
$$;
