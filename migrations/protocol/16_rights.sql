-- Last: what step mode no longer has goes too, and who may call what is said anew.

CALL drop_left_over('keyrack_step');

DO $$
DECLARE
    v_now xid := pg_current_xact_id()::xid;
    v_what text;
    v_entry record;
BEGIN
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
