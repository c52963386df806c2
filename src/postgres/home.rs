//! Where everything of one embedded server lies, and the care that only its user can enter.
//!
//! ```text
//! keyrack/            the data directory
//!   cluster/          PostgreSQL's own data (0700)
//!   socket/           the Unix socket (0700); under /tmp if this path is too long
//!   log/              the server's log
//!   server/18.4.0/    a downloaded server, if none was found
//!   start.lock        held by whoever starts or stops the server
//!   members.lock      shared by everyone who uses it
//!   keep              present while the server is to stay
//! ```

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use directories::ProjectDirs;
use nix::unistd::Uid;
use rustix::fs::OFlags;

use super::account::Account;
use super::{PostgresError, Result};

/// The port only names the socket file: the server listens on no network.
pub(super) const PORT: u16 = 5432;

/// The longest path that the platform's socket addresses hold.
const LONGEST_SOCKET_PATH: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// The data directory, checked, with the account that owns what is in it.
#[derive(Debug, Clone)]
pub(super) struct Home {
    path: PathBuf,
    socket_directory: PathBuf,
    pub(super) account: Account,
}

impl Home {
    /// Where the data directory is, whether or not it exists yet.
    pub(super) fn locate(chosen: Option<&Path>) -> Result<PathBuf> {
        let path = match chosen {
            Some(path) => path.to_path_buf(),
            None if Uid::effective().is_root() => PathBuf::from("/var/lib/keyrack"),
            None => ProjectDirs::from("", "", "keyrack")
                .ok_or(PostgresError::NoDataDirectory)?
                .data_dir()
                .to_path_buf(),
        };
        std::path::absolute(&path)
            .map_err(|source| PostgresError::io("find the directory", &path, source))
    }

    /// Opens the data directory, and makes it first if need be.
    pub(super) fn open(chosen: Option<&Path>) -> Result<Self> {
        let wanted = Self::locate(chosen)?;
        if !is_usable(&wanted) {
            return Err(PostgresError::UnusablePath { path: wanted });
        }
        let account = Account::for_directories(&[&wanted.join("cluster"), &wanted])?;
        make_home(&wanted, account)?;
        // One server per directory, by whatever name it is reached.
        let path = wanted
            .canonicalize()
            .map_err(|source| PostgresError::io("open the directory", &wanted, source))?;
        if !is_usable(&path) {
            return Err(PostgresError::UnusablePath { path });
        }
        let socket_directory = socket_directory(&path, account)?;
        Ok(Self {
            path,
            socket_directory,
            account,
        })
    }

    /// The data directory itself.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// PostgreSQL's own data.
    pub(super) fn cluster(&self) -> PathBuf {
        self.path.join("cluster")
    }

    /// Where a cluster is made before it takes its place.
    pub(super) fn unfinished_cluster(&self) -> PathBuf {
        self.path.join("cluster.unfinished")
    }

    /// Downloaded servers, one directory each.
    pub(super) fn servers(&self) -> PathBuf {
        self.path.join("server")
    }

    /// The server's log files.
    pub(super) fn log_directory(&self) -> PathBuf {
        self.path.join("log")
    }

    /// The directory of the Unix socket.
    pub(super) fn socket_directory(&self) -> &Path {
        &self.socket_directory
    }

    /// The socket itself.
    pub(super) fn socket(&self) -> PathBuf {
        socket_in(&self.socket_directory)
    }

    /// Whether there is a socket to connect to. Others can write in /tmp: one that somebody else put there is an error.
    pub(super) fn has_socket(&self) -> Result<bool> {
        if !self.socket().exists() {
            return Ok(false);
        }
        check_owner(&self.socket_directory, self.account)?;
        Ok(true)
    }

    /// Tidies up after a server that was stopped: a socket directory outside the data directory is not left lying about.
    pub(super) fn remove_short_socket_directory(&self) {
        if !self.socket_directory.starts_with(&self.path) {
            // Only an empty directory can be removed so, and one that is left does no harm.
            let _ = fs::remove_dir(&self.socket_directory);
        }
    }

    /// The marker that lets the server stay when the last member leaves.
    pub(super) fn keep_marker(&self) -> PathBuf {
        self.path.join("keep")
    }

    /// Makes the directories that a running server needs.
    pub(super) fn prepare(&self) -> Result<()> {
        make_private(&self.log_directory(), self.account)?;
        make_private(&self.socket_directory, self.account)?;
        if !self.account.can_enter(&self.path) {
            return Err(PostgresError::NotTraversable {
                path: self.path.clone(),
                user: self.account.name(),
            });
        }
        Ok(())
    }

    /// Opens a file of the data directory for reading and writing, and makes it first if need be.
    pub(super) fn open_file(&self, name: &str) -> Result<File> {
        let path = self.path.join(name);
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .mode(0o600)
            .custom_flags(OFlags::NOFOLLOW.bits() as i32);
        loop {
            match options.clone().create_new(true).open(&path) {
                Ok(file) => {
                    self.account
                        .own_file(&file)
                        .map_err(|source| PostgresError::io("hand over", &path, source))?;
                    return Ok(file);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(PostgresError::io("create", &path, error)),
            }
            match options.open(&path) {
                Ok(file) => return Ok(file),
                // Removed in between: make it again.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(PostgresError::io("open", &path, error)),
            }
        }
    }
}

/// Makes a directory that only the account can enter, or checks that an existing one is so.
pub(super) fn make_private(path: &Path, account: Account) -> Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            check_owner(path, account)?;
        }
        Err(error) => return Err(PostgresError::io("create the directory", path, error)),
    }
    fs::set_permissions(path, Permissions::from_mode(0o700))
        .and_then(|()| account.own(path))
        .map_err(|source| PostgresError::io("make private", path, source))
}

fn check_owner(path: &Path, account: Account) -> Result<()> {
    let metadata = path
        .symlink_metadata()
        .map_err(|source| PostgresError::io("look at", path, source))?;
    if metadata.is_dir() && account.is_trusted_owner(metadata.uid()) {
        return Ok(());
    }
    Err(PostgresError::NotPrivate {
        path: path.to_path_buf(),
        reason: "is not a directory of the user that the server runs as",
        advice: "Move it away, or choose another place with --data-dir.",
    })
}

/// Makes the data directory, or checks that nobody else can change what is in an existing one.
fn make_home(path: &Path, account: Account) -> Result<()> {
    let existing = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)
                    .map_err(|source| PostgresError::io("create the directory", parent, source))?;
            }
            return make_private(path, account);
        }
        Err(error) => return Err(PostgresError::io("open the directory", path, error)),
    };
    let not_private = |reason, advice| PostgresError::NotPrivate {
        path: path.to_path_buf(),
        reason,
        advice,
    };
    if !existing.is_dir() {
        return Err(not_private(
            "is not a directory",
            "Choose another place with --data-dir.",
        ));
    }
    if !account.is_trusted_owner(existing.uid()) {
        return Err(not_private(
            "belongs to another user",
            "Choose another place with --data-dir, or run Keyrack as that user.",
        ));
    }
    if existing.mode() & 0o002 != 0 {
        return Err(not_private(
            "can be written by everybody",
            "Take that right away (chmod o-w), or choose another place with --data-dir.",
        ));
    }
    let is_empty = fs::read_dir(path)
        .map_err(|source| PostgresError::io("open the directory", path, source))?
        .next()
        .is_none();
    if is_empty {
        account
            .own(path)
            .map_err(|source| PostgresError::io("hand over", path, source))?;
    }
    Ok(())
}

/// The directory for the socket: in the data directory, or a short one where that path is too long for a socket.
///
/// Every process must come to the same answer, so it depends on nothing but the directory itself: not on
/// `XDG_RUNTIME_DIR` or `TMPDIR`, which a login shell has and a service has not.
fn socket_directory(home: &Path, account: Account) -> Result<PathBuf> {
    let near = home.join("socket");
    if socket_in(&near).as_os_str().len() <= LONGEST_SOCKET_PATH {
        return Ok(near);
    }
    let metadata = home
        .metadata()
        .map_err(|source| PostgresError::io("open the directory", home, source))?;
    let name = format!(
        "keyrack-{}-{:x}-{:x}",
        account.uid(),
        metadata.dev(),
        metadata.ino()
    );
    Ok(Path::new("/tmp").join(name))
}

fn socket_in(directory: &Path) -> PathBuf {
    directory.join(format!(".s.PGSQL.{PORT}"))
}

/// `pg_ctl` passes paths through a shell inside double quotes.
fn is_usable(path: &Path) -> bool {
    path.to_str().is_some()
        && !path.as_os_str().as_bytes().iter().any(|byte| {
            matches!(byte, b'"' | b'\'' | b'$' | b'`' | b'\\') || byte.is_ascii_control()
        })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn paths_that_a_shell_would_read_are_refused() {
        assert!(is_usable(Path::new("/home/anna/Müller & Söhne/keyrack")));
        for bad in ["/a$(b)", "/a`b`", "/a\"b", "/a'b", "/a\\b", "/a\nb"] {
            assert!(!is_usable(Path::new(bad)), "{bad}");
        }
    }

    #[test]
    fn a_directory_that_everybody_can_write_is_not_trusted() {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), Permissions::from_mode(0o777)).unwrap();
        let error = Home::open(Some(directory.path())).unwrap_err();
        assert!(matches!(error, PostgresError::NotPrivate { .. }), "{error}");
    }

    #[test]
    fn a_link_in_place_of_a_private_directory_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("target");
        fs::create_dir(&target).unwrap();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(make_private(&link, Account::Own).is_err());
    }

    #[test]
    fn a_long_path_gets_a_short_socket_that_stays_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let long = directory.path().join("d".repeat(100));
        let first = Home::open(Some(&long)).unwrap();
        let second = Home::open(Some(&long.join("."))).unwrap();
        assert!(first.socket().as_os_str().len() <= LONGEST_SOCKET_PATH);
        assert_eq!(first.socket(), second.socket());
        make_private(first.socket_directory(), first.account).unwrap();
        let mode = first.socket_directory().metadata().unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
        first.remove_short_socket_directory();
        assert!(!first.socket_directory().exists());
    }
}
