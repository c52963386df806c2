-- `keyrack check`: proves the rules from the rows, without trusting any counter, constraint or trigger to have been
-- there all the time. One row per problem: which rule, what it concerns, what is wrong and what to look at.

CREATE OR REPLACE FUNCTION check_site(p_site bigint) RETURNS TABLE (rule text, subject text, problem text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, keyrack, pg_temp
-- Definitions are compared as PostgreSQL writes them, and times are said in one way, whatever the session's settings.
SET quote_all_identifiers = off SET TimeZone = 'UTC' SET DateStyle = 'ISO'
AS $$
#variable_conflict use_column
BEGIN
    -- The guards themselves.
    RETURN QUERY
    SELECT 'R1', 'slot_hold_no_overlap',
        'the exclusion constraint that keeps claims apart is missing or another one; nothing stops a double booking'
    WHERE NOT EXISTS (
        SELECT FROM pg_constraint
        WHERE conname = 'slot_hold_no_overlap' AND conrelid = 'keyrack.slot_hold'::regclass AND NOT condeferrable
            AND pg_get_constraintdef(oid) =
                'EXCLUDE USING gist (site_id WITH =, room_id WITH =, occupied WITH &&) WHERE (active)'
    )
    UNION ALL
    SELECT 'R1', 'slot_hold_no_overlap',
        'the index behind the exclusion constraint is not valid, or not the one it was made with; claims are not kept apart'
    WHERE NOT EXISTS (
        SELECT FROM pg_index AS i
        JOIN pg_constraint AS c ON c.conindid = i.indexrelid
        WHERE c.conname = 'slot_hold_no_overlap' AND c.conrelid = 'keyrack.slot_hold'::regclass
            AND i.indisvalid AND i.indisready AND i.indislive AND i.indisexclusion AND i.indimmediate
            AND pg_get_indexdef(i.indexrelid) = 'CREATE INDEX slot_hold_no_overlap ON keyrack.slot_hold USING gist '
                '(site_id, room_id, occupied) WHERE active'
    )
    UNION ALL
    SELECT rule, table_name || '.' || column_name,
        'this column is not reckoned from the others any more: ' || coalesce(pg_get_expr(d.adbin, d.adrelid), 'nothing')
    FROM (VALUES
        ('R4', 'slot_hold', 'occupied', 'tstzrange(lower(period), (((upper(period) AT TIME ZONE '
            '''UTC''::text) + turnaround) AT TIME ZONE ''UTC''::text), ''[)''::text)'),
        ('R9', 'slot_hold', 'active', '(state = ANY (ARRAY[''held''::text, ''confirmed''::text]))'),
        ('R19', 'inventory', 'total', '((available + held) + sold)')
    ) AS expected (rule, table_name, column_name, expression)
    JOIN pg_attribute AS a ON a.attrelid = ('keyrack.' || table_name)::regclass AND a.attname = column_name
    LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attgenerated <> 's' OR pg_get_expr(d.adbin, d.adrelid) IS DISTINCT FROM expression
    UNION ALL
    SELECT rule, constraint_name, 'this CHECK is missing or was never validated'
    FROM (VALUES
        ('R2', 'slot_hold', 'slot_hold_period'),
        ('R15', 'inventory', 'inventory_available_not_negative')
    ) AS expected (rule, table_name, constraint_name)
    WHERE NOT EXISTS (
        SELECT FROM pg_constraint
        WHERE conname = constraint_name AND conrelid = ('keyrack.' || table_name)::regclass AND convalidated
    )
    UNION ALL
    SELECT rule, trigger_name, 'this guard is missing or disabled on table ' || table_name
    FROM (VALUES
        ('R9', 'slot_hold', 'slot_hold_guard'),
        ('R9', 'stock_hold', 'stock_hold_guard'),
        ('R14', 'slot_hold', 'slot_hold_between_places'),
        ('R16', 'stock_hold', 'stock_hold_quantity_guard'),
        ('R25', 'hold_event', 'hold_event_append_only'),
        ('R25', 'hold_event', 'hold_event_kept'),
        ('R25', 'site', 'site_demo_lock_guard'),
        ('R19', 'stock_movement', 'stock_movement_append_only'),
        ('R19', 'stock_movement', 'stock_movement_kept')
    ) AS expected (rule, table_name, trigger_name)
    WHERE NOT EXISTS (
        SELECT FROM pg_trigger
        WHERE tgname = trigger_name AND tgrelid = ('keyrack.' || table_name)::regclass AND tgenabled IN ('O', 'A')
    );

    -- Rooms.
    RETURN QUERY
    SELECT 'R1', 'room ' || r.name,
        format('claims %s and %s overlap: %s and %s', a.hold_id, b.hold_id, a.occupied, b.occupied)
    FROM slot_hold AS a
    JOIN slot_hold AS b ON b.site_id = a.site_id AND b.room_id = a.room_id AND b.hold_id > a.hold_id
        AND b.state NOT IN ('cancelled', 'expired') AND b.occupied && a.occupied
    JOIN room AS r ON r.site_id = a.site_id AND r.room_id = a.room_id
    WHERE a.site_id = p_site AND a.state NOT IN ('cancelled', 'expired')
    UNION ALL
    SELECT 'R2', 'room claim ' || hold_id, 'its period is empty, unbounded or not half-open: ' || period
    FROM slot_hold
    WHERE site_id = p_site AND (
        isempty(period) OR lower_inf(period) OR upper_inf(period) OR NOT isfinite(lower(period))
        OR NOT isfinite(upper(period)) OR NOT lower_inc(period) OR upper_inc(period)
    )
    UNION ALL
    SELECT 'R4', 'room claim ' || hold_id,
        format('it occupies %s, and its period with the turnaround is %s', occupied, occupied_span(period, turnaround))
    FROM slot_hold
    WHERE site_id = p_site AND occupied <> occupied_span(period, turnaround)
    UNION ALL
    SELECT 'R9', 'room claim ' || hold_id, format('it is %s, and %s as active', state, CASE WHEN active THEN 'counts'
        ELSE 'does not count' END)
    FROM slot_hold
    WHERE site_id = p_site AND active <> (state NOT IN ('cancelled', 'expired'))
    UNION ALL
    SELECT 'R14', 'room claim ' || hold_id,
        'it stands between two places since an exchange, in ' || period || '; its room is free where it should be taken'
    FROM slot_hold
    WHERE site_id = p_site AND is_between_places(period)
    UNION ALL
    SELECT 'R29', 'room claim ' || s.hold_id, 'it belongs to room ' || s.room_id || ', which this site does not have'
    FROM slot_hold AS s
    WHERE s.site_id = p_site
        AND NOT EXISTS (SELECT FROM room AS r WHERE r.site_id = s.site_id AND r.room_id = s.room_id);

    -- Stock.
    RETURN QUERY
    SELECT 'R15', 'item ' || name, 'the counter of what is available is negative: ' || available
    FROM inventory
    WHERE site_id = p_site AND available < 0
    UNION ALL
    SELECT 'R17', 'item ' || i.name,
        format('the counter says %s held and the rows say %s; a stock hold was written, or ended, without its item',
            i.held, rows.held)
    FROM inventory AS i
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(quantity), 0) AS held FROM stock_hold AS s
        WHERE s.site_id = i.site_id AND s.item_id = i.item_id AND s.state = 'held'
    ) AS rows
    WHERE i.site_id = p_site AND i.held <> rows.held
    UNION ALL
    SELECT 'R17', 'item ' || i.name,
        format('the counter says %s sold and the rows say %s; a sale was written, or undone, without its item',
            i.sold, rows.sold)
    FROM inventory AS i
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(quantity), 0) AS sold FROM stock_hold AS s
        WHERE s.site_id = i.site_id AND s.item_id = i.item_id AND s.state = 'confirmed'
    ) AS rows
    WHERE i.site_id = p_site AND i.sold <> rows.sold
    UNION ALL
    SELECT 'R19', 'item ' || i.name,
        format('the movements add up to %s, and available %s + held %s + sold %s makes %s',
            rows.moved, i.available, i.held, i.sold, i.available + i.held + i.sold)
    FROM inventory AS i
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(change), 0) AS moved FROM stock_movement AS m
        WHERE m.site_id = i.site_id AND m.item_id = i.item_id
    ) AS rows
    WHERE i.site_id = p_site AND i.available + i.held + i.sold <> rows.moved;

    -- Events: every claim's life, retold in the order of its versions, must be whole, end where the claim is, and use
    -- allowed edges only. One event a change: a claim's version counts its changes.
    RETURN QUERY
    SELECT 'R25', claim.label,
        CASE
            WHEN told.to_state IS NULL
                THEN format('it is %s, and no event says who made it; it was written around the protocol', claim.state)
            WHEN told.to_state <> claim.state
                THEN format('it is %s, and its last event says %s; it was changed around the protocol',
                    claim.state, told.to_state)
            ELSE format('it is at version %s, and %s events tell of it; it was changed around the protocol, or events '
                'were removed', claim.version, claim.events)
        END
    FROM (
        SELECT 'room claim ' || s.hold_id AS label, s.hold_id AS slot, NULL::bigint AS stock, s.state, s.version, life.*
        FROM slot_hold AS s
        CROSS JOIN LATERAL (
            SELECT max(e.version) AS last_version, count(*) AS events FROM hold_event AS e
            WHERE e.site_id = s.site_id AND e.slot_hold_id = s.hold_id
        ) AS life
        WHERE s.site_id = p_site
        UNION ALL
        SELECT 'stock claim ' || s.hold_id, NULL, s.hold_id, s.state, s.version, life.*
        FROM stock_hold AS s
        CROSS JOIN LATERAL (
            SELECT max(e.version), count(*) FROM hold_event AS e
            WHERE e.site_id = s.site_id AND e.stock_hold_id = s.hold_id
        ) AS life
        WHERE s.site_id = p_site
    ) AS claim
    LEFT JOIN LATERAL (
        SELECT e.to_state FROM hold_event AS e
        WHERE e.site_id = p_site AND e.version = claim.last_version
            AND (e.slot_hold_id = claim.slot OR e.stock_hold_id = claim.stock)
        LIMIT 1
    ) AS told ON true
    WHERE told.to_state IS DISTINCT FROM claim.state OR claim.events <> claim.version
        OR claim.last_version <> claim.version
    UNION ALL
    SELECT 'R25', coalesce('room claim ' || slot_hold_id, 'stock claim ' || stock_hold_id),
        format('event %s says that it was %s before, and the event before that left it %s; an event was removed or '
            'altered', event_id, coalesce(from_state, 'nothing'), coalesce(left_as, 'nothing'))
    FROM (
        SELECT e.*,
            lag(e.to_state) OVER (PARTITION BY e.slot_hold_id, e.stock_hold_id ORDER BY e.version, e.event_id) AS left_as
        FROM hold_event AS e
        WHERE e.site_id = p_site AND (e.slot_hold_id IS NOT NULL OR e.stock_hold_id IS NOT NULL)
    ) AS life
    WHERE from_state IS DISTINCT FROM left_as
    UNION ALL
    SELECT 'R9', coalesce('room claim ' || e.slot_hold_id, 'stock claim ' || e.stock_hold_id),
        format('event %s goes from %s to %s, which no claim may', e.event_id, coalesce(e.from_state, 'nothing'),
            e.to_state)
    FROM hold_event AS e
    WHERE e.site_id = p_site AND e.to_state IS NOT NULL AND e.from_state IS DISTINCT FROM e.to_state
        AND NOT CASE
            WHEN e.from_state IS NULL THEN e.to_state IN ('held', 'confirmed')
            WHEN e.stock_hold_id IS NULL THEN is_edge('slot_hold', e.from_state, e.to_state)
            ELSE is_edge('stock_hold', e.from_state, e.to_state)
        END;
END
$$;

COMMENT ON FUNCTION check_site(bigint) IS
$$Prove the rules from the rows: no row means that all is well.
SELECT * FROM check_site(1);$$;
