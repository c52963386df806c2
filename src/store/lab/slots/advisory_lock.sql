-- Take a lock on the room's number, then look, then write. The table's oid keeps this lab's rooms apart from all others'.
CREATE FUNCTION book(p_room bigint, p_period tstzrange) RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM pg_advisory_xact_lock('claim'::regclass::oid::integer, p_room::integer);
    IF EXISTS (SELECT FROM claim WHERE room_id = p_room AND NOT cancelled AND period && p_period) THEN
        RETURN 'refused';
    END IF;
    PERFORM think();
    INSERT INTO claim (room_id, period) VALUES (p_room, p_period);
    RETURN 'done';
END
$$;
