//! Keyrack's own server under consoles: killed beneath them, shared by them, stopped by the last of them.

use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::process::{Child, Command};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::Value;
use tempfile::TempDir;

use crate::desk::{Desk, keyrack_in};
use crate::terminal::{PATIENCE, Program};

/// A server of its own, in a directory that its user can enter when root runs the tests.
pub struct OwnServer(TempDir);

impl OwnServer {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), Permissions::from_mode(0o711)).unwrap();
        Self(directory)
    }

    fn home(&self) -> String {
        self.0.path().join("keyrack").to_str().unwrap().to_owned()
    }

    fn desk(&self, name: &str) -> Desk {
        self.desk_in(Program::keyrack(&[]), name)
    }

    /// A console in a terminal that was prepared.
    pub fn desk_in(&self, program: Program, name: &str) -> Desk {
        let program = program
            .env("KEYRACK_DATA_DIR", &self.home())
            .env("KEYRACK_DESK", name);
        Desk::with(program)
    }

    fn run(&self, arguments: &[&str]) -> Value {
        keyrack_in(&[("KEYRACK_DATA_DIR", &self.home())], arguments).1
    }

    fn is_running(&self) -> bool {
        self.run(&["db", "status"])["running"] == true
    }

    fn kill(&self) {
        let pid_file = self.0.path().join("keyrack/cluster/postmaster.pid");
        let pid = fs::read_to_string(pid_file).unwrap();
        let pid = pid.lines().next().unwrap().parse().unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        let _ = std::panic::catch_unwind(|| self.run(&["db", "stop"]));
        let _ = std::panic::catch_unwind(|| self.run(&["db", "reset", "--yes"]));
    }
}

/// A day on which the sample house has nothing yet.
fn turn_to_a_free_day(desk: &Desk) {
    desk.press(&["g"]);
    desk.shows("Go to a date");
    desk.type_text("+20");
    desk.press(&["Enter"]);
    desk.hides("Go to a date");
    desk.shows("Enter hold");
}

#[test]
fn a_server_that_is_killed_comes_back_and_nothing_is_lost() {
    let own = OwnServer::new();
    let desk = own.desk("anna");
    turn_to_a_free_day(&desk);
    desk.hold();
    desk.press(&["e"]);
    desk.shows("Guest and note");
    desk.type_text("Okafor");
    desk.shows("Guest   Okafor");

    // Somebody else has the turn to start the server, so that there is time to look at a dead one.
    let turn = File::open(own.0.path().join("keyrack/start.lock")).unwrap();
    turn.lock().unwrap();
    own.kill();
    desk.shows("○ away since");
    desk.shows("s old");
    desk.press(&["Enter"]);
    desk.says("The database is away since");
    desk.shows("Guest   Okafor");
    desk.until("one grey for all that is old", |frame| {
        let colours = (0..20).map(|column| frame.cell(column, 2).fgcolor());
        let colours: Vec<_> = colours.collect();
        colours.iter().all(|colour| *colour == colours[0])
    });

    drop(turn);
    desk.shows("● live");
    desk.press(&["Enter"]);
    desk.says("Written down: ");
    desk.shows(" left, until ");
    desk.press(&["c"]);
    desk.says("Confirmed: ");
    desk.leave();

    let confirmed = own.run(&["room", "holds", "--guest", "Okafor", "--state", "confirmed"]);
    let mine = confirmed
        .as_array()
        .unwrap()
        .iter()
        .filter(|claim| claim["desk"] == "anna");
    assert!(
        mine.clone().any(|claim| claim["guest"] == "Okafor"),
        "{confirmed}"
    );
    assert_eq!(own.run(&["check"])["ok"], true);
}

#[test]
fn three_consoles_share_a_server_and_the_last_one_out_stops_it() {
    let own = OwnServer::new();
    let (killed, second, last) = (own.desk("anna"), own.desk("bo"), own.desk("cy"));
    turn_to_a_free_day(&second);
    second.hold();
    last.shows("· bo");
    killed.signal(Signal::KILL);
    drop(killed);
    second.press(&["c"]);
    second.says("Confirmed: ");
    second.leave();
    assert!(own.is_running());
    turn_to_a_free_day_with_a_claim(&last);
    last.leave();
    assert!(!own.is_running());
}

/// The day on which the other desk has just confirmed something in the first room.
fn turn_to_a_free_day_with_a_claim(desk: &Desk) {
    desk.press(&["g"]);
    desk.shows("Go to a date");
    desk.type_text("+20");
    desk.press(&["Enter"]);
    desk.hides("Go to a date");
    desk.shows("▓ confirmed");
    desk.shows("desk bo");
}

#[test]
fn a_window_that_is_closed_ends_its_console_and_the_last_one_stops_the_server() {
    let own = OwnServer::new();
    for typed in ["", "llllllllllhhhhhhhhhh", "\x1b[B\x1b[A\x1b[C"] {
        let (mut window, mut console) = console_in_a_window(&own);
        // What is typed as the window closes is read at a terminal that is gone.
        window.write_all(typed.as_bytes()).unwrap();
        drop(window);
        ends(&mut console);
        assert!(!own.is_running(), "after {typed:?}");
    }
}

/// A console in a session of its own, with the window as its terminal, as a terminal program would start it.
fn console_in_a_window(own: &OwnServer) -> (File, Child) {
    let window = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&window).unwrap();
    unlockpt(&window).unwrap();
    let name = ptsname(&window, Vec::new()).unwrap();
    let line = File::options()
        .read(true)
        .write(true)
        // Not ours, even if we have no terminal: a hang-up is for the console alone.
        .custom_flags(OFlags::NOCTTY.bits().cast_signed())
        .open(name.to_str().unwrap())
        .unwrap();
    tcsetwinsize(
        &line,
        Winsize {
            ws_col: 100,
            ws_row: 30,
            ws_xpixel: 0,
            ws_ypixel: 0,
        },
    )
    .unwrap();
    let console = Command::new("setsid")
        .args(["--ctty", "--wait", env!("CARGO_BIN_EXE_keyrack")])
        .env_remove("DATABASE_URL")
        .env("KEYRACK_DATA_DIR", own.home())
        .env("TERM", "xterm-256color")
        .stdin(line.try_clone().unwrap())
        .stdout(line.try_clone().unwrap())
        .stderr(line)
        .spawn()
        .unwrap();
    let window = File::from(window);
    let mut output = window.try_clone().unwrap();
    let (seen, sight) = mpsc::channel();
    thread::spawn(move || {
        let (mut shown, mut buffer) = (Vec::new(), [0; 4096]);
        while !String::from_utf8_lossy(&shown).contains("Riverside House") {
            let Ok(count @ 1..) = output.read(&mut buffer) else {
                return;
            };
            shown.extend_from_slice(&buffer[..count]);
        }
        // The window's only other handle: let go before it is said that the console is there.
        drop(output);
        let _ = seen.send(());
    });
    sight
        .recv_timeout(PATIENCE)
        .expect("the console never showed its house");
    (window, console)
}

fn ends(console: &mut Child) {
    let started = Instant::now();
    while console.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE {
            let _ = console.kill();
            panic!("the console went on in a window that was closed");
        }
        thread::sleep(Duration::from_millis(5));
    }
}
