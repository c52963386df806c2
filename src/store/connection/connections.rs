//! Connections of one desk to one database.
//!
//! Not sqlx's pool: that pings on every release, which makes a second round trip of every command, and a cancelled
//! caller can hand it a connection in the middle of a conversation. Here a connection goes back
//! only when its statement has come to a clean end; whatever else happens, it is closed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection};

use crate::domain::Desk;
use crate::domain::sentences::session::DatabaseSession;

/// How long to wait for a connection before saying that the database is out of reach.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);

/// Idle connections, and the way to make more.
#[derive(Debug, Clone)]
pub(crate) struct Connections {
    options: PgConnectOptions,
    idle: Arc<Mutex<Vec<PgConnection>>>,
}

impl Connections {
    /// With the session settings that every statement of this program runs under.
    pub(crate) fn new(options: PgConnectOptions) -> Self {
        let options = options
            .application_name("keyrack")
            .options([
                // Nothing of the caller's environment, nor of the database's default, comes before Keyrack's own.
                ("search_path", "pg_catalog, keyrack, pg_temp"),
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
    pub(crate) fn apart(&self) -> Self {
        self.with_options(|options| options)
    }

    /// The same, with sessions that say whose they are.
    pub(crate) fn named(&self, desk: &Desk) -> Self {
        self.with_options(|options| options.application_name(&session_name(desk)))
    }

    /// Another way to make connections, which differs in this; and none made yet.
    pub(crate) fn with_options(
        &self,
        change: impl FnOnce(PgConnectOptions) -> PgConnectOptions,
    ) -> Self {
        Self {
            options: change(self.options.clone()),
            idle: Arc::default(),
        }
    }
    pub(crate) fn options(&self) -> &PgConnectOptions {
        &self.options
    }

    /// An idle connection, else a new one.
    pub(crate) async fn take(&self) -> Result<PgConnection, sqlx::Error> {
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
    pub(crate) async fn open(&self) -> Result<PgConnection, sqlx::Error> {
        self.open_with(&self.options).await
    }

    /// A new connection with settings of its own.
    pub(crate) async fn open_with(
        &self,
        options: &PgConnectOptions,
    ) -> Result<PgConnection, sqlx::Error> {
        tokio::time::timeout(CONNECT_PATIENCE, PgConnection::connect_with(options))
            .await
            .unwrap_or_else(|_| {
                Err(sqlx::Error::Io(std::io::Error::new(
                    std::io::ErrorKind::TimedOut,
                    "no answer within five seconds",
                )))
            })
    }

    /// Puts a connection back whose statement came to a clean end.
    pub(crate) fn give_back(&self, connection: PgConnection) {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(connection);
    }

    /// Drops idle connections: after one was found dead, the others are too.
    pub(crate) fn forget_idle(&self) {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// Says goodbye to the server on every idle connection.
    pub(crate) async fn close(&self) {
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        for connection in idle {
            // The server may be gone; then there is nobody to say goodbye to.
            let _ = connection.close().await;
        }
    }
}

/// What a session of a desk is called on the server, so that whoever waits for it can say for whom.
///
/// PostgreSQL keeps 63 bytes of it and only ASCII, so a long name is cut between two characters.
pub(crate) fn session_name(desk: &Desk) -> String {
    let mut name = DESK_PREFIX.to_owned();
    for character in desk.0.chars() {
        let mut bytes = [0; 4];
        let encoded =
            utf8_percent_encode(character.encode_utf8(&mut bytes), UNSAFE_IN_NAMES).to_string();
        if name.len() + encoded.len() > LONGEST_NAME {
            break;
        }
        name.push_str(&encoded);
    }
    name
}

/// The desk whose session is called so, if it is one that says so.
pub(crate) fn desk_of_session(name: &str) -> Option<Desk> {
    let desk = percent_decode_str(name.strip_prefix(DESK_PREFIX)?)
        .decode_utf8()
        .ok()?;
    Some(Desk(desk.into_owned()))
}

/// Another session, by the number of its backend and what it calls itself.
pub(crate) fn database_session(backend: i32, name: String) -> DatabaseSession {
    DatabaseSession {
        backend,
        desk: desk_of_session(&name),
        program: name,
    }
}

const DESK_PREFIX: &str = "keyrack/";

/// PostgreSQL's NAMEDATALEN, less the end.
const LONGEST_NAME: usize = 63;

/// Besides what is not ASCII.
const UNSAFE_IN_NAMES: &AsciiSet = &CONTROLS.add(b'%');

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_desk_is_found_again_in_the_name_of_its_session() {
        for name in ["anna", "Zoë & co", "100 %", "front desk/2", ""] {
            let session = session_name(&Desk(name.into()));
            assert!(session.is_ascii(), "{session}");
            assert_eq!(desk_of_session(&session), Some(Desk(name.into())));
        }
        assert_eq!(desk_of_session("keyrack"), None);
        assert_eq!(desk_of_session("psql"), None);
    }

    #[test]
    fn a_long_name_of_a_desk_is_cut_between_characters() {
        let session = session_name(&Desk("김".repeat(20)));
        assert!(session.len() <= LONGEST_NAME);
        assert_eq!(desk_of_session(&session), Some(Desk("김".repeat(6))));
    }
}
