//! The console as a guest in somebody's terminal: any size, back to the shell and in again, and nothing left behind.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::desk::{Desk, program, requests};
use crate::support::TestHouse;
use crate::terminal::{Program, Terminal};

/// All but the status line, in which the clock runs, and the message line.
fn picture(terminal: &Terminal) -> Vec<String> {
    let mut lines = terminal.lines();
    lines.remove(0);
    lines.truncate(lines.len() - 2);
    lines
}

#[tokio::test(flavor = "multi_thread")]
async fn it_follows_the_window_and_refuses_commands_where_it_can_not_be_seen() {
    let test = TestHouse::new().await;
    let desk = Desk::with(program(&test.database, "anna").size(200, 60));
    desk.turn_to_tomorrow();
    desk.until("a whole picture", |frame| {
        frame.has("Enter hold") && frame.has("q quit") && frame.has("house file")
    });
    let before = picture(&desk);

    desk.resize(80, 24);
    desk.until("the grid in 80 columns", |frame| {
        let lines = frame.lines();
        lines.len() == 24 && lines[23].starts_with(" Enter hold") && frame.has("Stock")
    });
    desk.resize(50, 20);
    desk.until("one room's day", |frame| {
        frame.has("Blue room  1 of 4") && !frame.has("Stock")
    });
    desk.resize(30, 8);
    desk.shows("Too small for a console.");
    desk.hides("Blue room");
    desk.resize(200, 60);
    desk.until("the same picture", |frame| {
        let lines = frame.lines();
        lines[1..lines.len() - 2] == before
    });

    // A key in the very moment of a drag must not hide it.
    for (width, height) in [(80, 24), (120, 40), (80, 24), (120, 40)] {
        desk.press(&["Down", "Up"]);
        desk.resize(width, height);
        desk.until("the hint line at the new edge", |frame| {
            let lines = frame.lines();
            lines.len() == usize::from(height) && lines[lines.len() - 1].ends_with("q quit")
        });
    }

    desk.resize(30, 8);
    desk.shows("Too small for a console.");
    desk.press(&["Enter", "c", "x", "b"]);
    // The last key leaves, so that all before it have been heard.
    desk.leave();
    assert_eq!(requests(&test.database, "hold_slot").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_goes_back_to_the_shell_and_comes_again() {
    let test = TestHouse::new().await;
    let shell = Program::shell()
        .env("DATABASE_URL", &test.database.url())
        .env("KEYRACK_DESK", "anna")
        .start();
    shell.shows("shell>");
    shell.type_text("\"$KEYRACK\"\r");
    shell.until("a whole picture", |frame| {
        frame.has("● live")
            && frame.has("Enter hold")
            && frame.has("q quit")
            && frame.has("house file")
    });
    let before = picture(&shell);

    shell.press(&["Ctrl-z"]);
    // Not before its second prompt does the shell listen: the first is there as soon as the console has left the screen.
    shell.until("the second prompt", |frame| {
        let prompts = frame.lines();
        prompts
            .iter()
            .filter(|line| line.starts_with("shell>"))
            .count()
            == 2
    });
    shell.is_given_back();
    // What the shell says meanwhile must not be lost or mixed up with the console.
    shell.type_text("echo at the $((1+1))nd prompt\r");
    shell.shows("at the 2nd prompt");
    shell.type_text("fg\r");
    shell.shows("● live");
    shell.shows("Garden room");
    shell.until("the whole picture again", |frame| {
        let lines = frame.lines();
        lines[1..lines.len() - 2] == before
    });
    shell.press(&["q"]);
    shell.hides("● live");
    shell.shows("at the 2nd prompt");
    shell.is_given_back();
    shell.type_text("exit\r");
    shell.ends_well();
}

#[tokio::test(flavor = "multi_thread")]
async fn it_leaves_a_sane_terminal_however_it_is_ended() {
    let test = TestHouse::new().await;
    let mut desks: Vec<_> = (0..3).map(|_| Desk::at(&test, "anna")).collect();
    let [by_key, terminated, hung_up] = &mut desks[..] else {
        unreachable!("three were opened")
    };
    by_key.press(&["Ctrl-c"]);
    terminated.signal(Signal::TERM);
    hung_up.signal(Signal::HUP);
    desks.into_iter().for_each(|desk| desk.0.ends_well());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_color_means_no_colour() {
    let test = TestHouse::new().await;
    let plain = Desk::with(program(&test.database, "anna").env("NO_COLOR", "1"));
    plain.turn_to_tomorrow();
    plain.hold();
    // Without colour the state is said by a sign and a word.
    plain.shows("░ held");
    assert_eq!(colours(&plain.written()), Vec::<String>::new());
    plain.leave();

    // The same eyes do see colours where they are wanted; and another background has others.
    let dark = Desk::at(&test, "anna");
    let light = Desk::with(program(&test.database, "anna").light());
    assert!(!colours(&dark.written()).is_empty());
    assert_ne!(colours(&dark.written()), colours(&light.written()));
    dark.leave();
    light.leave();
}

/// The sequences that set a colour, each once.
fn colours(written: &str) -> Vec<String> {
    let sequences = written.split("\x1b[").skip(1);
    let mut colours: Vec<String> = sequences
        .filter_map(|rest| rest.split_once('m').map(|(parameters, _)| parameters))
        .filter(|parameters| {
            parameters
                .chars()
                .all(|sign| sign.is_ascii_digit() || sign == ';')
        })
        .filter(|parameters| {
            parameters.split(';').any(|parameter| {
                let number = parameter.parse().unwrap_or(0);
                matches!(number, 30..=38 | 40..=48 | 90..=97 | 100..=107)
            })
        })
        .map(str::to_owned)
        .collect();
    colours.sort();
    colours.dedup();
    colours
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_change_is_not_painted_again() {
    let test = TestHouse::new().await;
    let desk = Desk::at(&test, "anna");
    let clock = |desk: &Desk| desk.lines()[0].clone();
    let (before, painted) = (clock(&desk), desk.written().len());
    desk.until("three more seconds", |frame| {
        let now = frame.lines()[0].clone();
        let seconds = |line: &str| -> Option<i64> {
            let at = line.find(" GMT").or_else(|| line.find(" BST"))?;
            let mut parts = line[at - 8..at].split(':').map(|part| part.parse::<i64>());
            let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
            Some(hours.ok()? * 3600 + minutes.ok()? * 60 + seconds.ok()?)
        };
        let passed = seconds(&now).zip(seconds(&before));
        passed.is_some_and(|(now, before)| (now - before).rem_euclid(86_400) >= 3)
    });
    let each = (desk.written().len() - painted) / 3;
    // A whole frame has thousands; a clock and a latency have a few dozen, with their cursor moves and colours.
    assert!(each < 1_500, "{each} bytes each second");
    desk.leave();
}

#[tokio::test(flavor = "multi_thread")]
async fn every_key_is_answered_at_once_and_not_when_the_clock_ticks() {
    let test = TestHouse::new().await;
    let desk = Desk::at(&test, "anna");
    let mut waits = Vec::new();
    for _ in 0..20 {
        for (key, room) in [("Down", "›Garden room"), ("Up", "›Blue room")] {
            let pressed = Instant::now();
            desk.press(&[key]);
            desk.shows(room);
            waits.push(pressed.elapsed());
        }
    }
    // Left to the clock, or to the next look at the database, many would wait for a good part of half a second.
    waits.sort();
    eprintln!(
        "keys are answered after {:?}, at most {:?}",
        waits[20], waits[39]
    );
    assert!(waits[30] < Duration::from_millis(100), "{waits:?}");
    desk.leave();
}
