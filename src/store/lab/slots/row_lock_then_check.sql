-- Lock the room's row, then look, in a statement of its own that sees what was committed meanwhile, then write.
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
