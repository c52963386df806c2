-- The sweep: writes expired over holds that are due and that nobody is working on (R11). A room or an item a call and a
-- transaction each, at most a thousand claims: call again until it says 0. It changes nothing that was not due, so the
-- request id (which may be null) is not kept.

CREATE OR REPLACE FUNCTION expire_slots(p_site bigint, p_request uuid DEFAULT NULL, p_desk text DEFAULT 'sweep')
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_site site;
    v_room bigint;
    v_now timestamptz;
    v_expired integer;
BEGIN
    PERFORM require_read_committed();
    v_site := site_row(p_site);
    LOOP
        v_now := site_clock(v_site);
        SELECT r.room_id INTO v_room
        FROM room AS r
        WHERE r.site_id = p_site AND r.room_id IN (
            SELECT s.room_id FROM slot_hold AS s
            WHERE s.site_id = p_site AND s.state = 'held' AND s.expires_at <= v_now
        )
        LIMIT 1
        FOR NO KEY UPDATE OF r SKIP LOCKED;
        IF NOT FOUND THEN
            RETURN 0;
        END IF;
        v_expired := expire_room(v_site, v_room, p_desk);
        -- None: another sweeper did this room just before it was locked. There may be others.
        EXIT WHEN v_expired > 0;
    END LOOP;
    RETURN v_expired;
END
$$;

COMMENT ON FUNCTION expire_slots(bigint, uuid, text) IS
$$Write expired over the holds of one room that are due; call again until it says 0.
SELECT expire_slots(1);$$;

CREATE OR REPLACE FUNCTION expire_stock(p_site bigint, p_request uuid DEFAULT NULL, p_desk text DEFAULT 'sweep')
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_site site;
    v_item bigint;
    v_now timestamptz;
    v_expired integer;
BEGIN
    PERFORM require_read_committed();
    v_site := site_row(p_site);
    LOOP
        v_now := site_clock(v_site);
        SELECT i.item_id INTO v_item
        FROM inventory AS i
        WHERE i.site_id = p_site AND i.item_id IN (
            SELECT s.item_id FROM stock_hold AS s
            WHERE s.site_id = p_site AND s.state = 'held' AND s.expires_at <= v_now
        )
        LIMIT 1
        FOR NO KEY UPDATE OF i SKIP LOCKED;
        IF NOT FOUND THEN
            RETURN 0;
        END IF;
        v_expired := expire_item(v_site, v_item, p_desk);
        -- None: another sweeper did this item just before it was locked. There may be others.
        EXIT WHEN v_expired > 0;
    END LOOP;
    RETURN v_expired;
END
$$;

COMMENT ON FUNCTION expire_stock(bigint, uuid, text) IS
$$Write expired over the holds of one item that are due and give their units back; call again until it says 0.
SELECT expire_stock(1);$$;

-- The next room or item that is due, rooms first. One a transaction: an item whose figures are corrupt stops no room.
CREATE OR REPLACE FUNCTION expire_next(p_site bigint, p_desk text DEFAULT 'sweep') RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_expired integer := expire_slots(p_site, NULL, p_desk);
BEGIN
    IF v_expired = 0 THEN
        v_expired := expire_stock(p_site, NULL, p_desk);
    END IF;
    RETURN v_expired;
END
$$;

COMMENT ON FUNCTION expire_next(bigint, text) IS
$$What expire_slots and expire_stock do, whichever has something to do; call again until it says 0.
SELECT expire_next(1);$$;

-- What an open console calls twice a second: one sweeper of a site at a time. The lock ends with the call, so that a
-- sweeper that dies or sleeps leaves nothing behind and the next one takes over. Says how many claims it expired.
CREATE OR REPLACE FUNCTION sweep_turn(p_site bigint, p_desk text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('keyrack sweep', p_site)) THEN
        RETURN 0;
    END IF;
    RETURN expire_next(p_site, p_desk);
END
$$;

COMMENT ON FUNCTION sweep_turn(bigint, text) IS
$$expire_next, unless another sweeper is at it at this moment.
SELECT sweep_turn(1, 'anna');$$;
