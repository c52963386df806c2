//! How clients reach the server, and whether it lets them in.

use std::io;
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgSslMode};

use super::home::{Home, PORT};
use super::{NAME, PostgresError, Result};

/// How long a server may take to answer one attempt to connect.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether a client is let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// It is.
    Ready,
    /// It starts, recovers or shuts down.
    NotYet,
    /// There is no server.
    Nobody,
}

/// Knocks. The socket file alone proves nothing: a killed server leaves it behind.
pub(super) async fn answer(home: &Home) -> Result<Answer> {
    /// PostgreSQL's codes for "starting, recovering or shutting down" and "no connection left".
    const CANNOT_CONNECT_NOW: &str = "57P03";
    const TOO_MANY_CONNECTIONS: &str = "53300";

    let not_let_in = |reason: String| PostgresError::NotLetIn {
        log: home.log_directory(),
        reason,
    };
    if !home.has_socket()? {
        return Ok(Answer::Nobody);
    }
    let options = connect_options(home);
    let Ok(outcome) = tokio::time::timeout(PATIENCE, options.connect()).await else {
        return Ok(Answer::NotYet);
    };
    match outcome {
        Ok(connection) => {
            // The answer is known; how the farewell goes changes nothing.
            let _ = sqlx::Connection::close(connection).await;
            Ok(Answer::Ready)
        }
        Err(sqlx::Error::Database(error)) => match error.code().as_deref() {
            Some(CANNOT_CONNECT_NOW) => Ok(Answer::NotYet),
            Some(TOO_MANY_CONNECTIONS) => Ok(Answer::Ready),
            _ => Err(not_let_in(error.message().to_owned())),
        },
        Err(sqlx::Error::Io(error)) => match error.kind() {
            io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => Ok(Answer::Nobody),
            // It was there and hung up: it is being stopped, or was killed just now.
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof => Ok(Answer::NotYet),
            _ => Err(not_let_in(error.to_string())),
        },
        Err(error) => Err(not_let_in(error.to_string())),
    }
}

/// How clients connect.
pub(super) fn connect_options(home: &Home) -> PgConnectOptions {
    // Everything is named, so that PGHOST and its like in the environment change nothing.
    PgConnectOptions::new_without_pgpass()
        .socket(home.socket_directory())
        .port(PORT)
        .username(NAME)
        .database(NAME)
        .ssl_mode(PgSslMode::Disable)
}

/// The same as a URL for `psql`.
pub(super) fn url(home: &Home) -> String {
    /// What may stand in the query of a URL as it is, and is common in paths.
    const PATH: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'/')
        .remove(b'.')
        .remove(b'-')
        .remove(b'_');
    let socket = home.socket_directory().display().to_string();
    let socket = utf8_percent_encode(&socket, PATH);
    format!("postgresql:///{NAME}?host={socket}&port={PORT}&user={NAME}")
}
