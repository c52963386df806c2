//! A server of its own, which can be killed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use keyrack::postgres::{self, Server, Settings, Status};
use keyrack::store::Store;
use sqlx::Connection;
use sqlx::postgres::{PgConnectOptions, PgConnection};

/// The server, and what its directory is.
pub struct Victim<Directory> {
    // Before the directory: it is stopped first.
    server: Server,
    settings: Settings,
    _directory: Directory,
}

impl<Directory: AsRef<Path>> Victim<Directory> {
    /// With the schema.
    pub async fn new(directory: Directory) -> Self {
        let victim = Self::unmigrated(directory).await;
        victim.migrate().await;
        victim
    }

    /// Without the schema, or with what is in the directory already.
    pub async fn unmigrated(directory: Directory) -> Self {
        fs::set_permissions(directory.as_ref(), fs::Permissions::from_mode(0o711)).unwrap();
        let settings = Settings {
            data_dir: Some(directory.as_ref().join("keyrack")),
            postgres_bin: std::env::var_os("KEYRACK_POSTGRES_BIN").map(Into::into),
        };
        let server = postgres::join(&settings, &mut |_| ()).await.unwrap();
        Self {
            server,
            settings,
            _directory: directory,
        }
    }

    pub async fn migrate(&self) {
        let store = Store::connect(self.options()).await.unwrap();
        store.migrate().await.unwrap();
        store.close().await;
    }

    pub fn server(&self) -> &Server {
        &self.server
    }

    pub fn options(&self) -> PgConnectOptions {
        self.server.connect_options()
    }

    /// The server's own process.
    pub async fn process_id(&self) -> i32 {
        match postgres::status(&self.settings).await.unwrap() {
            Status::Running { process_id, .. } => process_id.unwrap().try_into().unwrap(),
            other => panic!("no server runs: {other:?}"),
        }
    }

    /// A connection, as soon as the server lets one in.
    pub async fn observer(&self) -> PgConnection {
        let started = Instant::now();
        loop {
            match PgConnection::connect_with(&self.options()).await {
                Ok(connection) => return connection,
                Err(error) => assert!(started.elapsed() < Duration::from_secs(60), "{error}"),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
