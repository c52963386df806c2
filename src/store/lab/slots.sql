-- A hot room and the claims on it: what every strategy for a room starts from. The rest is the strategy's own file.

CREATE TABLE room (room_id bigint PRIMARY KEY);
INSERT INTO room VALUES (1);

CREATE TABLE claim (
    claim_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    room_id bigint NOT NULL REFERENCES room,
    period tstzrange NOT NULL,
    cancelled boolean NOT NULL DEFAULT false
);
CREATE INDEX claim_by_period ON claim USING gist (room_id, period);

-- A claim that was cancelled is in nobody's way, however long it was.
INSERT INTO claim (room_id, period, cancelled) VALUES (1, '[2030-01-01, 2300-01-01)', true);
