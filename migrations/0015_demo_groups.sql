-- A demo's site is removed with its groups, too (migration 0014 left them, and could not remove a site that had one).

CREATE OR REPLACE FUNCTION remove_demo_site(p_site bigint) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    -- A command that is under way has the site's row by its foreign key: it is waited for, and the next one finds no site.
    PERFORM FROM site WHERE site_id = p_site AND demo_lock IS NOT NULL FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM change_log WHERE site_id = p_site;
    DELETE FROM request WHERE site_id = p_site;
    DELETE FROM hold_event WHERE site_id = p_site;
    DELETE FROM stock_movement WHERE site_id = p_site;
    DELETE FROM stock_hold WHERE site_id = p_site;
    DELETE FROM slot_hold WHERE site_id = p_site;
    DELETE FROM claim_group WHERE site_id = p_site;
    DELETE FROM inventory WHERE site_id = p_site;
    DELETE FROM room WHERE site_id = p_site;
    DELETE FROM site WHERE site_id = p_site;
    RETURN true;
END
$$;
