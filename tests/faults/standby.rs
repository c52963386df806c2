//! A standby that takes over: it knows nothing but what the write-ahead log told it.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use sqlx::Connection;
use sqlx::postgres::PgConnection;
use tempfile::TempDir;

use crate::place::{COMMANDS, Place};
use crate::victim::Victim;

/// A copy of a running server, which follows it.
async fn standby_of(primary: &Victim<TempDir>) -> Victim<TempDir> {
    let pg_basebackup = primary.server().client_program("pg_basebackup").expect(
        "The PostgreSQL to test on comes without pg_basebackup, which makes the standby: install its client programs, \
         or name another PostgreSQL in KEYRACK_POSTGRES_BIN",
    );
    let options = primary.options();
    let socket_directory = options.get_socket().unwrap();
    // The server's user, who is another than the test's where that is root.
    let owner = socket_directory.metadata().unwrap();

    // A home for Keyrack's server in which there are data already: so it is started and stopped like any other.
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), Permissions::from_mode(0o711)).unwrap();
    let home = directory.path().join("keyrack");
    DirBuilder::new().mode(0o700).create(&home).unwrap();
    chown(&home, Some(owner.uid()), Some(owner.gid())).unwrap();
    let output = Command::new(pg_basebackup)
        .args(["--write-recovery-conf", "--wal-method=stream"])
        .args(["--checkpoint=fast", "--no-password", "--username=postgres"])
        .arg("--host")
        .arg(socket_directory)
        .arg(format!("--port={}", options.get_port()))
        .arg("--pgdata")
        .arg(home.join("cluster"))
        .current_dir(Path::new("/"))
        .env("LC_ALL", "C")
        .uid(owner.uid())
        .gid(owner.gid())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "pg_basebackup: {said}");
    Victim::unmigrated(directory).await
}

/// A connection that may ask about the log and promote.
async fn superuser(victim: &Victim<TempDir>) -> PgConnection {
    let options = victim.options().username("postgres");
    PgConnection::connect_with(&options).await.unwrap()
}

/// How far the log of a primary is on its disk, which is what a standby can know.
async fn log_position(primary: &mut PgConnection) -> String {
    sqlx::query_scalar("SELECT pg_current_wal_flush_lsn()::text")
        .fetch_one(primary)
        .await
        .unwrap()
}

/// Waits until a standby has done everything that stands in the log up to a position.
async fn until_replayed(standby: &mut PgConnection, position: &str) {
    let started = Instant::now();
    loop {
        let (replayed, so_far): (bool, String) = sqlx::query_as(
            "SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn, pg_last_wal_replay_lsn()::text",
        )
        .bind(position)
        .fetch_one(&mut *standby)
        .await
        .unwrap();
        if replayed {
            return;
        }
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "the standby is at {so_far} and does not come to {position}"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A new house, every command once, and each is told to whoever watches.
async fn assert_takes_commands(victim: &Victim<TempDir>, name: &str) {
    let place = Place::new(victim.options(), name).await;
    let mut observer = victim.observer().await;
    for command in COMMANDS {
        let request = place.request(command).await;
        let seen: String = sqlx::query_scalar("SELECT pg_current_snapshot()::text")
            .fetch_one(&mut observer)
            .await
            .unwrap();
        let answer = place.house.execute(request).await.unwrap();
        assert!(answer.outcome.is_ok(), "{command}: {answer:?}");
        let changes: i64 = sqlx::query_scalar("SELECT changes FROM changes_since($1, $2)")
            .bind(place.house.site().id.0)
            .bind(&seen)
            .fetch_one(&mut observer)
            .await
            .unwrap();
        assert!(changes > 0, "{command} is not in the change log");
    }
    place.assert_all_is_well().await;
}

/// What is unlogged starts empty on a standby that takes over, from a first page that only the log brings. PostgreSQL
/// 15.18 and 18.4 forget to write the one of a sequence until their next restartpoint ("bad magic number in sequence");
/// 18.6 does not.
#[tokio::test(flavor = "multi_thread")]
async fn a_standby_that_is_promoted_right_after_the_database_was_migrated_takes_commands() {
    let primary = Victim::unmigrated(tempfile::tempdir().unwrap()).await;
    let mut on_primary = superuser(&primary).await;
    let standby = standby_of(&primary).await;
    let mut on_standby = superuser(&standby).await;
    let before = log_position(&mut on_primary).await;
    until_replayed(&mut on_standby, &before).await;

    primary.migrate().await;
    let after = log_position(&mut on_primary).await;
    until_replayed(&mut on_standby, &after).await;

    // A restartpoint would have written to disk what only the log knows so far: then this proves little.
    let none_since: bool =
        sqlx::query_scalar("SELECT redo_lsn <= $1::pg_lsn FROM pg_control_checkpoint()")
            .bind(&before)
            .fetch_one(&mut on_standby)
            .await
            .unwrap();
    assert!(none_since, "the standby has made a restartpoint");
    let promoted: bool = sqlx::query_scalar("SELECT pg_promote(true, 60)")
        .fetch_one(&mut on_standby)
        .await
        .unwrap();
    assert!(promoted);

    assert_takes_commands(&standby, "Taken over").await;
    // The one that it was copied from is none the worse for it.
    assert_takes_commands(&primary, "Left behind").await;
}
