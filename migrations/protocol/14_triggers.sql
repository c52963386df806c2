-- Which guard stands at which table. A trigger is made anew only where its definition differs, because that locks the
-- table harder than replacing a function does; one that is not in this list is dropped.
--
-- A definition is written as PostgreSQL writes it, from the table's name on.

DO $$
DECLARE
    v_wanted record;
    v_unwanted record;
    v_names text[] := '{}';
BEGIN
    -- Then PostgreSQL writes every name in full, and none in quotation marks.
    PERFORM set_config('search_path', 'pg_catalog', true);
    PERFORM set_config('quote_all_identifiers', 'off', true);
    FOR v_wanted IN
        SELECT
            table_name,
            trigger_name,
            constraint_word,
            format('CREATE %sTRIGGER %s %s ON keyrack.%s %s', constraint_word, trigger_name, moment, table_name, rest)
                AS definition
        FROM (
            VALUES
                (
                    'slot_hold', 'slot_hold_guard', '', 'BEFORE INSERT OR DELETE OR UPDATE',
                    'FOR EACH ROW EXECUTE FUNCTION keyrack.guard_claim()'
                ),
                -- What is_between_places says, in seconds: a condition runs with the rights and the path of whoever writes,
                -- so that it must not ask a function of ours (R33), and an instant would be written in a session's zone.
                (
                    'slot_hold', 'slot_hold_between_places', 'CONSTRAINT ', 'AFTER INSERT OR UPDATE',
                    'DEFERRABLE INITIALLY DEFERRED FOR EACH ROW '
                    'WHEN ((EXTRACT(epoch FROM lower(new.period)) >= 221845392000.0)) '
                    'EXECUTE FUNCTION keyrack.guard_between_places()'
                ),
                (
                    'slot_hold', 'slot_hold_no_truncate', '', 'BEFORE TRUNCATE',
                    'FOR EACH STATEMENT EXECUTE FUNCTION keyrack.guard_append_only()'
                ),
                (
                    'stock_hold', 'stock_hold_guard', '', 'BEFORE INSERT OR DELETE OR UPDATE',
                    'FOR EACH ROW EXECUTE FUNCTION keyrack.guard_claim()'
                ),
                (
                    'stock_hold', 'stock_hold_quantity_guard', '', 'BEFORE UPDATE OF item_id, quantity',
                    'FOR EACH ROW WHEN (((old.item_id IS DISTINCT FROM new.item_id) '
                    'OR (old.quantity IS DISTINCT FROM new.quantity))) EXECUTE FUNCTION keyrack.guard_stock_quantity()'
                ),
                (
                    'stock_hold', 'stock_hold_no_truncate', '', 'BEFORE TRUNCATE',
                    'FOR EACH STATEMENT EXECUTE FUNCTION keyrack.guard_append_only()'
                ),
                (
                    'hold_event', 'hold_event_append_only', '', 'BEFORE UPDATE OR TRUNCATE',
                    'FOR EACH STATEMENT EXECUTE FUNCTION keyrack.guard_append_only()'
                ),
                (
                    'hold_event', 'hold_event_kept', '', 'BEFORE DELETE',
                    'FOR EACH ROW EXECUTE FUNCTION keyrack.guard_kept()'
                ),
                (
                    'stock_movement', 'stock_movement_append_only', '', 'BEFORE UPDATE OR TRUNCATE',
                    'FOR EACH STATEMENT EXECUTE FUNCTION keyrack.guard_append_only()'
                ),
                (
                    'stock_movement', 'stock_movement_kept', '', 'BEFORE DELETE',
                    'FOR EACH ROW EXECUTE FUNCTION keyrack.guard_kept()'
                ),
                (
                    'site', 'site_time_zone_guard', '', 'BEFORE INSERT OR UPDATE OF time_zone',
                    'FOR EACH ROW EXECUTE FUNCTION keyrack.guard_time_zone()'
                ),
                (
                    'site', 'site_demo_lock_guard', '', 'BEFORE UPDATE OF demo_lock',
                    'FOR EACH ROW WHEN ((old.demo_lock IS DISTINCT FROM new.demo_lock)) '
                    'EXECUTE FUNCTION keyrack.guard_demo_lock()'
                ),
                (
                    'inventory', 'inventory_note_update', '', 'AFTER UPDATE',
                    'FOR EACH ROW WHEN (((old.total IS DISTINCT FROM new.total) OR (old.name IS DISTINCT FROM new.name) '
                    'OR (old.retired_at IS DISTINCT FROM new.retired_at))) EXECUTE FUNCTION keyrack.note_item()'
                )
        ) AS guard (table_name, trigger_name, constraint_word, moment, rest)
        UNION ALL
        -- What consoles show is noticed whoever changes it, raw SQL too.
        SELECT
            table_name,
            format('%s_note_%s', table_name, lower(event)),
            '',
            format(
                'CREATE TRIGGER %s_note_%s AFTER %s ON keyrack.%s REFERENCING %s TABLE AS touched FOR EACH STATEMENT '
                'EXECUTE FUNCTION keyrack.note_changes()',
                table_name, lower(event), event, table_name, CASE event WHEN 'DELETE' THEN 'OLD' ELSE 'NEW' END
            )
        FROM unnest(ARRAY['site', 'room', 'slot_hold', 'inventory', 'stock_hold']) AS table_name
        CROSS JOIN unnest(ARRAY['INSERT', 'UPDATE', 'DELETE']) AS event
        WHERE (table_name, event) <> ('inventory', 'UPDATE')
    LOOP
        IF NOT EXISTS (
            SELECT FROM pg_trigger
            WHERE tgrelid = ('keyrack.' || v_wanted.table_name)::regclass AND tgname = v_wanted.trigger_name
                AND tgenabled = 'O' AND pg_get_triggerdef(oid) = v_wanted.definition
        ) THEN
            -- A constraint trigger can't be replaced.
            IF EXISTS (
                SELECT FROM pg_trigger
                WHERE tgrelid = ('keyrack.' || v_wanted.table_name)::regclass AND tgname = v_wanted.trigger_name
            ) THEN
                EXECUTE format('DROP TRIGGER %I ON keyrack.%I RESTRICT', v_wanted.trigger_name, v_wanted.table_name);
            END IF;
            EXECUTE v_wanted.definition;
        END IF;
        v_names := v_names || v_wanted.trigger_name::text;
    END LOOP;
    FOR v_unwanted IN
        SELECT tgname, tgrelid::regclass::text AS table_name FROM pg_trigger
        JOIN pg_class ON pg_class.oid = tgrelid
        WHERE relnamespace = 'keyrack'::regnamespace AND NOT tgisinternal
            AND tgname <> ALL (v_names)
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s RESTRICT', v_unwanted.tgname, v_unwanted.table_name);
    END LOOP;
    PERFORM set_config('search_path', 'keyrack', true);
END
$$;

-- What else the text no longer names goes, before step mode puts gates before what there is. Every function that the text
-- names was written by this transaction just now, and every view is in its list; whatever else of ours is older. Never with
-- CASCADE, which would take columns and constraints with it: if something of somebody else's still hangs on it, nothing is
-- done.
CREATE OR REPLACE PROCEDURE drop_left_over(p_schema text)
LANGUAGE plpgsql
AS $$
DECLARE
    v_views text[] := string_to_array(current_setting('keyrack.views'), ' ');
    v_left text[];
    v_fewer text[];
    v_what text;
BEGIN
    SELECT array_agg(what) INTO v_left
    FROM (
        SELECT format('VIEW %s', c.oid::regclass)
        FROM pg_class AS c
        WHERE c.relnamespace = p_schema::regnamespace AND c.relkind = 'v' AND c.relname <> ALL (v_views)
        UNION ALL
        SELECT format('ROUTINE %s', p.oid::regprocedure)
        FROM pg_proc AS p
        WHERE p.pronamespace = p_schema::regnamespace AND p.xmin <> pg_current_xact_id()::xid
            AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.objid = p.oid AND d.deptype = 'e')
    ) AS left_over (what);
    -- What goes may hang on something else that goes: round and round, until a round is in vain.
    WHILE v_left IS NOT NULL LOOP
        v_fewer := NULL;
        FOREACH v_what IN ARRAY v_left LOOP
            BEGIN
                EXECUTE format('DROP %s RESTRICT', v_what);
            EXCEPTION WHEN dependent_objects_still_exist THEN
                v_fewer := v_fewer || v_what;
            END;
        END LOOP;
        IF v_fewer = v_left THEN
            EXECUTE format('DROP %s RESTRICT', v_left[1]);
        END IF;
        v_left := v_fewer;
    END LOOP;
END
$$;

CALL drop_left_over('keyrack');
