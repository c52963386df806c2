//! Who uses the server, and whose turn it is to start or stop it: two advisory locks on files.
//!
//! The kernel gives a lock back when its holder dies, however it dies, so nothing is ever counted and nothing has to
//! be cleaned up. The order is fixed: `start.lock` first, then `members.lock`. Whoever asks "am I the last one?"
//! holds `start.lock`, so nobody can come in between the answer and the stop.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::home::Home;
use super::{PostgresError, Result};

const PAUSE: Duration = Duration::from_millis(10);

/// The turn to start or stop the server. At most one process in the world holds it; it ends with the value.
#[derive(Debug)]
pub(super) struct Turn {
    lock: File,
}

impl Turn {
    /// Waits for the turn. `waiting` is called once if somebody else has it.
    ///
    /// There is no deadline: the holder may be downloading, and when it dies the kernel frees the lock.
    pub(super) async fn wait(home: &Home, mut waiting: impl FnMut()) -> Result<Self> {
        let file = home.open_file("start.lock")?;
        let mut told = false;
        while !try_lock(&file, home.path())? {
            if !told {
                waiting();
                told = true;
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(Self { lock: file })
    }

    /// Waits for the turn without a runtime, up to a limit: for a value that is being dropped.
    pub(super) fn wait_blocking(home: &Home, limit: Duration) -> Result<Option<Self>> {
        let file = home.open_file("start.lock")?;
        let deadline = Instant::now() + limit;
        while !try_lock(&file, home.path())? {
            if Instant::now() >= deadline {
                return Ok(None);
            }
            thread::sleep(PAUSE);
        }
        Ok(Some(Self { lock: file }))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Unlocked, not only closed: a child that is just being started may still hold a copy of the descriptor, and
        // the next one would be told to wait for nobody. An error leaves it to the close.
        let _ = self.lock.unlock();
    }
}

/// One user of the server. Several in one process are several members.
#[derive(Debug)]
pub(super) struct Membership {
    lock: File,
}

impl Membership {
    /// Enters. Nobody can be stopping the server meanwhile: that takes the turn too.
    pub(super) fn enter(home: &Home, _turn: &Turn) -> Result<Self> {
        let lock = open_members(home)?;
        lock.lock_shared()
            .map_err(|source| PostgresError::io("lock", home.path(), source))?;
        Ok(Self { lock })
    }

    /// Leaves, and says whether this was the last member.
    pub(super) fn leave(self, home: &Home, turn: &Turn) -> Result<bool> {
        // Unlocked, not only closed: a child that is just being started may still hold a copy of the descriptor.
        self.lock
            .unlock()
            .map_err(|source| PostgresError::io("unlock", home.path(), source))?;
        Ok(!someone_is_in(home, turn)?)
    }
}

/// Whether anybody uses the server.
pub(super) fn someone_is_in(home: &Home, _turn: &Turn) -> Result<bool> {
    Ok(!try_lock(&open_members(home)?, home.path())?)
}

fn open_members(home: &Home) -> Result<File> {
    home.open_file("members.lock")
}

fn try_lock(file: &File, home: &Path) -> Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(source)) => Err(PostgresError::io("lock a file in", home, source)),
    }
}
