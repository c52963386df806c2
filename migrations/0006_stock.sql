-- Commands on stock. The same order of checks, the same kind of answer as for rooms.

CREATE TYPE stock_answer AS (
    refusal text,
    details jsonb,
    repeated boolean,
    now timestamptz,
    hold_id bigint,
    group_id bigint,
    item_id bigint,
    item text,
    quantity integer,
    state text,
    guest text,
    note text,
    expires_at timestamptz,
    version bigint,
    desk text,
    request_id uuid,
    created_at timestamptz,
    changed_at timestamptz
);

CREATE FUNCTION answer_stock(p_site bigint, p_hold bigint, p_refusal text, p_details jsonb, p_repeated boolean)
RETURNS stock_answer
LANGUAGE plpgsql
AS $$
DECLARE
    v_answer stock_answer;
BEGIN
    SELECT
        p_refusal, p_details, p_repeated, clock_timestamp(), c.hold_id, c.group_id, c.item_id, c.item, c.quantity,
        c.state, c.guest, c.note, c.expires_at, c.version, c.desk, c.request_id, c.created_at, c.changed_at
    INTO v_answer
    FROM (VALUES (true)) AS one (row)
    LEFT JOIN stock_claim AS c ON c.site_id = p_site AND c.hold_id = p_hold;
    RETURN v_answer;
END
$$;

CREATE FUNCTION finish_stock(p_site bigint, p_request uuid, p_hold bigint, p_refused refused) RETURNS stock_answer
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM remember_outcome(p_site, p_request, p_refused.refusal, p_refused.details, p_stock_hold => p_hold);
    RETURN answer_stock(p_site, p_hold, p_refused.refusal, p_refused.details, false);
END
$$;

CREATE FUNCTION hold_stock(
    p_site bigint, p_request uuid, p_desk text, p_item bigint, p_quantity integer,
    p_ttl interval DEFAULT NULL, p_guest text DEFAULT '', p_note text DEFAULT ''
) RETURNS stock_answer
LANGUAGE plpgsql
AS $$
DECLARE
    v_seen request;
    v_site site;
    v_item inventory;
    v_refused refused;
    v_now timestamptz;
    v_hold bigint;
BEGIN
    PERFORM require_read_committed();
    v_seen := begin_request(p_site, p_request, p_desk, 'hold_stock', jsonb_build_object(
        'item', p_item, 'quantity', p_quantity, 'ttl', extract(epoch FROM p_ttl), 'guest', p_guest, 'note', p_note
    ));
    IF v_seen.request_id IS NOT NULL THEN
        RETURN answer_stock(p_site, v_seen.stock_hold_id, v_seen.refusal, v_seen.details,
            v_seen.refusal IS DISTINCT FROM 'request_reused');
    END IF;

    SELECT * INTO STRICT v_site FROM site WHERE site_id = p_site;
    v_item := lock_item(p_site, p_item);
    IF v_item.item_id IS NULL THEN
        v_refused := refuse('no_such_item', jsonb_build_object('item', '#' || coalesce(p_item::text, '')));
        RETURN finish_stock(p_site, p_request, NULL, v_refused);
    END IF;
    PERFORM expire_item(p_site, p_item, p_desk);

    IF v_item.retired_at IS NOT NULL THEN
        v_refused := refuse('retired', jsonb_build_object('name', v_item.name));
    END IF;
    IF v_refused.refusal IS NULL AND coalesce(p_quantity, 0) <= 0 THEN
        v_refused := refuse('quantity_invalid', jsonb_build_object('quantity', coalesce(p_quantity, 0)));
    END IF;
    IF v_refused.refusal IS NULL THEN
        v_refused := text_problem(p_desk, p_guest, p_note, NULL);
    END IF;
    IF v_refused.refusal IS NULL THEN
        v_refused := hold_length_problem(v_site, p_ttl);
    END IF;
    IF v_refused.refusal IS NOT NULL THEN
        RETURN finish_stock(p_site, p_request, NULL, v_refused);
    END IF;

    LOOP
        -- The deadline counts from the decision (R10).
        v_now := clock_timestamp();
        EXIT WHEN take_stock(p_site, p_item, p_quantity);
        -- A hold that came due since it was last looked at does not make a claim fail (R11).
        IF expire_item(p_site, p_item, p_desk) = 0 THEN
            SELECT * INTO v_item FROM inventory WHERE site_id = p_site AND item_id = p_item;
            v_refused := refuse('sold_out', jsonb_build_object(
                'item', v_item.name, 'asked', p_quantity, 'available', v_item.available
            ) || next_release(v_site, p_item));
            RETURN finish_stock(p_site, p_request, NULL, v_refused);
        END IF;
    END LOOP;
    INSERT INTO stock_hold (
        site_id, item_id, quantity, guest, note, expires_at, desk, request_id, created_at, changed_at
    )
    VALUES (
        p_site, p_item, p_quantity, coalesce(p_guest, ''), coalesce(p_note, ''),
        v_now + elapsed(coalesce(p_ttl, v_site.default_hold)), p_desk, p_request, v_now, v_now
    )
    RETURNING hold_id INTO v_hold;
    PERFORM record_stock(p_site, v_hold, 'held', NULL, 'held', p_quantity, v_now, p_desk, '', p_request);
    RETURN finish_stock(p_site, p_request, v_hold, NULL);
END
$$;

COMMENT ON FUNCTION hold_stock(bigint, uuid, text, bigint, integer, interval, text, text) IS
$$Hold a quantity of an item until a deadline: all of it or nothing.
SELECT * FROM hold_stock(1, gen_random_uuid(), 'anna', 3, 2, '10 minutes', 'Müller');$$;

-- Lock a claim's row under the lock of its item, and expire what is due first; the clock is read after the last lock
-- (R10). Returns the claim and the moment of the decision.
CREATE TYPE locked_stock AS (hold stock_hold, now timestamptz);

CREATE FUNCTION lock_stock_hold(p_site bigint, p_hold bigint, p_desk text) RETURNS locked_stock
LANGUAGE plpgsql
AS $$
DECLARE
    v_hold stock_hold;
    v_now timestamptz;
BEGIN
    LOOP
        -- The row too, against writers that went around the protocol.
        SELECT * INTO v_hold FROM stock_hold WHERE site_id = p_site AND hold_id = p_hold FOR NO KEY UPDATE;
        v_now := clock_timestamp();
        EXIT WHEN v_hold.state <> 'held' OR v_hold.expires_at > v_now;
        PERFORM expire_item(p_site, v_hold.item_id, p_desk);
    END LOOP;
    RETURN ROW(v_hold, v_now);
END
$$;

-- What has become of a claim on stock that a command wants to act on; null if it can be acted on. A sale stays (R18).
CREATE FUNCTION stock_ended_or_stale(
    p_site site, p_command text, p_hold stock_hold, p_expect_version bigint, p_now timestamptz
) RETURNS refused
LANGUAGE plpgsql
AS $$
BEGIN
    IF p_hold.state = 'expired' THEN
        -- R12: how late, and whether holding again could work.
        RETURN refuse('hold_expired', jsonb_build_object(
            'late_seconds', extract(epoch FROM p_now - p_hold.expires_at),
            'expired_at', site_time(p_site.time_zone, p_hold.expires_at),
            'still_free', (
                SELECT available >= p_hold.quantity AND retired_at IS NULL FROM item_now
                WHERE site_id = p_hold.site_id AND item_id = p_hold.item_id
            )
        ));
    ELSIF p_hold.state = 'cancelled' THEN
        RETURN refuse('already_cancelled', '{}'::jsonb);
    ELSIF p_hold.state = 'confirmed' AND p_command <> 'cancel_stock' THEN
        RETURN refuse('already_confirmed', '{}'::jsonb);
    ELSIF p_expect_version <> p_hold.version THEN
        RETURN refuse('stale', jsonb_build_object(
            'expected', p_expect_version, 'version', p_hold.version, 'state', p_hold.state
        ));
    ELSIF p_hold.state = 'confirmed' THEN
        -- R18: a sale stays. One of the rules, after the version (R22).
        RETURN refuse('sale_is_final', '{}'::jsonb);
    END IF;
    RETURN NULL;
END
$$;

-- Move the units of a hold that has just ended or been sold: confirming does not change what is available; cancelling
-- gives back, once, under the lock (R17).
CREATE FUNCTION settle_stock(p_site bigint, p_item bigint, p_quantity integer, p_to text) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE inventory
    SET held = held - p_quantity,
        sold = sold + CASE p_to WHEN 'confirmed' THEN p_quantity ELSE 0 END,
        available = available + CASE p_to WHEN 'cancelled' THEN p_quantity ELSE 0 END
    WHERE site_id = p_site AND item_id = p_item;
END
$$;

-- A change to one existing claim on stock: what confirm_stock, cancel_stock and renew_stock share. The item of a
-- claim never changes, so that it can be locked without looking twice.
CREATE FUNCTION change_stock(
    p_site bigint, p_command text, p_request uuid, p_desk text, p_hold bigint, p_expect_version bigint, p_reason text,
    p_ttl interval DEFAULT NULL
) RETURNS stock_answer
LANGUAGE plpgsql
AS $$
DECLARE
    v_seen request;
    v_site site;
    v_hold stock_hold;
    v_item bigint;
    v_locked locked_stock;
    v_refused refused;
    v_now timestamptz;
    v_what text := CASE p_command
        WHEN 'confirm_stock' THEN 'confirmed' WHEN 'renew_stock' THEN 'renewed' ELSE 'cancelled' END;
    v_to text := CASE v_what WHEN 'renewed' THEN 'held' ELSE v_what END;
BEGIN
    PERFORM require_read_committed();
    v_seen := begin_request(p_site, p_request, p_desk, p_command, jsonb_build_object(
        'hold', p_hold, 'version', p_expect_version, 'reason', p_reason, 'ttl', extract(epoch FROM p_ttl)
    ));
    IF v_seen.request_id IS NOT NULL THEN
        RETURN answer_stock(p_site, v_seen.stock_hold_id, v_seen.refusal, v_seen.details,
            v_seen.refusal IS DISTINCT FROM 'request_reused');
    END IF;

    SELECT * INTO STRICT v_site FROM site WHERE site_id = p_site;
    SELECT item_id INTO v_item FROM stock_hold WHERE site_id = p_site AND hold_id = p_hold;
    IF NOT FOUND THEN
        v_refused := refuse('no_such_hold', jsonb_build_object('hold_id', coalesce(p_hold, 0)));
        RETURN finish_stock(p_site, p_request, NULL, v_refused);
    END IF;
    PERFORM lock_item(p_site, v_item);
    v_locked := lock_stock_hold(p_site, p_hold, p_desk);
    v_hold := v_locked.hold;
    v_now := v_locked.now;

    v_refused := stock_ended_or_stale(v_site, p_command, v_hold, p_expect_version, v_now);
    IF v_refused.refusal IS NULL AND v_what <> 'cancelled' AND v_hold.group_id IS NOT NULL THEN
        v_refused := refuse('part_of_group', jsonb_build_object('group_id', v_hold.group_id));
    END IF;
    IF v_refused.refusal IS NULL THEN
        v_refused := text_problem(p_desk, NULL, NULL, p_reason);
    END IF;
    IF v_refused.refusal IS NULL AND v_what = 'renewed' THEN
        v_refused := renewal_problem(v_site, v_hold.renewals, p_ttl);
    END IF;
    IF v_refused.refusal IS NOT NULL THEN
        RETURN finish_stock(p_site, p_request, p_hold, v_refused);
    END IF;

    UPDATE stock_hold
    SET state = v_to,
        -- R13: never shorter than it was.
        expires_at = CASE v_what
            WHEN 'renewed' THEN greatest(expires_at, v_now + elapsed(coalesce(p_ttl, v_site.default_hold)))
            ELSE expires_at END,
        renewals = renewals + CASE v_what WHEN 'renewed' THEN 1 ELSE 0 END,
        changed_at = v_now
    WHERE site_id = p_site AND hold_id = p_hold;
    IF v_to <> 'held' THEN
        PERFORM settle_stock(p_site, v_item, v_hold.quantity, v_to);
    END IF;
    PERFORM record_stock(p_site, p_hold, v_what, 'held', v_to, v_hold.quantity, v_now, p_desk, p_reason, p_request);
    RETURN finish_stock(p_site, p_request, p_hold, NULL);
END
$$;

CREATE FUNCTION confirm_stock(
    p_site bigint, p_request uuid, p_desk text, p_hold bigint, p_expect_version bigint DEFAULT NULL
) RETURNS stock_answer
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN change_stock(p_site, 'confirm_stock', p_request, p_desk, p_hold, p_expect_version, NULL);
END
$$;

COMMENT ON FUNCTION confirm_stock(bigint, uuid, text, bigint, bigint) IS
$$Sell what is held, before its deadline. A sale is final.
SELECT * FROM confirm_stock(1, gen_random_uuid(), 'anna', 5);$$;

CREATE FUNCTION cancel_stock(
    p_site bigint, p_request uuid, p_desk text, p_hold bigint, p_reason text DEFAULT '',
    p_expect_version bigint DEFAULT NULL
) RETURNS stock_answer
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN change_stock(p_site, 'cancel_stock', p_request, p_desk, p_hold, p_expect_version, p_reason);
END
$$;

COMMENT ON FUNCTION cancel_stock(bigint, uuid, text, bigint, text, bigint) IS
$$Give held units back.
SELECT * FROM cancel_stock(1, gen_random_uuid(), 'anna', 5, 'guest called');$$;

CREATE FUNCTION expire_stock(p_site bigint, p_request uuid DEFAULT NULL, p_desk text DEFAULT 'sweep') RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
    v_item bigint;
    v_now timestamptz;
    v_expired integer;
BEGIN
    PERFORM require_read_committed();
    LOOP
        v_now := clock_timestamp();
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
        v_expired := expire_item(p_site, v_item, p_desk);
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
CREATE FUNCTION expire_next(p_site bigint, p_desk text DEFAULT 'sweep') RETURNS integer
LANGUAGE plpgsql
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
CREATE FUNCTION sweep_turn(p_site bigint, p_desk text) RETURNS integer
LANGUAGE plpgsql
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

-- Items themselves ------------------------------------------------------------------------------------------------

CREATE TYPE item_answer AS (
    refusal text,
    details jsonb,
    repeated boolean,
    now timestamptz,
    item_id bigint,
    item text,
    total integer,
    available integer,
    held integer,
    sold integer,
    retired_at timestamptz
);

CREATE FUNCTION answer_item(p_site bigint, p_item bigint, p_refusal text, p_details jsonb, p_repeated boolean)
RETURNS item_answer
LANGUAGE plpgsql
AS $$
DECLARE
    v_answer item_answer;
BEGIN
    SELECT
        p_refusal, p_details, p_repeated, clock_timestamp(), i.item_id, i.item, i.total, i.available, i.held, i.sold,
        i.retired_at
    INTO v_answer
    FROM (VALUES (true)) AS one (row)
    LEFT JOIN item_now AS i ON i.site_id = p_site AND i.item_id = p_item;
    RETURN v_answer;
END
$$;

CREATE FUNCTION finish_item(p_site bigint, p_request uuid, p_item bigint, p_refused refused) RETURNS item_answer
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM remember_outcome(p_site, p_request, p_refused.refusal, p_refused.details, p_item => p_item);
    RETURN answer_item(p_site, p_item, p_refused.refusal, p_refused.details, false);
END
$$;

-- A change to the count of an item: what receive_stock and adjust_stock share. A movement with a reason (R19).
CREATE FUNCTION move_stock(
    p_site bigint, p_command text, p_request uuid, p_desk text, p_item bigint, p_change integer, p_reason text
) RETURNS item_answer
LANGUAGE plpgsql
AS $$
DECLARE
    v_seen request;
    v_item inventory;
    v_refused refused;
    v_what text := CASE p_command WHEN 'receive_stock' THEN 'received' ELSE 'adjusted' END;
BEGIN
    PERFORM require_read_committed();
    v_seen := begin_request(p_site, p_request, p_desk, p_command, jsonb_build_object(
        'item', p_item, 'change', p_change, 'reason', p_reason
    ));
    IF v_seen.request_id IS NOT NULL THEN
        RETURN answer_item(p_site, v_seen.item_id, v_seen.refusal, v_seen.details,
            v_seen.refusal IS DISTINCT FROM 'request_reused');
    END IF;

    v_item := lock_item(p_site, p_item);
    IF v_item.item_id IS NULL THEN
        v_refused := refuse('no_such_item', jsonb_build_object('item', '#' || coalesce(p_item::text, '')));
        RETURN finish_item(p_site, p_request, NULL, v_refused);
    END IF;
    PERFORM expire_item(p_site, p_item, p_desk);
    SELECT * INTO v_item FROM inventory WHERE site_id = p_site AND item_id = p_item;

    IF coalesce(p_change, 0) = 0 OR p_command = 'receive_stock' AND p_change < 0
        OR v_item.total::bigint + p_change > 2147483647 THEN
        v_refused := refuse('quantity_invalid', jsonb_build_object('quantity', coalesce(p_change, 0)));
    ELSIF v_item.available + p_change < 0 THEN
        v_refused := refuse('below_committed', jsonb_build_object(
            'total', v_item.total + p_change, 'held', v_item.held, 'sold', v_item.sold
        ));
    ELSE
        v_refused := text_problem(p_desk, NULL, NULL, p_reason);
    END IF;
    IF v_refused.refusal IS NOT NULL THEN
        RETURN finish_item(p_site, p_request, p_item, v_refused);
    END IF;

    UPDATE inventory SET available = available + p_change WHERE site_id = p_site AND item_id = p_item;
    INSERT INTO stock_movement (site_id, item_id, change, reason, desk, request_id)
    VALUES (p_site, p_item, p_change, coalesce(p_reason, ''), p_desk, p_request);
    PERFORM record_house(p_site, NULL, p_item, v_what, p_change, p_desk, p_reason, p_request);
    RETURN finish_item(p_site, p_request, p_item, NULL);
END
$$;

CREATE FUNCTION receive_stock(
    p_site bigint, p_request uuid, p_desk text, p_item bigint, p_quantity integer, p_reason text
) RETURNS item_answer
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN move_stock(p_site, 'receive_stock', p_request, p_desk, p_item, p_quantity, p_reason);
END
$$;

COMMENT ON FUNCTION receive_stock(bigint, uuid, text, bigint, integer, text) IS
$$New units have come.
SELECT * FROM receive_stock(1, gen_random_uuid(), 'anna', 3, 20, 'delivery');$$;

CREATE FUNCTION adjust_stock(
    p_site bigint, p_request uuid, p_desk text, p_item bigint, p_change integer, p_reason text
) RETURNS item_answer
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN move_stock(p_site, 'adjust_stock', p_request, p_desk, p_item, p_change, p_reason);
END
$$;

COMMENT ON FUNCTION adjust_stock(bigint, uuid, text, bigint, integer, text) IS
$$The count was wrong, up or down; never below what is held and sold.
SELECT * FROM adjust_stock(1, gen_random_uuid(), 'anna', 3, -2, 'two were spoilt');$$;
