//! A wire that takes time: a proxy on loopback TCP that holds back what a client sends.
//!
//! On a Unix socket a round trip is nearly free, which no desk on another machine has.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgSslMode};

/// How to connect through a wire on which each round trip takes so much longer. It lives as long as the process.
pub fn slowed(options: PgConnectOptions, round_trip: Duration) -> PgConnectOptions {
    let socket = options.get_socket().unwrap();
    let server: PathBuf = socket.join(format!(".s.PGSQL.{}", options.get_port()));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming() {
            let Ok(client) = client else { return };
            let Ok(server) = UnixStream::connect(&server) else {
                return;
            };
            client.set_nodelay(true).unwrap();
            relay(client, server, round_trip);
        }
    });
    PgConnectOptions::new_without_pgpass()
        .host("127.0.0.1")
        .port(port)
        .ssl_mode(PgSslMode::Disable)
        .username(options.get_username())
        .database(options.get_database().unwrap())
}

fn relay(client: TcpStream, server: UnixStream, round_trip: Duration) {
    let (from_client, to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    thread::spawn(move || {
        pass_on(from_client, to_server.try_clone().unwrap(), round_trip);
        let _ = to_server.shutdown(Shutdown::Both);
    });
    thread::spawn(move || {
        pass_on(server, client.try_clone().unwrap(), Duration::ZERO);
        let _ = client.shutdown(Shutdown::Both);
    });
}

fn pass_on(mut from: impl Read, mut to: impl Write, pause: Duration) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if !pause.is_zero() {
            thread::sleep(pause);
        }
        if to.write_all(&buffer[..length]).is_err() {
            return;
        }
    }
}
