//! The demo's own keys: one table for dispatch, hint line and help. Function keys, which the console does not use, and
//! a letter after the leader key for terminals that keep function keys to themselves.

use crokey::{KeyCombination, key};
use crossterm::event::{KeyCode, KeyModifiers};

use crate::console::model::keymap::spelled;

/// What the demo does with a key that it keeps from the desks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Action {
    Help,
    Focus,
    Alone,
    Both,
    Fire,
    FireNext,
    StepMode,
    Step,
    RunOn,
    Commit,
    RollBack,
    Cut,
    CommitAndCut,
    Kill,
    Save,
    Pause,
    Onwards,
    Quit,
}

/// One line of the table.
pub struct Binding {
    /// What it does.
    pub action: Action,
    /// The key, if it has one of its own.
    pub key: Option<KeyCombination>,
    /// The letter after the leader key.
    pub letter: char,
    /// Two or three words for the hint line.
    pub hint: &'static str,
    /// The same where there is hardly room.
    pub brief: &'static str,
    /// A sentence for help.
    pub help: &'static str,
}

const fn binding(
    action: Action,
    key: Option<KeyCombination>,
    letter: char,
    [hint, brief]: [&'static str; 2],
    help: &'static str,
) -> Binding {
    Binding {
        action,
        key,
        letter,
        hint,
        brief,
        help,
    }
}

/// Before a letter of the table.
pub const LEADER: KeyCombination = key!(ctrl - g);

/// The table, in the order of help.
#[rustfmt::skip]
pub static BINDINGS: [Binding; 18] = [
    binding(Action::Focus, Some(key!(f2)), 'o', ["other desk", "desk"], "Give the keys to the other desk"),
    binding(Action::Alone, None, 'z', ["all the room", "room"], "Give this desk all the room, or share it again"),
    binding(Action::Both, Some(key!(f3)), 'b', ["keys to both", "to both"], "All keys to both desks, on or off; step mode's too"),
    binding(Action::Fire, Some(key!(f4)), 'f', ["fire Enter", "fire Enter"], "Enter at both within the same millisecond"),
    binding(Action::FireNext, Some(key!(f5)), 'n', ["fire a key", "fire key"], "The same with the next key that is pressed: c, x, + …"),
    binding(Action::StepMode, Some(key!(f6)), 'm', ["step mode", "steps"], "Step mode, on or off: transactions stop at every step"),
    binding(Action::Step, Some(key!(f7)), 's', ["step", "step"], "Take the next step; after the last one, COMMIT"),
    binding(Action::RunOn, Some(key!(f8)), 'r', ["run on", "run"], "Take every step up to the answer"),
    binding(Action::Commit, Some(key!(f9)), 'c', ["commit", "commit"], "COMMIT what the command has answered"),
    binding(Action::RollBack, Some(key!(f10)), 'x', ["roll back", "roll back"], "ROLLBACK, wherever it stands"),
    binding(Action::Cut, Some(key!(f11)), 'u', ["cut", "cut"], "Cut the connection here, as a broken network would"),
    binding(Action::Kill, Some(key!(f12)), 'k', ["kill", "kill"], "Kill the backend here"),
    binding(Action::CommitAndCut, None, 'l', ["commit, cut", "commit, cut"], "Send COMMIT, and cut the line before its answer comes"),
    binding(Action::Save, Some(key!(ctrl - t)), 'w', ["transcript", "save"], "Write what happened at both desks into a file"),
    binding(Action::Pause, None, 'p', ["pause", "pause"], "Pause a scenario, or let it go on"),
    binding(Action::Onwards, None, ' ', ["onwards", "onwards"], "Have a scenario go on at once"),
    binding(Action::Help, Some(key!(f1)), '?', ["help", "help"], "This page; ? is the console's own"),
    binding(Action::Quit, None, 'q', ["end", "end"], "End the demo; q and Ctrl-c at a desk do so too"),
];

/// The keys while nothing is stopped, the most useful first.
pub const AT_EASE: [Action; 7] = [
    Action::Focus,
    Action::Fire,
    Action::StepMode,
    Action::Both,
    Action::FireNext,
    Action::Save,
    Action::Help,
];

/// The keys while a transaction is stopped of a desk that has them.
pub const STOPPED: [Action; 8] = [
    Action::Step,
    Action::RunOn,
    Action::Commit,
    Action::RollBack,
    Action::Focus,
    Action::Cut,
    Action::Kill,
    Action::Help,
];

/// What a key does while a scenario has the desks. Whatever would disturb it does nothing.
pub fn while_watching(key: KeyCombination) -> Option<Action> {
    if key == key!(space) {
        Some(Action::Pause)
    } else if key == key!(enter) || key == key!(right) {
        Some(Action::Onwards)
    } else if key == key!(q) || key == key!(ctrl - c) {
        Some(Action::Quit)
    } else {
        action(key).filter(|action| matches!(action, Action::Help | Action::Save))
    }
}

/// What a key does by itself.
pub fn action(key: KeyCombination) -> Option<Action> {
    let binding = BINDINGS.iter().find(|binding| binding.key == Some(key))?;
    Some(binding.action)
}

/// What a key does after the leader key.
pub fn after_leader(key: KeyCombination) -> Option<Action> {
    let plain = KeyModifiers::NONE | KeyModifiers::SHIFT;
    let KeyCode::Char(letter) = *key.codes.first() else {
        return None;
    };
    if !plain.contains(key.modifiers) {
        return None;
    }
    let binding = BINDINGS.iter().find(|binding| binding.letter == letter)?;
    Some(binding.action)
}

/// The line of an action.
pub fn binding_of(action: Action) -> &'static Binding {
    // The table has every action (a test says so), so that the first line is never taken for another.
    BINDINGS
        .iter()
        .find(|binding| binding.action == action)
        .unwrap_or(&BINDINGS[0])
}

impl Binding {
    /// Its key as people write it; without one, what to press after the leader key.
    pub fn keys(&self) -> String {
        self.key.map_or_else(|| self.with_leader(), spelled)
    }

    /// The other way to press it.
    pub fn with_leader(&self) -> String {
        let letter = match self.letter {
            ' ' => "Space".to_owned(),
            letter => letter.to_string(),
        };
        format!("{} {letter}", spelled(LEADER))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::console::actions;

    #[test]
    fn no_key_is_the_console_s_and_none_means_two_things() {
        let console = actions::keymap(&HashMap::new()).unwrap();
        assert_eq!(console.action(LEADER), None);
        for (index, binding) in BINDINGS.iter().enumerate() {
            if let Some(key) = binding.key {
                assert_eq!(console.action(key), None, "{}", spelled(key));
                assert_eq!(action(key), Some(binding.action));
            }
            for other in &BINDINGS[index + 1..] {
                assert_ne!(binding.letter, other.letter);
                assert_ne!(binding.action, other.action);
                assert!(binding.key.is_none() || binding.key != other.key);
            }
            assert_eq!(binding_of(binding.action).help, binding.help);
        }
        assert!(
            actions::ACTIONS
                .iter()
                .all(|line| !line.fixed.contains(&LEADER))
        );
    }
}
