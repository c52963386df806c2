//! The terminal: taken, and always given back — at the end, on a panic, before the shell gets it.

use std::io::{self, IsTerminal, Stdout, Write};
use std::mem::ManuallyDrop;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use terminal_colorsaurus::{QueryOptions, ThemeMode, theme_mode};

use super::config::{ColoursChoice, Config, ThemeChoice};
use super::model::Model;
use super::theme::{Background, Colours, Theme};
use super::view;

/// Whether the terminal is ours: what was taken is given back once.
static TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// The terminal in our hands; dropping it gives it back.
pub struct Screen {
    /// Never dropped: in a window that was closed ratatui could not show the cursor then, would print so, and printing
    /// to a terminal that is gone panics. [`give_back`] shows the cursor.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
    mouse: bool,
}

impl Screen {
    /// Takes the terminal.
    pub fn take(mouse: bool) -> io::Result<Self> {
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                give_back();
                before(panic);
            }));
        });
        take(mouse)?;
        Ok(Self {
            terminal: ManuallyDrop::new(Terminal::new(CrosstermBackend::new(io::stdout()))?),
            mouse,
        })
    }

    /// Paints the model.
    pub fn draw(&mut self, model: &Model, theme: &Theme) -> io::Result<()> {
        self.paint(|buffer| view::paint(buffer, model, theme))
    }

    /// Paints a frame, and puts the terminal's cursor where the painter says; a terminal that can, shows the frame when
    /// it is whole.
    pub fn paint(
        &mut self,
        painter: impl FnOnce(&mut Buffer) -> Option<Position>,
    ) -> io::Result<()> {
        queue!(io::stdout(), BeginSynchronizedUpdate)?;
        self.terminal.draw(|frame| {
            if let Some(position) = painter(frame.buffer_mut()) {
                frame.set_cursor_position(position);
            }
        })?;
        execute!(io::stdout(), EndSynchronizedUpdate)
    }

    /// Forgets what the terminal shows, so that the next frame is painted whole.
    pub fn forget(&mut self) -> io::Result<()> {
        let (width, height) = crossterm::terminal::size()?;
        self.terminal.resize(Rect::new(0, 0, width, height))
    }

    /// Hands the terminal to the shell and stops, until the shell continues us.
    #[cfg(unix)]
    pub fn suspend(&mut self) -> io::Result<()> {
        give_back();
        // The whole group, so that whoever started us (cargo, a script) stops too and the shell notices.
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
        self.resume()
    }

    /// Elsewhere there is no shell to go back to.
    #[cfg(not(unix))]
    pub fn suspend(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Takes the terminal again after a pause.
    pub fn resume(&mut self) -> io::Result<()> {
        take(self.mouse)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn take(mouse: bool) -> io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    let mut stdout = io::stdout();
    execute!(
        stdout,
        EnterAlternateScreen,
        EnableBracketedPaste,
        cursor::Hide
    )?;
    if mouse {
        execute!(stdout, EnableMouseCapture)?;
    }
    Ok(())
}

/// Nothing can be done about an error here: the terminal may be gone.
fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let mut stdout = io::stdout();
        // Emptied first: after a resize, tmux pushes what is left into the shell's scrollback, guests and all.
        let _ = execute!(
            stdout,
            DisableMouseCapture,
            DisableBracketedPaste,
            cursor::MoveTo(0, 0),
            Clear(ClearType::FromCursorDown),
            LeaveAlternateScreen,
            cursor::Show
        );
        let _ = stdout.flush();
        let _ = disable_raw_mode();
    }
}

/// The theme for this terminal; asks it for its background, once, before anything else reads its answers.
pub fn theme(config: &Config) -> Theme {
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
pub fn colours_for(config: &Config) -> Colours {
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
pub fn is_ascii(config: &Config) -> bool {
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
