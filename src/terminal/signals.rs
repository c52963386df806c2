//! Signals that concern a console.

use color_eyre::eyre::Result;

/// What a signal says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Come to an end.
    End,
    /// Go on after a pause; the terminal may have been used by others.
    Continue,
    /// The terminal may have another size.
    Resize,
}

/// The signals that we listen to.
#[cfg(unix)]
pub struct Signals {
    ends: [tokio::signal::unix::Signal; 3],
    continued: tokio::signal::unix::Signal,
    resized: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Starts to listen.
    ///
    /// # Errors
    /// If the system does not let us.
    pub fn new() -> Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        // SIGCONT has no name in tokio; its number is the kernel's.
        let continued = SignalKind::from_raw(rustix::process::Signal::CONT.as_raw());
        Ok(Self {
            ends: [
                signal(SignalKind::terminate())?,
                signal(SignalKind::hangup())?,
                signal(SignalKind::interrupt())?,
            ],
            continued: signal(continued)?,
            resized: signal(SignalKind::window_change())?,
        })
    }

    /// The next signal.
    pub async fn next(&mut self) -> Signal {
        let [terminate, hangup, interrupt] = &mut self.ends;
        tokio::select! {
            _ = terminate.recv() => Signal::End,
            _ = hangup.recv() => Signal::End,
            _ = interrupt.recv() => Signal::End,
            _ = self.continued.recv() => Signal::Continue,
            _ = self.resized.recv() => Signal::Resize,
        }
    }
}

/// The signals that we listen to: of these, only the one that ends us exists here.
#[cfg(not(unix))]
pub struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Starts to listen.
    ///
    /// # Errors
    /// None.
    pub fn new() -> Result<Self> {
        Ok(Self)
    }

    /// The next signal.
    pub async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::End,
            Err(_) => std::future::pending().await,
        }
    }
}
