//! Runs a console in a terminal of its own: turns keys, signals and time into messages, and does what its session wants.
//!
//! Everything that has arrived is taken in before one frame is drawn, and only if something changed. Commands are
//! never awaited here; their answers come back as messages with their request id.

use std::time::Instant;

use color_eyre::eyre::{Result, WrapErr};
use crossterm::event::{Event, KeyEventKind, MouseButton, MouseEventKind};

use crate::config::Config;
use crate::console::effect::TerminalEffect;
use crate::console::message::Message;
use crate::console::model::layout;
use crate::console::run::session::{self, ConsoleSession, SessionEvents};
use crate::console::{actions, view};
use crate::domain::Desk;
use crate::store::{Revive, SiteStore};
use crate::terminal::screen::Screen;
use crate::terminal::signals::{Signal, Signals};
use crate::terminal::theme::Theme;
use crate::terminal::{detect, input};

/// What a console needs.
pub(crate) struct Context {
    /// The site that it shows.
    pub site_store: SiteStore,
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
pub(crate) async fn run(context: Context) -> Result<()> {
    let Context {
        site_store,
        desk,
        config,
        revive,
    } = context;
    let keymap = std::sync::Arc::new(actions::keymap(&config.keys())?);
    let theme = detect::theme(&config);
    let size = crossterm::terminal::size().wrap_err("the console needs a terminal to draw on")?;
    let (session, session_events) = ConsoleSession::open(session::Context {
        site_store,
        desk,
        keymap,
        size,
        revive,
        executor: None,
    })
    .await?;
    let screen = Screen::take(config.mouse).wrap_err("the terminal could not be taken over")?;
    let console = Console {
        session,
        theme,
        screen,
        leaving: false,
    };
    console.run(session_events).await
}

struct Console {
    session: ConsoleSession,
    theme: Theme,
    screen: Screen,
    leaving: bool,
}

impl Console {
    async fn run(mut self, mut session_events: SessionEvents) -> Result<()> {
        let mut input = input::listen()?;
        let mut signals = Signals::new()?;
        let mut next_tick = Instant::now();
        self.draw()?;
        while !self.leaving {
            let mut messages = Vec::new();
            tokio::select! {
                biased;
                heard = signals.next() => messages.extend(message_of(heard)),
                message = session_events.next() => messages.push(message),
                event = input.next() => match event {
                    Some(event) => messages.extend(self.event(event)),
                    // The terminal is gone.
                    None => self.leaving = true,
                },
                () = tokio::time::sleep_until(next_tick.into()), if self.has_clock() => {
                    messages.push(self.session.tick());
                }
            }
            while let Some(message) = session_events.arrived() {
                messages.push(message);
            }
            while let Some(event) = input.arrived() {
                messages.extend(self.event(event));
            }
            messages.extend(self.resized());
            self.take_in(messages)?;
            if next_tick <= Instant::now() {
                next_tick = Instant::now() + self.session.until_next_second();
            }
        }
        input.close().await;
        self.session.farewell(session_events).await;
        Ok(())
    }

    fn take_in(&mut self, messages: Vec<Message>) -> Result<()> {
        let mut draw = false;
        for message in messages {
            if matches!(message, Message::Resumed) {
                self.screen.resume()?;
            }
            for terminal_effect in self.session.take_in(message) {
                draw |= self.grant(terminal_effect)?;
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
        if (width, height) != self.session.model().size {
            self.session.take_in(Message::Resized { width, height });
        }
        let (model, theme) = (self.session.model(), &self.theme);
        self.screen
            .paint(|buffer| view::paint(buffer, model, theme))?;
        Ok(())
    }

    /// Does what is to be done; says whether the model must be painted.
    fn grant(&mut self, terminal_effect: TerminalEffect) -> Result<bool> {
        match terminal_effect {
            TerminalEffect::Draw => return Ok(true),
            TerminalEffect::Redraw => self.screen.forget()?,
            TerminalEffect::Suspend => {
                self.screen.suspend()?;
                self.screen.forget()?;
            }
            TerminalEffect::Quit => {
                self.leaving = true;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The terminal's size, if it is another.
    fn resized(&self) -> Option<Message> {
        let (width, height) = crossterm::terminal::size().ok()?;
        (self.session.model().size != (width, height)).then_some(Message::Resized { width, height })
    }

    fn event(&self, event: Event) -> Option<Message> {
        match event {
            Event::Key(key) if key.kind == KeyEventKind::Press => Some(self.session.pressed(key)),
            Event::Paste(text) => Some(Message::Paste(text)),
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
            // The size is looked at whenever anything happens.
            _ => None,
        }
    }

    /// Whether something on the screen moves with time.
    fn has_clock(&self) -> bool {
        self.session.model().screen() != layout::Screen::TooSmall
    }
}

fn message_of(heard: Signal) -> Option<Message> {
    match heard {
        Signal::End => Some(Message::Ended),
        Signal::Continue => Some(Message::Resumed),
        // The size is looked at whenever anything happens.
        Signal::Resize => None,
    }
}
