-- Commands on stock. The same order of checks, the same kind of answer as for rooms.

CREATE OR REPLACE FUNCTION hold_stock(
    p_site bigint, p_request uuid, p_desk text, p_item bigint, p_quantity integer,
    p_ttl interval DEFAULT NULL, p_guest text DEFAULT '', p_note text DEFAULT ''
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
DECLARE
    v_answer jsonb;
    v_site site;
    v_item inventory;
    v_refusal jsonb;
    v_now timestamptz;
    v_hold bigint;
BEGIN
    v_answer := begin_request(p_site, p_request, p_desk, 'hold_stock', jsonb_build_object(
        'item', p_item, 'quantity', p_quantity, 'ttl', extract(epoch FROM p_ttl), 'guest', p_guest, 'note', p_note
    ));
    IF v_answer IS NOT NULL THEN
        RETURN v_answer;
    END IF;

    v_site := site_row(p_site);
    v_item := lock_item(p_site, p_item);
    IF v_item.item_id IS NULL THEN
        v_refusal := refuse('no_such_item', jsonb_build_object('item', '#' || coalesce(p_item::text, '')));
        RETURN finish(v_site, p_request, 'stock', NULL, v_refusal);
    END IF;
    PERFORM expire_item(v_site, p_item, p_desk);

    v_refusal := coalesce(
        CASE WHEN v_item.retired_at IS NOT NULL THEN refuse('retired', jsonb_build_object('name', v_item.name)) END,
        text_problem('guest', p_guest, 'note', p_note, 'desk name', p_desk),
        hold_length_problem(v_site, p_ttl),
        CASE WHEN coalesce(p_quantity, 0) <= 0
            THEN refuse('quantity_invalid', jsonb_build_object('quantity', coalesce(p_quantity, 0))) END
    );
    IF v_refusal IS NOT NULL THEN
        RETURN finish(v_site, p_request, 'stock', NULL, v_refusal);
    END IF;

    LOOP
        -- The deadline counts from the decision (R10).
        v_now := site_clock(v_site);
        EXIT WHEN take_stock(p_site, p_item, p_quantity);
        -- A hold that came due since it was last looked at does not make a claim fail (R11).
        IF expire_item(v_site, p_item, p_desk) = 0 THEN
            SELECT * INTO v_item FROM inventory WHERE site_id = p_site AND item_id = p_item;
            v_refusal := refuse('sold_out', jsonb_build_object(
                'item', v_item.name, 'asked', p_quantity, 'available', v_item.available
            ) || next_release(v_site, p_item));
            RETURN finish(v_site, p_request, 'stock', NULL, v_refusal);
        END IF;
    END LOOP;
    v_hold := place_stock(
        p_site, p_item, p_quantity, coalesce(p_guest, ''), coalesce(p_note, ''), deadline_from(v_site, v_now, p_ttl),
        p_desk, p_request, v_now
    );
    PERFORM record_stock(p_site, v_hold, 1, 'held', NULL, 'held', p_quantity, v_now, p_desk, '', p_request);
    RETURN finish(v_site, p_request, 'stock', v_hold, NULL);
END
$$;

COMMENT ON FUNCTION hold_stock(bigint, uuid, text, bigint, integer, interval, text, text) IS
$$Hold a quantity of an item until a deadline: all of it or nothing.
SELECT hold_stock(1, gen_random_uuid(), 'anna', 3, 2, '10 minutes', 'Müller');$$;

-- A change to one existing claim on stock: what confirm_stock, cancel_stock and renew_stock share. The item of a
-- claim never changes, so that it can be locked without looking twice.
CREATE OR REPLACE FUNCTION change_stock(
    p_site bigint, p_command text, p_request uuid, p_desk text, p_hold bigint, p_expect_version bigint, p_reason text,
    p_ttl interval DEFAULT NULL
) RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    v_answer jsonb;
    v_site site;
    v_hold stock_hold;
    v_item bigint;
    v_refusal jsonb;
    v_now timestamptz;
    v_what text := CASE p_command
        WHEN 'confirm_stock' THEN 'confirmed' WHEN 'renew_stock' THEN 'renewed' ELSE 'cancelled' END;
    v_state text := CASE v_what WHEN 'renewed' THEN 'held' ELSE v_what END;
    v_deadline timestamptz;
    v_renewals integer;
    v_version bigint;
BEGIN
    v_answer := begin_request(p_site, p_request, p_desk, p_command, jsonb_build_object(
        'hold', p_hold, 'version', p_expect_version, 'reason', p_reason, 'ttl', extract(epoch FROM p_ttl)
    ));
    IF v_answer IS NOT NULL THEN
        RETURN v_answer;
    END IF;

    v_site := site_row(p_site);
    SELECT item_id INTO v_item FROM stock_hold WHERE site_id = p_site AND hold_id = p_hold;
    IF NOT FOUND THEN
        RETURN finish(v_site, p_request, 'stock', p_hold, not_locked(p_site, 'stock', p_hold, 'missing'));
    END IF;
    PERFORM lock_item(p_site, v_item);
    LOOP
        v_hold := lock_stock_hold(p_site, p_hold);
        -- After the last lock (R10).
        v_now := site_clock(v_site);
        EXIT WHEN v_hold.state <> 'held' OR v_hold.expires_at > v_now;
        PERFORM expire_item(v_site, v_item, p_desk, p_hold);
    END LOOP;

    v_refusal := coalesce(
        stock_ended_or_stale(v_site, p_command, v_hold, p_expect_version, v_now),
        text_problem('reason', p_reason, 'desk name', p_desk),
        CASE WHEN v_what IN ('confirmed', 'renewed') AND v_hold.group_id IS NOT NULL
            THEN refuse('part_of_group', jsonb_build_object('group_id', v_hold.group_id)) END,
        CASE WHEN v_what = 'renewed' THEN renewal_problem(v_site, v_hold.renewals, p_ttl) END
    );
    IF v_refusal IS NOT NULL THEN
        RETURN finish(v_site, p_request, 'stock', p_hold, v_refusal);
    END IF;

    v_deadline := v_hold.expires_at;
    v_renewals := v_hold.renewals;
    IF v_what = 'renewed' THEN
        -- R13: never shorter than it was.
        v_deadline := greatest(v_deadline, deadline_from(v_site, v_now, p_ttl));
        v_renewals := v_renewals + 1;
    END IF;
    UPDATE stock_hold
    SET state = v_state, expires_at = v_deadline, renewals = v_renewals, changed_at = v_now
    WHERE site_id = p_site AND hold_id = p_hold
    RETURNING version INTO v_version;
    IF v_state <> 'held' THEN
        PERFORM settle_stock(p_site, v_item, v_hold.quantity, v_state);
    END IF;
    PERFORM record_stock(
        p_site, p_hold, v_version, v_what, 'held', v_state, v_hold.quantity, v_now, p_desk, p_reason, p_request
    );
    RETURN finish(v_site, p_request, 'stock', p_hold, NULL);
END
$$;

CREATE OR REPLACE FUNCTION confirm_stock(
    p_site bigint, p_request uuid, p_desk text, p_hold bigint, p_expect_version bigint DEFAULT NULL
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN change_stock(p_site, 'confirm_stock', p_request, p_desk, p_hold, p_expect_version, NULL);
END
$$;

COMMENT ON FUNCTION confirm_stock(bigint, uuid, text, bigint, bigint) IS
$$Sell what is held, before its deadline. A sale is final.
SELECT confirm_stock(1, gen_random_uuid(), 'anna', 5);$$;

CREATE OR REPLACE FUNCTION cancel_stock(
    p_site bigint, p_request uuid, p_desk text, p_hold bigint, p_reason text DEFAULT '',
    p_expect_version bigint DEFAULT NULL
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN change_stock(p_site, 'cancel_stock', p_request, p_desk, p_hold, p_expect_version, p_reason);
END
$$;

COMMENT ON FUNCTION cancel_stock(bigint, uuid, text, bigint, text, bigint) IS
$$Give held units back.
SELECT cancel_stock(1, gen_random_uuid(), 'anna', 5, 'guest called');$$;

CREATE OR REPLACE FUNCTION renew_stock(
    p_site bigint, p_request uuid, p_desk text, p_hold bigint, p_ttl interval DEFAULT NULL,
    p_expect_version bigint DEFAULT NULL
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN change_stock(p_site, 'renew_stock', p_request, p_desk, p_hold, p_expect_version, NULL, p_ttl);
END
$$;

COMMENT ON FUNCTION renew_stock(bigint, uuid, text, bigint, interval, bigint) IS
$$Give a hold on stock more time, as often as the site allows; never less than it has.
SELECT renew_stock(1, gen_random_uuid(), 'anna', 5, '10 minutes');$$;

-- A change to the count of an item: what receive_stock and adjust_stock share. A movement with a reason (R19).
CREATE OR REPLACE FUNCTION move_stock(
    p_site bigint, p_command text, p_request uuid, p_desk text, p_item bigint, p_change integer, p_reason text
) RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    v_answer jsonb;
    v_site site;
    v_item inventory;
    v_refusal jsonb;
    v_now timestamptz;
    v_what text := CASE p_command WHEN 'receive_stock' THEN 'received' ELSE 'adjusted' END;
BEGIN
    v_answer := begin_request(p_site, p_request, p_desk, p_command, jsonb_build_object(
        'item', p_item, 'change', p_change, 'reason', p_reason
    ));
    IF v_answer IS NOT NULL THEN
        RETURN v_answer;
    END IF;

    v_site := site_row(p_site);
    v_item := lock_item(p_site, p_item);
    IF v_item.item_id IS NULL THEN
        v_refusal := refuse('no_such_item', jsonb_build_object('item', '#' || coalesce(p_item::text, '')));
        RETURN finish(v_site, p_request, 'item', NULL, v_refusal);
    END IF;
    -- What is left depends on what is due: all of it has to be given back before (R11).
    LOOP
        EXIT WHEN expire_item(v_site, p_item, p_desk) = 0;
        SELECT * INTO v_item FROM inventory WHERE site_id = p_site AND item_id = p_item;
        EXIT WHEN v_item.available + p_change >= 0;
    END LOOP;

    IF coalesce(p_change, 0) = 0 OR p_command = 'receive_stock' AND p_change < 0
        OR v_item.total::bigint + p_change > 2147483647 THEN
        v_refusal := refuse('quantity_invalid', jsonb_build_object('quantity', coalesce(p_change, 0)));
    ELSIF v_item.available + p_change < 0 THEN
        v_refusal := refuse('below_committed', jsonb_build_object(
            'total', v_item.total + p_change, 'held', v_item.held, 'sold', v_item.sold
        ));
    ELSE
        v_refusal := text_problem('reason', p_reason, 'desk name', p_desk);
    END IF;
    IF v_refusal IS NULL THEN
        v_now := site_clock(v_site);
        UPDATE inventory SET available = available + p_change WHERE site_id = p_site AND item_id = p_item;
        INSERT INTO stock_movement (site_id, item_id, change, reason, desk, request_id, at)
        VALUES (p_site, p_item, p_change, coalesce(p_reason, ''), p_desk, p_request, v_now);
        PERFORM record_house(p_site, NULL, p_item, v_what, p_change, v_now, p_desk, p_reason, p_request);
    END IF;
    RETURN finish(v_site, p_request, 'item', p_item, v_refusal);
END
$$;

CREATE OR REPLACE FUNCTION receive_stock(
    p_site bigint, p_request uuid, p_desk text, p_item bigint, p_quantity integer, p_reason text
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN move_stock(p_site, 'receive_stock', p_request, p_desk, p_item, p_quantity, p_reason);
END
$$;

COMMENT ON FUNCTION receive_stock(bigint, uuid, text, bigint, integer, text) IS
$$New units have come.
SELECT receive_stock(1, gen_random_uuid(), 'anna', 3, 20, 'delivery');$$;

CREATE OR REPLACE FUNCTION adjust_stock(
    p_site bigint, p_request uuid, p_desk text, p_item bigint, p_change integer, p_reason text
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
AS $$
BEGIN
    RETURN move_stock(p_site, 'adjust_stock', p_request, p_desk, p_item, p_change, p_reason);
END
$$;

COMMENT ON FUNCTION adjust_stock(bigint, uuid, text, bigint, integer, text) IS
$$The count was wrong, up or down; never below what is held and sold.
SELECT adjust_stock(1, gen_random_uuid(), 'anna', 3, -2, 'two were spoilt');$$;
