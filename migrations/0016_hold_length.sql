-- How long a hold may be, said to whoever asked for more.
CREATE OR REPLACE FUNCTION hold_length_problem(p_site site, p_ttl interval) RETURNS refused
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
    v_refused refused;
BEGIN
    SELECT
        'period_invalid',
        jsonb_build_object('problem', 'hold_length', 'longest_seconds', extract(epoch FROM p_site.longest_hold)::bigint)
    INTO v_refused
    WHERE extract(epoch FROM p_ttl) <= 0 OR extract(epoch FROM p_ttl) > extract(epoch FROM p_site.longest_hold);
    RETURN v_refused;
END
$$;
