-- Guards: what the database refuses to every writer, whether it follows the protocol or not. They raise, because
-- breaking them is a fault and not an answer; the name of the broken rule travels as the constraint's name.

-- The edges of a claim's life (R9), and what must not change in it. Arguments: the edges that this table allows.
CREATE FUNCTION guard_claim() RETURNS trigger
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

CREATE TRIGGER slot_hold_guard BEFORE INSERT OR UPDATE OR DELETE ON slot_hold
FOR EACH ROW EXECUTE FUNCTION guard_claim(
    'blocks', 'held>confirmed', 'held>cancelled', 'held>expired', 'confirmed>cancelled'
);

-- A confirmed sale is not cancelled (R18).
CREATE TRIGGER stock_hold_guard BEFORE INSERT OR UPDATE OR DELETE ON stock_hold
FOR EACH ROW EXECUTE FUNCTION guard_claim('held>confirmed', 'held>cancelled', 'held>expired');

-- What was claimed of stock does not change under the counters' feet (R16, R17).
CREATE FUNCTION guard_stock_quantity() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION 'The item and the quantity of claim % do not change', OLD.hold_id
        USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = 'stock_hold_quantity_is_kept';
END
$$;

CREATE TRIGGER stock_hold_quantity_guard BEFORE UPDATE OF item_id, quantity ON stock_hold
FOR EACH ROW WHEN ((OLD.item_id, OLD.quantity) IS DISTINCT FROM (NEW.item_id, NEW.quantity))
EXECUTE FUNCTION guard_stock_quantity();

-- Records are append-only (R19, R25).
CREATE FUNCTION guard_append_only() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION 'Rows of % are written once and kept', TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_TABLE_NAME || '_append_only';
END
$$;

CREATE TRIGGER hold_event_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON hold_event
FOR EACH STATEMENT EXECUTE FUNCTION guard_append_only();
CREATE TRIGGER stock_movement_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON stock_movement
FOR EACH STATEMENT EXECUTE FUNCTION guard_append_only();
CREATE TRIGGER slot_hold_no_truncate BEFORE TRUNCATE ON slot_hold
FOR EACH STATEMENT EXECUTE FUNCTION guard_append_only();
CREATE TRIGGER stock_hold_no_truncate BEFORE TRUNCATE ON stock_hold
FOR EACH STATEMENT EXECUTE FUNCTION guard_append_only();

-- A zone that the database does not know would make every time of the site unreadable (R5).
CREATE FUNCTION guard_time_zone() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM clock_timestamp() AT TIME ZONE NEW.time_zone;
    IF NEW.time_zone !~ '^[A-Za-z]' THEN
        RAISE invalid_parameter_value;
    END IF;
    RETURN NEW;
EXCEPTION WHEN invalid_parameter_value THEN
    RAISE EXCEPTION 'The database does not know the time zone %', NEW.time_zone
        USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = 'site_time_zone';
END
$$;

CREATE TRIGGER site_time_zone_guard BEFORE INSERT OR UPDATE OF time_zone ON site
FOR EACH ROW EXECUTE FUNCTION guard_time_zone();
