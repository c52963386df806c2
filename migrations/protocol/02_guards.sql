-- Guards: what the database refuses to every writer, whether it follows the protocol or not. They raise, because
-- breaking them is a fault and not an answer; the name of the broken rule travels as the constraint's name. Which guard
-- stands at which table is said in 15_triggers.sql.

-- A demo's site: its rows may go, when the demo ends.
CREATE OR REPLACE FUNCTION is_demo_site(p_site bigint) RETURNS boolean
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM site WHERE site_id = p_site AND demo_lock IS NOT NULL);
END
$$;

-- A claim's life goes along its edges only (R9), and there is what must not change in it.
CREATE OR REPLACE FUNCTION guard_claim() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_now timestamptz;
BEGIN
    IF TG_OP = 'INSERT' THEN
        -- Stock has no purpose.
        IF NEW.state <> 'held' AND NOT (NEW.state = 'confirmed' AND (NEW.imported
            OR coalesce(to_jsonb(NEW) ->> 'purpose', 'guest') = 'block')) THEN
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

    IF TG_TABLE_NAME = 'slot_hold' THEN
        -- The first half of an exchange is not a change of its own (R14): it counts no version, and changes nothing else.
        -- It can't be committed (guard_between_places).
        IF is_between_places(NEW.period) THEN
            NEW.version := OLD.version;
            IF to_jsonb(NEW) - ARRAY['period', 'occupied', 'active']
                <> to_jsonb(OLD) - ARRAY['period', 'occupied', 'active'] THEN
                RAISE EXCEPTION 'Claim % only waits for its new place', OLD.hold_id
                    USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = 'slot_hold_between_places';
            END IF;
            RETURN NEW;
        END IF;
    END IF;

    -- Whoever writes, the version moves (R22), and the moment of the decision is known: the protocol brings its own
    -- reading of the clock, taken after the lock. A reading from outside this transaction is none (R10).
    v_now := site_clock(NULL);
    NEW.version := OLD.version + 1;
    IF NEW.changed_at IS NOT DISTINCT FROM OLD.changed_at OR NEW.changed_at < transaction_timestamp() THEN
        NEW.changed_at := v_now;
    END IF;
    NEW.changed_at := least(NEW.changed_at, v_now);

    IF NEW.state <> OLD.state THEN
        IF NOT is_edge(TG_TABLE_NAME, OLD.state, NEW.state) THEN
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

-- R14: what waits for its new place has to get there before the transaction ends. Looked at when it commits.
CREATE OR REPLACE FUNCTION guard_between_places() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    IF EXISTS (
        SELECT FROM slot_hold
        WHERE site_id = NEW.site_id AND hold_id = NEW.hold_id AND is_between_places(period)
    ) THEN
        RAISE EXCEPTION 'Claim % stands between two places and can not stay there', NEW.hold_id
            USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = 'slot_hold_between_places';
    END IF;
    RETURN NULL;
END
$$;

-- What was claimed of stock does not change under the counters' feet (R16, R17).
CREATE OR REPLACE FUNCTION guard_stock_quantity() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'The item and the quantity of claim % do not change', OLD.hold_id
        USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = 'stock_hold_quantity_is_kept';
END
$$;

-- Records are append-only (R19, R25).
CREATE OR REPLACE FUNCTION guard_append_only() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'Rows of % are written once and kept', TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_TABLE_NAME || '_append_only';
END
$$;

-- Records are kept, except a demo's. Per row, because only the row knows its site.
CREATE OR REPLACE FUNCTION guard_kept() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    IF is_demo_site(OLD.site_id) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'Rows of % are written once and kept', TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_TABLE_NAME || '_append_only';
END
$$;

-- A zone that the database does not know would make every time of the site unreadable (R5).
CREATE OR REPLACE FUNCTION guard_time_zone() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    PERFORM clock_timestamp() AT TIME ZONE NEW.time_zone;
    -- Not an offset; nor an abbreviation like IST, which each session may read as it likes; nor a name in other capitals,
    -- or one that the server's machine alone has. To look a name up takes long: once a server for each is enough.
    IF NEW.time_zone ~ '^(posix|right)/|^(posixrules|localtime|Factory)$' OR NEW.time_zone <> 'UTC'
        AND NOT EXISTS (SELECT FROM site WHERE time_zone = NEW.time_zone)
        AND NOT EXISTS (SELECT FROM pg_timezone_names WHERE name = NEW.time_zone) THEN
        RAISE invalid_parameter_value;
    END IF;
    RETURN NEW;
EXCEPTION WHEN invalid_parameter_value THEN
    RAISE EXCEPTION 'The database does not know the time zone %', NEW.time_zone
        USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = 'site_time_zone';
END
$$;

-- Whether a site is a demo's is decided when it is made and never afterwards, so that nobody can declare a house a
-- demo's to get rid of its records.
CREATE OR REPLACE FUNCTION guard_demo_lock() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'Site % is made as a demo''s or not, and stays so', OLD.site_id
        USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = 'site_demo_lock_is_kept';
END
$$;

-- Tells the consoles what a statement changed, whoever sent it: a row for each site and transaction,
-- to which a later statement of the same transaction adds. Its time is that of the transaction's first change; a row of
-- another life of the database, which a restore has brought, is taken over.
CREATE OR REPLACE FUNCTION note_change(p_site bigint, p_claims bigint[], p_rooms bigint[], p_items bigint[])
RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_transaction xid8 := pg_current_xact_id();
    v_now timestamptz := clock_timestamp();
    v_began timestamptz := transaction_timestamp();
    v_is_new boolean;
    v_oldest timestamptz;
    v_old xid8[];
    v_many constant integer := 1000;
BEGIN
    INSERT INTO change_log (site_id, transaction_id, claims, rooms, items, at)
    VALUES (p_site, v_transaction, p_claims, p_rooms, p_items, v_now)
    ON CONFLICT ON CONSTRAINT change_log_pkey DO UPDATE
    SET claims = CASE WHEN excluded.claims IS NOT NULL
                AND cardinality(change_log.claims || change_log.rooms || change_log.items) < v_many
            THEN change_log.claims || excluded.claims END,
        rooms = CASE WHEN excluded.claims IS NOT NULL
                AND cardinality(change_log.claims || change_log.rooms || change_log.items) < v_many
            THEN change_log.rooms || excluded.rooms END,
        items = CASE WHEN excluded.claims IS NOT NULL
                AND cardinality(change_log.claims || change_log.rooms || change_log.items) < v_many
            THEN change_log.items || excluded.items END,
        at = greatest(change_log.at, v_began)
    -- Once they are too many, nothing is written any more: else the row, and what is left of its earlier versions, would
    -- make each statement of a long transaction slower than the one before.
    WHERE change_log.claims IS NOT NULL
    RETURNING xmax = 0 INTO v_is_new;
    -- An hour is enough for every console that is awake. Whoever writes clears away, a thousand at a time and only when
    -- two hours have piled up, so that it depends on no open console and is mostly one look at the oldest row. Older
    -- transactions have smaller numbers; what a restore has brought with larger ones goes when they come to it.
    IF v_is_new THEN
        SELECT at INTO v_oldest FROM change_log WHERE site_id = p_site ORDER BY transaction_id LIMIT 1;
        IF v_oldest < v_now - interval '2 hours' THEN
            v_old := ARRAY(
                SELECT transaction_id FROM change_log
                WHERE site_id = p_site AND transaction_id < v_transaction AND at < v_now - interval '1 hour'
                ORDER BY transaction_id LIMIT 1000
                FOR UPDATE SKIP LOCKED
            );
            DELETE FROM change_log WHERE site_id = p_site AND transaction_id = ANY (v_old);
        END IF;
    END IF;
END
$$;

-- After every statement on a table that consoles show. Mostly it touches one site, and then one look at what it touched is
-- enough.
CREATE OR REPLACE FUNCTION note_changes() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_first bigint;
    v_last bigint;
    v_claims bigint[] := '{}';
    v_rooms bigint[] := '{}';
    v_items bigint[] := '{}';
    v_site bigint;
BEGIN
    IF TG_TABLE_NAME = 'slot_hold' THEN
        SELECT min(site_id), max(site_id), array_agg(hold_id), array_agg(room_id)
        INTO v_first, v_last, v_claims, v_rooms FROM touched;
    ELSIF TG_TABLE_NAME = 'stock_hold' THEN
        SELECT min(site_id), max(site_id), array_agg(hold_id), array_agg(item_id)
        INTO v_first, v_last, v_claims, v_items FROM touched;
    ELSIF TG_TABLE_NAME = 'room' THEN
        SELECT min(site_id), max(site_id), array_agg(room_id) INTO v_first, v_last, v_rooms FROM touched;
    ELSIF TG_TABLE_NAME = 'inventory' THEN
        SELECT min(site_id), max(site_id), array_agg(item_id) INTO v_first, v_last, v_items FROM touched;
    ELSE
        SELECT min(site_id), max(site_id) INTO v_first, v_last FROM touched;
    END IF;
    IF v_first = v_last THEN
        PERFORM note_change(v_first, v_claims, v_rooms, v_items);
    ELSIF v_first < v_last THEN
        -- A statement over several sites is nobody's command: that something of each has changed is enough.
        FOR v_site IN SELECT DISTINCT site_id FROM touched LOOP
            PERFORM note_change(v_site, NULL, NULL, NULL);
        END LOOP;
    END IF;
    RETURN NULL;
END
$$;

-- After a change of an item itself. Claims on stock move its units between available, held and sold and are noted by
-- themselves, with the item: that the total, the name or the retirement has changed is what this is asked for, a row at a
-- time, because a condition on rows costs next to nothing where it does not hold.
CREATE OR REPLACE FUNCTION note_item() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    PERFORM note_change(NEW.site_id, '{}', '{}', ARRAY[NEW.item_id]);
    RETURN NULL;
END
$$;
