//! How functions, guards and schemas stand in the catalogue.

use sqlx::postgres::PgConnection;

use crate::support::Database;
use crate::{run, value};

/// Everything that is not as it has to be.
const COMPLAINTS: &str = "
    WITH ours AS (
        SELECT p.*, p.oid::regprocedure::text AS said, n.nspowner,
            p.prorettype = 'trigger'::regtype AS is_guard,
            CASE n.nspname
                WHEN 'keyrack' THEN 'search_path=pg_catalog, keyrack, pg_temp'
                ELSE 'search_path=pg_catalog, keyrack_step, keyrack, pg_temp'
            END AS path,
            ARRAY(
                SELECT coalesce(nullif(a.grantee, 0)::regrole::text, 'everybody')
                FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
                WHERE a.grantee <> p.proowner AND a.privilege_type = 'EXECUTE'
            ) AS others
        FROM pg_proc AS p
        JOIN pg_namespace AS n ON n.oid = p.pronamespace
        WHERE n.nspname IN ('keyrack', 'keyrack_step')
            AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.objid = p.oid AND d.deptype = 'e')
    )
    SELECT 'guard ' || said || ' runs with the rights of whoever writes' FROM ours WHERE is_guard AND NOT prosecdef
    UNION ALL
    SELECT said || ' is not pinned to its path: ' || coalesce(proconfig::text, 'nothing') FROM ours
    WHERE prosecdef AND path <> ALL (coalesce(proconfig, '{}'))
    UNION ALL
    SELECT 'step ' || said || ' may be called by ' || array_to_string(others, ', ') FROM ours
    WHERE (is_guard OR NOT prosecdef) AND others <> '{}'
    UNION ALL
    SELECT said || ' may not be called by everybody, but by ' || others::text FROM ours
    WHERE prosecdef AND NOT is_guard AND others <> '{everybody}'
    UNION ALL
    SELECT said || ' belongs to ' || proowner::regrole || ', and not to the owner of its schema' FROM ours
    WHERE proowner <> nspowner
    UNION ALL
    SELECT 'in schema ' || n.nspname || ' ' || coalesce(nullif(a.grantee, 0)::regrole::text, 'everybody') || ' may create'
    FROM pg_namespace AS n
    CROSS JOIN aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) AS a
    WHERE n.nspname IN ('keyrack', 'keyrack_step') AND a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner
    UNION ALL
    SELECT pg_describe_object(d.classid, d.objid, 0) || ' lies in public'
    FROM pg_depend AS d
    WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = 'public'::regnamespace
    UNION ALL
    SELECT 'extension ' || extname || ' lies in ' || extnamespace::regnamespace FROM pg_extension
    WHERE extname = 'btree_gist' AND extnamespace <> 'keyrack'::regnamespace
    UNION ALL
    SELECT p.oid::regprocedure || ' of the extension lies elsewhere'
    FROM pg_proc AS p
    JOIN pg_depend AS d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
    JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'btree_gist'
    WHERE p.pronamespace <> 'keyrack'::regnamespace
    UNION ALL
    -- A trigger's condition, a default or a CHECK runs with the rights and the path of whoever writes; and a table does not
    -- hang on the text.
    SELECT pg_describe_object(d.classid, d.objid, 0) || ' asks ' || ours.said
    FROM pg_depend AS d
    JOIN ours ON ours.oid = d.refobjid
    LEFT JOIN pg_trigger AS t ON t.oid = d.objid AND d.classid = 'pg_trigger'::regclass
    WHERE d.refclassid = 'pg_proc'::regclass AND d.classid <> 'pg_proc'::regclass
        AND t.tgfoid IS DISTINCT FROM ours.oid";

async fn complaints(connection: &mut PgConnection) -> Vec<String> {
    let query = format!(
        "SELECT coalesce(array_agg(said ORDER BY said), '{{}}') FROM ({COMPLAINTS}) AS complaint (said)"
    );
    value(connection, &query).await
}

#[tokio::test]
async fn r33_entry_functions_readers_and_guards_are_pinned_and_steps_are_nobodys() {
    let database = Database::migrated().await;
    let mut owner = database.connect().await;
    assert_eq!(complaints(&mut owner).await, [""; 0]);
    // There is something to look at, in both schemas.
    let pinned: Vec<i64> = value(
        &mut owner,
        "SELECT ARRAY[
             count(*) FILTER (WHERE pronamespace = 'keyrack'::regnamespace AND prorettype <> 'trigger'::regtype),
             count(*) FILTER (WHERE prorettype = 'trigger'::regtype),
             count(*) FILTER (WHERE pronamespace = 'keyrack_step'::regnamespace)
         ] FROM pg_proc WHERE prosecdef",
    )
    .await;
    assert!(
        pinned[0] > 40 && pinned[1] >= 8 && pinned[2] > 20,
        "{pinned:?}"
    );
}

#[tokio::test]
async fn r33_what_is_not_pinned_is_found() {
    let database = Database::migrated().await;
    let mut owner = database.connect_as_superuser().await;
    for (change, complaint) in [
        (
            "ALTER FUNCTION keyrack.guard_kept() RESET search_path",
            "guard_kept() is not pinned",
        ),
        (
            "ALTER FUNCTION keyrack.guard_kept() SECURITY INVOKER",
            "guard keyrack.guard_kept() runs with the rights",
        ),
        (
            "ALTER FUNCTION keyrack.list_sites() SET search_path = pg_catalog, keyrack, public, pg_temp",
            "list_sites() is not pinned",
        ),
        (
            "ALTER FUNCTION keyrack.list_sites() SET search_path = pg_catalog, keyrack",
            "list_sites() is not pinned",
        ),
        (
            "ALTER FUNCTION keyrack.list_sites() SECURITY INVOKER",
            "step keyrack.list_sites() may be called by everybody",
        ),
        (
            "ALTER FUNCTION keyrack_step.expire_slots SET search_path = pg_catalog, keyrack, pg_temp",
            "expire_slots(bigint,uuid,text) is not pinned",
        ),
        (
            "GRANT EXECUTE ON FUNCTION keyrack.take_stock TO PUBLIC",
            "step keyrack.take_stock",
        ),
        (
            "GRANT EXECUTE ON FUNCTION keyrack.take_stock TO pg_monitor",
            "may be called by pg_monitor",
        ),
        (
            "GRANT EXECUTE ON FUNCTION keyrack.guard_kept() TO PUBLIC",
            "step keyrack.guard_kept() may be called",
        ),
        (
            "GRANT EXECUTE ON FUNCTION keyrack_step.reach TO PUBLIC",
            "step keyrack_step.reach",
        ),
        (
            "REVOKE EXECUTE ON FUNCTION keyrack.hold_slot FROM PUBLIC",
            "may not be called by everybody",
        ),
        (
            "ALTER FUNCTION keyrack.take_stock OWNER TO pg_monitor",
            "belongs to pg_monitor",
        ),
        (
            "GRANT CREATE ON SCHEMA keyrack_step TO PUBLIC",
            "in schema keyrack_step everybody may create",
        ),
        (
            "CREATE TABLE public.room ()",
            "table public.room lies in public",
        ),
        (
            "CREATE FUNCTION public.f() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
            "function public.f() lies in public",
        ),
        (
            "ALTER TABLE keyrack.room ADD CHECK (keyrack.elapsed(turnaround) < '1 day')",
            "asks keyrack.elapsed",
        ),
        (
            "CREATE TRIGGER planted BEFORE INSERT ON keyrack.room FOR EACH ROW
             WHEN (keyrack.is_demo_site(new.site_id)) EXECUTE FUNCTION keyrack.guard_kept()",
            "trigger planted on table keyrack.room asks keyrack.is_demo_site",
        ),
        (
            "ALTER EXTENSION btree_gist SET SCHEMA public",
            "extension btree_gist lies in public",
        ),
    ] {
        run(&mut owner, "BEGIN").await;
        run(&mut owner, "SET LOCAL search_path = pg_catalog").await;
        run(&mut owner, change).await;
        let found = complaints(&mut owner).await;
        run(&mut owner, "ROLLBACK").await;
        assert!(
            found.iter().any(|said| said.contains(complaint)),
            "{change}: {found:#?}"
        );
    }
}
