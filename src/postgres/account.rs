//! The operating-system user that the server runs as: oneself, or an unprivileged one when oneself is root.

use std::fs::File;
use std::os::unix::fs::{MetadataExt, fchown, lchown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, io};

use nix::unistd::{Uid, User};

use super::{PostgresError, Result};

/// Who the server runs as and who owns its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Account {
    /// The user who runs Keyrack.
    Own,
    /// Another user, because Keyrack is run by root and PostgreSQL refuses root.
    Other {
        /// Its user id.
        uid: u32,
        /// Its group id.
        gid: u32,
    },
}

impl Account {
    /// The account for a data directory. The owner of what is already there stays the owner: installing a package that
    /// brings a user `postgres` must not lock root out of data that `nobody` made.
    pub(super) fn for_directories(existing: &[&Path]) -> Result<Self> {
        if !Uid::effective().is_root() {
            return Ok(Self::Own);
        }
        let owner = existing
            .iter()
            .filter_map(|path| path.symlink_metadata().ok())
            .map(|metadata| (metadata.uid(), metadata.gid()))
            .find(|(uid, _)| *uid != 0);
        if let Some((uid, gid)) = owner {
            return Ok(Self::Other { uid, gid });
        }
        ["postgres", "nobody"]
            .iter()
            .find_map(|name| User::from_name(name).ok().flatten())
            .filter(|user| !user.uid.is_root())
            .map(|user| Self::Other {
                uid: user.uid.as_raw(),
                gid: user.gid.as_raw(),
            })
            .ok_or(PostgresError::NoUnprivilegedUser)
    }

    /// The user id that owns the server's files.
    pub(super) fn uid(self) -> u32 {
        match self {
            Self::Own => Uid::effective().as_raw(),
            Self::Other { uid, .. } => uid,
        }
    }

    /// The name of the user, for a sentence.
    pub(super) fn name(self) -> String {
        let uid = self.uid();
        User::from_uid(Uid::from_raw(uid))
            .ok()
            .flatten()
            .map_or_else(|| uid.to_string(), |user| user.name)
    }

    /// A command that runs as this account, without the caller's PostgreSQL and language settings.
    pub(super) fn command(self, program: impl AsRef<Path>, directory: &Path) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(directory)
            .stdin(Stdio::null())
            .env("LC_ALL", "C");
        for (name, _) in env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"PG") {
                command.env_remove(name);
            }
        }
        if let Self::Other { uid, gid } = self {
            // The standard library also clears root's supplementary groups when it changes the user.
            command.uid(uid).gid(gid);
        }
        command
    }

    /// Hands a path that Keyrack has just made to this account, without following a link.
    pub(super) fn own(self, path: &Path) -> io::Result<()> {
        match self {
            Self::Own => Ok(()),
            Self::Other { uid, gid } => lchown(path, Some(uid), Some(gid)),
        }
    }

    /// Hands a file that Keyrack has just made to this account.
    pub(super) fn own_file(self, file: &File) -> io::Result<()> {
        match self {
            Self::Own => Ok(()),
            Self::Other { uid, gid } => fchown(file, Some(uid), Some(gid)),
        }
    }

    /// Whether this account can enter the directory: asked of the kernel, by a child that tries.
    pub(super) fn can_enter(self, directory: &Path) -> bool {
        self == Self::Own
            || self
                .command("/bin/sh", directory)
                .args(["-c", ":"])
                .status()
                .is_ok_and(|status| status.success())
    }

    /// Whether a directory's owner is this account's or the caller's own.
    pub(super) fn is_trusted_owner(self, uid: u32) -> bool {
        uid == self.uid() || uid == Uid::effective().as_raw()
    }
}
