-- How the steps are planned. They look things up by key, under a lock that others wait for: what they read must not grow
-- with what a house holds. Left to itself the planner judges by a parameter that it does not know, or by one day's figures.
-- Whoever replaces one of these functions says this again: CREATE OR REPLACE forgets it.

-- "Is anything due?" is mostly answered no. The planner expects a third of all holds to be due, and so to meet one at once
-- by reading the table from its beginning; it reads all of it.
ALTER FUNCTION expire_room(bigint, bigint, text) SET enable_seqscan = off;
ALTER FUNCTION expire_item(bigint, bigint, text) SET enable_seqscan = off;

-- With the period before its eyes the planner takes a claim in it for so unlikely that any index would do, and reads every
-- claim that the room ever had; without it, the one for overlaps. It also saves planning each time.
ALTER FUNCTION find_slot_conflict(bigint, bigint, tstzrange, bigint []) SET plan_cache_mode = force_generic_plan;

-- The clock, as a condition needs it that an index is to answer: read once, where the index is entered. PostgreSQL looks
-- at clock_timestamp() itself anew for every row, and therefore at every row.
CREATE FUNCTION clock_reading() RETURNS timestamptz
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN clock_timestamp();
END
$$;

-- As before (R15), with that clock.
CREATE OR REPLACE VIEW item_now AS
SELECT
    i.site_id,
    i.item_id,
    i.name AS item,
    i.total,
    i.available + due.quantity AS available,
    i.held - due.quantity AS held,
    i.sold,
    i.retired_at
FROM inventory AS i
CROSS JOIN LATERAL (
    SELECT coalesce(sum(s.quantity), 0)::integer AS quantity
    FROM stock_hold AS s
    WHERE s.site_id = i.site_id AND s.item_id = i.item_id AND s.state = 'held' AND s.expires_at <= clock_reading()
) AS due;
