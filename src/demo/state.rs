//! What the demo shows beside the two consoles. Plain data.

use std::time::Instant;

use crate::domain::{Desk, SiteCalendar};
use crate::store::StepView;

use super::desks::Which;
use super::keys::Action;

/// What the demo shows beside the two consoles.
#[derive(Debug, Clone)]
pub struct State {
    /// The house's calendar.
    pub calendar: SiteCalendar,
    /// What the desks are called.
    pub names: [Desk; 2],
    /// Which desk has the keys.
    pub focus: Which,
    /// Whether it has all the room.
    pub alone: bool,
    /// Whether every key goes to both.
    pub both: bool,
    /// What the next key is for, if not for a desk.
    pub next_key: NextKey,
    /// What just happened; the first line matters most.
    pub notice: Option<Notice>,
    /// Where a scenario is, and what a spectator is to read.
    pub caption: Option<String>,
    /// Whether a scenario has the desks: keys are the spectator's.
    pub watching: bool,
    /// Whether it is paused.
    pub paused: bool,
    /// Whether the help page is open.
    pub help: bool,
    /// Which desks are in step mode.
    pub step_mode: [bool; 2],
    /// Their stopped transactions.
    pub steps: [Option<StepView>; 2],
    /// When all this was looked at.
    pub moment: Instant,
}

/// What the next key is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NextKey {
    /// A desk.
    #[default]
    Desk,
    /// It is a letter of the demo's own table.
    Letter,
    /// It is fired at both desks.
    Fire,
}

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// For information.
    Plain,
    /// Somebody won, something is done.
    Good,
    /// It can't be.
    Refused,
}

/// What just happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// What kind.
    pub tone: Tone,
    /// Sentences, the most important first.
    pub lines: Vec<String>,
}

impl State {
    /// Two desks that have just opened.
    pub fn new(names: [Desk; 2], calendar: SiteCalendar) -> Self {
        Self {
            calendar,
            names,
            focus: Which::First,
            alone: false,
            both: false,
            next_key: NextKey::Desk,
            notice: None,
            caption: None,
            watching: false,
            paused: false,
            help: false,
            step_mode: [false; 2],
            steps: [None, None],
            moment: Instant::now(),
        }
    }

    /// Says something.
    pub fn say(&mut self, tone: Tone, line: impl Into<String>) {
        self.notice = Some(Notice {
            tone,
            lines: vec![line.into()],
        });
    }

    /// The stopped transaction of the desk in focus.
    pub fn stopped(&self) -> Option<&StepView> {
        self.steps[self.focus.index()].as_ref()
    }

    /// The keys that are worth a hint now.
    pub fn hints(&self) -> &'static [Action] {
        if self.stopped().is_some() {
            &super::keys::STOPPED
        } else {
            &super::keys::AT_EASE
        }
    }
}
