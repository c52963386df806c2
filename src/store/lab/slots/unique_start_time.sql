-- A claim's start is unique in its room. Eleven o'clock inside ten to twelve is another start.
CREATE UNIQUE INDEX claim_starts_once ON claim (room_id, lower(period)) WHERE NOT cancelled;

CREATE FUNCTION book(p_room bigint, p_period tstzrange) RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM think();
    INSERT INTO claim (room_id, period) VALUES (p_room, p_period);
    RETURN 'done';
END
$$;
