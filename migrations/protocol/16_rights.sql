-- Last: what the text no longer names goes, and who may call what is said anew.
--
-- Every function that the text names was written by this transaction just now, and every view is in its list; whatever
-- else of ours is older, and is dropped. Never with CASCADE, which would take columns and constraints with it: if something
-- of somebody else's still hangs on it, nothing is done.

DO $$
DECLARE
    v_now xid := pg_current_xact_id()::xid;
    v_views text[] := string_to_array(current_setting('keyrack.views'), ' ');
    v_left text[];
    v_fewer text[];
    v_what text;
    v_entry record;
BEGIN
    SELECT array_agg(what) INTO v_left
    FROM (
        SELECT format('VIEW %s', c.oid::regclass)
        FROM pg_class AS c
        WHERE c.relnamespace IN ('keyrack'::regnamespace, 'keyrack_step'::regnamespace) AND c.relkind = 'v'
            AND c.relname <> ALL (v_views)
        UNION ALL
        SELECT format('ROUTINE %s', p.oid::regprocedure)
        FROM pg_proc AS p
        WHERE p.pronamespace IN ('keyrack'::regnamespace, 'keyrack_step'::regnamespace) AND p.xmin <> v_now
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
    FOR v_what IN
        SELECT format('COMMENT ON ROUTINE %s IS NULL', p.oid::regprocedure)
        FROM pg_proc AS p
        JOIN pg_description AS d ON d.classoid = 'pg_proc'::regclass AND d.objoid = p.oid
        WHERE p.pronamespace IN ('keyrack'::regnamespace, 'keyrack_step'::regnamespace) AND d.xmin <> v_now
            AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.objid = p.oid AND d.deptype = 'e')
    LOOP
        EXECUTE v_what;
    END LOOP;

    REVOKE ALL ON SCHEMA keyrack, keyrack_step FROM PUBLIC;
    GRANT USAGE ON SCHEMA keyrack, keyrack_step TO PUBLIC;
    -- Entry functions and readers for everybody until there are roles; steps for nobody but their owner, whose rights
    -- entry functions have.
    FOR v_entry IN
        SELECT p.oid::regprocedure AS function, p.prosecdef AND p.prorettype <> 'trigger'::regtype AS is_entry
        FROM pg_proc AS p
        WHERE p.pronamespace IN ('keyrack'::regnamespace, 'keyrack_step'::regnamespace)
            AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.objid = p.oid AND d.deptype = 'e')
    LOOP
        EXECUTE format('REVOKE ALL ON ROUTINE %s FROM PUBLIC', v_entry.function);
        IF v_entry.is_entry THEN
            EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO PUBLIC', v_entry.function);
        END IF;
    END LOOP;
END
$$;
