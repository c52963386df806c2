//! What this terminal can show: its background, how many colours, whether more than ASCII.
//!
//! The configuration decides where it says something, else the environment and the terminal's own answer.

use std::io::{self, IsTerminal};

use terminal_colorsaurus::{QueryOptions, ThemeMode, theme_mode};

use crate::config::{ColoursChoice, Config, ThemeChoice};
use crate::terminal::theme::{Background, Colours, Theme};

/// The theme for this terminal; asks it for its background, once, before anything else reads its answers.
pub(crate) fn theme(config: &Config) -> Theme {
    let colours = colours_for(config);
    let background = match config.theme {
        ThemeChoice::Dark => Background::Dark,
        ThemeChoice::Light => Background::Light,
        ThemeChoice::Auto if colours == Colours::None || !io::stdout().is_terminal() => {
            Background::Dark
        }
        ThemeChoice::Auto => match theme_mode(QueryOptions::default()) {
            Ok(ThemeMode::Light) => Background::Light,
            Ok(ThemeMode::Dark) | Err(_) => Background::Dark,
        },
    };
    Theme::new(background, colours, is_ascii(config))
}

/// How many colours to draw with.
pub(crate) fn colours_for(config: &Config) -> Colours {
    match config.colours {
        ColoursChoice::True => Colours::True,
        ColoursChoice::Sixteen => Colours::Sixteen,
        ColoursChoice::None => Colours::None,
        ColoursChoice::Auto => colours(
            set("NO_COLOR").as_deref(),
            set("COLORTERM").as_deref(),
            set("TERM").as_deref(),
        ),
    }
}

/// Whether to draw only ASCII signs.
pub(crate) fn is_ascii(config: &Config) -> bool {
    let locale = set("LC_ALL")
        .or_else(|| set("LC_CTYPE"))
        .or_else(|| set("LANG"));
    config
        .ascii
        .unwrap_or_else(|| wants_ascii(locale.as_deref(), set("TERM").as_deref()))
}

/// A variable of the environment, unless it is empty.
fn set(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn colours(no_color: Option<&str>, colorterm: Option<&str>, term: Option<&str>) -> Colours {
    match (no_color, colorterm, term) {
        (Some(_), ..) | (.., Some("dumb")) => Colours::None,
        (_, Some("truecolor" | "24bit"), _) => Colours::True,
        (.., Some(term)) if term.ends_with("-direct") => Colours::True,
        _ => Colours::Sixteen,
    }
}

/// A locale that names another character set than UTF-8, or a terminal that has few glyphs. No locale says nothing.
fn wants_ascii(locale: Option<&str>, term: Option<&str>) -> bool {
    let utf8 = |locale: &str| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    };
    locale.is_some_and(|locale| !utf8(locale)) || matches!(term, Some("linux" | "dumb"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_decides_on_colours() {
        assert_eq!(
            colours(Some("1"), Some("truecolor"), Some("xterm")),
            Colours::None
        );
        assert_eq!(
            colours(None, Some("truecolor"), Some("xterm")),
            Colours::True
        );
        assert_eq!(colours(None, None, Some("xterm-direct")), Colours::True);
        assert_eq!(
            colours(None, None, Some("xterm-256color")),
            Colours::Sixteen
        );
        assert_eq!(colours(None, None, Some("dumb")), Colours::None);
        assert_eq!(colours(None, None, None), Colours::Sixteen);
    }

    #[test]
    fn the_locale_decides_on_signs() {
        assert!(!wants_ascii(None, Some("xterm")));
        assert!(!wants_ascii(Some("de_DE.UTF-8"), Some("xterm")));
        assert!(!wants_ascii(Some("C.utf8"), None));
        assert!(wants_ascii(Some("C"), Some("xterm")));
        assert!(wants_ascii(Some("ja_JP.eucJP"), None));
        assert!(wants_ascii(None, Some("linux")));
    }
}
