//! Runs a console in a terminal of its own: turns keys, signals and time into messages, and does what its station wishes.
//!
//! Everything that has arrived is taken in before one frame is drawn, and only if something changed. Commands are
//! never awaited here; their answers come back as messages with their request id.

use std::time::Instant;

use color_eyre::eyre::{Result, WrapErr};
use crossterm::event::{Event, KeyEventKind, MouseButton, MouseEventKind};

use crate::domain::Desk;
use crate::store::{House, Revive};

use super::config::Config;
use super::input;
use super::layout;
use super::message::Message;
use super::signals::{Heard, Signals};
use super::station::{self, Inbox, Station, Wish};
use super::terminal::{self, Screen};
use super::theme::Theme;

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
    let keymap = std::sync::Arc::new(config.keymap()?);
    let theme = terminal::theme(&config);
    let size = crossterm::terminal::size().wrap_err("the console needs a terminal to draw on")?;
    let (station, inbox) = Station::open(station::Context {
        house,
        desk,
        keymap,
        size,
        revive,
        executor: None,
    })
    .await?;
    let screen = Screen::take(config.mouse).wrap_err("the terminal could not be taken over")?;
    let console = Console {
        station,
        theme,
        screen,
        leaving: false,
    };
    console.run(inbox).await
}

struct Console {
    station: Station,
    theme: Theme,
    screen: Screen,
    leaving: bool,
}

impl Console {
    async fn run(mut self, mut inbox: Inbox) -> Result<()> {
        let mut input = input::listen()?;
        let mut signals = Signals::new()?;
        let mut next_tick = Instant::now();
        self.draw()?;
        while !self.leaving {
            let mut messages = Vec::new();
            tokio::select! {
                biased;
                heard = signals.next() => messages.extend(message_of(heard)),
                message = inbox.next() => messages.push(message),
                event = input.next() => match event {
                    Some(event) => messages.extend(self.event(event)),
                    // The terminal is gone.
                    None => self.leaving = true,
                },
                () = tokio::time::sleep_until(next_tick.into()), if self.has_clock() => {
                    messages.push(self.station.tick());
                }
            }
            while let Some(message) = inbox.arrived() {
                messages.push(message);
            }
            while let Some(event) = input.arrived() {
                messages.extend(self.event(event));
            }
            messages.extend(self.resized());
            self.take_in(messages)?;
            if next_tick <= Instant::now() {
                next_tick = Instant::now() + self.station.until_next_second();
            }
        }
        input.close().await;
        self.station.farewell(inbox).await;
        Ok(())
    }

    fn take_in(&mut self, messages: Vec<Message>) -> Result<()> {
        let mut draw = false;
        for message in messages {
            if matches!(message, Message::Resumed) {
                self.screen.resume()?;
            }
            for wish in self.station.take_in(message) {
                draw |= self.grant(wish)?;
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
        if (width, height) != self.station.model().size {
            self.station.take_in(Message::Resized { width, height });
        }
        self.screen.draw(self.station.model(), &self.theme)?;
        Ok(())
    }

    /// Does what is to be done; says whether the model must be painted.
    fn grant(&mut self, wish: Wish) -> Result<bool> {
        match wish {
            Wish::Draw => return Ok(true),
            Wish::Redraw => self.screen.forget()?,
            Wish::Suspend => {
                self.screen.suspend()?;
                self.screen.forget()?;
            }
            Wish::Quit => {
                self.leaving = true;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The terminal's size, if it is another.
    fn resized(&self) -> Option<Message> {
        let (width, height) = crossterm::terminal::size().ok()?;
        (self.station.model().size != (width, height)).then_some(Message::Resized { width, height })
    }

    fn event(&self, event: Event) -> Option<Message> {
        match event {
            Event::Key(key) if key.kind == KeyEventKind::Press => Some(self.station.pressed(key)),
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
        self.station.model().screen() != layout::Screen::TooSmall
    }
}

fn message_of(heard: Heard) -> Option<Message> {
    match heard {
        Heard::End => Some(Message::Ended),
        Heard::Continue => Some(Message::Resumed),
        // The size is looked at whenever anything happens.
        Heard::Resize => None,
    }
}
