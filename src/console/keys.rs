//! The keys: one table of what each does, how it is called, and why it can't be done at the moment.
//!
//! It feeds dispatch, the hint line and help. Keys can be changed in the configuration; the arrows always move.

use std::collections::HashMap;

use crokey::{KeyCombination, KeyCombinationFormat, key};
use crossterm::event::{KeyCode, KeyModifiers};

use super::model::{Model, Panel};
use super::reasons;

/// What a key can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Action {
    Left,
    Right,
    Up,
    Down,
    StretchLeft,
    StretchRight,
    Stretch,
    Hold,
    Count,
    Confirm,
    Cancel,
    Edit,
    Renew,
    Move,
    Block,
    PreviousDay,
    NextDay,
    Now,
    GoTo,
    NextPanel,
    PreviousPanel,
    Refresh,
    Help,
    Back,
    Suspend,
    Quit,
}

/// One line of the table.
pub struct Binding {
    /// What it does.
    pub action: Action,
    /// Its name in the configuration.
    pub name: &'static str,
    /// Keys that can't be taken away from it.
    pub fixed: &'static [KeyCombination],
    /// Keys that the configuration can replace.
    pub keys: &'static [KeyCombination],
    /// Two or three words for the hint line; empty for none.
    pub hint: &'static str,
    /// A sentence for help.
    pub help: &'static str,
    /// Why it is not possible now, in a full sentence; none if it is.
    pub unavailable: fn(&Model) -> Option<String>,
}

const fn binding(
    action: Action,
    name: &'static str,
    fixed: &'static [KeyCombination],
    keys: &'static [KeyCombination],
    [hint, help]: [&'static str; 2],
    unavailable: fn(&Model) -> Option<String>,
) -> Binding {
    Binding {
        action,
        name,
        fixed,
        keys,
        hint,
        help,
        unavailable,
    }
}

/// The table, in the order of the hint line and of help.
#[rustfmt::skip]
pub static BINDINGS: [Binding; 26] = [
    binding(Action::Hold, "hold", &[], &[key!(enter)],
        ["hold", "Hold the selected period, or one unit of the selected item, for the house's usual time"], reasons::hold),
    binding(Action::Confirm, "confirm", &[], &[key!(c)],
        ["confirm", "Confirm the held claim under the cursor; of a group, all of it"], reasons::confirm),
    binding(Action::Cancel, "cancel", &[], &[key!(x)],
        ["cancel", "Give the claim under the cursor back; asks first, with a reason"], reasons::cancel),
    binding(Action::Edit, "edit", &[], &[key!(e)],
        ["guest & note", "Write down guest, note and party of the claim under the cursor"], reasons::edit),
    binding(Action::Renew, "renew", &[], &[key!('+')],
        ["renew", "Give the hold under the cursor, or all of its group, the house's usual time again from now on"], reasons::renew),
    binding(Action::Move, "move", &[], &[key!(m)],
        ["move", "Take the claim under the cursor along; the same key or Enter puts it down, Escape lets go"], reasons::carry),
    binding(Action::Block, "block", &[], &[key!(b)],
        ["block", "Take the selected period for the house itself, with a reason"], reasons::block),
    binding(Action::Stretch, "stretch", &[], &[key!(v)],
        ["stretch", "Stretch the period, or the claim under the cursor by its end, with the plain arrows; Enter does it, Escape lets go"], reasons::stretch),
    binding(Action::Count, "count", &[key!('0'), key!('1'), key!('2'), key!('3'), key!('4'), key!('5'), key!('6'), key!('7'), key!('8'), key!('9')], &[],
        ["", "In stock: how many units the next hold takes; after a conflict: 1, 2 or 3 takes what is free instead"], reasons::count),
    binding(Action::Left, "left", &[key!(left)], &[key!(h)],
        ["", "One cell earlier; over midnight to the day before"], reasons::rooms_only),
    binding(Action::Right, "right", &[key!(right)], &[key!(l)],
        ["", "One cell later; over midnight to the next day"], reasons::rooms_only),
    binding(Action::Up, "up", &[key!(up)], &[key!(k)],
        ["", "One line up"], reasons::never),
    binding(Action::Down, "down", &[key!(down)], &[key!(j)],
        ["", "One line down"], reasons::never),
    binding(Action::StretchLeft, "stretch_left", &[key!(shift-left)], &[key!(shift-h)],
        ["", "Stretch the period to earlier, or shrink it; of a claim, its end"], reasons::stretch),
    binding(Action::StretchRight, "stretch_right", &[key!(shift-right)], &[key!(shift-l)],
        ["", "Stretch the period to later; of a claim, its end"], reasons::stretch),
    binding(Action::NextPanel, "next_panel", &[], &[key!(tab)],
        ["panel", "From rooms to stock to the feed"], reasons::never),
    binding(Action::PreviousPanel, "previous_panel", &[], &[key!(shift-backtab)],
        ["", "And the other way round"], reasons::never),
    binding(Action::PreviousDay, "previous_day", &[], &[key!(p)],
        ["", "The day before"], reasons::never),
    binding(Action::NextDay, "next_day", &[], &[key!(n)],
        ["next day", "The next day"], reasons::never),
    binding(Action::Now, "now", &[], &[key!(t)],
        ["now", "The present moment"], reasons::never),
    binding(Action::GoTo, "go_to", &[], &[key!(g)],
        ["go to", "Another date: 2026-12-03, 3 Dec, tomorrow, fri, +7"], reasons::never),
    binding(Action::Refresh, "refresh", &[], &[key!(r)],
        ["", "Read everything anew"], reasons::never),
    binding(Action::Help, "help", &[], &[key!('?')],
        ["help", "This page"], reasons::never),
    binding(Action::Back, "back", &[key!(esc)], &[],
        ["", "Let go of a claim, a stretched period, a number or a message"], reasons::never),
    binding(Action::Suspend, "suspend", &[], &[key!(ctrl-z)],
        ["", "Back to the shell; `fg` brings the console back"], reasons::never),
    binding(Action::Quit, "quit", &[key!(ctrl-c)], &[key!(q)],
        ["quit", "Leave the console; holds go on running"], reasons::never),
];

/// Which key does what, after the configuration has spoken.
#[derive(Debug, Clone)]
pub struct Keymap {
    actions: HashMap<KeyCombination, Action>,
    keys: HashMap<Action, Vec<KeyCombination>>,
}

/// Why a configuration of the keys can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeymapError {
    /// No such action.
    #[error("there is nothing called “{0}” that a key could do")]
    NoSuchAction(String),
    /// Not a key.
    #[error("“{key}” for {action} is not a key; write it like c, enter, ctrl-z or shift-left")]
    NotAKey {
        /// The action's name.
        action: String,
        /// What was written.
        key: String,
    },
    /// One key for two actions.
    #[error("the key {key} is given to both {first} and {second}; give one of them another")]
    Twice {
        /// The key.
        key: String,
        /// One action.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
}

impl Default for Keymap {
    fn default() -> Self {
        let mut keymap = Self {
            actions: HashMap::new(),
            keys: HashMap::new(),
        };
        for binding in &BINDINGS {
            let keys = binding.keys.iter().chain(binding.fixed).copied().collect();
            keymap.set(binding.action, keys);
        }
        keymap
    }
}

impl Keymap {
    /// The table with other keys for some actions.
    pub fn with(changes: &HashMap<String, Vec<String>>) -> Result<Self, KeymapError> {
        if let Some(name) = changes
            .keys()
            .find(|name| BINDINGS.iter().all(|binding| binding.name != **name))
        {
            return Err(KeymapError::NoSuchAction(name.clone()));
        }
        let mut keymap = Self {
            actions: HashMap::new(),
            keys: HashMap::new(),
        };
        for binding in &BINDINGS {
            let mut keys = match changes.get(binding.name) {
                Some(written) => written
                    .iter()
                    .map(|key| parse(binding.name, key))
                    .collect::<Result<Vec<_>, _>>()?,
                None => binding.keys.to_vec(),
            };
            keys.extend_from_slice(binding.fixed);
            for key in &keys {
                if let Some(first) = keymap.actions.get(key) {
                    let first = name_of(*first);
                    return Err(KeymapError::Twice {
                        key: spelled(*key),
                        first,
                        second: binding.name,
                    });
                }
            }
            keymap.set(binding.action, keys);
        }
        Ok(keymap)
    }

    fn set(&mut self, action: Action, keys: Vec<KeyCombination>) {
        self.actions.extend(keys.iter().map(|key| (*key, action)));
        self.keys.insert(action, keys);
    }

    /// What a key does, with exactly these modifiers.
    ///
    /// Only a sign such as `?` may come with or without Shift: which it is depends on the keyboard.
    pub fn action(&self, key: KeyCombination) -> Option<Action> {
        self.actions
            .get(&key)
            .or_else(|| self.actions.get(&without_shift(key)?))
            .copied()
    }

    /// The first key of an action, as it is written on the hint line; empty if it has none.
    pub fn first(&self, action: Action) -> String {
        self.keys
            .get(&action)
            .and_then(|keys| keys.first())
            .map_or(String::new(), |key| spelled(*key))
    }

    /// All keys of an action, as help writes them.
    pub fn all(&self, action: Action) -> String {
        if action == Action::Count {
            return "0…9".into();
        }
        let keys = self.keys.get(&action).map_or(&[][..], Vec::as_slice);
        keys.iter()
            .map(|key| spelled(*key))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// The line of the table for an action.
pub fn binding_of(action: Action) -> &'static Binding {
    // The table has every action (a test says so), so that the first line is never taken for another.
    BINDINGS
        .iter()
        .find(|binding| binding.action == action)
        .unwrap_or(&BINDINGS[0])
}

fn name_of(action: Action) -> &'static str {
    binding_of(action).name
}

fn parse(action: &str, written: &str) -> Result<KeyCombination, KeymapError> {
    crokey::parse(written)
        .map(KeyCombination::normalized)
        .map_err(|_| KeymapError::NotAKey {
            action: action.to_owned(),
            key: written.to_owned(),
        })
}

fn without_shift(key: KeyCombination) -> Option<KeyCombination> {
    match *key.codes.first() {
        KeyCode::Char(sign) if key.modifiers == KeyModifiers::SHIFT && !sign.is_alphabetic() => {
            Some(KeyCombination::one_key(
                KeyCode::Char(sign),
                KeyModifiers::NONE,
            ))
        }
        _ => None,
    }
}

/// A key as people write it: `c`, `Enter`, `Ctrl-z`, `Shift-←`.
pub fn spelled(key: KeyCombination) -> String {
    let arrow = |code: &KeyCode| match code {
        KeyCode::Left => Some("←"),
        KeyCode::Right => Some("→"),
        KeyCode::Up => Some("↑"),
        KeyCode::Down => Some("↓"),
        _ => None,
    };
    let plain = |name: &str| {
        let shift = if key.modifiers.contains(KeyModifiers::SHIFT) {
            "Shift-"
        } else {
            ""
        };
        format!("{shift}{name}")
    };
    match *key.codes.first() {
        KeyCode::BackTab => "Shift-Tab".into(),
        ref code => arrow(code).map_or_else(
            || {
                KeyCombinationFormat::default()
                    .with_implicit_shift()
                    .to_string(key)
            },
            plain,
        ),
    }
}

/// The keys that can be used now, with the words of the hint line, the most useful first.
pub fn hints(model: &Model) -> Vec<(String, &'static str)> {
    BINDINGS
        .iter()
        .map(|binding| (binding, hint_word(binding, model)))
        .filter(|(binding, words)| !words.is_empty() && (binding.unavailable)(model).is_none())
        .map(|(binding, words)| (model.keymap.first(binding.action), words))
        .filter(|(key, _)| !key.is_empty())
        .collect()
}

fn hint_word(binding: &Binding, model: &Model) -> &'static str {
    let carrying = model.carried.is_some();
    match (binding.action, model.panel) {
        (Action::Hold, _) if carrying => "put down here",
        (Action::Move, _) if carrying => "",
        (Action::Back, _) if carrying => "let go",
        (Action::Hold, Panel::Stock) if model.count.is_none() => "hold one",
        _ => binding.hint,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_action_has_one_line_and_every_key_one_action() {
        for (index, binding) in BINDINGS.iter().enumerate() {
            assert!(
                BINDINGS[index + 1..]
                    .iter()
                    .all(|other| other.action != binding.action && other.name != binding.name)
            );
            for key in binding.keys.iter().chain(binding.fixed) {
                let owners = BINDINGS
                    .iter()
                    .filter(|other| other.keys.contains(key) || other.fixed.contains(key));
                assert_eq!(owners.count(), 1, "{}", spelled(*key));
                assert_eq!(Keymap::default().action(*key), Some(binding.action));
            }
        }
    }

    #[test]
    fn modifiers_match_exactly() {
        let keymap = Keymap::default();
        assert_eq!(keymap.action(key!(x)), Some(Action::Cancel));
        assert_eq!(keymap.action(key!(ctrl - x)), None);
        assert_eq!(keymap.action(key!(alt - x)), None);
        assert_eq!(keymap.action(key!(shift - x)), None);
        assert_eq!(keymap.action(key!(ctrl - z)), Some(Action::Suspend));
        assert_eq!(keymap.action(key!(z)), None);
        assert_eq!(keymap.action(key!(shift - '?')), Some(Action::Help));
    }

    #[test]
    fn keys_can_be_changed_and_arrows_stay() {
        let changes = HashMap::from([("left".to_owned(), vec!["a".to_owned()])]);
        let keymap = Keymap::with(&changes).unwrap();
        assert_eq!(keymap.action(key!(a)), Some(Action::Left));
        assert_eq!(keymap.action(key!(left)), Some(Action::Left));
        assert_eq!(keymap.action(key!(h)), None);
    }

    #[test]
    fn a_configuration_that_can_not_be_meant_is_explained() {
        let one = |name: &str, key: &str| {
            Keymap::with(&HashMap::from([(name.to_owned(), vec![key.to_owned()])]))
        };
        assert_eq!(
            one("fly", "f").unwrap_err(),
            KeymapError::NoSuchAction("fly".into())
        );
        assert!(matches!(
            one("hold", "nonsense").unwrap_err(),
            KeymapError::NotAKey { .. }
        ));
        assert!(matches!(
            one("hold", "c").unwrap_err(),
            KeymapError::Twice { .. }
        ));
        assert!(one("hold", "ctrl-c").is_err());
    }

    #[test]
    fn keys_are_spelled_for_people() {
        assert_eq!(spelled(key!(enter)), "Enter");
        assert_eq!(spelled(key!(shift - left)), "Shift-←");
        assert_eq!(spelled(key!(shift - h)), "H");
        assert_eq!(spelled(key!(ctrl - z)), "Ctrl-z");
        assert_eq!(spelled(key!(shift - backtab)), "Shift-Tab");
    }
}
