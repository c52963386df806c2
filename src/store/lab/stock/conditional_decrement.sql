-- Look and write in one statement: take the quantity off where there is enough (R16). Keyrack locks the item before,
-- because it first expires what is due.
CREATE FUNCTION take(p_item bigint, p_quantity integer) RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM think();
    UPDATE item SET available = available - p_quantity WHERE item_id = p_item AND available >= p_quantity;
    IF NOT FOUND THEN
        RETURN 'refused';
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
BEGIN
    UPDATE claim SET given_back = true WHERE claim_id = p_claim AND NOT given_back RETURNING * INTO STRICT v_claim;
    PERFORM think();
    UPDATE item SET available = available + v_claim.quantity WHERE item_id = v_claim.item_id;
    RETURN 'done';
END
$$;
