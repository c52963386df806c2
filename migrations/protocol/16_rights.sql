-- Last: what the text no longer names goes, and who may call what is said anew.
--
-- Everything that the text names was written by this transaction just now; whatever else of ours is older, and is dropped.
-- Never with CASCADE, which would take columns and constraints with it: if something still hangs on it, nothing is done.

DO $$
DECLARE
    v_now xid := pg_current_xact_id()::xid;
    v_left record;
    v_entry record;
BEGIN
    FOR v_left IN
        SELECT format('VIEW %s', c.oid::regclass) AS what
        FROM pg_class AS c
        JOIN pg_rewrite AS r ON r.ev_class = c.oid
        WHERE c.relnamespace IN ('keyrack'::regnamespace, 'keyrack_step'::regnamespace) AND c.relkind = 'v'
            AND r.xmin <> v_now
        UNION ALL
        SELECT format('%s %s', CASE p.prokind WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END, p.oid::regprocedure)
        FROM pg_proc AS p
        WHERE p.pronamespace IN ('keyrack'::regnamespace, 'keyrack_step'::regnamespace) AND p.xmin <> v_now
            AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.objid = p.oid AND d.deptype = 'e')
    LOOP
        EXECUTE format('DROP %s RESTRICT', v_left.what);
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
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', v_entry.function);
        IF v_entry.is_entry THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO PUBLIC', v_entry.function);
        END IF;
    END LOOP;
END
$$;
