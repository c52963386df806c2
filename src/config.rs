//! The user's configuration: keys, theme, mouse. A TOML file; without one, everything is as it comes.
//!
//! Must not know what the names of actions mean.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// What the file can say.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The background that the colours are for.
    pub theme: ThemeChoice,
    /// How many colours.
    pub colours: ColoursChoice,
    /// Whether only ASCII signs are drawn; if not said, what the locale says.
    pub ascii: Option<bool>,
    /// Whether the mouse selects. Without it, the terminal's own selection works.
    pub mouse: bool,
    /// Keys for actions, by their names in the key table.
    pub keys: HashMap<String, Keys>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            theme: ThemeChoice::Auto,
            colours: ColoursChoice::Auto,
            ascii: None,
            mouse: true,
            keys: HashMap::new(),
        }
    }
}

/// `theme = "auto"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThemeChoice {
    /// Ask the terminal once, at the start.
    Auto,
    /// For a dark background.
    Dark,
    /// For a light one.
    Light,
}

/// `colours = "auto"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum ColoursChoice {
    /// What `NO_COLOR`, `COLORTERM` and `TERM` say.
    #[serde(rename = "auto")]
    Auto,
    /// 24 bits.
    #[serde(rename = "true")]
    True,
    /// The terminal's own sixteen.
    #[serde(rename = "16")]
    Sixteen,
    /// None.
    #[serde(rename = "none")]
    None,
}

/// One key, or several.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Keys {
    /// `confirm = "c"`.
    One(String),
    /// `confirm = ["c", "f2"]`.
    Several(Vec<String>),
}

/// Why the configuration can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It can't be read.
    #[error("The configuration {path} can't be read: {reason}.")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: std::io::Error,
    },
    /// It says something that is not known.
    #[error("The configuration {path} has a mistake:\n{reason}")]
    Mistaken {
        /// The file.
        path: PathBuf,
        /// Which, with its line.
        reason: Box<toml::de::Error>,
    },
}

impl Config {
    /// Where the file is looked for; none where there is no home.
    pub fn path() -> Option<PathBuf> {
        directories::ProjectDirs::from("", "", "keyrack")
            .map(|dirs| dirs.config_dir().join("config.toml"))
    }

    /// Reads the user's file, if there is one.
    ///
    /// # Errors
    /// [`ConfigError`], in a sentence for the person.
    pub fn load() -> Result<Self, ConfigError> {
        Self::path().map_or_else(|| Ok(Self::default()), |path| Self::read(&path))
    }

    /// Reads a file, if it is there.
    ///
    /// # Errors
    /// [`ConfigError`], in a sentence for the person.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            Err(reason) => {
                return Err(ConfigError::Unreadable {
                    path: path.to_owned(),
                    reason,
                });
            }
        };
        toml::from_str(&text).map_err(|reason| ConfigError::Mistaken {
            path: path.to_owned(),
            reason: Box::new(reason),
        })
    }

    /// The keys as they are written, by the names of actions.
    pub fn keys(&self) -> HashMap<String, Vec<String>> {
        let keys = self.keys.iter().map(|(action, keys)| {
            let keys = match keys {
                Keys::One(key) => vec![key.clone()],
                Keys::Several(keys) => keys.clone(),
            };
            (action.clone(), keys)
        });
        keys.collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, ConfigError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Config::read(file.path())
    }

    #[test]
    fn without_a_file_everything_is_as_it_comes() {
        let nowhere = tempfile::tempdir().unwrap();
        let config = Config::read(&nowhere.path().join("config.toml")).unwrap();
        assert_eq!(config, Config::default());
    }

    #[test]
    fn a_file_sets_theme_and_keys() {
        let config = read("theme = 'light'\ncolours = '16'\nmouse = false\n[keys]\nconfirm = ['f', 'f2']\nhold = 'space'\n")
            .unwrap();
        assert_eq!(config.theme, ThemeChoice::Light);
        assert_eq!(config.colours, ColoursChoice::Sixteen);
        assert!(!config.mouse);
        let keys = config.keys();
        assert_eq!(keys["confirm"], ["f", "f2"]);
        assert_eq!(keys["hold"], ["space"]);
    }

    #[test]
    fn a_mistake_is_named_with_its_line() {
        let error = read("theme = 'dark'\ncolor = 'red'\n")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("line 2") && error.contains("color"),
            "{error}"
        );
    }
}
