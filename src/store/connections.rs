//! Connections of one desk to one database.
//!
//! Not sqlx's pool: that pings on every release, which makes a second round trip of every command, and a cancelled
//! caller can hand it a connection in the middle of a conversation (design section 12). Here a connection goes back
//! only when its statement has come to a clean end; whatever else happens, it is closed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection};

/// How long to wait for a connection before saying that the database is out of reach.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);

/// Idle connections, and the way to make more.
#[derive(Debug, Clone)]
pub(super) struct Connections {
    options: PgConnectOptions,
    idle: Arc<Mutex<Vec<PgConnection>>>,
}

impl Connections {
    /// With the session settings that every statement of this program runs under.
    pub(super) fn new(options: PgConnectOptions) -> Self {
        let options = options
            .application_name("keyrack")
            .options([
                ("TimeZone", "UTC"),
                ("default_transaction_isolation", "read committed"),
                ("lock_timeout", "2s"),
                ("statement_timeout", "10s"),
                ("idle_in_transaction_session_timeout", "30s"),
                ("client_min_messages", "warning"),
                // A server that waits for the rest of what a vanished desk was saying holds the room meanwhile: let it
                // notice within half a minute and not within two hours. Of no effect on a Unix socket.
                ("tcp_keepalives_idle", "10"),
                ("tcp_keepalives_interval", "5"),
                ("tcp_keepalives_count", "3"),
            ])
            .disable_statement_logging();
        Self {
            options,
            idle: Arc::default(),
        }
    }

    /// The same way to make connections, and none made yet.
    pub(super) fn apart(&self) -> Self {
        Self {
            options: self.options.clone(),
            idle: Arc::default(),
        }
    }

    /// How connections are made.
    pub(super) fn options(&self) -> &PgConnectOptions {
        &self.options
    }

    /// An idle connection, else a new one.
    pub(super) async fn take(&self) -> Result<PgConnection, sqlx::Error> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        match idle {
            Some(connection) => Ok(connection),
            None => self.open().await,
        }
    }

    /// A new connection, for a task that keeps it.
    pub(super) async fn open(&self) -> Result<PgConnection, sqlx::Error> {
        tokio::time::timeout(CONNECT_PATIENCE, PgConnection::connect_with(&self.options))
            .await
            .unwrap_or_else(|_| {
                Err(sqlx::Error::Io(std::io::Error::new(
                    std::io::ErrorKind::TimedOut,
                    "no answer within five seconds",
                )))
            })
    }

    /// Puts a connection back whose statement came to a clean end.
    pub(super) fn give_back(&self, connection: PgConnection) {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(connection);
    }

    /// Drops idle connections: after one was found dead, the others are too.
    pub(super) fn forget_idle(&self) {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// Says goodbye to the server on every idle connection.
    pub(super) async fn close(&self) {
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        for connection in idle {
            // The server may be gone; then there is nobody to say goodbye to.
            let _ = connection.close().await;
        }
    }
}
