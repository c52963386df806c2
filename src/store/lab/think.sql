-- What passes between looking and writing: a price is worked out, a page is drawn, an answer travels.
CREATE FUNCTION think() RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM pg_sleep(current_setting('keyrack_lab.think')::double precision);
END
$$;
