//! A full disk: a small file system for a server of its own. Needs root and the right to mount; CI has both.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use keyrack::domain::Request;
use keyrack::store::StoreError;
use sqlx::postgres::PgConnection;
use tempfile::TempDir;

use crate::killed::{Gate, Sent};
use crate::place::{Left, Place};
use crate::victim::Victim;

/// A file system in memory with little room.
struct SmallDisk {
    mounted_at: TempDir,
}

impl SmallDisk {
    /// None, with the reason printed, where nobody may mount one.
    fn new() -> Option<Self> {
        let mounted_at = tempfile::tempdir().unwrap();
        let outcome = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=192m,mode=0711", "keyrack-test"])
            .arg(mounted_at.path())
            .output();
        match outcome {
            Ok(output) if output.status.success() => Some(Self { mounted_at }),
            Ok(output) => {
                let why = String::from_utf8_lossy(&output.stderr);
                println!(
                    "Skipped: a small disk can't be mounted here: {}",
                    why.trim()
                );
                None
            }
            Err(error) => {
                println!("Skipped: there is no mount here: {error}");
                None
            }
        }
    }

    fn ballast(&self) -> PathBuf {
        self.mounted_at.path().join("ballast")
    }
}

impl AsRef<Path> for SmallDisk {
    fn as_ref(&self) -> &Path {
        self.mounted_at.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a server that is just stopping may still have files open.
        let _ = Command::new("umount")
            .arg("--lazy")
            .arg(self.mounted_at.path())
            .status();
    }
}

/// Writes until nothing fits any more.
fn fill(ballast: &Path) {
    let mut file = File::create(ballast).unwrap();
    for size in [1 << 20, 1 << 12] {
        let block = vec![0_u8; size];
        loop {
            match file.write_all(&block) {
                Ok(()) => {}
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::StorageFull);
                    break;
                }
            }
        }
    }
}

/// Makes the write-ahead log a megabyte longer; says how far it has come in its current file of 16.
async fn log_a_megabyte(connection: &mut PgConnection) -> Result<i32, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT ((pg_logical_emit_message(false, 'test', repeat('x', 1 << 20)) - '0/0') % (16 << 20) / (1 << 20))::int",
    )
    .fetch_one(connection)
    .await
}

/// Holds until one fails. What was acknowledged, the one that failed, and what the desk was told.
async fn hold_until_it_fails(place: &Place) -> (Vec<Request>, Request, StoreError) {
    let mut acknowledged = Vec::new();
    for _ in 0..4_000 {
        let request = place.request("hold_slot").await;
        match place.house.execute(request.clone()).await {
            Ok(answer) => {
                assert!(answer.outcome.is_ok(), "{answer:?}");
                acknowledged.push(request);
            }
            Err(error) => return (acknowledged, request, error),
        }
    }
    panic!("the disk never filled up");
}

/// Waits until the server can't be brought up any more; says what a person is told then.
async fn until_down(victim: &Victim<SmallDisk>) -> String {
    let started = Instant::now();
    loop {
        if let Err(error) = victim.server().ensure_running().await {
            return error.to_string();
        }
        assert!(
            started.elapsed() < Duration::from_secs(15),
            "it is still up"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Everything that was acknowledged is there, and the command that failed can be asked again.
async fn carries_on(
    place: &Place,
    acknowledged: &[Request],
    failed: &Request,
    observer: &mut PgConnection,
    expected: Left,
) {
    place.ask_again(failed, "the one that failed").await;
    for request in acknowledged.iter().chain([failed]) {
        assert!(place.ask_again(request, "acknowledged").await.repeated);
        assert_eq!(Left::by(request.id, observer).await, expected);
    }
    place.assert_all_is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_a_sentence_and_loses_nothing() {
    let Some(disk) = SmallDisk::new() else { return };
    let ballast = disk.ballast();
    let victim = Victim::new(disk).await;
    let place = Place::new(victim.options(), "Full house").await;
    let mut observer = victim.observer().await;
    let expected = place.reference("hold_slot", &mut observer).await;

    // The tables run out of room, with a fresh file for the log.
    while log_a_megabyte(&mut observer).await.unwrap() != 1 {}
    place.reference("hold_slot", &mut observer).await;
    fill(&ballast);
    let (acknowledged, failed, error) = hold_until_it_fails(&place).await;
    println!("{} holds fitted; then: {error}", acknowledged.len());
    assert_eq!(
        error.to_string(),
        "The database has no room left on its disk (or in its memory). Nothing was done; make room, then try again."
    );
    assert_eq!(Left::by(failed.id, &mut observer).await, Left::nothing());
    // Reading goes on.
    place.assert_all_is_well().await;
    fs::remove_file(&ballast).unwrap();
    carries_on(&place, &acknowledged, &failed, &mut observer, expected).await;

    // The log runs out of room while a desk is in the middle of a command: the server can't go on at all.
    let gate = Gate::close(&place.options, "hold_event").await;
    let request = place.request("hold_slot").await;
    let sent = Sent::to(&place, &gate, &request, &mut observer).await;
    assert!(sent.backend.is_some());
    fill(&ballast);
    let mut megabytes = 0;
    while log_a_megabyte(&mut observer).await.is_ok() {
        megabytes += 1;
        assert!(megabytes < 128, "the log never filled up");
    }
    println!("{megabytes} MB of log fitted");
    let error = until_down(&victim).await;
    println!("{error}");
    assert!(error.contains("Make room and start again"), "{error}");
    fs::remove_file(&ballast).unwrap();
    victim.server().ensure_running().await.unwrap();
    // The desk has been asking what became of its command all the time.
    let answer = sent.answer.await.unwrap().unwrap();
    assert!(answer.outcome.is_ok(), "{answer:?}");
    let mut observer = victim.observer().await;
    carries_on(&place, &acknowledged, &request, &mut observer, expected).await;
}
