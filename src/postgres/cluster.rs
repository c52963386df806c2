//! PostgreSQL's data directory: made once, whole or not at all.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use super::binaries::Binaries;
use super::control::ending;
use super::home::{Home, make_private};
use super::{NAME, PostgresError, Result};

/// The role that owns the cluster. Keyrack itself logs in as an ordinary role, as it does on a server that is not its own.
const SUPERUSER: &str = "postgres";

/// The major version that made the data, or `None` where there are none yet.
pub(super) fn major_version(home: &Home) -> Result<Option<u32>> {
    let cluster = home.cluster();
    match fs::read_to_string(cluster.join("PG_VERSION")) {
        Ok(text) => text
            .trim()
            .parse()
            .map(Some)
            .map_err(|_| PostgresError::NotACluster { path: cluster }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if cluster.exists() {
                return Err(PostgresError::NotACluster { path: cluster });
            }
            Ok(None)
        }
        Err(error) => Err(PostgresError::io("read the data in", &cluster, error)),
    }
}

/// Makes the data directory, with the role and the database that clients use.
///
/// It is made under another name and takes its place at the end: what a killed `initdb` leaves behind is never taken for
/// a cluster, and is removed by the next attempt.
pub(super) fn create(home: &Home, binaries: &Binaries) -> Result<()> {
    let unfinished = home.unfinished_cluster();
    remove(&unfinished)?;
    make_private(&unfinished, home.account)?;
    initdb(home, binaries, &unfinished)?;
    create_database(home, binaries, &unfinished)?;
    fs::rename(&unfinished, home.cluster())
        .and_then(|()| File::open(home.path())?.sync_all())
        .map_err(|source| PostgresError::io("put in place", &home.cluster(), source))
}

/// Removes the cluster and all that is in it.
pub(super) fn destroy(home: &Home) -> Result<()> {
    // Out of its place first: a half-removed cluster must not be taken for a whole one.
    let unfinished = home.unfinished_cluster();
    remove(&unfinished)?;
    match fs::rename(home.cluster(), &unfinished) {
        Ok(()) => remove(&unfinished),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(PostgresError::io("remove", &home.cluster(), error)),
    }
}

fn initdb(home: &Home, binaries: &Binaries, directory: &Path) -> Result<()> {
    let mut locales = locales(binaries.version.major).iter();
    loop {
        let mut command = home
            .account
            .command(binaries.program("initdb"), home.path());
        command
            .arg("--pgdata")
            .arg(directory)
            .args([
                "--encoding=UTF8",
                "--data-checksums",
                "--no-instructions",
                "--lc-messages=C",
                // Who may connect is decided by who can enter the socket's directory.
                "--auth-local=trust",
                "--auth-host=reject",
            ])
            .arg(format!("--username={SUPERUSER}"))
            .args(locales.next().copied().unwrap_or_default());
        let output = command.output().map_err(|source| PostgresError::Io {
            doing: "run initdb".to_owned(),
            source,
        })?;
        if output.status.success() {
            return Ok(());
        }
        if locales.len() == 0 || !ending(&output).contains("locale") {
            return Err(failure(home, &output));
        }
    }
}

/// The locales to try, best first: characters by Unicode, order by code point, independent of the machine's settings.
fn locales(major: u32) -> &'static [&'static [&'static str]] {
    if major >= 17 {
        &[&[
            "--locale=C",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
        ]]
    } else {
        &[&["--locale=C", "--lc-ctype=C.UTF-8"], &["--locale=C"]]
    }
}

/// Creates the role and the database with the server in single-user mode: a downloaded server may come without `psql`.
fn create_database(home: &Home, binaries: &Binaries, directory: &Path) -> Result<()> {
    let mut command = home
        .account
        .command(binaries.program("postgres"), home.path());
    command
        .args(["--single", "-c", "exit_on_error=on", "-D"])
        .arg(directory)
        .arg("postgres")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let not_run = |source| PostgresError::Io {
        doing: "run postgres --single".to_owned(),
        source,
    };
    let mut child = command.spawn().map_err(not_run)?;
    if let Some(mut stdin) = child.stdin.take() {
        // If the server has ended already, its exit status tells more than a broken pipe.
        let _ = write!(
            stdin,
            "CREATE ROLE {NAME} LOGIN CREATEDB\nCREATE DATABASE {NAME} OWNER {NAME}\n"
        );
    }
    let output = child.wait_with_output().map_err(not_run)?;
    if output.status.success() {
        Ok(())
    } else {
        Err(failure(home, &output))
    }
}

fn failure(home: &Home, output: &Output) -> PostgresError {
    let said = ending(output);
    if said.contains("No space left on device") {
        PostgresError::DiskFull {
            path: home.path().to_path_buf(),
        }
    } else {
        PostgresError::CreationFailed {
            path: home.cluster(),
            said,
        }
    }
}

fn remove(directory: &Path) -> Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(PostgresError::io("remove", directory, error))
        }
        _ => Ok(()),
    }
}
