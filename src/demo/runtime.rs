//! Runs both desks in one terminal: gives keys to the desk that has them, does what the demo's own keys say, and shows
//! what comes of it. Everything that has arrived is taken in before one frame is drawn.

use std::path::PathBuf;
use std::time::Instant;

use color_eyre::eyre::{Result, WrapErr};
use crokey::KeyCombination;
use crossterm::event::{Event, KeyEvent, KeyEventKind, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::config::Config;
use crate::console::actions;
use crate::console::effect::TerminalEffect;
use crate::console::message::Message;
use crate::demo::desks::{self, Desks, Happening, Which};
use crate::demo::keys::{self, Action, LEADER};
use crate::demo::script::{Direction, Script, Turn};
use crate::demo::state::{NextKey, Notice, State, Tone};
use crate::demo::transcript::Transcript;
use crate::demo::{file, steps, view};
use crate::domain::Desk;
use crate::store::{Revive, SiteStore, StepLimits, Stepwise};
use crate::terminal::screen::Screen;
use crate::terminal::signals::{Signal, Signals};
use crate::terminal::theme::Theme;
use crate::terminal::{detect, input};

/// What a demo on screen needs.
pub struct Context {
    /// Its site.
    pub site_store: SiteStore,
    /// Who works at the desks.
    pub names: [Desk; 2],
    /// The user's configuration.
    pub config: Config,
    /// Brings an embedded server back when it is lost.
    pub revive: Option<Revive>,
    /// Heard from before the site was made.
    pub signals: Signals,
    /// Where a transcript goes, if not into a file with the time in its name.
    pub transcript: Option<PathBuf>,
    /// A scenario that plays along.
    pub script: Option<Script>,
}

/// Shows both desks until the person leaves, and returns what happened.
///
/// # Errors
/// If the database can't be read at the start, or the terminal can't be used.
pub async fn run(context: Context) -> Result<Transcript> {
    let Context {
        site_store,
        names,
        config,
        revive,
        signals,
        transcript,
        script,
    } = context;
    let keymap = std::sync::Arc::new(actions::keymap(&config.keys())?);
    let theme = detect::theme(&config);
    let size = crossterm::terminal::size().wrap_err("the demo needs a terminal to draw on")?;
    let mut state = State::new(names.clone(), site_store.site().calendar);
    state.watching = script.is_some();
    let sizes = consoles(size, &state).map(|size| size.unwrap_or(size_of_none()));
    let desks = Desks::open(desks::Context {
        site_store,
        names,
        keymap,
        sizes,
        revive,
    })
    .await?;
    let screen = Screen::take(config.mouse).wrap_err("the terminal could not be taken over")?;
    let show = Show {
        desks,
        state,
        theme,
        screen,
        size,
        transcript,
        script: script.unwrap_or_else(Script::none),
        leaving: false,
    };
    show.run(signals).await
}

struct Show {
    desks: Desks,
    state: State,
    theme: Theme,
    screen: Screen,
    size: (u16, u16),
    transcript: Option<PathBuf>,
    script: Script,
    leaving: bool,
}

impl Show {
    async fn run(mut self, signals: Signals) -> Result<Transcript> {
        let shown = self.show(signals).await;
        let Self { desks, screen, .. } = self;
        // Given back before the desks wait for their last answers.
        drop(screen);
        let transcript = desks.transcript();
        desks.close().await;
        shown.map(|()| transcript)
    }

    async fn show(&mut self, mut signals: Signals) -> Result<()> {
        let mut input = input::listen()?;
        let (said, mut heard) = unbounded_channel();
        let mut next_tick = Instant::now();
        self.draw()?;
        while !self.leaving {
            let mut draw = true;
            tokio::select! {
                biased;
                heard = signals.next() => match heard {
                    Signal::End => self.leaving = true,
                    Signal::Continue => {
                        self.screen.resume()?;
                        self.screen.forget()?;
                    }
                    Signal::Resize => {}
                },
                event = input.next() => match event {
                    Some(event) => self.event(event, &said)?,
                    // The terminal is gone.
                    None => self.leaving = true,
                },
                turn = self.script.next() => match turn {
                    Turn::Order(order) => {
                        order(&mut self.desks);
                        if let Some(which) = self.desks.spotlight().filter(|_| self.state.watching) {
                            self.state.focus = which;
                        }
                    }
                    Turn::Line(line) => self.state.hear(line),
                },
                notice = heard.recv() => self.state.notice = notice,
                happening = self.desks.next() => draw = self.happening(happening)?,
                () = tokio::time::sleep_until(next_tick.into()) => {
                    for which in Which::BOTH {
                        let tick = self.desks.session(which).tick();
                        self.desks.take_in(which, tick);
                    }
                }
            }
            while let Some(happening) = self.desks.happened() {
                draw |= self.happening(happening)?;
            }
            while let Some(event) = input.arrived() {
                self.event(event, &said)?;
                draw = true;
            }
            if next_tick <= Instant::now() {
                next_tick = Instant::now() + self.desks.until_next_second();
            }
            if draw && !self.leaving {
                self.draw()?;
            }
        }
        input.close().await;
        Ok(())
    }

    /// Lays out for the size that the terminal has by now, tells both consoles their part, and paints.
    fn draw(&mut self) -> Result<()> {
        self.size = crossterm::terminal::size()?;
        self.state.moment = Instant::now();
        for which in Which::BOTH {
            self.state.steps[which.index()] = self.running(which).map(|steps| steps.look());
        }
        for (which, size) in Which::BOTH
            .into_iter()
            .zip(consoles(self.size, &self.state))
        {
            if let Some((width, height)) = size
                && self.desks.session(which).model().size != (width, height)
            {
                self.desks
                    .take_in(which, Message::Resized { width, height });
            }
        }
        let models = Which::BOTH.map(|which| self.desks.session(which).model());
        let (state, theme) = (&self.state, &self.theme);
        self.screen
            .paint(|buffer| view::paint(buffer, models, state, theme))?;
        Ok(())
    }

    /// The transaction of a desk that is stopped, or runs in step mode.
    fn running(&self, which: Which) -> Option<Stepwise> {
        let steps = self.desks.stepped(which)?;
        (!steps.look().is_over()).then_some(steps)
    }

    fn happening(&mut self, happening: Happening) -> Result<bool> {
        match happening {
            Happening::Desk(_, terminal_effects) => {
                let draw = !terminal_effects.is_empty();
                self.grant(terminal_effects)?;
                return Ok(draw);
            }
            Happening::Verdict(verdict) => {
                self.state.notice = Some(Notice {
                    tone: Tone::Good,
                    lines: self.desks.verdict_lines(&verdict),
                    in_short: self.desks.verdict_in_short(&verdict),
                });
            }
            Happening::Steps(which) => {
                if let Some(stepwise) = self.desks.stepped(which)
                    && let crate::store::StepPlace::Ended(ending) = &stepwise.look().place
                {
                    let name = &self.state.names[which.index()].0;
                    let words = format!("{name}: {}", steps::ending(ending));
                    self.state.say(Tone::Refused, words);
                }
            }
        }
        Ok(true)
    }

    fn grant(&mut self, terminal_effects: Vec<TerminalEffect>) -> Result<()> {
        for terminal_effect in terminal_effects {
            match terminal_effect {
                TerminalEffect::Draw => {}
                TerminalEffect::Redraw => self.screen.forget()?,
                TerminalEffect::Suspend => {
                    self.screen.suspend()?;
                    self.screen.forget()?;
                }
                TerminalEffect::Quit => self.leaving = true,
            }
        }
        Ok(())
    }

    fn event(&mut self, event: Event, said: &UnboundedSender<Notice>) -> Result<()> {
        let terminal_effects = match event {
            Event::Key(key) if key.kind == KeyEventKind::Press => return self.key(key, said),
            Event::Paste(text) if !self.state.help => self.tell_desks(&Message::Paste(text)),
            Event::Mouse(mouse) if !self.state.help => self.mouse(mouse),
            // The size is looked at whenever something is drawn.
            _ => Vec::new(),
        };
        self.grant(terminal_effects)
    }

    fn tell_desks(&mut self, message: &Message) -> Vec<TerminalEffect> {
        let mut terminal_effects = Vec::new();
        for which in self.state.recipients() {
            terminal_effects.extend(self.desks.take_in(which, message.clone()));
        }
        terminal_effects
    }

    fn key(&mut self, key: KeyEvent, said: &UnboundedSender<Notice>) -> Result<()> {
        let combination = KeyCombination::from(key).normalized();
        if self.state.help {
            self.state.help = false;
            return Ok(());
        }
        if self.state.watching {
            if let Some(action) = keys::while_watching(combination) {
                self.act(action, said);
            }
            return Ok(());
        }
        let escape = combination == crokey::key!(esc);
        match std::mem::take(&mut self.state.next_key) {
            NextKey::Letter if escape || combination == LEADER => return Ok(()),
            NextKey::Letter => {
                match keys::after_leader(combination) {
                    Some(action) => self.act(action, said),
                    None => self.state.say(
                        Tone::Refused,
                        format!(
                            "The demo has no such key. {} shows those that it has.",
                            keys::binding_of(Action::Help).keys()
                        ),
                    ),
                }
                return Ok(());
            }
            NextKey::Fire if escape => return Ok(()),
            NextKey::Fire if keys::action(combination).is_none() => {
                let terminal_effects = self.fire(key);
                return self.grant(terminal_effects);
            }
            NextKey::Fire | NextKey::Desk => {}
        }
        if combination == LEADER {
            self.state.next_key = NextKey::Letter;
            return Ok(());
        }
        if let Some(action) = keys::action(combination) {
            self.act(action, said);
            return Ok(());
        }
        let asked = self.desks.asked();
        let mut terminal_effects = Vec::new();
        for which in self.state.recipients() {
            terminal_effects.extend(self.desks.press(which, key));
        }
        if self.desks.asked() > asked {
            // What was said is about something that is over.
            self.state.notice = None;
        }
        self.grant(terminal_effects)
    }

    fn fire(&mut self, key: KeyEvent) -> Vec<TerminalEffect> {
        let asked = self.desks.asked();
        let terminal_effects = self.desks.fire(key).concat();
        match self.desks.asked() - asked {
            2 => {
                self.state.notice = None;
            }
            1 => self.state.say(
                Tone::Plain,
                "Only one desk asked the house for something; there is no order to show.",
            ),
            _ => self.state.say(
                Tone::Plain,
                "Neither desk asked the house for anything with that key.",
            ),
        }
        terminal_effects
    }

    fn act(&mut self, action: Action, said: &UnboundedSender<Notice>) {
        match action {
            Action::Help => self.state.help = true,
            Action::Focus => self.state.focus = self.state.focus.other(),
            Action::Alone => self.state.alone = !self.state.alone,
            Action::Both => self.state.both = !self.state.both,
            Action::Fire => {
                let enter = KeyEvent::from(crossterm::event::KeyCode::Enter);
                // Enter neither ends nor suspends a console.
                self.fire(enter);
            }
            Action::FireNext => self.state.next_key = NextKey::Fire,
            Action::StepMode => self.toggle_step_mode(),
            Action::Step
            | Action::RunOn
            | Action::Commit
            | Action::RollBack
            | Action::Cut
            | Action::CommitAndCut
            | Action::Kill => self.move_on(action, said),
            Action::Save => self.save(),
            Action::Pause => {
                self.state.paused = !self.state.paused;
                self.script.direct(Direction::Pause);
            }
            Action::Onwards => {
                self.state.paused = false;
                self.script.direct(Direction::Onwards);
            }
            Action::Quit => self.leaving = true,
        }
    }

    fn toggle_step_mode(&mut self) {
        let on = self.state.toggle_step_mode();
        for which in self.state.recipients() {
            self.desks.step_mode(which, on.then(StepLimits::default));
        }
        let names = self.state.recipient_names();
        let ask = if self.state.both { "ask" } else { "asks" };
        let words = if on {
            format!(
                "Step mode: what {names} {ask} from now on stops before each step of the protocol, for at most {} s.",
                StepLimits::default().total.as_secs()
            )
        } else {
            format!(
                "What {names} {ask} from now on goes through; a transaction that stands stays until it is ended."
            )
        };
        self.state.say(Tone::Plain, words);
    }

    /// Moves the stopped transactions of the desks that have the keys on, without waiting for what comes of it.
    fn move_on(&mut self, action: Action, said: &UnboundedSender<Notice>) {
        let moved = self.state.moved_by(action);
        let running: Vec<Stepwise> = moved
            .into_iter()
            .filter_map(|which| self.running(which))
            .collect();
        if running.is_empty() {
            let names = self.state.recipient_names();
            let desks = self.state.recipients();
            let words = if desks
                .iter()
                .all(|which| self.state.step_mode[which.index()])
            {
                format!("No transaction of {names} stands; the next command will.")
            } else {
                let this = if self.state.both {
                    "both desks"
                } else {
                    "this desk"
                };
                format!(
                    "No transaction of {names} stands. {} puts {this} into step mode.",
                    keys::binding_of(Action::StepMode).keys()
                )
            };
            self.state.say(Tone::Refused, words);
            return;
        }
        for steps in running {
            tokio::spawn(take(action, steps, said.clone()));
        }
    }

    fn save(&mut self) {
        let text = self.desks.transcript().to_string();
        match file::save(&text, self.transcript.as_deref()) {
            Ok(path) => {
                let words = format!(
                    "The transcript is in {}. It has guests' names in it.",
                    path.display()
                );
                self.state.say(Tone::Good, words);
            }
            Err(error) => self.state.say(Tone::Refused, error.to_string()),
        }
    }

    /// A click gives its desk the keys, and means there what it means in a console.
    fn mouse(&mut self, mouse: MouseEvent) -> Vec<TerminalEffect> {
        let at = Position::new(mouse.column, mouse.row);
        let Some(layout) = view::areas(self.size, &self.state) else {
            return Vec::new();
        };
        let found = Which::BOTH.into_iter().find_map(|which| {
            let place = layout.desks[which.index()];
            let whole = place
                .console
                .map_or(place.title, |console| console.union(place.title));
            whole.contains(at).then_some((which, place))
        });
        let Some((which, place)) = found else {
            return Vec::new();
        };
        let pressed = mouse.kind == MouseEventKind::Down(MouseButton::Left);
        if pressed {
            self.state.focus = which;
        }
        let covered = place.panel.is_some_and(|panel: Rect| panel.contains(at));
        let Some(console) = place
            .console
            .filter(|console| console.contains(at) && !covered)
        else {
            return Vec::new();
        };
        let (column, row) = (at.x - console.x, at.y - console.y);
        let message = match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => Message::Click { column, row },
            MouseEventKind::Drag(MouseButton::Left) => Message::Drag { column },
            MouseEventKind::ScrollUp => Message::Wheel {
                column,
                row,
                lines: -1,
            },
            MouseEventKind::ScrollDown => Message::Wheel {
                column,
                row,
                lines: 1,
            },
            _ => return Vec::new(),
        };
        self.desks.take_in(which, message)
    }
}

/// Carries a move out; what is wrong with a COMMIT is said.
async fn take(action: Action, steps: Stepwise, said: UnboundedSender<Notice>) {
    let outcome = match action {
        Action::Step => steps.step().await,
        Action::RunOn => steps.run_on().await,
        Action::RollBack => steps.roll_back().await,
        Action::Cut => steps.cut().await,
        Action::Kill => steps.kill().await,
        Action::CommitAndCut => {
            // What became of it is told by asking again.
            let _ = steps.commit_and_cut().await;
            return;
        }
        _ => {
            if let Err(error) = steps.commit().await {
                let notice = Notice {
                    tone: Tone::Refused,
                    lines: vec![error.to_string()],
                    in_short: Vec::new(),
                };
                // Nobody reads it any more only when the demo is over.
                let _ = said.send(notice);
            }
            return;
        }
    };
    drop(outcome);
}

/// The size of each console, where there is room for it.
fn consoles(size: (u16, u16), state: &State) -> [Option<(u16, u16)>; 2] {
    let layout = view::areas(size, state);
    Which::BOTH.map(|which| {
        let console = layout?.desks[which.index()].console?;
        Some((console.width, console.height))
    })
}

/// The size of a console that is not to be seen yet.
fn size_of_none() -> (u16, u16) {
    crate::console::model::layout::SMALLEST
}
