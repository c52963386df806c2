-- A demo's site: made for one run of `keyrack demo`, gone without a trace when the demo ends (design section 8).
--
-- Whether a site is a demo's is decided when it is made and never afterwards, so that the guards of every other site
-- stay what they are: nobody can declare a house a demo's to get rid of its records.

-- The number of the session lock that is held while the demo runs; null for every ordinary site.
--
-- The lock has two numbers, which PostgreSQL keeps apart from locks of one. The first is this program's ("keyr"); the
-- second begins where the gates of step mode, whose first number is drawn, never get to.
ALTER TABLE site
    ADD COLUMN demo_lock integer,
    ADD CONSTRAINT site_demo_is_no_default CHECK (demo_lock IS NULL OR NOT is_default);

CREATE SEQUENCE demo_lock AS integer START 1000001 MINVALUE 1000001 CYCLE;

CREATE FUNCTION demo_lock_class() RETURNS integer
LANGUAGE sql IMMUTABLE
AS $$
    SELECT 1801812338
$$;

CREATE FUNCTION guard_demo_lock() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION 'Site % is made as a demo''s or not, and stays so', OLD.site_id
        USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = 'site_demo_lock_is_kept';
END
$$;

CREATE TRIGGER site_demo_lock_guard BEFORE UPDATE OF demo_lock ON site
FOR EACH ROW WHEN (OLD.demo_lock IS DISTINCT FROM NEW.demo_lock)
EXECUTE FUNCTION guard_demo_lock();

CREATE FUNCTION is_demo_site(p_site bigint) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT EXISTS (SELECT FROM site WHERE site_id = p_site AND demo_lock IS NOT NULL)
$$;

-- Rows of records are kept (R19, R25), except a demo's. Per row, because only the row knows its site.
CREATE FUNCTION guard_kept() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF is_demo_site(OLD.site_id) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'Rows of % are written once and kept', TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_TABLE_NAME || '_append_only';
END
$$;

CREATE OR REPLACE TRIGGER hold_event_append_only BEFORE UPDATE OR TRUNCATE ON hold_event
FOR EACH STATEMENT EXECUTE FUNCTION guard_append_only();
CREATE OR REPLACE TRIGGER stock_movement_append_only BEFORE UPDATE OR TRUNCATE ON stock_movement
FOR EACH STATEMENT EXECUTE FUNCTION guard_append_only();
CREATE TRIGGER hold_event_kept BEFORE DELETE ON hold_event
FOR EACH ROW EXECUTE FUNCTION guard_kept();
CREATE TRIGGER stock_movement_kept BEFORE DELETE ON stock_movement
FOR EACH ROW EXECUTE FUNCTION guard_kept();

-- The edges of a claim's life (R9), as before; a demo's claim may be deleted.
CREATE OR REPLACE FUNCTION guard_claim() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.state <> 'held' AND NOT (NEW.state = 'confirmed' AND (NEW.imported OR 'blocks' = ANY (TG_ARGV)
            AND to_jsonb(NEW) ->> 'purpose' = 'block')) THEN
            RAISE EXCEPTION 'A claim begins held, or confirmed where it is a block or an import'
                USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_TABLE_NAME || '_begins_held';
        END IF;
        RETURN NEW;
    END IF;

    IF TG_OP = 'DELETE' THEN
        IF is_demo_site(OLD.site_id) THEN
            RETURN OLD;
        END IF;
        RAISE EXCEPTION 'Claims are kept: cancel it instead of deleting it'
            USING ERRCODE = 'restrict_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_TABLE_NAME || '_is_kept';
    END IF;

    IF OLD.state IN ('cancelled', 'expired') THEN
        RAISE EXCEPTION 'Claim % has ended (%) and stays as it is', OLD.hold_id, OLD.state
            USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_TABLE_NAME || '_ended';
    END IF;
    IF (NEW.site_id, NEW.hold_id, NEW.imported, NEW.created_at)
        IS DISTINCT FROM (OLD.site_id, OLD.hold_id, OLD.imported, OLD.created_at) THEN
        RAISE EXCEPTION 'The identity and the origin of claim % do not change', OLD.hold_id
            USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_TABLE_NAME || '_identity';
    END IF;

    -- Whoever writes, the version moves (R22), and the moment of the decision is known: the protocol brings its own
    -- reading of the clock, taken after the lock. A reading from outside this transaction is none (R10).
    NEW.version := OLD.version + 1;
    IF NEW.changed_at IS NOT DISTINCT FROM OLD.changed_at OR NEW.changed_at < transaction_timestamp() THEN
        NEW.changed_at := clock_timestamp();
    END IF;
    NEW.changed_at := least(NEW.changed_at, clock_timestamp());

    IF NEW.state <> OLD.state THEN
        IF NOT (OLD.state || '>' || NEW.state) = ANY (TG_ARGV) THEN
            RAISE EXCEPTION 'Claim % can not go from % to %', OLD.hold_id, OLD.state, NEW.state
                USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_TABLE_NAME || '_edge';
        END IF;
        -- R10, R11: at the deadline itself the hold has expired; before it, it has not.
        IF NEW.state = 'confirmed' AND NEW.changed_at >= OLD.expires_at
            OR NEW.state = 'expired' AND NEW.changed_at < OLD.expires_at THEN
            RAISE EXCEPTION 'Claim % has its deadline at %, and it is % now', OLD.hold_id, OLD.expires_at, NEW.changed_at
                USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_TABLE_NAME || '_in_time';
        END IF;
    END IF;
    RETURN NEW;
END
$$;

-- What `keyrack demo` calls first: makes a site that is this session's demo's, as the house says (apply_house), and
-- takes its lock for as long as the session lasts. The number is added to the name: several demos can show the same
-- house. Returns the site.
CREATE FUNCTION open_demo_site(p_request uuid, p_desk text, p_house jsonb) RETURNS bigint
LANGUAGE plpgsql
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
CREATE FUNCTION keep_demo_site(p_site bigint) RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    v_lock integer;
BEGIN
    SELECT demo_lock INTO v_lock FROM site WHERE site_id = p_site;
    RETURN coalesce(pg_try_advisory_lock(demo_lock_class(), v_lock), false);
END
$$;

-- Removes a demo's site with every row. False if there is none; an ordinary site is never touched.
CREATE FUNCTION remove_demo_site(p_site bigint) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    -- A command that is under way has the site's row by its foreign key: it is waited for, and the next one finds no site.
    PERFORM FROM site WHERE site_id = p_site AND demo_lock IS NOT NULL FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM change_log WHERE site_id = p_site;
    DELETE FROM request WHERE site_id = p_site;
    DELETE FROM hold_event WHERE site_id = p_site;
    DELETE FROM stock_movement WHERE site_id = p_site;
    DELETE FROM stock_hold WHERE site_id = p_site;
    DELETE FROM slot_hold WHERE site_id = p_site;
    DELETE FROM claim_group WHERE site_id = p_site;
    DELETE FROM inventory WHERE site_id = p_site;
    DELETE FROM room WHERE site_id = p_site;
    DELETE FROM site WHERE site_id = p_site;
    RETURN true;
END
$$;

COMMENT ON FUNCTION remove_demo_site(bigint) IS
$$Remove a demo's site with everything in it; an ordinary site is never touched.
SELECT remove_demo_site(7);$$;

-- Removes what demos left that did not come to their end: whoever runs holds its lock. Returns how many.
CREATE FUNCTION remove_abandoned_demo_sites() RETURNS integer
LANGUAGE plpgsql
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

-- `keyrack check`: the guards that came with demos are there too.
ALTER FUNCTION check_site(bigint) RENAME TO check_site_before_demos;

CREATE FUNCTION check_site(p_site bigint) RETURNS TABLE (rule text, subject text, problem text)
LANGUAGE sql STABLE
AS $$
    SELECT rule, trigger_name, 'this guard is missing or disabled on table ' || table_name
    FROM (VALUES
        ('R25', 'hold_event', 'hold_event_kept'),
        ('R19', 'stock_movement', 'stock_movement_kept'),
        ('R25', 'site', 'site_demo_lock_guard')
    ) AS expected (rule, table_name, trigger_name)
    WHERE NOT EXISTS (
        SELECT FROM pg_trigger
        WHERE tgname = trigger_name AND tgrelid = table_name::regclass AND tgenabled IN ('O', 'A')
    )
    UNION ALL
    SELECT rule, subject, problem FROM check_site_before_demos(p_site)
$$;

COMMENT ON FUNCTION check_site(bigint) IS
$$Prove the rules from the rows: no row means that all is well.
SELECT * FROM check_site(1);$$;
