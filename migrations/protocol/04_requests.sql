-- How every command begins and ends: the request id is claimed first, and the outcome is written beside it last.
--
-- Every answer is one jsonb: {"refusal": code or null, "details": {…} or null, "repeated": …, "now": …} and, by its kind
-- (slot, stock, group, item, room), what the command was about as it is now. A refusal of a claim that is there carries the
-- claim too.

-- R23: with an old snapshot a lock proves nothing.
CREATE OR REPLACE FUNCTION require_read_committed() RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'Commands run under READ COMMITTED, not under %: with an old snapshot a lock proves nothing',
            upper(current_setting('transaction_isolation'))
            USING ERRCODE = 'invalid_transaction_state', CONSTRAINT = 'read_committed_only';
    END IF;
END
$$;

-- What a command was asked, in so many bytes. No setting of the session changes it.
CREATE OR REPLACE FUNCTION fingerprint_of(p_command text, p_body jsonb) RETURNS bytea
LANGUAGE sql STABLE
AS $$
    SELECT sha256(convert_to(p_command || p_body::text, 'UTF8'))
$$;

CREATE OR REPLACE FUNCTION answer(p_site bigint, p_subject text, p_id bigint, p_refusal jsonb, p_repeated boolean)
RETURNS jsonb
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN coalesce(p_refusal, '{"refusal": null, "details": null}')
        || jsonb_build_object('repeated', p_repeated, 'now', site_clock(NULL))
        || CASE WHEN p_subject IS NULL THEN '{}' ELSE jsonb_build_object(p_subject, as_it_is(p_site, p_subject, p_id)) END;
END
$$;

-- Claims the request id (R21). A twin waits here until the first has committed, and then sees its answer. Null for a new
-- request; else what was answered, with its subject as it is now, or request_reused if that was another question.
CREATE OR REPLACE FUNCTION begin_request(p_site bigint, p_request uuid, p_desk text, p_command text, p_body jsonb)
RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    v_fingerprint bytea := fingerprint_of(p_command, p_body);
    v_seen request;
BEGIN
    PERFORM require_read_committed();
    IF p_request IS NULL THEN
        RAISE EXCEPTION 'A command needs a request id; gen_random_uuid() makes one'
            USING ERRCODE = 'null_value_not_allowed', CONSTRAINT = 'request_id_given';
    END IF;
    INSERT INTO request (site_id, request_id, command, fingerprint, desk)
    VALUES (p_site, p_request, p_command, v_fingerprint, coalesce(p_desk, ''))
    ON CONFLICT ON CONSTRAINT request_pkey DO NOTHING;
    IF FOUND THEN
        RETURN NULL;
    END IF;
    SELECT * INTO STRICT v_seen FROM request WHERE site_id = p_site AND request_id = p_request;
    IF v_seen.fingerprint <> v_fingerprint THEN
        RETURN answer(p_site, NULL, NULL, refuse('request_reused', jsonb_build_object('command', v_seen.command)), false);
    END IF;
    RETURN answer(
        p_site, v_seen.subject, v_seen.subject_id,
        CASE WHEN v_seen.refusal IS NOT NULL THEN refuse(v_seen.refusal, v_seen.details) END, true
    );
END
$$;

-- Writes the outcome beside the request, in the transaction of the change (R21). Busy is no answer: it is forgotten, so
-- that asking again with the same id asks anew (R23).
CREATE OR REPLACE FUNCTION remember_outcome(
    p_site bigint, p_request uuid, p_refusal text, p_details jsonb, p_subject text, p_id bigint, p_at timestamptz
) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF p_refusal = 'busy' THEN
        DELETE FROM request WHERE site_id = p_site AND request_id = p_request;
    ELSE
        UPDATE request
        SET refusal = p_refusal, details = p_details, subject = p_subject, subject_id = p_id, at = p_at
        WHERE site_id = p_site AND request_id = p_request;
    END IF;
END
$$;

-- Remembers the outcome and answers.
CREATE OR REPLACE FUNCTION finish(p_site site, p_request uuid, p_subject text, p_id bigint, p_refusal jsonb) RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    -- What is not there is not what the answer is about.
    v_id bigint := CASE WHEN coalesce(p_refusal ->> 'refusal', '') NOT IN ('no_such_hold', 'no_such_room', 'no_such_item')
        THEN p_id END;
BEGIN
    PERFORM remember_outcome(
        p_site.site_id, p_request, p_refusal ->> 'refusal', p_refusal -> 'details', p_subject, v_id, site_clock(p_site)
    );
    RETURN answer(p_site.site_id, p_subject, v_id, p_refusal, false);
END
$$;

-- The site's row: its rules for this command.
CREATE OR REPLACE FUNCTION site_row(p_site bigint) RETURNS site
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    v_site site;
BEGIN
    SELECT * INTO STRICT v_site FROM site WHERE site_id = p_site;
    RETURN v_site;
END
$$;

-- The refusal for a claim of a kind (room, stock, group) that could not be locked: there is none, or the number is another
-- kind's, or it kept moving. Null if it was locked.
CREATE OR REPLACE FUNCTION not_locked(p_site bigint, p_kind text, p_id bigint, p_found text) RETURNS jsonb
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN CASE p_found
        WHEN 'missing' THEN refuse('no_such_hold', jsonb_strip_nulls(jsonb_build_object(
            'hold_id', coalesce(p_id, 0), 'kind', nullif(kind_of_claim(p_site, p_id), p_kind)
        )))
        WHEN 'busy' THEN refuse('busy', '{}')
    END;
END
$$;

-- The same for commands that come before there is a site: their ids stand in a table of their own, keyed by the id alone.
-- Null for a new request; else what was answered.
CREATE OR REPLACE FUNCTION begin_server_request(p_request uuid, p_desk text, p_command text, p_body jsonb) RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    v_fingerprint bytea := fingerprint_of(p_command, p_body);
    v_seen server_request;
BEGIN
    PERFORM require_read_committed();
    IF p_request IS NULL THEN
        RAISE EXCEPTION 'A command needs a request id; gen_random_uuid() makes one'
            USING ERRCODE = 'null_value_not_allowed', CONSTRAINT = 'request_id_given';
    END IF;
    INSERT INTO server_request (request_id, command, fingerprint, desk)
    VALUES (p_request, p_command, v_fingerprint, coalesce(p_desk, ''))
    ON CONFLICT ON CONSTRAINT server_request_pkey DO NOTHING;
    IF FOUND THEN
        RETURN NULL;
    END IF;
    SELECT * INTO STRICT v_seen FROM server_request WHERE request_id = p_request;
    IF v_seen.fingerprint <> v_fingerprint THEN
        RETURN answer(NULL, NULL, NULL, refuse('request_reused', jsonb_build_object('command', v_seen.command)), false);
    END IF;
    RETURN answer(v_seen.site_id, 'site', NULL, NULL, true) || jsonb_build_object('applied', v_seen.details);
END
$$;

CREATE OR REPLACE FUNCTION finish_server_request(p_site site, p_request uuid, p_applied jsonb) RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    v_now timestamptz := site_clock(p_site);
BEGIN
    UPDATE server_request SET site_id = p_site.site_id, details = p_applied, at = v_now WHERE request_id = p_request;
    RETURN answer(p_site.site_id, 'site', NULL, NULL, false) || jsonb_build_object('applied', p_applied);
END
$$;
