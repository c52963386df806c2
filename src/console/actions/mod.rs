//! What keys do: one file an action, collected in one table.
//!
//! The table feeds dispatch, the hint line, help and the configuration. Actions use the model and the words of the domain;
//! they must not know how anything is painted, nor tasks, SQL or a clock.

pub(crate) mod action;
pub(crate) mod alternatives;
mod block;
mod cancel;
mod confirm;
mod count;
mod days;
mod edit;
mod go_to;
mod help;
pub(crate) mod help_page;
mod hold;
pub(crate) mod move_claim;
pub(crate) mod names;
mod panels;
pub(crate) mod reasons;
mod renew;
mod session;
mod step;
mod stretch;
pub(crate) mod words;

use std::collections::HashMap;

use crate::console::actions::action::{Action, Form};
use crate::console::model::Model;
use crate::console::model::keymap::{ActionName, KeyRow, Keymap, KeymapError};

/// The table, in the order of the hint line and of help.
pub(crate) static ACTIONS: &[Action] = &[
    hold::ACTION,
    confirm::ACTION,
    cancel::ACTION,
    edit::ACTION,
    renew::ACTION,
    move_claim::ACTION,
    block::ACTION,
    stretch::STRETCH,
    count::ACTION,
    step::LEFT,
    step::RIGHT,
    step::UP,
    step::DOWN,
    stretch::LEFT,
    stretch::RIGHT,
    panels::NEXT,
    panels::PREVIOUS,
    days::PREVIOUS,
    days::NEXT,
    days::NOW,
    go_to::ACTION,
    session::REFRESH,
    help::ACTION,
    session::BACK,
    session::SUSPEND,
    session::QUIT,
];

/// The action of a name, if there is one.
pub(crate) fn find(name: ActionName) -> Option<&'static Action> {
    ACTIONS.iter().find(|action| action.name == name)
}

/// Why an action is not possible now, in a full sentence; none if it is.
pub(crate) fn why_not(name: ActionName, model: &Model) -> Option<String> {
    (find(name)?.why_not)(model)
}

/// What the dialog of an action asks for.
pub(crate) fn form(name: ActionName) -> Option<&'static Form> {
    find(name)?.form
}

/// The keys of the table, with other keys for the actions that the configuration names.
///
/// # Errors
/// [`KeymapError`], if the configuration can't be meant.
pub fn keymap(changes: &HashMap<String, Vec<String>>) -> Result<Keymap, KeymapError> {
    let rows: Vec<KeyRow> = ACTIONS.iter().map(Action::key_row).collect();
    Keymap::new(&rows, changes)
}

/// The keys that can be used now, with the words of the hint line, the most useful first.
pub(crate) fn hints(model: &Model) -> Vec<(String, &'static str)> {
    ACTIONS
        .iter()
        .map(|action| (action, (action.hint)(model)))
        .filter(|(action, words)| !words.is_empty() && (action.why_not)(model).is_none())
        .map(|(action, words)| (model.keymap.first(action.name), words))
        .filter(|(key, _)| !key.is_empty())
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crokey::{KeyCombinationFormat, key};

    use super::*;
    use crate::config::Config;
    use crate::console::model::keymap::spelled;

    #[test]
    fn every_action_has_one_line_and_every_key_one_action() {
        let keymap = keymap(&HashMap::new()).unwrap();
        for (index, action) in ACTIONS.iter().enumerate() {
            let others = &ACTIONS[index + 1..];
            assert!(others.iter().all(|other| other.name != action.name));
            assert!(!action.help.is_empty(), "{}", action.name.0);
            for key in action.keys.iter().chain(action.fixed) {
                assert_eq!(keymap.action(*key), Some(action.name), "{}", spelled(*key));
            }
        }
        assert_eq!(keymap.all(names::COUNT), "0…9");
    }

    #[test]
    fn control_and_alt_are_not_the_plain_key() {
        let keymap = keymap(&HashMap::new()).unwrap();
        assert_eq!(keymap.action(key!(x)), Some(names::CANCEL));
        assert_eq!(keymap.action(key!(ctrl - x)), None);
        assert_eq!(keymap.action(key!(ctrl - z)), Some(ActionName("suspend")));
        assert_eq!(keymap.action(key!(z)), None);
    }

    /// The keys of the sample configuration are written from the table: with `KEYRACK_WRITE_SAMPLE=1` by this test.
    #[test]
    fn the_sample_configuration_says_what_is_so_without_it_and_names_every_key() {
        const KEYS: &str = "[keys]\n";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/console.toml");
        let text = std::fs::read_to_string(path).unwrap();
        let (above, below) = text.split_once(KEYS).unwrap();
        let config: Config = toml::from_str(above).unwrap();
        assert_eq!(config, Config::default());
        let table = sample_keys();
        if std::env::var_os("KEYRACK_WRITE_SAMPLE").is_some() {
            std::fs::write(path, format!("{above}{KEYS}{table}")).unwrap();
        } else {
            assert_eq!(below, table, "KEYRACK_WRITE_SAMPLE=1 writes it anew");
        }
        let config: Config = toml::from_str(&format!("{KEYS}{table}")).unwrap();
        let sample = keymap(&config.keys()).unwrap();
        for action in ACTIONS {
            for key in action.keys.iter().chain(action.fixed) {
                assert_eq!(sample.action(*key), Some(action.name), "{}", spelled(*key));
            }
        }
    }

    /// A line for every action whose keys can be replaced.
    fn sample_keys() -> String {
        let mut lines = String::new();
        for action in ACTIONS.iter().filter(|action| !action.keys.is_empty()) {
            let keys: Vec<String> = action
                .keys
                .iter()
                .map(|key| format!("\"{}\"", KeyCombinationFormat::default().to_string(*key)))
                .collect();
            let written = match &keys[..] {
                [key] => key.to_lowercase(),
                _ => format!("[{}]", keys.join(", ").to_lowercase()),
            };
            lines.push_str(&format!("{} = {written}\n", action.name.0));
        }
        lines
    }

    #[test]
    fn names_that_are_spoken_of_are_in_the_table() {
        use names::{BACK, CANCEL, CONFIRM, COUNT, DOWN, EDIT, HOLD, LEFT, MOVE, RIGHT, UP};
        for name in [
            BACK, CANCEL, CONFIRM, COUNT, DOWN, EDIT, HOLD, LEFT, MOVE, RIGHT, UP,
        ] {
            assert!(find(name).is_some(), "{}", name.0);
        }
    }
}
