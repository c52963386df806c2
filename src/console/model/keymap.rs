//! Which key does what, after the configuration has spoken.
//!
//! Built from the rows that the actions hand in; must not know what an action does.

use std::collections::HashMap;

use crokey::{KeyCombination, KeyCombinationFormat};
use crossterm::event::{KeyCode, KeyModifiers};

/// An action, by its name in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ActionName(pub &'static str);

/// The keys of one action, as they come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyRow {
    /// The action.
    pub action: ActionName,
    /// Keys that can't be taken away from it.
    pub fixed: &'static [KeyCombination],
    /// Keys that the configuration can replace.
    pub keys: &'static [KeyCombination],
}

/// Which key does what.
#[derive(Debug, Clone)]
pub struct Keymap {
    actions: HashMap<KeyCombination, ActionName>,
    keys: HashMap<ActionName, Vec<KeyCombination>>,
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
        action: &'static str,
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

impl Keymap {
    /// The rows, with other keys for the actions that `changes` names.
    ///
    /// # Errors
    /// [`KeymapError`], if the changes can't be meant.
    pub(crate) fn new(
        rows: &[KeyRow],
        changes: &HashMap<String, Vec<String>>,
    ) -> Result<Self, KeymapError> {
        if let Some(name) = changes
            .keys()
            .find(|name| rows.iter().all(|row| row.action.0 != **name))
        {
            return Err(KeymapError::NoSuchAction(name.clone()));
        }
        let mut keymap = Self {
            actions: HashMap::new(),
            keys: HashMap::new(),
        };
        for row in rows {
            let mut keys = match changes.get(row.action.0) {
                Some(written) => written
                    .iter()
                    .map(|key| parse(row.action.0, key))
                    .collect::<Result<Vec<_>, _>>()?,
                None => row.keys.to_vec(),
            };
            keys.extend_from_slice(row.fixed);
            for key in &keys {
                let first = keymap.actions.insert(*key, row.action);
                if let Some(first) = first.filter(|first| *first != row.action) {
                    return Err(KeymapError::Twice {
                        key: spelled(*key),
                        first: first.0,
                        second: row.action.0,
                    });
                }
            }
            keymap.keys.insert(row.action, keys);
        }
        Ok(keymap)
    }

    /// What a key does, with exactly these modifiers.
    ///
    /// Only a sign such as `?` may come with or without Shift: which it is depends on the keyboard.
    pub(crate) fn action(&self, key: KeyCombination) -> Option<ActionName> {
        self.actions
            .get(&key)
            .or_else(|| self.actions.get(&without_shift(key)?))
            .copied()
    }

    /// The first key of an action, as it is written on the hint line; empty if it has none.
    pub(crate) fn first(&self, action: ActionName) -> String {
        self.nth(action, 0).unwrap_or_default()
    }

    /// One of the keys of an action, as it is written on the hint line, counted from 0.
    pub(crate) fn nth(&self, action: ActionName, index: usize) -> Option<String> {
        self.keys_of(action).get(index).map(|key| spelled(*key))
    }

    /// Which of an action's keys a key is, counted from 0.
    pub(crate) fn index(&self, action: ActionName, key: KeyCombination) -> Option<usize> {
        self.keys_of(action).iter().position(|own| *own == key)
    }

    /// All keys of an action, as help writes them: digits that follow each other as a range.
    pub(crate) fn all(&self, action: ActionName) -> String {
        let mut written: Vec<String> = Vec::new();
        let mut run: Vec<KeyCombination> = Vec::new();
        let mut close = |run: &mut Vec<KeyCombination>| match run.as_slice() {
            [first, .., last] if run.len() > 2 => {
                written.push(format!("{}…{}", spelled(*first), spelled(*last)));
                run.clear();
            }
            _ => written.extend(run.drain(..).map(spelled)),
        };
        for key in self.keys_of(action) {
            if run.last().is_some_and(|last| !follows(*last, *key)) {
                close(&mut run);
            }
            run.push(*key);
        }
        close(&mut run);
        written.join(" ")
    }

    fn keys_of(&self, action: ActionName) -> &[KeyCombination] {
        self.keys.get(&action).map_or(&[], Vec::as_slice)
    }
}

/// Whether both are digits, the second one more than the first.
fn follows(first: KeyCombination, second: KeyCombination) -> bool {
    let digit = |key: KeyCombination| match *key.codes.first() {
        KeyCode::Char(sign) if key.modifiers == KeyModifiers::NONE => sign.to_digit(10),
        _ => None,
    };
    digit(first).is_some_and(|first| digit(second) == Some(first + 1))
}

fn parse(action: &'static str, written: &str) -> Result<KeyCombination, KeymapError> {
    crokey::parse(written)
        .map(KeyCombination::normalized)
        .map_err(|_| KeymapError::NotAKey {
            action,
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
pub(crate) fn spelled(key: KeyCombination) -> String {
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crokey::key;

    use super::*;

    const STEP: ActionName = ActionName("step");
    const CONFIRM: ActionName = ActionName("confirm");
    const HELP: ActionName = ActionName("help");
    const COUNT: ActionName = ActionName("count");

    const ROWS: [KeyRow; 4] = [
        KeyRow {
            action: STEP,
            fixed: &[key!(left)],
            keys: &[key!(h)],
        },
        KeyRow {
            action: CONFIRM,
            fixed: &[],
            keys: &[key!(c)],
        },
        KeyRow {
            action: HELP,
            fixed: &[],
            keys: &[key!('?')],
        },
        KeyRow {
            action: COUNT,
            fixed: &[],
            keys: &[key!('0'), key!('1'), key!('2')],
        },
    ];

    fn with(name: &str, keys: &[&str]) -> Result<Keymap, KeymapError> {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        Keymap::new(&ROWS, &HashMap::from([(name.to_owned(), keys)]))
    }

    #[test]
    fn modifiers_match_exactly() {
        let keymap = Keymap::new(&ROWS, &HashMap::new()).unwrap();
        assert_eq!(keymap.action(key!(c)), Some(CONFIRM));
        assert_eq!(keymap.action(key!(ctrl - c)), None);
        assert_eq!(keymap.action(key!(alt - c)), None);
        assert_eq!(keymap.action(key!(shift - c)), None);
        assert_eq!(keymap.action(key!(shift - '?')), Some(HELP));
    }

    #[test]
    fn keys_can_be_changed_and_fixed_ones_stay() {
        let keymap = with("step", &["a"]).unwrap();
        assert_eq!(keymap.action(key!(a)), Some(STEP));
        assert_eq!(keymap.action(key!(left)), Some(STEP));
        assert_eq!(keymap.action(key!(h)), None);
    }

    #[test]
    fn digits_are_keys_like_others() {
        let keymap = Keymap::new(&ROWS, &HashMap::new()).unwrap();
        assert_eq!(keymap.all(COUNT), "0…2");
        assert_eq!(keymap.index(COUNT, key!('2')), Some(2));
        let keymap = with("count", &["0", "f1", "4"]).unwrap();
        assert_eq!(keymap.all(COUNT), "0 F1 4");
        assert_eq!(keymap.index(COUNT, key!(f1)), Some(1));
        assert_eq!(keymap.action(key!('1')), None);
        assert_eq!(with("confirm", &["9"]).unwrap().first(CONFIRM), "9");
    }

    #[test]
    fn a_configuration_that_can_not_be_meant_is_explained() {
        assert_eq!(
            with("fly", &["f"]).unwrap_err(),
            KeymapError::NoSuchAction("fly".into())
        );
        assert!(matches!(
            with("confirm", &["nonsense"]).unwrap_err(),
            KeymapError::NotAKey { .. }
        ));
        assert!(matches!(
            with("confirm", &["h"]).unwrap_err(),
            KeymapError::Twice { .. }
        ));
        assert!(with("confirm", &["left"]).is_err());
        assert!(with("step", &["left"]).is_ok());
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
