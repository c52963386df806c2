//! The embedded PostgreSQL against real servers: durable, private, shared, and hard to kill.
//!
//! Other consoles are played by real processes: this test program started once more (see [`console`]).
#![allow(clippy::unwrap_used)]

use std::env;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use keyrack::postgres::{
    PostgresError, Progress, Server, Settings, Status, Stopped, destroy, join, status, stop,
};
use rustix::process::{Pid, Signal, kill_process};
use sqlx::{Connection, PgConnection};
use tempfile::TempDir;

/// A directory of its own for each test, which the server's user can enter when root runs the tests.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), Permissions::from_mode(0o711)).unwrap();
        Self { directory }
    }

    fn home(&self) -> PathBuf {
        self.directory.path().join("keyrack")
    }

    fn settings(&self) -> Settings {
        Settings {
            data_dir: Some(self.home()),
            postgres_bin: None,
        }
    }

    async fn join(&self) -> Server {
        join(&self.settings(), &mut |_| ()).await.unwrap()
    }

    async fn is_running(&self) -> bool {
        matches!(
            status(&self.settings()).await.unwrap(),
            Status::Running { .. }
        )
    }

    async fn process_id(&self) -> u32 {
        match status(&self.settings()).await.unwrap() {
            Status::Running { process_id, .. } => process_id.unwrap(),
            other => panic!("no server runs: {other:?}"),
        }
    }

    async fn kill_server(&self) {
        let pid = Pid::from_raw(i32::try_from(self.process_id().await).unwrap()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
    }
}

async fn connect(server: &Server) -> PgConnection {
    PgConnection::connect_with(&server.connect_options())
        .await
        .unwrap()
}

async fn show(connection: &mut PgConnection, setting: &'static str) -> String {
    sqlx::query_scalar("SELECT current_setting($1)")
        .bind(setting)
        .fetch_one(connection)
        .await
        .unwrap()
}

const CONSOLE_HOME: &str = "KEYRACK_TEST_CONSOLE_HOME";

/// What the other consoles run; without the variable, nothing. It joins, says so, and leaves when its input ends.
#[tokio::test]
async fn console() {
    let Some(home) = env::var_os(CONSOLE_HOME) else {
        return;
    };
    let settings = Settings {
        data_dir: Some(home.into()),
        postgres_bin: None,
    };
    let server = join(&settings, &mut |_| ()).await.unwrap();
    connect(&server).await.ping().await.unwrap();
    println!("\njoined");
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    server.leave().await.unwrap();
}

/// Another console, in a process of its own.
struct Console {
    process: Child,
}

impl Console {
    fn start(home: &Path) -> Self {
        let process = Command::new(env::current_exe().unwrap())
            .args(["--exact", "console", "--nocapture"])
            .env(CONSOLE_HOME, home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self { process }
    }

    fn wait_until_joined(&mut self) {
        let output = self.process.stdout.as_mut().unwrap();
        let joined = BufReader::new(output)
            .lines()
            .any(|line| line.unwrap() == "joined");
        assert!(joined, "the console ended before it joined");
    }

    fn joined(home: &Path) -> Self {
        let mut console = Self::start(home);
        console.wait_until_joined();
        console
    }

    fn quit(mut self) {
        drop(self.process.stdin.take());
        let mut rest = String::new();
        let output = self.process.stdout.as_mut().unwrap();
        output.read_to_string(&mut rest).unwrap();
        assert!(self.process.wait().unwrap().success(), "{rest}");
    }

    fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[tokio::test]
async fn fsync_is_on_whatever_the_configuration_file_says() {
    let place = Place::new();
    place.join().await.leave().await.unwrap();
    let mut file = OpenOptions::new()
        .append(true)
        .open(place.home().join("cluster/postgresql.conf"))
        .unwrap();
    writeln!(
        file,
        "fsync = off\nfull_page_writes = off\nlisten_addresses = '*'"
    )
    .unwrap();

    let server = place.join().await;
    let mut connection = connect(&server).await;
    for (setting, value) in [
        ("fsync", "on"),
        ("full_page_writes", "on"),
        ("synchronous_commit", "on"),
        ("data_checksums", "on"),
        ("listen_addresses", ""),
        ("server_encoding", "UTF8"),
        ("TimeZone", "UTC"),
    ] {
        assert_eq!(show(&mut connection, setting).await, value, "{setting}");
    }
}

#[tokio::test]
async fn the_database_has_what_the_schema_needs() {
    let place = Place::new();
    let server = place.join().await;
    let mut connection = connect(&server).await;
    sqlx::query("CREATE EXTENSION btree_gist")
        .execute(&mut connection)
        .await
        .unwrap();
    let letters: String = sqlx::query_scalar("SELECT lower('MÜLLER')")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(letters, "müller", "the locale knows letters beyond ASCII");
}

#[tokio::test]
async fn only_its_user_can_enter_and_no_port_is_open() {
    let place = Place::new();
    let _server = place.join().await;
    for directory in ["cluster", "socket", "log"] {
        let metadata = place.home().join(directory).metadata().unwrap();
        assert_eq!(metadata.mode() & 0o777, 0o700, "{directory}");
        assert_ne!(metadata.uid(), 0, "{directory} is not root's");
    }
    #[cfg(target_os = "linux")]
    {
        let pid = place.process_id().await;
        let own: Vec<String> = fs::read_dir(format!("/proc/{pid}/fd"))
            .unwrap()
            .filter_map(|entry| fs::read_link(entry.unwrap().path()).ok())
            .filter_map(|link| {
                let link = link.to_string_lossy().into_owned();
                Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
            })
            .collect();
        assert!(!own.is_empty(), "it listens on its Unix socket");
        for table in ["tcp", "tcp6", "udp", "udp6"] {
            let table = fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
            let mut inodes = table
                .lines()
                .filter_map(|line| line.split_whitespace().nth(9));
            assert!(
                !inodes.any(|inode| own.iter().any(|socket| socket == inode)),
                "a port is open"
            );
        }
    }
}

#[tokio::test]
async fn ten_consoles_at_once_share_one_server_and_the_last_one_out_stops_it() {
    let place = Place::new();
    let mut consoles: Vec<Console> = (0..10).map(|_| Console::start(&place.home())).collect();
    consoles.iter_mut().for_each(Console::wait_until_joined);
    let server = place.process_id().await;
    let last = consoles.pop().unwrap();
    for console in consoles {
        console.quit();
        assert_eq!(place.process_id().await, server);
    }
    last.quit();
    assert!(!place.is_running().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn joining_while_the_last_one_leaves_always_finds_a_server() {
    let place = Place::new();
    let settings = place.settings();
    let visitors: Vec<_> = (0..4)
        .map(|_| {
            let settings = settings.clone();
            tokio::spawn(async move {
                for _ in 0..4 {
                    let server = join(&settings, &mut |_| ()).await.unwrap();
                    connect(&server).await.ping().await.unwrap();
                    server.leave().await.unwrap();
                }
            })
        })
        .collect();
    for visitor in visitors {
        visitor.await.unwrap();
    }
    assert!(!place.is_running().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_killed_server_comes_back_with_everything_that_was_committed() {
    let place = Place::new();
    let (one, other) = (place.join().await, place.join().await);
    let mut connection = connect(&one).await;
    sqlx::raw_sql("CREATE TABLE kept (n int); INSERT INTO kept VALUES (42)")
        .execute(&mut connection)
        .await
        .unwrap();
    let before = place.process_id().await;

    place.kill_server().await;
    let (first, second) = tokio::join!(one.ensure_running(), other.ensure_running());
    first.unwrap();
    second.unwrap();

    assert_ne!(place.process_id().await, before);
    let kept: i32 = sqlx::query_scalar("SELECT n FROM kept")
        .fetch_one(&mut connect(&one).await)
        .await
        .unwrap();
    assert_eq!(kept, 42);

    // The same for somebody who comes after everybody has gone.
    place.kill_server().await;
    one.leave().await.unwrap();
    other.leave().await.unwrap();
    let late = place.join().await;
    connect(&late).await.ping().await.unwrap();
}

#[tokio::test]
async fn a_killed_console_disturbs_nobody_and_does_not_keep_the_server() {
    let place = Place::new();
    let server = place.join().await;
    let mut connection = connect(&server).await;
    let console = Console::joined(&place.home());
    console.kill();
    connection.ping().await.unwrap();
    server.leave().await.unwrap();
    assert!(!place.is_running().await);

    // The only console dies: the server is left alone, the next console finds it and stops it.
    let console = Console::joined(&place.home());
    let alone = place.process_id().await;
    console.kill();
    let server = place.join().await;
    assert_eq!(place.process_id().await, alone);
    server.leave().await.unwrap();
    assert!(!place.is_running().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_last_membership_stops_the_server_too() {
    let place = Place::new();
    drop(place.join().await);
    assert!(!place.is_running().await);
}

#[tokio::test]
async fn a_server_asked_to_stay_stays_until_it_is_stopped() {
    let place = Place::new();
    let settings = place.settings();
    assert_eq!(status(&settings).await.unwrap(), Status::Absent);
    assert_eq!(stop(&settings).await.unwrap(), Stopped::WasNotRunning);
    assert!(!place.home().exists(), "asking changes nothing");

    let server = place.join().await;
    server.keep().unwrap();
    server.leave().await.unwrap();
    assert!(matches!(
        status(&settings).await.unwrap(),
        Status::Running {
            kept: true,
            in_use: false,
            ..
        }
    ));

    let console = place.join().await;
    assert_eq!(stop(&settings).await.unwrap(), Stopped::WhenLastLeaves);
    connect(&console).await.ping().await.unwrap();
    console.leave().await.unwrap();
    assert!(!place.is_running().await, "it no longer stays");

    let server = place.join().await;
    server.keep().unwrap();
    server.leave().await.unwrap();
    assert_eq!(stop(&settings).await.unwrap(), Stopped::Stopped);
    assert!(!place.is_running().await);
    assert_eq!(stop(&settings).await.unwrap(), Stopped::WasNotRunning);
}

#[tokio::test]
async fn data_are_destroyed_only_when_nobody_uses_them() {
    let place = Place::new();
    let settings = place.settings();
    let server = place.join().await;
    sqlx::raw_sql("CREATE TABLE gone (n int)")
        .execute(&mut connect(&server).await)
        .await
        .unwrap();
    assert!(matches!(
        destroy(&settings).await,
        Err(PostgresError::InUse)
    ));
    server.keep().unwrap();
    server.leave().await.unwrap();

    destroy(&settings).await.unwrap();
    assert_eq!(status(&settings).await.unwrap(), Status::Absent);

    let server = place.join().await;
    let gone: bool = sqlx::query_scalar("SELECT to_regclass('gone') IS NULL")
        .fetch_one(&mut connect(&server).await)
        .await
        .unwrap();
    assert!(gone);
}

#[tokio::test]
async fn half_an_initdb_is_not_taken_for_a_cluster() {
    let place = Place::new();
    let unfinished = place.home().join("cluster.unfinished");
    fs::create_dir_all(&unfinished).unwrap();
    fs::set_permissions(place.home(), Permissions::from_mode(0o711)).unwrap();
    fs::write(unfinished.join("PG_VERSION"), "15\n").unwrap();
    let server = place.join().await;
    connect(&server).await.ping().await.unwrap();
    assert!(!unfinished.exists());
}

#[tokio::test]
async fn data_of_another_major_version_are_named_and_left_alone() {
    let place = Place::new();
    place.join().await.leave().await.unwrap();
    let version = place.home().join("cluster/PG_VERSION");
    fs::write(&version, "99\n").unwrap();
    let error = join(&place.settings(), &mut |_| ()).await.unwrap_err();
    assert!(
        matches!(error, PostgresError::OtherMajorVersion { data: 99, .. }),
        "{error}"
    );
    assert!(
        error.to_string().contains("Install PostgreSQL 99"),
        "{error}"
    );

    fs::write(&version, "what?\n").unwrap();
    let error = join(&place.settings(), &mut |_| ()).await.unwrap_err();
    assert!(
        matches!(error, PostgresError::NotACluster { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn a_server_that_cannot_start_says_what_its_log_says() {
    let place = Place::new();
    place.join().await.leave().await.unwrap();
    fs::write(
        place.home().join("cluster/postgresql.conf"),
        "no_such_setting = 1\n",
    )
    .unwrap();
    let error = join(&place.settings(), &mut |_| ()).await.unwrap_err();
    assert!(
        matches!(error, PostgresError::StartFailed { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("no_such_setting"), "{error}");
}

#[tokio::test]
async fn long_paths_and_odd_characters_work() {
    let place = Place::new();
    let long = format!("Müller, & %20 {}", "x".repeat(90));
    for name in [long.as_str(), "a, b & %20"] {
        let settings = Settings {
            data_dir: Some(place.directory.path().join(name)),
            postgres_bin: None,
        };
        let server = join(&settings, &mut |_| ()).await.unwrap();
        connect(&server).await.ping().await.unwrap();
        let mut by_url = PgConnection::connect(&server.url()).await.unwrap();
        by_url.ping().await.unwrap();
        drop(by_url);
        server.leave().await.unwrap();
    }
}

#[tokio::test]
async fn a_newcomer_is_told_each_step_and_the_next_one_nothing() {
    let place = Place::new();
    let mut steps = Vec::new();
    let _first = join(&place.settings(), &mut |step| steps.push(step))
        .await
        .unwrap();
    assert!(
        matches!(
            steps[..],
            [Progress::Creating { .. }, Progress::Starting { .. }]
        ),
        "{steps:?}"
    );
    steps.clear();
    let _second = join(&place.settings(), &mut |step| steps.push(step))
        .await
        .unwrap();
    assert_eq!(steps, []);
}

#[tokio::test]
async fn a_named_server_that_is_none_is_refused_with_a_sentence() {
    let place = Place::new();
    let settings = Settings {
        postgres_bin: Some(place.directory.path().to_path_buf()),
        ..place.settings()
    };
    let error = join(&settings, &mut |_| ()).await.unwrap_err();
    assert!(error.to_string().contains("--postgres-bin"), "{error}");
}
