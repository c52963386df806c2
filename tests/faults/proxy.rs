//! A proxy between one desk and the server that understands how PostgreSQL frames its messages, and breaks the
//! conversation after a given one. The desk's side is TCP, so that a reset is a real one; the server's is its socket.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Which way a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the desk to the server.
    Asking,
    /// From the server to the desk.
    Answering,
}

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// Both sides hear that the other has gone.
    Cut,
    /// The same, and the desk hears it as a reset.
    Reset,
    /// Nobody hears anything any more, and nobody is told, until [`Proxy::heal`].
    Silence,
    /// The message is late, and everything after it.
    Delay(Duration),
    /// The desk hears a reset; the rest of what it sent reaches the server later, on [`Proxy::heal`].
    Stray,
}

/// When, and what: after the `after`-th message in one direction, counted from the command's first message on (or from
/// the connection's first one).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    pub way: Way,
    pub after: usize,
    pub what: Break,
}

#[derive(Debug, Default)]
struct State {
    /// The faults to come, one after the other, and the text of the statement that each waits for; none: any message.
    armed: VecDeque<(Fault, Option<String>)>,
    /// How many have happened.
    fired: usize,
    /// The whole answer had passed when the last one did.
    heard: bool,
    /// New connections are turned away.
    down: bool,
    /// The backend of the connection that was broken.
    backend: Option<i32>,
}

/// The proxy of one desk.
pub struct Proxy {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    healed: watch::Sender<bool>,
    /// Whether nothing is left over of what was broken.
    settled: Arc<watch::Sender<bool>>,
    listener: JoinHandle<()>,
}

impl Proxy {
    /// In front of the server that these options lead to.
    pub async fn before(options: &PgConnectOptions) -> Self {
        let directory = options.get_socket().unwrap();
        let server = directory.join(format!(".s.PGSQL.{}", options.get_port()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State::default()));
        let (healed, seen) = watch::channel(false);
        let settled = Arc::new(watch::Sender::new(true));
        let conversation = Conversation {
            state: state.clone(),
            healed: seen,
            settled: settled.clone(),
            counting: None,
            asked: 0,
            answered: 0,
            statements: Vec::new(),
            backend: None,
            complete: false,
        };
        Self {
            address,
            listener: tokio::spawn(listen(listener, server, conversation)),
            state,
            healed,
            settled,
        }
    }

    /// How a desk connects through it.
    pub fn options(&self, options: &PgConnectOptions) -> PgConnectOptions {
        PgConnectOptions::new_without_pgpass()
            .host("127.0.0.1")
            .port(self.address.port())
            .username(options.get_username())
            .database(options.get_database().unwrap())
            .ssl_mode(PgSslMode::Disable)
    }

    /// Waits for the first message about a statement that contains this (or for any), and then counts. Several faults
    /// come one after the other.
    pub fn arm(&self, faults: impl IntoIterator<Item = (Fault, Option<String>)>) {
        *self.state.lock().unwrap() = State {
            armed: faults.into_iter().collect(),
            ..State::default()
        };
        self.healed.send_replace(false);
    }

    /// How many faults have happened.
    pub fn fired(&self) -> usize {
        self.state.lock().unwrap().fired
    }

    /// Whether the desk had been sent the whole answer when the fault happened.
    pub fn heard(&self) -> bool {
        self.state.lock().unwrap().heard
    }

    /// The backend at the other end of the connection that was broken.
    pub fn backend(&self) -> Option<i32> {
        self.state.lock().unwrap().backend
    }

    /// Turns new connections away, or no longer.
    pub fn down(&self, down: bool) {
        self.state.lock().unwrap().down = down;
    }

    /// What was lost arrives; what was silent ends. Waits until the server has done with it.
    pub async fn heal(&self) {
        self.healed.send_replace(true);
        let mut settled = self.settled.subscribe();
        settled.wait_for(|settled| *settled).await.unwrap();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

async fn listen(listener: TcpListener, server: PathBuf, conversation: Conversation) {
    loop {
        let Ok((desk, _)) = listener.accept().await else {
            return;
        };
        if conversation.state.lock().unwrap().down {
            continue;
        }
        desk.set_nodelay(true).unwrap();
        // The server may be down: then the desk is hung up on, as by a machine between them.
        let Ok(server) = UnixStream::connect(&server).await else {
            continue;
        };
        tokio::spawn(conversation.clone().run(desk, server));
    }
}

#[derive(Clone)]
struct Conversation {
    state: Arc<Mutex<State>>,
    healed: watch::Receiver<bool>,
    settled: Arc<watch::Sender<bool>>,
    /// The armed fault, once its statement has come by on this connection.
    counting: Option<Fault>,
    asked: usize,
    answered: usize,
    /// Names of statements that were prepared here, with their texts.
    statements: Vec<(Vec<u8>, String)>,
    backend: Option<i32>,
    /// The server has said that the statement is complete.
    complete: bool,
}

impl Conversation {
    async fn run(mut self, mut desk: TcpStream, mut server: UnixStream) {
        let (mut from_desk, mut from_server) = (Vec::new(), Vec::new());
        let mut greeted = false;
        loop {
            let way = tokio::select! {
                biased;
                read = desk.read_buf(&mut from_desk) => match read {
                    Ok(1..) => Way::Asking,
                    _ => return,
                },
                read = server.read_buf(&mut from_server) => match read {
                    Ok(1..) => Way::Answering,
                    _ => return,
                },
            };
            let buffer = match way {
                Way::Asking => &mut from_desk,
                Way::Answering => &mut from_server,
            };
            // The first thing that a desk says has no type.
            while let Some(length) = message(buffer, way == Way::Answering || greeted) {
                if self.is_now(way, &buffer[..length]) {
                    return self.break_off(desk, server, from_desk, from_server).await;
                }
                let message: Vec<u8> = buffer.drain(..length).collect();
                greeted |= way == Way::Asking;
                let sent = match way {
                    Way::Asking => server.write_all(&message).await,
                    Way::Answering => desk.write_all(&message).await,
                };
                if sent.is_err() {
                    return;
                }
                match way {
                    Way::Asking => self.asked += 1,
                    Way::Answering => self.answered += 1,
                }
                self.complete |= way == Way::Answering && message[0] == b'C';
                let heard = self.complete && way == Way::Answering && message[0] == b'Z';
                if heard && self.counting.is_some() {
                    self.state.lock().unwrap().heard = true;
                }
                if self.is_reached(way) {
                    return self.break_off(desk, server, from_desk, from_server).await;
                }
                if heard {
                    // What comes next is another conversation.
                    self.counting = None;
                }
            }
        }
    }

    /// Looks at a message that is about to pass; whether the fault comes before it.
    fn is_now(&mut self, way: Way, message: &[u8]) -> bool {
        if way == Way::Answering && message[0] == b'K' {
            self.backend = Some(i32::from_be_bytes(message[5..9].try_into().unwrap()));
        }
        if way == Way::Asking {
            self.note(message);
        }
        if self.counting.is_none() {
            self.begin(way, message);
        }
        // After no message at all.
        self.counting
            .is_some_and(|fault| fault.after == 0 && fault.way == way)
            && self.fire()
    }

    /// Takes the next armed fault, if this message is about its statement.
    fn begin(&mut self, way: Way, message: &[u8]) {
        let mut state = self.state.lock().unwrap();
        let meant = state
            .armed
            .front()
            .is_some_and(|(_, statement)| match statement {
                None => true,
                Some(text) => way == Way::Asking && about(message, text, &self.statements),
            });
        if meant {
            self.counting = state.armed.pop_front().map(|(fault, _)| fault);
            state.backend = self.backend;
            (self.asked, self.answered, self.complete) = (0, 0, false);
        }
    }

    /// Whether the message that has just passed was the last one before the fault.
    fn is_reached(&mut self, way: Way) -> bool {
        let passed = match way {
            Way::Asking => self.asked,
            Way::Answering => self.answered,
        };
        self.counting
            .is_some_and(|fault| fault.way == way && fault.after == passed)
            && self.fire()
    }

    fn fire(&mut self) -> bool {
        self.state.lock().unwrap().fired += 1;
        if self
            .counting
            .is_some_and(|fault| matches!(fault.what, Break::Silence | Break::Stray))
        {
            self.settled.send_replace(false);
        }
        true
    }

    fn note(&mut self, message: &[u8]) {
        if message[0] == b'P'
            && let Some((name, rest)) = string(&message[5..])
            && let Some((text, _)) = string(rest)
        {
            self.statements
                .push((name.to_vec(), String::from_utf8_lossy(text).into_owned()));
        }
    }

    async fn break_off(
        mut self,
        mut desk: TcpStream,
        mut server: UnixStream,
        from_desk: Vec<u8>,
        from_server: Vec<u8>,
    ) {
        match self.counting.take().map(|fault| fault.what) {
            // They are dropped at the end.
            None | Some(Break::Cut) => {}
            Some(Break::Reset) => desk.set_zero_linger().unwrap(),
            Some(Break::Silence) => {
                let _ = self.healed.wait_for(|healed| *healed).await;
            }
            Some(Break::Delay(how_long)) => {
                tokio::time::sleep(how_long).await;
                let sent = server.write_all(&from_desk).await.is_ok()
                    && desk.write_all(&from_server).await.is_ok();
                if sent {
                    let _ = tokio::io::copy_bidirectional(&mut desk, &mut server).await;
                }
            }
            Some(Break::Stray) => {
                // What the desk sent in one go may still be on its way here.
                let mut rest = from_desk;
                while desk.try_read_buf(&mut rest).is_ok_and(|read| read > 0) {}
                desk.set_zero_linger().unwrap();
                drop(desk);
                let _ = self.healed.wait_for(|healed| *healed).await;
                let _ = server.write_all(&rest).await;
                let _ = server.shutdown().await;
                // Until the server has read it all and hung up.
                let _ = server.read_to_end(&mut Vec::new()).await;
            }
        }
        self.settled.send_replace(true);
    }
}

/// The length of the first message if all of it is there.
fn message(buffer: &[u8], typed: bool) -> Option<usize> {
    let start = usize::from(typed);
    let length = buffer.get(start..start + 4)?;
    let length = start + u32::from_be_bytes(length.try_into().unwrap()) as usize;
    (buffer.len() >= length).then_some(length)
}

/// Whether a message prepares or runs a statement with this text in it.
fn about(message: &[u8], text: &str, statements: &[(Vec<u8>, String)]) -> bool {
    let Some(body) = message.get(5..) else {
        return false;
    };
    match message[0] {
        b'P' => string(body)
            .and_then(|(_, rest)| string(rest))
            .is_some_and(|(query, _)| String::from_utf8_lossy(query).contains(text)),
        b'B' => string(body)
            .and_then(|(_portal, rest)| string(rest))
            .is_some_and(|(name, _)| {
                statements
                    .iter()
                    .any(|(known, query)| known == name && query.contains(text))
            }),
        _ => false,
    }
}

/// A string that ends with a zero, and what comes after.
fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}
