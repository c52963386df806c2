//! The terminal: taken, and always given back — at the end, on a panic, before the shell gets it.

use std::io::{self, Stdout, Write};
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

/// Whether the terminal is ours: what was taken is given back once.
static TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// The terminal while it is ours; dropping it gives it back.
pub(crate) struct Screen {
    /// Never dropped: in a window that was closed ratatui could not show the cursor then, would print so, and printing
    /// to a terminal that is gone panics. [`give_back`] shows the cursor.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
    mouse: bool,
}

impl Screen {
    /// Takes the terminal.
    pub(crate) fn take(mouse: bool) -> io::Result<Self> {
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

    /// Paints a frame, and puts the terminal's cursor where the painter says; a terminal that can, shows the frame when
    /// it is whole.
    pub(crate) fn paint(
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
    pub(crate) fn forget(&mut self) -> io::Result<()> {
        let (width, height) = crossterm::terminal::size()?;
        self.terminal.resize(Rect::new(0, 0, width, height))
    }

    /// Hands the terminal to the shell and stops, until the shell continues us.
    #[cfg(unix)]
    pub(crate) fn suspend(&mut self) -> io::Result<()> {
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
    pub(crate) fn resume(&mut self) -> io::Result<()> {
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
