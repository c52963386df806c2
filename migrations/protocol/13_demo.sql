-- A demo's site: made for one run of `keyrack demo`, gone without a trace when the demo ends.
--
-- Whether a site is a demo's is decided when it is made and never afterwards, so that the guards of every other site
-- stay what they are: nobody can declare a house a demo's to get rid of its records.

-- The first number of the lock that a running demo holds ("keyr"); the second is the site's.
CREATE OR REPLACE FUNCTION demo_lock_class() RETURNS integer
LANGUAGE sql IMMUTABLE
AS $$
    SELECT 1801812338
$$;

-- What `keyrack demo` calls first: makes a site that is this session's demo's, as the house says (apply_house), and
-- takes its lock for as long as the session lasts. The number is added to the name: several demos can show the same
-- house. Returns the site.
CREATE OR REPLACE FUNCTION open_demo_site(p_request uuid, p_desk text, p_house jsonb) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_lock integer := nextval('demo_lock');
    v_name text := format('%s (demo %s)', left(p_house -> 'site' ->> 'name', 60), v_lock - 1000000);
    v_site bigint;
BEGIN
    PERFORM require_read_committed();
    -- Before there is anything to remove.
    PERFORM pg_advisory_lock(demo_lock_class(), v_lock);
    INSERT INTO site (name, time_zone, demo_lock) VALUES (v_name, p_house -> 'site' ->> 'time_zone', v_lock)
    RETURNING site_id INTO v_site;
    PERFORM apply_house(p_request, p_desk, jsonb_set(p_house, '{site,name}', to_jsonb(v_name)));
    RETURN v_site;
END
$$;

-- Takes a demo's lock again, in a new session after the one that had it was lost. False if the site is gone.
CREATE OR REPLACE FUNCTION keep_demo_site(p_site bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_lock integer;
BEGIN
    SELECT demo_lock INTO v_lock FROM site WHERE site_id = p_site;
    RETURN coalesce(pg_try_advisory_lock(demo_lock_class(), v_lock), false);
END
$$;

-- Removes a demo's site with every row. False if there is none; an ordinary site is never touched.
CREATE OR REPLACE FUNCTION remove_demo_site(p_site bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    -- A command that is under way has the site's row by its foreign key: it is waited for, and the next one finds no site.
    PERFORM FROM site WHERE site_id = p_site AND demo_lock IS NOT NULL FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM request WHERE site_id = p_site;
    DELETE FROM server_request WHERE site_id = p_site;
    DELETE FROM hold_event WHERE site_id = p_site;
    DELETE FROM stock_movement WHERE site_id = p_site;
    DELETE FROM stock_hold WHERE site_id = p_site;
    DELETE FROM slot_hold WHERE site_id = p_site;
    DELETE FROM claim_group WHERE site_id = p_site;
    DELETE FROM inventory WHERE site_id = p_site;
    DELETE FROM room WHERE site_id = p_site;
    DELETE FROM site WHERE site_id = p_site;
    -- Last, because what was removed was noted in it.
    DELETE FROM change_log WHERE site_id = p_site;
    RETURN true;
END
$$;

COMMENT ON FUNCTION remove_demo_site(bigint) IS
$$Remove a demo's site with everything in it; an ordinary site is never touched.
SELECT remove_demo_site(7);$$;

-- Removes what demos left that did not come to their end: whoever runs holds its lock. Returns how many.
CREATE OR REPLACE FUNCTION remove_abandoned_demo_sites() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_site site;
    v_removed integer := 0;
BEGIN
    FOR v_site IN SELECT * FROM site WHERE demo_lock IS NOT NULL ORDER BY site_id LOOP
        -- Until the end of this transaction, so that two demos that begin at once don't both remove it.
        IF pg_try_advisory_xact_lock(demo_lock_class(), v_site.demo_lock) AND remove_demo_site(v_site.site_id) THEN
            v_removed := v_removed + 1;
        END IF;
    END LOOP;
    RETURN v_removed;
END
$$;
