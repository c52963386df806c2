//! What the controller asks the database about the session that it controls, and what it does to it from outside.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sqlx::postgres::PgConnection;

use crate::domain::sentences::session::DatabaseSession;
use crate::domain::{ClaimId, Command, SiteId};
use crate::store::connection::connections::database_session;
use crate::store::stepping::trace::{StepText, Texts};
use crate::store::stepping::view::{Deadline, ListedLock, Names};

/// Takes a run's number that nobody else has, for as long as the connection lives: the lock (run, 0) is its sign.
///
/// The protocol's own advisory locks have one number, these have two, which PostgreSQL keeps apart.
pub(super) async fn claim_run(connection: &mut PgConnection) -> Result<i32, sqlx::Error> {
    loop {
        let run = 1 + (uuid::Uuid::new_v4().as_u128() % (i32::MAX as u128 - 1)) as i32;
        let ours = sqlx::query_scalar!(r#"SELECT pg_try_advisory_lock($1, 0) AS "ours!""#, run)
            .fetch_one(&mut *connection)
            .await?;
        if ours {
            shut_gate(connection, run, 1).await?;
            return Ok(run);
        }
    }
}

/// Shuts a gate that nobody has come to yet.
async fn shut_gate(connection: &mut PgConnection, run: i32, gate: i32) -> Result<(), sqlx::Error> {
    sqlx::query!("SELECT FROM pg_advisory_lock($1, $2)", run, gate)
        .execute(connection)
        .await?;
    Ok(())
}

/// Opens a gate; the next one is shut before.
pub(super) async fn open_gate(
    connection: &mut PgConnection,
    run: i32,
    gate: i32,
) -> Result<(), sqlx::Error> {
    shut_gate(connection, run, gate + 1).await?;
    sqlx::query!("SELECT FROM pg_advisory_unlock($1, $2)", run, gate)
        .execute(connection)
        .await?;
    Ok(())
}

/// The words and the source of every step that has a gate.
pub(super) async fn texts(connection: &mut PgConnection) -> Result<Texts, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        SELECT
            step.proname::text AS "name!",
            coalesce(obj_description(step.oid, 'pg_proc'), '') AS "words!",
            pg_get_functiondef(step.oid) AS "source!"
        FROM pg_proc AS gate
        JOIN pg_proc AS step ON step.proname = gate.proname AND step.proargtypes = gate.proargtypes
            AND step.pronamespace = 'keyrack'::regnamespace
        -- Entry functions are there too, and are no gates.
        WHERE gate.pronamespace = 'keyrack_step'::regnamespace AND NOT gate.prosecdef
        "#
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let text = StepText {
                words: row.words.into(),
                source: row.source.into(),
            };
            (row.name, text)
        })
        .collect())
}

/// The names of a site's rooms and items.
pub(super) async fn names(
    connection: &mut PgConnection,
    site: SiteId,
) -> Result<Names, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        SELECT true AS "is_room!", room_id AS "id!", name AS "name!" FROM room WHERE site_id = $1
        UNION ALL
        SELECT false, item_id, name FROM inventory WHERE site_id = $1
        "#,
        site.0
    )
    .fetch_all(connection)
    .await?;
    let (rooms, items): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.is_room);
    let by_id = |rows: Vec<_>| -> HashMap<i64, String> { rows.into_iter().collect() };
    Ok(Names {
        rooms: by_id(rooms.into_iter().map(|row| (row.id, row.name)).collect()),
        items: by_id(items.into_iter().map(|row| (row.id, row.name)).collect()),
    })
}
/// Where the session is among the others.
pub(super) struct Situation {
    pub(super) now: DateTime<Utc>,
    /// Whether its backend is there.
    pub(super) alive: bool,
    /// The kind of the lock that it waits for, unless that is a gate's.
    pub(super) awaits: Option<String>,
    pub(super) since: Option<DateTime<Utc>>,
    pub(super) whom: Vec<DatabaseSession>,
    pub(super) blocked: Vec<DatabaseSession>,
}

/// Looks where the session is among the others.
pub(super) async fn situation(
    connection: &mut PgConnection,
    backend: i32,
    run: i32,
) -> Result<Situation, sqlx::Error> {
    let own = sqlx::query!(
        r#"
        SELECT
            clock_timestamp() AS "now!",
            EXISTS (SELECT FROM pg_stat_get_activity($1)) AS "alive!",
            array_remove(pg_blocking_pids($1), pg_backend_pid()) AS "whom!",
            wanted.locktype AS "awaits?",
            wanted.waitstart AS "since?"
        FROM (VALUES (true)) AS one (row)
        LEFT JOIN LATERAL (
            SELECT locktype, waitstart
            FROM pg_locks
            WHERE pid = $1 AND NOT granted AND NOT (locktype = 'advisory' AND classid::bigint = $2::integer)
            LIMIT 1
        ) AS wanted ON true
        "#,
        backend,
        run
    )
    .fetch_one(&mut *connection)
    .await?;
    // Blocking is asked about for those alone that wait: to find out, PostgreSQL stops all locking for a moment.
    let others = sqlx::query!(
        r#"
        SELECT
            pid AS "pid!",
            application_name AS "name!",
            pid <> ALL ($2) AS "waits!"
        FROM pg_stat_activity
        WHERE pid = ANY ($2) OR CASE
            WHEN wait_event_type = 'Lock' AND datname = current_database() THEN $1 = ANY (pg_blocking_pids(pid))
        END
        ORDER BY backend_start, pid
        "#,
        backend,
        &own.whom
    )
    .fetch_all(connection)
    .await?;
    let (blocked, mut whom): (Vec<_>, Vec<_>) = others
        .into_iter()
        .map(|row| (row.waits, database_session(row.pid, row.name)))
        .partition(|(waits, _)| *waits);
    // A transaction that was prepared for two-phase commit has no backend.
    for nobody in own.whom.iter().filter(|pid| **pid == 0).take(1) {
        whom.push((false, database_session(*nobody, String::new())));
    }
    let sessions = |rows: Vec<(bool, DatabaseSession)>| rows.into_iter().map(|(_, other)| other);
    Ok(Situation {
        now: own.now,
        alive: own.alive,
        awaits: own.awaits,
        since: own.since,
        whom: sessions(whom).collect(),
        blocked: sessions(blocked).collect(),
    })
}

/// The locks of a session that PostgreSQL lists, those that say something: its transaction's, and on tables.
pub(super) async fn listed_locks(
    connection: &mut PgConnection,
    backend: i32,
) -> Result<Vec<ListedLock>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        SELECT
            l.transactionid::text AS transaction,
            c.relname::text AS "relation?",
            string_agg(l.mode, ', ' ORDER BY l.mode) AS "mode!"
        FROM pg_locks AS l
        LEFT JOIN pg_class AS c ON c.oid = l.relation AND c.relkind = 'r'
        WHERE l.pid = $1 AND l.granted AND (
            l.locktype = 'transactionid'
            OR l.locktype = 'relation' AND c.relnamespace <> 'pg_catalog'::regnamespace
        )
        GROUP BY 1, 2
        ORDER BY 1, 2
        "#,
        backend
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| match (row.transaction, row.relation) {
            (Some(id), _) => ListedLock::Transaction {
                id,
                modes: row.mode,
            },
            (None, relation) => ListedLock::Table {
                name: relation.unwrap_or_default(),
                modes: row.mode,
            },
        })
        .collect())
}

/// The deadline of the claim that a command is about, as everybody sees it; none for a command that makes a claim.
pub(super) async fn deadline(
    connection: &mut PgConnection,
    site: SiteId,
    command: &Command,
) -> Result<Option<Deadline>, sqlx::Error> {
    let Some(claim) = command.claim() else {
        return Ok(None);
    };
    let (slot, stock, group) = match claim {
        ClaimId::Slot(hold) => (Some(hold.0), None, None),
        ClaimId::Stock(hold) => (None, Some(hold.0), None),
        ClaimId::Group(group) => (None, None, Some(group.0)),
    };
    let at = sqlx::query_scalar!(
        r#"
        SELECT min(expires_at)
        FROM (
            SELECT expires_at FROM slot_hold
            WHERE site_id = $1 AND state = 'held' AND (hold_id = $2 OR group_id = $4)
            UNION ALL
            SELECT expires_at FROM stock_hold
            WHERE site_id = $1 AND state = 'held' AND (hold_id = $3 OR group_id = $4)
        ) AS claim
        "#,
        site.0,
        slot,
        stock,
        group
    )
    .fetch_one(connection)
    .await?;
    Ok(at.map(|at| Deadline { claim, at }))
}

/// Cancels what the session is doing.
pub(super) async fn cancel(connection: &mut PgConnection, backend: i32) -> Result<(), sqlx::Error> {
    sqlx::query!("SELECT FROM pg_cancel_backend($1)", backend)
        .execute(connection)
        .await?;
    Ok(())
}

/// Kills the session's backend.
pub(super) async fn terminate(
    connection: &mut PgConnection,
    backend: i32,
) -> Result<(), sqlx::Error> {
    sqlx::query!("SELECT FROM pg_terminate_backend($1)", backend)
        .execute(connection)
        .await?;
    Ok(())
}

/// Whether the backend is still there.
pub(super) async fn is_alive(
    connection: &mut PgConnection,
    backend: i32,
) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT FROM pg_stat_get_activity($1)) AS "alive!""#,
        backend
    )
    .fetch_one(connection)
    .await
}
