-- The exclusion constraint decides. Two who insert at once each wait for what the other will do: a deadlock.
DROP INDEX claim_by_period;
ALTER TABLE claim ADD CONSTRAINT claim_no_overlap
    EXCLUDE USING gist (room_id WITH =, period WITH &&) WHERE (NOT cancelled);

CREATE FUNCTION book(p_room bigint, p_period tstzrange) RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM think();
    INSERT INTO claim (room_id, period) VALUES (p_room, p_period);
    RETURN 'done';
END
$$;
