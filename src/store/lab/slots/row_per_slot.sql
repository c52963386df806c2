-- A row for every hour of a claim, and each hour is unique in its room. In the order of time, so that two who want the
-- same hours meet at the first of them and neither waits for one who waits for it.
CREATE TABLE claimed_hour (
    room_id bigint NOT NULL,
    starts_at timestamptz NOT NULL,
    claim_id bigint NOT NULL REFERENCES claim,
    cancelled boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX claimed_hour_once ON claimed_hour (room_id, starts_at) WHERE NOT cancelled;

CREATE FUNCTION book(p_room bigint, p_period tstzrange) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_claim bigint;
BEGIN
    PERFORM think();
    INSERT INTO claim (room_id, period) VALUES (p_room, p_period) RETURNING claim_id INTO v_claim;
    INSERT INTO claimed_hour (room_id, starts_at, claim_id)
    SELECT p_room, hour, v_claim
    FROM generate_series(lower(p_period), upper(p_period) - interval '1 hour', interval '1 hour') AS hour
    ORDER BY hour;
    RETURN 'done';
END
$$;
