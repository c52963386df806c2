-- Look whether the room is free, and write if it is. Whoever looks before the other has committed sees it free too.
CREATE FUNCTION book(p_room bigint, p_period tstzrange) RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
    IF EXISTS (SELECT FROM claim WHERE room_id = p_room AND NOT cancelled AND period && p_period) THEN
        RETURN 'refused';
    END IF;
    PERFORM think();
    INSERT INTO claim (room_id, period) VALUES (p_room, p_period);
    RETURN 'done';
END
$$;
