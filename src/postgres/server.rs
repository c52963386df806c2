//! Joining, leaving and watching over the shared server.

use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use sqlx::postgres::PgConnectOptions;

use super::binaries::{self, Binaries};
use super::connection::{self, Answer, answer};
use super::control::{self, Start};
use super::home::Home;
use super::membership::{self, Membership, Turn};
use super::{PostgresError, Result, cluster, download};

/// How long a killed server may take to let go of its data, and a recovering one to let clients in.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a member that is dropped waits for its turn to stop the server.
const PATIENCE_WHEN_DROPPED: Duration = Duration::from_secs(10);

const PAUSE: Duration = Duration::from_millis(50);

/// What the person chose about the embedded server.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Where the data are; `None` is the user's data directory.
    pub data_dir: Option<PathBuf>,
    /// Which server to run; `None` searches the machine.
    pub postgres_bin: Option<PathBuf>,
}

/// A step of starting up that takes long enough to be told. Its `Display` is a line for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Another Keyrack is starting or stopping the server.
    Waiting,
    /// No server was found on the machine.
    Downloading,
    /// A new data directory is being made.
    Creating {
        /// Where.
        directory: PathBuf,
        /// The server's version.
        version: String,
    },
    /// The server is being started.
    Starting {
        /// Its version.
        version: String,
    },
    /// The server was killed before and puts its data in order.
    Recovering,
}

impl fmt::Display for Progress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting => {
                formatter.write_str("Waiting for another Keyrack that starts or stops the server")
            }
            Self::Downloading => {
                formatter.write_str("Found no PostgreSQL here: downloading one, this once")
            }
            Self::Creating { directory, version } => write!(
                formatter,
                "Creating a database with PostgreSQL {version} in {}",
                directory.display()
            ),
            Self::Starting { version } => write!(formatter, "Starting PostgreSQL {version}"),
            Self::Recovering => {
                formatter.write_str("PostgreSQL was interrupted and puts its data in order")
            }
        }
    }
}

/// Told of each step while a server is brought up.
pub(super) type Report<'a> = &'a mut (dyn FnMut(Progress) + Send);

/// A place among the users of the embedded server. While one exists, nobody stops the server.
///
/// The last one out stops it, on [`leave`](Self::leave) or on drop, unless [`keep`](Self::keep) was asked for.
#[derive(Debug)]
pub struct Server {
    home: Home,
    settings: Settings,
    /// `None` once left.
    membership: Option<Membership>,
}

/// Joins the server of this data directory; makes and starts it first if need be.
pub async fn join(settings: &Settings, report: Report<'_>) -> Result<Server> {
    let home = Home::open(settings.data_dir.as_deref())?;
    let turn = Turn::wait(&home, || report(Progress::Waiting)).await?;
    let membership = Membership::enter(&home, &turn)?;
    bring_up(&home, settings, &turn, report).await?;
    Ok(Server {
        home,
        settings: settings.clone(),
        membership: Some(membership),
    })
}

impl Server {
    /// How to connect to the database.
    pub fn connect_options(&self) -> PgConnectOptions {
        connection::connect_options(&self.home)
    }

    /// A URL that `psql` takes as it is.
    pub fn url(&self) -> String {
        connection::url(&self.home)
    }

    /// Where the server's log files are.
    pub fn log_directory(&self) -> PathBuf {
        self.home.log_directory()
    }

    /// One of the client programs that came with the server, such as `psql`, if it has it.
    pub fn client_program(&self, name: &str) -> Option<PathBuf> {
        any_binaries(&self.home, &self.settings)
            .ok()
            .map(|binaries| binaries.program(name))
            .filter(|program| program.is_file())
    }

    /// Brings the server back if it is gone. For a console whose connection was lost; any number may call it at once.
    pub async fn ensure_running(&self) -> Result<()> {
        let turn = Turn::wait(&self.home, || ()).await?;
        bring_up(&self.home, &self.settings, &turn, &mut |_| ()).await
    }

    /// Lets the server stay when the last member leaves, until [`stop`] is called.
    pub fn keep(&self) -> Result<()> {
        self.home.open_file("keep").map(drop)
    }

    /// Leaves; stops the server if nobody else uses it and it was not asked to stay.
    pub async fn leave(mut self) -> Result<()> {
        let Some(membership) = self.membership.take() else {
            return Ok(());
        };
        let turn = Turn::wait(&self.home, || ()).await?;
        let (home, settings) = (self.home.clone(), self.settings.clone());
        blocking(move || leave(&home, &settings, membership, &turn)).await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Some(membership) = self.membership.take() else {
            return;
        };
        // Nobody is left to tell. At worst the server runs on until the next one out stops it.
        let left =
            Turn::wait_blocking(&self.home, PATIENCE_WHEN_DROPPED).and_then(|turn| match turn {
                Some(turn) => leave(&self.home, &self.settings, membership, &turn),
                None => Ok(()),
            });
        if let Err(error) = left {
            tracing::warn!(%error, "the embedded server was not stopped");
        }
    }
}

/// How the embedded server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// There are no data yet.
    Absent,
    /// There are data and no server runs.
    Stopped {
        /// Where the data are.
        data_dir: PathBuf,
    },
    /// A server runs.
    Running {
        /// Where the data are.
        data_dir: PathBuf,
        /// The server's major version.
        major_version: u32,
        /// The server's process id.
        process_id: Option<u32>,
        /// How `psql` reaches it.
        url: String,
        /// Whether it stays when the last member leaves.
        kept: bool,
        /// Whether a console or a command uses it now.
        in_use: bool,
    },
}

/// How a request to stop the server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// It ran and was stopped.
    Stopped,
    /// It did not run.
    WasNotRunning,
    /// Others use it; the last of them stops it.
    WhenLastLeaves,
}

/// Tells how the embedded server is, and changes nothing.
pub async fn status(settings: &Settings) -> Result<Status> {
    let Some((home, turn)) = existing(settings).await? else {
        return Ok(Status::Absent);
    };
    let data_dir = home.path().to_path_buf();
    let Some(major_version) = cluster::major_version(&home)? else {
        return Ok(Status::Absent);
    };
    if answer(&home).await? == Answer::Nobody {
        return Ok(Status::Stopped { data_dir });
    }
    Ok(Status::Running {
        data_dir,
        major_version,
        process_id: process_id(&home),
        url: connection::url(&home),
        kept: home.keep_marker().exists(),
        in_use: membership::someone_is_in(&home, &turn)?,
    })
}

/// Ends a stay that was asked for, and stops the server unless somebody uses it.
pub async fn stop(settings: &Settings) -> Result<Stopped> {
    let Some((home, turn)) = existing(settings).await? else {
        return Ok(Stopped::WasNotRunning);
    };
    forget_keep(&home)?;
    if answer(&home).await? == Answer::Nobody {
        return Ok(Stopped::WasNotRunning);
    }
    if membership::someone_is_in(&home, &turn)? {
        return Ok(Stopped::WhenLastLeaves);
    }
    stop_now(home, settings.clone()).await?;
    Ok(Stopped::Stopped)
}

/// Removes the data for good, and stops the server first. Refused while somebody uses it.
pub async fn destroy(settings: &Settings) -> Result<()> {
    let Some((home, turn)) = existing(settings).await? else {
        return Ok(());
    };
    if membership::someone_is_in(&home, &turn)? {
        return Err(PostgresError::InUse);
    }
    forget_keep(&home)?;
    if answer(&home).await? != Answer::Nobody {
        stop_now(home.clone(), settings.clone()).await?;
    }
    blocking(move || cluster::destroy(&home)).await
}

/// The data directory if there is one, with the turn.
async fn existing(settings: &Settings) -> Result<Option<(Home, Turn)>> {
    let chosen = settings.data_dir.as_deref();
    if !Home::locate(chosen)?.exists() {
        return Ok(None);
    }
    let home = Home::open(chosen)?;
    let turn = Turn::wait(&home, || ()).await?;
    Ok(Some((home, turn)))
}

/// Makes sure that a server runs and lets clients in. Called by whoever has the turn.
async fn bring_up(home: &Home, settings: &Settings, turn: &Turn, report: Report<'_>) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    let mut recovering = false;
    let mut binaries = None;
    loop {
        match answer(home).await? {
            Answer::Ready => return Ok(()),
            Answer::NotYet => {
                if !recovering {
                    report(Progress::Recovering);
                    recovering = true;
                }
            }
            Answer::Nobody => {
                if binaries.is_none() {
                    binaries = Some(prepare(home, settings, turn, report).await?);
                }
                if let Some(binaries) = binaries.clone() {
                    let home = home.clone();
                    if blocking(move || control::start(&home, &binaries)).await? == Start::Running {
                        continue;
                    }
                }
            }
        }
        if Instant::now() >= deadline {
            return Err(PostgresError::HeldByAnother {
                path: home.cluster(),
            });
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Finds a server for the data and makes the data if there are none: what must be there before a start.
async fn prepare(
    home: &Home,
    settings: &Settings,
    _turn: &Turn,
    report: Report<'_>,
) -> Result<Binaries> {
    let data_major = cluster::major_version(home)?;
    home.prepare()?;
    let binaries = match choose(home, settings, data_major)? {
        Ok(binaries) => binaries,
        Err(rejected) => {
            report(Progress::Downloading);
            download::install(home, data_major, &rejected).await?;
            choose(home, settings, data_major)?.map_err(|rejected| {
                PostgresError::DownloadFailed {
                    reason: "what came does not run on this machine".to_owned(),
                    rejected: rejected.iter().map(|reason| format!(" {reason}")).collect(),
                }
            })?
        }
    };
    let version = binaries.version.to_string();
    if data_major.is_none() {
        report(Progress::Creating {
            directory: home.path().to_path_buf(),
            version: version.clone(),
        });
        let (home, binaries) = (home.clone(), binaries.clone());
        blocking(move || cluster::create(&home, &binaries)).await?;
    }
    report(Progress::Starting { version });
    Ok(binaries)
}

/// The server to run the data with. `Ok(Err)`: there is none at all, and why those on the machine were passed over.
fn choose(
    home: &Home,
    settings: &Settings,
    data_major: Option<u32>,
) -> Result<std::result::Result<Binaries, Vec<String>>> {
    let found = match &settings.postgres_bin {
        Some(path) => binaries::Found {
            usable: vec![binaries::named(path, home.account)?],
            rejected: Vec::new(),
        },
        None => binaries::search(&home.servers(), home.account),
    };
    match (found.choose(data_major), data_major) {
        (Some(binaries), _) => Ok(Ok(binaries.clone())),
        (None, Some(data)) if !found.usable.is_empty() => Err(PostgresError::OtherMajorVersion {
            path: home.cluster(),
            data,
            found: found.versions(),
        }),
        _ => Ok(Err(found.rejected)),
    }
}

/// A server whose `pg_ctl` can stop the running one: any will do.
fn any_binaries(home: &Home, settings: &Settings) -> Result<Binaries> {
    choose(home, settings, cluster::major_version(home)?)?.map_err(|rejected| {
        PostgresError::StopFailed {
            log: home.log_directory(),
            said: format!(
                "No PostgreSQL was found to stop it with. {}",
                rejected.join(" ")
            ),
        }
    })
}

fn leave(home: &Home, settings: &Settings, membership: Membership, turn: &Turn) -> Result<()> {
    let last = membership.leave(home, turn)?;
    if !last || home.keep_marker().exists() {
        return Ok(());
    }
    stop_blocking(home, settings)
}

async fn stop_now(home: Home, settings: Settings) -> Result<()> {
    blocking(move || stop_blocking(&home, &settings)).await
}

fn stop_blocking(home: &Home, settings: &Settings) -> Result<()> {
    control::stop(home, &any_binaries(home, settings)?)?;
    home.remove_short_socket_directory();
    Ok(())
}

fn forget_keep(home: &Home) -> Result<()> {
    let marker = home.keep_marker();
    match fs::remove_file(&marker) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(PostgresError::io("remove", &marker, error))
        }
        _ => Ok(()),
    }
}

/// The server's process id, as it wrote it down itself.
fn process_id(home: &Home) -> Option<u32> {
    fs::read_to_string(home.cluster().join("postmaster.pid"))
        .ok()?
        .lines()
        .next()?
        .trim()
        .parse()
        .ok()
}

/// Runs what waits for files and processes where it does not hold up the console.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| PostgresError::Io {
            doing: "finish a step in the background".to_owned(),
            source: io::Error::other(error),
        })?
}
