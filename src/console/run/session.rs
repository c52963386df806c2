//! One console without a terminal: its model, its way to the site, and what it waits for.
//!
//! Messages go in; what concerns the site is carried out here, and what concerns the terminal is handed back. So a
//! console can have a terminal for itself ([`crate::console::run`]), share one with another console, or have none.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use color_eyre::eyre::Result;
use crossterm::event::KeyEvent;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::console::effect::{Effect, TerminalEffect};
use crate::console::message::{Fault, Message, Press};
use crate::console::model::Model;
use crate::console::model::keymap::Keymap;
use crate::console::update::update;
use crate::domain::{Answer, Desk, Request, RequestId};
use crate::store::{Progress, Revive, SiteStore, StoreError, Watch, WatchEvent};

/// How long a leaving console waits for answers to what it has asked.
const FAREWELL: Duration = Duration::from_secs(3);

/// What a session hears while a command is under way.
pub(crate) type Report = Box<dyn Fn(Progress) + Send + Sync>;

/// Brings a command to the site and its answer back.
pub(crate) type Executor = Arc<
    dyn Fn(Request, Report) -> Pin<Box<dyn Future<Output = Result<Answer, StoreError>> + Send>>
        + Send
        + Sync,
>;

/// What a session needs.
pub struct Context {
    /// The site that it shows.
    pub site_store: SiteStore,
    /// Who works here.
    pub desk: Desk,
    /// What each key does.
    pub keymap: Arc<Keymap>,
    /// Columns and rows that it may paint.
    pub size: (u16, u16),
    /// Brings an embedded server back when it is lost.
    pub revive: Option<Revive>,
    /// How commands reach the site, if not straight.
    pub executor: Option<Executor>,
}

/// A console at work.
pub struct ConsoleSession {
    model: Model,
    watch: Watch,
    executor: Executor,
    replies: UnboundedSender<Message>,
    started: Instant,
}

/// What comes to a session from the database.
pub struct SessionEvents {
    watched: UnboundedReceiver<WatchEvent>,
    replies: UnboundedReceiver<Message>,
    started: Instant,
}

impl ConsoleSession {
    /// Starts to work: asks the database for its clock once and keeps a snapshot of the site fresh from then on.
    ///
    /// # Errors
    /// If the database can't be asked.
    pub async fn open(context: Context) -> Result<(Self, SessionEvents)> {
        let Context {
            site_store,
            desk,
            keymap,
            size,
            revive,
            executor,
        } = context;
        let now = site_store.now().await?;
        let started = Instant::now();
        let site = site_store.site().clone();
        let model = Model::new(desk.clone(), site, keymap, size, now, Duration::ZERO);
        let (watched, watch_events) = unbounded_channel();
        let watch = site_store.watch(desk, model.window(), watched, revive);
        let (replies, reply_events) = unbounded_channel();
        let session = Self {
            model,
            watch,
            executor: executor.unwrap_or_else(|| straight(site_store)),
            replies,
            started,
        };
        let session_events = SessionEvents {
            watched: watch_events,
            replies: reply_events,
            started,
        };
        Ok((session, session_events))
    }

    /// What it shows.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Takes a message in: asks the site for what follows from it, and says what follows for the terminal.
    pub(crate) fn take_in(&mut self, message: Message) -> Vec<TerminalEffect> {
        let mut terminal_effects = Vec::new();
        for effect in update(&mut self.model, message) {
            match effect {
                Effect::Terminal(effect) => terminal_effects.push(effect),
                Effect::Execute(request) => self.send(request),
                Effect::LookAt(window) => self.watch.look_at(window),
                Effect::Refresh => self.watch.refresh(),
            }
        }
        terminal_effects
    }

    /// A key, as a message with a request id of its own.
    pub(crate) fn pressed(&self, key: KeyEvent) -> Message {
        Message::Key(Press {
            key: key.into(),
            id: RequestId::fresh(),
            at: self.started.elapsed(),
        })
    }

    /// The message that time has passed.
    pub(crate) fn tick(&self) -> Message {
        Message::Tick {
            uptime: self.started.elapsed(),
        }
    }

    /// Asks for a new snapshot, whether or not something has changed.
    pub(crate) fn refresh(&self) {
        self.watch.refresh();
    }

    /// Until the database's clock shows another second, and a little, so that it surely does.
    pub(crate) fn until_next_second(&self) -> Duration {
        let past = self.model.now().timestamp_subsec_millis().min(999);
        Duration::from_millis(u64::from(1000 - past) + 5)
    }

    /// What has been asked is answered before we leave, if that is soon.
    pub async fn farewell(&mut self, mut session_events: SessionEvents) {
        let answers = async {
            while !self.model.pending.is_empty() {
                let Some(reply) = session_events.replies.recv().await else {
                    break;
                };
                update(&mut self.model, reply);
                if self.model.pending.iter().all(|pending| pending.ask_again) {
                    break;
                }
            }
        };
        // Too late: each command is done once or not at all, and the next console shows which.
        _ = tokio::time::timeout(FAREWELL, answers).await;
    }

    fn send(&self, request: Request) {
        let (replies, id) = (self.replies.clone(), request.id);
        let reports = replies.clone();
        let answer = (self.executor)(
            request,
            Box::new(move |progress| {
                // Nobody hears it any more only when the console is gone.
                if progress == Progress::Checking {
                    _ = reports.send(Message::Checking(id));
                }
            }),
        );
        tokio::spawn(async move {
            let result = answer.await.map(Box::new).map_err(|error| fault(&error));
            _ = replies.send(Message::Answered {
                request: id,
                result,
            });
        });
    }
}

impl SessionEvents {
    /// The next message. Nothing is lost if the wait is given up.
    pub async fn next(&mut self) -> Message {
        tokio::select! {
            biased;
            Some(reply) = self.replies.recv() => reply,
            Some(event) = self.watched.recv() => message(event, self.started),
            // Both ends are kept by the session and its tasks.
            else => std::future::pending().await,
        }
    }

    /// The next message, if one has arrived.
    pub(crate) fn arrived(&mut self) -> Option<Message> {
        let reply = self.replies.try_recv().ok();
        reply.or_else(|| Some(message(self.watched.try_recv().ok()?, self.started)))
    }
}

/// Commands go to the site as they are.
fn straight(site_store: SiteStore) -> Executor {
    Arc::new(move |request, report| {
        let site_store = site_store.clone();
        Box::pin(async move { site_store.execute_reporting(request, report).await })
    })
}

fn message(event: WatchEvent, started: Instant) -> Message {
    Message::Watch {
        event,
        at: started.elapsed(),
    }
}

fn fault(error: &StoreError) -> Fault {
    match error {
        StoreError::Unknown { .. } => Fault {
            sentence: "The connection broke before the answer came. It will be asked again as soon as the database is back."
                .into(),
            outcome_unknown: true,
        },
        other => Fault { sentence: other.to_string(), outcome_unknown: false },
    }
}
