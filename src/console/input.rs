//! What is typed: a thread of its own reads the terminal, and a channel has its events.
//!
//! A thread and not crossterm's stream, because that one also reads on whoever polls it, and at a terminal that has hung
//! up it reads nothing again and again: a console whose window was closed then neither left nor heard a signal. Here only
//! the thread can be held up by the terminal, and it looks for the hang-up itself before it reads.

use std::io;
use std::thread;
use std::time::Duration;

use crossterm::event::{self, Event};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How long to wait for an event of which a part was read. Events that are there come at once.
const REST: Duration = Duration::from_millis(1);

/// Starts to read the terminal. The channel ends when the terminal is gone.
///
/// # Errors
/// If no thread can be started.
pub fn listen() -> io::Result<UnboundedReceiver<Event>> {
    let (events, arrivals) = unbounded_channel();
    thread::Builder::new()
        .name("terminal".into())
        // An error means the same as a hang-up: nothing will be typed any more.
        .spawn(move || drop(read(&events)))?;
    Ok(arrivals)
}

fn read(events: &UnboundedSender<Event>) -> io::Result<()> {
    while wait()? {
        while event::poll(REST)? {
            if events.send(event::read()?).is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Waits until something can be read; false once the terminal has hung up.
#[cfg(unix)]
fn wait() -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::Errno;

    let stdin = io::stdin();
    loop {
        let mut terminal = [PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut terminal, None) {
            Ok(_) => {
                let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
                return Ok(!terminal[0].revents().intersects(gone));
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Elsewhere crossterm alone knows how to wait.
#[cfg(not(unix))]
fn wait() -> io::Result<bool> {
    event::poll(Duration::from_secs(60)).map(|_| true)
}
