//! Starting and stopping the server with `pg_ctl`, and the settings that it runs with.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::SystemTime;

use super::binaries::Binaries;
use super::home::{Home, PORT};
use super::{PostgresError, Result};

/// How many of the last lines of a log are shown.
const LINES: usize = 6;

/// How an attempt to start ended when it did not fail for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// The server accepts connections.
    Running,
    /// A server that was killed has not let go of the data yet; try again.
    NotYet,
}

/// Starts the server and waits until it accepts connections.
pub(super) fn start(home: &Home, binaries: &Binaries) -> Result<Start> {
    let first_log = home.log_directory().join("start.log");
    // Only what this attempt says may be shown for it.
    let _ = fs::remove_file(&first_log);
    let began = SystemTime::now();
    let status = home
        .account
        .command(binaries.program("pg_ctl"), home.path())
        .args(["start", "--silent", "--wait", "--timeout=120", "--pgdata"])
        .arg(home.cluster())
        .arg("--log")
        .arg(&first_log)
        .arg("--options")
        .arg(options(home))
        // Not output(): the server would keep a pipe open for as long as it lives.
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|source| PostgresError::Io {
            doing: "run pg_ctl".to_owned(),
            source,
        })?;
    if status.success() {
        return Ok(Start::Running);
    }
    let said = log_ending(&home.log_directory(), began);
    if is_held(&said) {
        return Ok(Start::NotYet);
    }
    Err(if said.contains("No space left on device") {
        PostgresError::DiskFull {
            path: home.path().to_path_buf(),
        }
    } else {
        PostgresError::StartFailed {
            log: home.log_directory(),
            said,
        }
    })
}

/// Stops the server: running statements are cancelled and rolled back, everything committed is written.
pub(super) fn stop(home: &Home, binaries: &Binaries) -> Result<()> {
    let output = home
        .account
        .command(binaries.program("pg_ctl"), home.path())
        .args(["stop", "--silent", "--wait", "--timeout=60", "--mode=fast"])
        .arg("--pgdata")
        .arg(home.cluster())
        .output()
        .map_err(|source| PostgresError::Io {
            doing: "run pg_ctl".to_owned(),
            source,
        })?;
    // It may have ended by itself, or been killed and have left its files behind.
    if output.status.success() || !somebody_listens(home) {
        return Ok(());
    }
    Err(PostgresError::StopFailed {
        log: home.log_directory(),
        said: ending(&output),
    })
}

fn somebody_listens(home: &Home) -> bool {
    UnixStream::connect(home.socket()).is_ok()
}

/// The last lines that a program wrote to its standard error.
pub(super) fn ending(output: &Output) -> String {
    last_lines(&String::from_utf8_lossy(&output.stderr))
}

/// The server's settings, for the shell that `pg_ctl` starts it through.
///
/// They are given on the command line, where they win over `postgresql.conf` and `ALTER SYSTEM`: whatever is written
/// there, the server is durable and listens on its private socket alone.
fn options(home: &Home) -> String {
    let path = |path: &Path| path.display().to_string();
    let settings: &[(&str, String)] = &[
        ("fsync", "on".into()),
        ("full_page_writes", "on".into()),
        ("synchronous_commit", "on".into()),
        ("listen_addresses", String::new()),
        ("port", PORT.to_string()),
        // A list: quoted, so that a comma or a space in the path stays in it.
        (
            "unix_socket_directories",
            format!("\"{}\"", path(home.socket_directory())),
        ),
        ("unix_socket_permissions", "0700".into()),
        ("cluster_name", "keyrack".into()),
        ("timezone", "UTC".into()),
        ("log_timezone", "UTC".into()),
        // A hundred clients race in a test, with room for the consoles beside them.
        ("max_connections", "200".into()),
        ("shared_buffers", "64MB".into()),
        ("max_wal_size", "256MB".into()),
        ("min_wal_size", "32MB".into()),
        ("jit", "off".into()),
        // One file for each day of the week.
        ("logging_collector", "on".into()),
        ("log_directory", path(&home.log_directory())),
        ("log_filename", "server-%a.log".into()),
        ("log_truncate_on_rotation", "on".into()),
        ("log_rotation_age", "1d".into()),
        ("log_rotation_size", "0".into()),
        // Statements and details can name guests (R27).
        ("log_error_verbosity", "terse".into()),
        ("log_min_error_statement", "panic".into()),
    ];
    settings
        .iter()
        .map(|(name, value)| format!("-c {name}='{value}'"))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Whether a killed server's lock file, its memory or its socket is still there.
fn is_held(said: &str) -> bool {
    [
        "lock file \"postmaster.pid\"",
        "pre-existing shared memory block",
        ".lock\" already exists",
        "Is another postmaster",
    ]
    .iter()
    .any(|sign| said.contains(sign))
}

/// The end of what the server logged since a moment, in the file where it logged last.
fn log_ending(directory: &Path, since: SystemTime) -> String {
    let mut files: Vec<(SystemTime, PathBuf)> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let changed = entry.metadata().ok()?.modified().ok()?;
            (changed >= since).then(|| (changed, entry.path()))
        })
        .collect();
    files.sort();
    let text: Vec<String> = files
        .iter()
        .map(|(_, path)| {
            last_lines(&String::from_utf8_lossy(
                &fs::read(path).unwrap_or_default(),
            ))
        })
        .collect();
    text.join("\n")
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_killed_servers_leftovers_are_waited_for_and_other_faults_are_not() {
        assert!(is_held(
            "FATAL:  lock file \"postmaster.pid\" already exists\nHINT:  Is another postmaster (PID 7) running?"
        ));
        assert!(is_held(
            "FATAL:  pre-existing shared memory block (key 1, ID 2) is still in use"
        ));
        assert!(!is_held("FATAL:  could not open configuration file"));
    }

    #[test]
    fn only_the_end_of_a_long_log_is_shown() {
        let log: String = (0..100).map(|line| format!("line {line}\n")).collect();
        let shown = last_lines(&log);
        assert_eq!(shown.lines().count(), LINES);
        assert!(shown.ends_with("line 99"));
        assert_eq!(last_lines(""), "");
    }
}
