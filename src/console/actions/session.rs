//! What concerns the console as a whole: let go, read anew, go to the shell, leave.

use crokey::key;

use crate::console::actions::action::{Action, Scope};
use crate::console::actions::names;
use crate::console::effect::{Effect, TerminalEffect};
use crate::console::model::keymap::ActionName;
use crate::console::model::notice::Tone;

pub(super) const REFRESH: Action = Action {
    name: ActionName("refresh"),
    keys: &[key!(r)],
    help: "Read everything anew",
    act: |model, _| {
        model.say(Tone::Plain, "Reading everything anew.");
        vec![Effect::Refresh]
    },
    ..Action::PLAIN
};

pub(super) const BACK: Action = Action {
    name: names::BACK,
    fixed: &[key!(esc)],
    hint: |model| if model.grab.is_some() { "let go" } else { "" },
    help: "Let go of a claim, a stretched period, a number or a message",
    act: |model, _| {
        model.let_go();
        model.place_cursor(model.cursor.at);
        Vec::new()
    },
    ..Action::PLAIN
};

pub(super) const SUSPEND: Action = Action {
    name: ActionName("suspend"),
    keys: &[key!(ctrl - z)],
    help: "Back to the shell; `fg` brings the console back",
    scope: Scope::Everywhere,
    act: |_, _| vec![Effect::Terminal(TerminalEffect::Suspend)],
    ..Action::PLAIN
};

pub(super) const QUIT: Action = Action {
    name: ActionName("quit"),
    fixed: &[key!(ctrl - c)],
    keys: &[key!(q)],
    hint: |_| "quit",
    help: "Leave the console; holds go on running",
    // In a dialog the fixed key closes the dialog first: there may be text in it.
    scope: Scope::NoDialog,
    act: |_, _| vec![Effect::Terminal(TerminalEffect::Quit)],
    ..Action::PLAIN
};
