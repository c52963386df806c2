//! Runs a console: turns keys, signals, time and what the store says into messages, and carries out effects.
//!
//! Everything that has arrived is taken in before one frame is drawn, and only if something changed. Commands are
//! spawned, never awaited here; their answers come back as messages with their request id.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use color_eyre::eyre::{Result, WrapErr};
use crossterm::event::{Event, EventStream, KeyEventKind, MouseButton, MouseEventKind};
use futures_util::StreamExt;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::domain::{Desk, Request, RequestId};
use crate::store::{House, Progress, Revive, StoreError, Watch, WatchEvent};

use super::config::Config;
use super::effect::Effect;
use super::layout;
use super::message::{Fault, Message, Press};
use super::model::Model;
use super::terminal::{self, Screen};
use super::theme::Theme;
use super::update::update;

/// How long a leaving console waits for answers to what it has asked.
const FAREWELL: Duration = Duration::from_secs(3);

/// What a console needs.
pub struct Context {
    /// The house that it shows.
    pub house: House,
    /// Who works here.
    pub desk: Desk,
    /// The user's configuration.
    pub config: Config,
    /// Brings an embedded server back when it is lost.
    pub revive: Option<Revive>,
}

/// Opens the console, until the person leaves it.
///
/// # Errors
/// If the database can't be read at the start, or the terminal can't be used.
pub async fn run(context: Context) -> Result<()> {
    let Context {
        house,
        desk,
        config,
        revive,
    } = context;
    let keymap = Arc::new(config.keymap()?);
    let now = house.now().await?;
    let theme = terminal::theme(&config);
    let started = Instant::now();
    let size = crossterm::terminal::size().wrap_err("the console needs a terminal to draw on")?;
    let model = Model::new(
        desk.clone(),
        house.site().clone(),
        keymap,
        size,
        now,
        Duration::ZERO,
    );
    let (watched, watch_events) = unbounded_channel();
    let watch = house.watch(desk, model.window(), watched, revive);
    let screen = Screen::take(config.mouse).wrap_err("the terminal could not be taken over")?;
    let (replies, reply_events) = unbounded_channel();
    let console = Console {
        model,
        theme,
        screen,
        house,
        watch,
        replies,
        started,
        leaving: false,
    };
    console.run(watch_events, reply_events).await
}

struct Console {
    model: Model,
    theme: Theme,
    screen: Screen,
    house: House,
    watch: Watch,
    replies: UnboundedSender<Message>,
    started: Instant,
    leaving: bool,
}

impl Console {
    async fn run(
        mut self,
        mut watched: UnboundedReceiver<WatchEvent>,
        mut replies: UnboundedReceiver<Message>,
    ) -> Result<()> {
        let mut events = EventStream::new();
        let mut signals = Signals::new()?;
        let mut next_tick = Instant::now();
        self.draw()?;
        while !self.leaving {
            let mut messages = Vec::new();
            tokio::select! {
                biased;
                signal = signals.next() => messages.push(signal),
                Some(reply) = replies.recv() => messages.push(reply),
                Some(event) = watched.recv() => messages.push(self.watched(event)),
                event = events.next() => messages.extend(self.event(event)),
                () = tokio::time::sleep_until(next_tick.into()), if self.has_clock() => {
                    messages.push(Message::Tick { uptime: self.started.elapsed() });
                }
            }
            while let Ok(reply) = replies.try_recv() {
                messages.push(reply);
            }
            while let Ok(event) = watched.try_recv() {
                messages.push(self.watched(event));
            }
            while !self.leaving
                && let Some(event) = arrived(&mut events).await
            {
                messages.extend(self.event(event));
            }
            messages.extend(self.resized());
            self.take_in(messages)?;
            if next_tick <= Instant::now() {
                next_tick = Instant::now() + self.until_next_second();
            }
        }
        self.farewell(replies).await;
        Ok(())
    }

    fn take_in(&mut self, messages: Vec<Message>) -> Result<()> {
        let mut draw = false;
        for message in messages {
            let resumed = matches!(message, Message::Resumed);
            if resumed {
                self.screen.resume()?;
            }
            for effect in update(&mut self.model, message) {
                match effect {
                    Effect::Draw => draw = true,
                    other => draw |= self.carry_out(other)?,
                }
            }
        }
        if draw && !self.leaving {
            self.draw()?;
        }
        Ok(())
    }

    /// Paints the model, at the size that the terminal has by now.
    fn draw(&mut self) -> Result<()> {
        let (width, height) = crossterm::terminal::size()?;
        if (width, height) != self.model.size {
            update(&mut self.model, Message::Resized { width, height });
        }
        self.screen.draw(&self.model, &self.theme)?;
        Ok(())
    }

    /// Does what is to be done; says whether it must be painted.
    fn carry_out(&mut self, effect: Effect) -> Result<bool> {
        match effect {
            Effect::Draw => return Ok(true),
            Effect::Redraw => {
                self.screen.forget()?;
                return Ok(true);
            }
            Effect::Execute(request) => self.send(request),
            Effect::LookAt(window) => self.watch.look_at(window),
            Effect::Refresh => self.watch.refresh(),
            Effect::Suspend => {
                self.screen.suspend()?;
                self.screen.forget()?;
                return Ok(true);
            }
            Effect::Quit => self.leaving = true,
        }
        Ok(false)
    }

    fn send(&self, request: Request) {
        let (house, replies) = (self.house.clone(), self.replies.clone());
        let id = request.id;
        tokio::spawn(async move {
            let reports = replies.clone();
            // Nobody hears it any more only when the console is gone.
            let report = move |progress| {
                if progress == Progress::Checking {
                    _ = reports.send(Message::Checking(id));
                }
            };
            let result = house
                .execute_reporting(request, report)
                .await
                .map(Box::new)
                .map_err(|error| fault(&error));
            _ = replies.send(Message::Answered {
                request: id,
                result,
            });
        });
    }

    /// What has been asked is answered before we leave, if that is soon.
    async fn farewell(&mut self, mut replies: UnboundedReceiver<Message>) {
        let answers = async {
            while !self.model.pending.is_empty() {
                let Some(reply) = replies.recv().await else {
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

    /// The terminal's size, if it is another: crossterm forgets a resize that comes together with a key.
    fn resized(&self) -> Option<Message> {
        let (width, height) = crossterm::terminal::size().ok()?;
        (self.model.size != (width, height)).then_some(Message::Resized { width, height })
    }

    fn watched(&self, event: WatchEvent) -> Message {
        match event {
            WatchEvent::Alive { now, latency } => Message::Alive {
                now,
                latency,
                uptime: self.started.elapsed(),
            },
            WatchEvent::Picture(picture) => Message::Picture(picture),
            WatchEvent::Lost { sentence } => Message::Lost { sentence },
        }
    }

    fn event(&mut self, event: Option<std::io::Result<Event>>) -> Option<Message> {
        let Some(Ok(event)) = event else {
            // The terminal is gone.
            self.leaving = true;
            return None;
        };
        match event {
            Event::Key(key) if key.kind == KeyEventKind::Press => Some(Message::Key(Press {
                key: key.into(),
                id: RequestId::fresh(),
                at: self.started.elapsed(),
            })),
            Event::Paste(text) => Some(Message::Paste(text)),
            Event::Resize(width, height) => Some(Message::Resized { width, height }),
            Event::Mouse(mouse) => {
                let (column, row) = (mouse.column, mouse.row);
                match mouse.kind {
                    MouseEventKind::Down(MouseButton::Left) => Some(Message::Click { column, row }),
                    MouseEventKind::Drag(MouseButton::Left) => Some(Message::Drag { column }),
                    MouseEventKind::ScrollUp => Some(Message::Wheel {
                        column,
                        row,
                        lines: -1,
                    }),
                    MouseEventKind::ScrollDown => Some(Message::Wheel {
                        column,
                        row,
                        lines: 1,
                    }),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether something on the screen moves with time.
    fn has_clock(&self) -> bool {
        self.model.screen() != layout::Screen::TooSmall
    }

    /// Until the database's clock shows another second, and a little, so that it surely does.
    fn until_next_second(&self) -> Duration {
        let past = self.model.now().timestamp_subsec_millis().min(999);
        Duration::from_millis(u64::from(1000 - past) + 5)
    }
}

/// The next event, if it is there already.
///
/// Asked with this task's own waker, because the stream keeps the one that it saw first: with any other (as
/// `now_or_never` brings) the next key would wait until something else wakes us.
async fn arrived(events: &mut EventStream) -> Option<Option<std::io::Result<Event>>> {
    poll_fn(|context| match events.poll_next_unpin(context) {
        Poll::Ready(event) => Poll::Ready(Some(event)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
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

/// Signals that end or continue us.
#[cfg(unix)]
struct Signals {
    ends: [tokio::signal::unix::Signal; 3],
    continued: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        // SIGCONT has no name in tokio; its number is the kernel's.
        let continued = SignalKind::from_raw(rustix::process::Signal::CONT.as_raw());
        Ok(Self {
            ends: [
                signal(SignalKind::terminate())?,
                signal(SignalKind::hangup())?,
                signal(SignalKind::interrupt())?,
            ],
            continued: signal(continued)?,
        })
    }

    async fn next(&mut self) -> Message {
        let [terminate, hangup, interrupt] = &mut self.ends;
        tokio::select! {
            _ = terminate.recv() => Message::Ended,
            _ = hangup.recv() => Message::Ended,
            _ = interrupt.recv() => Message::Ended,
            _ = self.continued.recv() => Message::Resumed,
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> Message {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Message::Ended,
            Err(_) => std::future::pending().await,
        }
    }
}
