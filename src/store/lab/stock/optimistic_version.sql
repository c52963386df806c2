-- Read the counter with its version, and write only if the version is still the same; if not, start again.
CREATE FUNCTION take(p_item bigint, p_quantity integer) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_item item;
BEGIN
    SELECT * INTO v_item FROM item WHERE item_id = p_item;
    IF v_item.available < p_quantity THEN
        RETURN 'refused';
    END IF;
    PERFORM think();
    UPDATE item SET available = v_item.available - p_quantity, version = version + 1
    WHERE item_id = p_item AND version = v_item.version;
    IF NOT FOUND THEN
        RETURN 'again';
    END IF;
    INSERT INTO claim (item_id, quantity) VALUES (p_item, p_quantity);
    RETURN 'done';
END
$$;

CREATE FUNCTION give_back(p_claim bigint) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_claim claim;
    v_item item;
BEGIN
    SELECT * INTO STRICT v_claim FROM claim WHERE claim_id = p_claim AND NOT given_back;
    SELECT * INTO v_item FROM item WHERE item_id = v_claim.item_id;
    PERFORM think();
    UPDATE item SET available = v_item.available + v_claim.quantity, version = version + 1
    WHERE item_id = v_claim.item_id AND version = v_item.version;
    IF NOT FOUND THEN
        RETURN 'again';
    END IF;
    UPDATE claim SET given_back = true WHERE claim_id = p_claim;
    RETURN 'done';
END
$$;
