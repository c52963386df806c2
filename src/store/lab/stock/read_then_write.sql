-- Read the counter, work out the new one, write it. What others wrote in between is written over.
CREATE FUNCTION take(p_item bigint, p_quantity integer) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_available integer;
BEGIN
    SELECT available INTO v_available FROM item WHERE item_id = p_item;
    IF v_available < p_quantity THEN
        RETURN 'refused';
    END IF;
    PERFORM think();
    UPDATE item SET available = v_available - p_quantity WHERE item_id = p_item;
    INSERT INTO claim (item_id, quantity) VALUES (p_item, p_quantity);
    RETURN 'done';
END
$$;

CREATE FUNCTION give_back(p_claim bigint) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_claim claim;
    v_available integer;
BEGIN
    UPDATE claim SET given_back = true WHERE claim_id = p_claim AND NOT given_back RETURNING * INTO STRICT v_claim;
    SELECT available INTO v_available FROM item WHERE item_id = v_claim.item_id;
    PERFORM think();
    UPDATE item SET available = v_available + v_claim.quantity WHERE item_id = v_claim.item_id;
    RETURN 'done';
END
$$;
