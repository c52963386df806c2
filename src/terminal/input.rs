//! What is typed: a thread of its own reads the terminal, and a channel has its events.
//!
//! A thread and not crossterm's stream, because that one also reads on whoever polls it, and at a terminal that has hung
//! up it reads nothing again and again: a console whose window was closed then neither left nor heard a signal. Here only
//! the thread can be held up by the terminal, and it looks for the hang-up itself before it reads.

use std::io::{self, PipeReader, PipeWriter};
use std::thread;
use std::time::Duration;

use crossterm::event::{self, Event};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How long to wait for an event of which a part was read. Events that are there come at once.
const REST: Duration = Duration::from_millis(1);

/// How long a reader that is to end is waited for.
const PATIENCE: Duration = Duration::from_millis(100);

/// What is typed, as long as this is kept. What comes later is left for whoever uses the terminal next.
pub(crate) struct Input {
    events: UnboundedReceiver<Event>,
    /// The thread sees it close.
    kept: PipeWriter,
}

/// Starts to read the terminal.
///
/// # Errors
/// If no thread can be started.
pub(crate) fn listen() -> io::Result<Input> {
    let (events, arrivals) = unbounded_channel();
    let (watched, kept) = io::pipe()?;
    thread::Builder::new()
        .name("terminal".into())
        // An error means the same as a hang-up: nothing will be typed any more.
        .spawn(move || drop(read(&events, &watched)))?;
    Ok(Input {
        events: arrivals,
        kept,
    })
}

impl Input {
    /// The next event; none once the terminal is gone. Nothing is lost if the wait is given up.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// The next event, if one has arrived.
    pub(crate) fn arrived(&mut self) -> Option<Event> {
        self.events.try_recv().ok()
    }

    /// Ends the reading. When this comes back, whatever is typed is for others.
    pub(crate) async fn close(self) {
        let Self { mut events, kept } = self;
        drop(kept);
        let read_out = async { while events.recv().await.is_some() {} };
        // The thread may be held up in the middle of a sequence that never ends.
        _ = tokio::time::timeout(PATIENCE, read_out).await;
    }
}

fn read(events: &UnboundedSender<Event>, kept: &PipeReader) -> io::Result<()> {
    while wait(kept)? {
        while event::poll(REST)? {
            if events.send(event::read()?).is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Waits until something can be read; false once the terminal has hung up or nobody wants to know any more.
#[cfg(unix)]
fn wait(kept: &PipeReader) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::Errno;

    let stdin = io::stdin();
    loop {
        let mut ends = [
            PollFd::new(&stdin, PollFlags::IN),
            PollFd::new(kept, PollFlags::IN),
        ];
        match poll(&mut ends, None) {
            Ok(_) => {
                let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
                return Ok(ends.iter().all(|end| !end.revents().intersects(gone)));
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Elsewhere crossterm alone knows how to wait.
#[cfg(not(unix))]
fn wait(_: &PipeReader) -> io::Result<bool> {
    event::poll(Duration::from_secs(60)).map(|_| true)
}
