-- A row for every unit. Each taker locks units that nobody else has locked, so that nobody waits; but whoever finds too
-- few that are not locked is refused, though their takers may yet let go.
CREATE TABLE unit (
    item_id bigint NOT NULL REFERENCES item,
    number integer NOT NULL,
    claim_id bigint REFERENCES claim,
    PRIMARY KEY (item_id, number)
);
CREATE INDEX unit_by_claim ON unit (claim_id);

CREATE OR REPLACE FUNCTION open_item(p_item bigint, p_units integer, p_taken integer) RETURNS SETOF bigint
LANGUAGE plpgsql
AS $$
DECLARE
    v_claim bigint;
BEGIN
    INSERT INTO item (item_id, units, available) VALUES (p_item, p_units, p_units - p_taken);
    FOR v_number IN 1..p_units LOOP
        v_claim := NULL;
        IF v_number <= p_taken THEN
            INSERT INTO claim (item_id, quantity) VALUES (p_item, 1) RETURNING claim_id INTO v_claim;
            RETURN NEXT v_claim;
        END IF;
        INSERT INTO unit (item_id, number, claim_id) VALUES (p_item, v_number, v_claim);
    END LOOP;
END
$$;

CREATE FUNCTION take(p_item bigint, p_quantity integer) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_numbers integer[];
    v_claim bigint;
BEGIN
    v_numbers := ARRAY(
        SELECT number FROM unit
        WHERE item_id = p_item AND claim_id IS NULL
        LIMIT p_quantity
        FOR NO KEY UPDATE SKIP LOCKED
    );
    IF cardinality(v_numbers) < p_quantity THEN
        RETURN 'refused';
    END IF;
    PERFORM think();
    INSERT INTO claim (item_id, quantity) VALUES (p_item, p_quantity) RETURNING claim_id INTO v_claim;
    UPDATE unit SET claim_id = v_claim WHERE item_id = p_item AND number = ANY (v_numbers);
    RETURN 'done';
END
$$;

CREATE FUNCTION give_back(p_claim bigint) RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE claim SET given_back = true WHERE claim_id = p_claim AND NOT given_back;
    PERFORM think();
    UPDATE unit SET claim_id = NULL WHERE claim_id = p_claim;
    RETURN 'done';
END
$$;
