//! What the demo shows beside the two consoles. Plain data.

use std::time::Instant;

use crate::demo::desks::Which;
use crate::demo::keys::Action;
use crate::demo::script::Line;
use crate::domain::{Desk, SiteCalendar};
use crate::store::{StepPlace, StepView};

/// What the demo shows beside the two consoles.
#[derive(Debug, Clone)]
pub struct State {
    /// The site's calendar.
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
    /// At which step the scenario is, and of how many.
    pub at: Option<(usize, usize)>,
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
    /// The first sentence in few words, and in fewer, for where there is no room.
    pub in_short: Vec<String>,
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
            at: None,
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
            in_short: Vec::new(),
        });
    }

    /// Takes in what a scenario says.
    pub fn hear(&mut self, line: Line) {
        match line {
            Line::At(step, of) => self.at = Some((step, of)),
            Line::Caption(text) => {
                self.caption = Some(text);
                self.notice = None;
            }
            Line::Happened(text) => self.say(Tone::Plain, text),
            Line::YourTurn(text) => {
                self.caption = Some(text);
                self.notice = None;
                self.at = None;
                self.watching = false;
            }
        }
    }

    /// The desks that keys go to, the one in focus first.
    pub fn recipients(&self) -> Vec<Which> {
        if self.both {
            vec![self.focus, self.focus.other()]
        } else {
            vec![self.focus]
        }
    }

    /// The names of the desks that keys go to.
    pub fn recipient_names(&self) -> String {
        let desks = self.recipients().into_iter();
        let names: Vec<&str> = desks
            .map(|which| self.names[which.index()].0.as_str())
            .collect();
        names.join(" and ")
    }

    /// Puts the desks that keys go to into step mode; out of it, if all of them are in it. Says which of both.
    pub fn toggle_step_mode(&mut self) -> bool {
        let desks = self.recipients();
        let on = !desks.iter().all(|which| self.step_mode[which.index()]);
        for which in desks {
            self.step_mode[which.index()] = on;
        }
        on
    }

    /// The desks whose stopped transactions a key moves. Where one of two has answered, COMMIT is meant for that one.
    pub fn moved_by(&self, action: Action) -> Vec<Which> {
        let step = |which: &Which| self.steps[which.index()].as_ref();
        let mut desks = self.recipients();
        desks.retain(|which| step(which).is_some());
        let answered = |which: &Which| {
            step(which).is_some_and(|view| matches!(view.place, StepPlace::Answered(_)))
        };
        let commits = matches!(action, Action::Commit | Action::CommitAndCut);
        if commits && desks.iter().any(answered) {
            desks.retain(answered);
        }
        desks
    }

    /// The keys that are worth a hint now.
    pub fn hints(&self) -> &'static [Action] {
        let desks = self.recipients();
        if desks
            .iter()
            .any(|which| self.steps[which.index()].is_some())
        {
            &crate::demo::keys::STOPPED
        } else {
            &crate::demo::keys::AT_EASE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::tests::fixtures::site;

    fn state() -> State {
        State::new(
            [Desk("anna".into()), Desk("bert".into())],
            site("Europe/London").calendar,
        )
    }

    #[test]
    fn step_mode_is_for_whoever_the_keys_go_to() {
        let mut state = state();
        assert!(state.toggle_step_mode());
        assert_eq!(state.step_mode, [true, false]);
        // With keys for both, the other one too, and then neither.
        state.both = true;
        assert!(state.toggle_step_mode());
        assert_eq!(state.step_mode, [true, true]);
        assert!(!state.toggle_step_mode());
        assert_eq!(state.step_mode, [false, false]);
        assert_eq!(state.recipient_names(), "anna and bert");
    }

    #[test]
    fn a_scenario_says_how_far_it_is_until_it_is_your_turn() {
        let mut state = state();
        state.watching = true;
        state.hear(Line::At(3, 7));
        state.hear(Line::Caption("Look.".into()));
        assert_eq!(state.at, Some((3, 7)));
        assert_eq!(state.caption.as_deref(), Some("Look."));
        state.hear(Line::YourTurn("Yours.".into()));
        assert_eq!((state.at, state.watching), (None, false));
    }
}
