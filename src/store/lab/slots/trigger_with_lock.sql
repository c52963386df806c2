-- A trigger that locks the room's row before it looks.
CREATE FUNCTION refuse_overlap() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM FROM room WHERE room_id = NEW.room_id FOR NO KEY UPDATE;
    IF EXISTS (
        SELECT FROM claim WHERE room_id = NEW.room_id AND NOT cancelled AND period && NEW.period
    ) THEN
        RAISE EXCEPTION USING ERRCODE = 'exclusion_violation', MESSAGE = 'the room is taken';
    END IF;
    PERFORM think();
    RETURN NEW;
END
$$;

CREATE TRIGGER claim_no_overlap BEFORE INSERT ON claim FOR EACH ROW EXECUTE FUNCTION refuse_overlap();

CREATE FUNCTION book(p_room bigint, p_period tstzrange) RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO claim (room_id, period) VALUES (p_room, p_period);
    RETURN 'done';
END
$$;
