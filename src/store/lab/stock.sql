-- Items of which there are few: what every strategy for stock starts from. The rest is the strategy's own file.

CREATE TABLE item (
    item_id bigint PRIMARY KEY,
    units integer NOT NULL,
    -- The CHECK is there for every strategy, to show that it does not help the one that writes what it has read.
    available integer NOT NULL CHECK (available >= 0),
    version bigint NOT NULL DEFAULT 1
);

CREATE TABLE claim (
    claim_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    item_id bigint NOT NULL REFERENCES item,
    quantity integer NOT NULL,
    given_back boolean NOT NULL DEFAULT false
);
CREATE INDEX claim_by_item ON claim (item_id);

-- Opens the next round's item. Some of its units are taken, one by a claim, and will be given back in the race.
CREATE FUNCTION open_item(p_item bigint, p_units integer, p_taken integer) RETURNS SETOF bigint
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO item (item_id, units, available) VALUES (p_item, p_units, p_units - p_taken);
    RETURN QUERY
        INSERT INTO claim (item_id, quantity)
        SELECT p_item, 1 FROM generate_series(1, p_taken)
        RETURNING claim_id;
END
$$;
