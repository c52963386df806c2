-- Keyrack's own way, on the lab's tables: lock the room, look, write, and the constraint stands behind it as the last
-- guard, against whoever does not lock. The constraint and the lock are the ones of migrations/0001_tables.sql and
-- migrations/protocol/05_steps.sql.
DROP INDEX claim_by_period;
ALTER TABLE claim ADD CONSTRAINT claim_no_overlap
    EXCLUDE USING gist (room_id WITH =, period WITH &&) WHERE (NOT cancelled);

CREATE FUNCTION book(p_room bigint, p_period tstzrange) RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM FROM room WHERE room_id = p_room FOR NO KEY UPDATE;
    IF EXISTS (SELECT FROM claim WHERE room_id = p_room AND NOT cancelled AND period && p_period) THEN
        RETURN 'refused';
    END IF;
    PERFORM think();
    INSERT INTO claim (room_id, period) VALUES (p_room, p_period);
    RETURN 'done';
END
$$;
