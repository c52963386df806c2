//! A terminal to run the program in: a pseudo-terminal with a screen that can be read cell by cell.
//!
//! It answers what real ones answer (its background, what it is), waits until the screen shows what it should, and
//! knows in which state a program must leave it. It knows nothing of Keyrack beyond the program's path.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{LocalModes, tcgetattr};
use vt100::MouseProtocolMode;

/// How long anything may take on a machine that has much else to do.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Something to run in a terminal.
pub struct Program {
    command: CommandBuilder,
    size: (u16, u16),
    light: bool,
}

impl Program {
    /// The program under test.
    pub fn keyrack(arguments: &[&str]) -> Self {
        Self::command(env!("CARGO_BIN_EXE_keyrack"), arguments)
    }

    /// An interactive shell with job control, which knows the program under test as `$KEYRACK`.
    pub fn shell() -> Self {
        Self::command("/bin/sh", &["-i"])
            .env("PS1", "shell> ")
            .env("ENV", "/dev/null")
            .env("KEYRACK", env!("CARGO_BIN_EXE_keyrack"))
    }

    fn command(program: &str, arguments: &[&str]) -> Self {
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        for inherited in [
            "DATABASE_URL",
            "KEYRACK_DATA_DIR",
            "KEYRACK_DESK",
            "KEYRACK_SITE",
            "NO_COLOR",
            "TZ",
            "LC_ALL",
            "LC_CTYPE",
        ] {
            command.env_remove(inherited);
        }
        let nobody_configured = concat!(env!("CARGO_TARGET_TMPDIR"), "/console-config");
        let program = Self {
            command,
            size: (120, 40),
            light: false,
        };
        program
            .env("TERM", "xterm-256color")
            .env("COLORTERM", "truecolor")
            .env("LANG", "C.UTF-8")
            .env("XDG_CONFIG_HOME", nobody_configured)
            .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"))
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn size(mut self, width: u16, height: u16) -> Self {
        self.size = (width, height);
        self
    }

    /// On a light background.
    pub fn light(mut self) -> Self {
        self.light = true;
        self
    }

    pub fn start(self) -> Terminal {
        let (width, height) = self.size;
        let pair = native_pty_system().openpty(pty_size(self.size)).unwrap();
        let line = OpenOptions::new()
            .read(true)
            .write(true)
            .open(pair.master.tty_name().unwrap())
            .unwrap();
        let child = pair.slave.spawn_command(self.command).unwrap();
        let keyboard = Arc::new(Mutex::new(pair.master.take_writer().unwrap()));
        let display = Arc::new(Display {
            state: Mutex::new(State {
                parser: vt100::Parser::new(cells(height), cells(width), 0),
                unfinished: Vec::new(),
                written: Vec::new(),
            }),
            changed: Condvar::new(),
        });
        let mut output = pair.master.try_clone_reader().unwrap();
        let (screen, answers, light) = (display.clone(), keyboard.clone(), self.light);
        thread::spawn(move || {
            let mut buffer = [0; 16 * 1024];
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                let answer = screen.take_in(&buffer[..count], light);
                let _ = answers.lock().unwrap().write_all(&answer);
            }
        });
        Terminal {
            child,
            master: pair.master,
            keyboard,
            display,
            line,
        }
    }
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
}

fn pty_size((cols, rows): (u16, u16)) -> PtySize {
    PtySize {
        rows,
        cols,
        ..PtySize::default()
    }
}

struct Display {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    parser: vt100::Parser,
    /// What is not shown yet, because it is part of a frame that is not whole.
    unfinished: Vec<u8>,
    /// Everything that was ever written to the terminal.
    written: Vec<u8>,
}

impl Display {
    /// Shows what was written; returns what a real terminal would answer.
    fn take_in(&self, bytes: &[u8], light: bool) -> Vec<u8> {
        let mut state = self.state.lock().unwrap();
        // A question may be cut in two by the pipe: look back a little.
        let seen = state.written.len();
        state.unfinished.extend_from_slice(bytes);
        let shown = whole(&state.unfinished);
        let finished: Vec<u8> = state.unfinished.drain(..shown).collect();
        state.parser.process(&finished);
        state.written.extend_from_slice(bytes);
        let mut answer = Vec::new();
        let (ink, paper) = if light {
            ("0000/0000/0000", "ffff/ffff/ffff")
        } else {
            ("ffff/ffff/ffff", "0000/0000/0000")
        };
        for (question, reply) in [
            ("\x1b]10;?", format!("\x1b]10;rgb:{ink}\x1b\\")),
            ("\x1b]11;?", format!("\x1b]11;rgb:{paper}\x1b\\")),
            ("\x1b[c", "\x1b[?62;22c".to_owned()),
        ] {
            let from = seen.saturating_sub(question.len() - 1);
            if find(&state.written[from..], question.as_bytes()).is_some() {
                answer.extend_from_slice(reply.as_bytes());
            }
        }
        drop(state);
        self.changed.notify_all();
        answer
    }
}

/// How much can be shown: a frame that is painted as one (synchronized output) is shown when it is whole, as terminals
/// do that know this, so that no story acts on half a frame.
fn whole(bytes: &[u8]) -> usize {
    const BEGIN: &[u8] = b"\x1b[?2026h";
    const END: &[u8] = b"\x1b[?2026l";
    let last = |mark: &[u8]| bytes.windows(mark.len()).rposition(|window| window == mark);
    match (last(BEGIN), last(END)) {
        (Some(begin), end) if end.is_none_or(|end| end < begin) => begin,
        // A mark may be cut in two by the pipe.
        _ => (1..BEGIN.len().min(bytes.len()))
            .rev()
            .find(|&length| bytes.ends_with(&BEGIN[..length]))
            .map_or(bytes.len(), |length| bytes.len() - length),
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}

/// The screen at one moment.
pub struct Frame<'a>(&'a vt100::Screen);

impl Frame<'_> {
    /// The lines, without what is blank at their ends.
    pub fn lines(&self) -> Vec<String> {
        let (_, width) = self.0.size();
        let lines = self.0.rows(0, width.get());
        lines.map(|line| line.trim_end().to_owned()).collect()
    }

    /// Whether one line has these words.
    pub fn has(&self, words: &str) -> bool {
        self.line_with(words).is_some()
    }

    /// The first line with these words.
    pub fn line_with(&self, words: &str) -> Option<String> {
        self.lines().into_iter().find(|line| line.contains(words))
    }

    /// All lines as one text, for sentences that take several.
    pub fn flowing(&self) -> String {
        let lines = self.lines();
        let words = lines.iter().flat_map(|line| line.split_whitespace());
        words.collect::<Vec<_>>().join(" ")
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        let (rows, columns) = self.0.size();
        (columns.get(), rows.get())
    }

    /// What is in a cell.
    pub fn cell(&self, column: u16, row: u16) -> &vt100::Cell {
        self.0.cell(row, column).expect("a cell of the screen")
    }

    /// The columns of a line in which a sign stands.
    pub fn columns_of(&self, sign: &str, row: u16) -> Vec<u16> {
        let (_, width) = self.0.size();
        (0..width.get())
            .filter(|column| self.cell(*column, row).contents() == sign)
            .collect()
    }

    /// Whether the terminal's own cursor can be seen.
    pub fn has_cursor(&self) -> bool {
        !self.0.hide_cursor()
    }
}

/// A program that runs in a terminal.
pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    keyboard: Arc<Mutex<Box<dyn Write + Send>>>,
    display: Arc<Display>,
    /// The program's end, kept open so that its modes can be read after the program has ended.
    line: File,
}

impl Terminal {
    /// Presses keys, one after the other: `Enter`, `Esc`, `Tab`, arrows, `Ctrl-c`, `Backspace`, or a character.
    pub fn press(&self, keys: &[&str]) {
        let bytes: Vec<u8> = keys.iter().flat_map(|key| bytes_of(key)).collect();
        self.send(&bytes);
    }

    /// Types a text, character by character.
    pub fn type_text(&self, text: &str) {
        self.send(text.as_bytes());
    }

    /// Pastes a text, bracketed.
    pub fn paste(&self, text: &str) {
        assert!(self.state().parser.screen().bracketed_paste());
        self.send(format!("\x1b[200~{text}\x1b[201~").as_bytes());
    }

    fn send(&self, bytes: &[u8]) {
        let mut keyboard = self.keyboard.lock().unwrap();
        keyboard.write_all(bytes).unwrap();
        keyboard.flush().unwrap();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.display.state.lock().unwrap()
    }

    /// Waits until the screen is as it should be.
    pub fn until(&self, what: &str, as_it_should_be: impl Fn(&Frame) -> bool) {
        self.read(what, |frame| as_it_should_be(frame).then_some(()));
    }

    /// Waits until something can be read from the screen, and returns it.
    pub fn read<T>(&self, what: &str, reading: impl Fn(&Frame) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.state();
        loop {
            let frame = Frame(state.parser.screen());
            if let Some(read) = reading(&frame) {
                return read;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let lines = frame.lines().join("\n");
                drop(state);
                panic!("the terminal never showed {what}; it shows\n{lines}");
            }
            // A resize or a signal makes the program write, so there is always something that wakes us.
            (state, _) = self.display.changed.wait_timeout(state, left).unwrap();
        }
    }

    /// Waits until one line has these words.
    pub fn shows(&self, words: &str) {
        self.until(&format!("“{words}”"), |frame| frame.has(words));
    }

    /// Waits until these words can be read across lines.
    pub fn says(&self, sentence: &str) {
        self.until(&format!("“{sentence}”"), |frame| {
            frame.flowing().contains(sentence)
        });
    }

    /// Waits until no line has these words.
    pub fn hides(&self, words: &str) {
        self.until(&format!("a screen without “{words}”"), |frame| {
            !frame.has(words)
        });
    }

    /// The screen as it is now.
    pub fn lines(&self) -> Vec<String> {
        Frame(self.state().parser.screen()).lines()
    }

    /// Whether these bytes were ever written to the terminal.
    pub fn has_written(&self, bytes: &str) -> bool {
        find(&self.state().written, bytes.as_bytes()).is_some()
    }

    /// Everything that was ever written to the terminal.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.state().written).into_owned()
    }

    /// Another size, as when somebody drags the window's edge.
    pub fn resize(&self, width: u16, height: u16) {
        // Both under one lock: nothing that is drawn for the new size is shown at the old one.
        let mut state = self.state();
        state.parser.set_size(cells(height), cells(width));
        self.master.resize(pty_size((width, height))).unwrap();
    }

    /// Sends a signal to the program alone.
    pub fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.process_id().unwrap()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
    }

    /// Waits until the program has ended; returns its exit code.
    pub fn ends(&mut self) -> u32 {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.exit_code();
            }
            let lines = self.lines().join("\n");
            assert!(
                started.elapsed() < PATIENCE,
                "the program does not end\n{lines}"
            );
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The program has ended well, and the terminal is as it was.
    pub fn ends_well(mut self) {
        assert_eq!(self.ends(), 0, "{}", self.lines().join("\n"));
        self.is_given_back();
    }

    /// Nothing is left of the console: the shell's screen, cursor, keys and mouse are as they were.
    pub fn is_given_back(&self) {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.state();
        loop {
            let screen = state.parser.screen();
            let modes = tcgetattr(&self.line).unwrap().local_modes;
            let cooked = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
            let left = [
                ("the alternate screen", screen.alternate_screen()),
                ("a hidden cursor", screen.hide_cursor()),
                ("bracketed paste", screen.bracketed_paste()),
                (
                    "the mouse",
                    screen.mouse_protocol_mode() != MouseProtocolMode::None,
                ),
                ("raw mode", !modes.contains(cooked)),
            ];
            let left: Vec<_> = left.iter().filter(|(_, is)| *is).collect();
            if left.is_empty() {
                return;
            }
            assert!(Instant::now() < deadline, "left behind: {left:?}");
            // What was written last may still be on its way through the pipe.
            let pause = Duration::from_millis(20);
            (state, _) = self.display.changed.wait_timeout(state, pause).unwrap();
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn bytes_of(key: &str) -> Vec<u8> {
    let bytes = match key {
        "Enter" => "\r",
        "Esc" => "\x1b",
        "Tab" => "\t",
        "Backspace" => "\x7f",
        "Up" => "\x1b[A",
        "Down" => "\x1b[B",
        "Right" => "\x1b[C",
        "Left" => "\x1b[D",
        "Shift-Right" => "\x1b[1;2C",
        "Ctrl-c" => "\x03",
        "Ctrl-z" => "\x1a",
        character => {
            assert_eq!(character.chars().count(), 1, "{key} is not a key");
            character
        }
    };
    bytes.into()
}
