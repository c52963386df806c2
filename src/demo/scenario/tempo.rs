//! How fast a play goes: as fast as it can, or slowly enough to read along, with a person who can pause it.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// Until an eye has come from the desks to a caption.
const BEGINNING: Duration = Duration::from_millis(1200);

/// How fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Nobody watches.
    Headless,
    /// Somebody reads along.
    Slow,
    /// Up to where a person takes over, as fast as it can.
    Sandbox,
}

/// What a spectator does to a play. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Controls {
    state: watch::Sender<State>,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    paused: bool,
    /// How often somebody was done with reading.
    onwards: u64,
}

impl Default for Controls {
    fn default() -> Self {
        Self {
            state: watch::channel(State::default()).0,
        }
    }
}

impl Controls {
    /// Pauses, or goes on.
    pub fn toggle(&self) {
        self.state.send_modify(|state| state.paused = !state.paused);
    }

    /// Goes on at once, with the next thing: whoever has read it does not have to wait.
    pub fn onwards(&self) {
        self.state.send_modify(|state| {
            state.paused = false;
            state.onwards += 1;
        });
    }

    /// Whether it is paused.
    pub fn is_paused(&self) -> bool {
        self.state.borrow().paused
    }

    /// Rests for so long; what is paused does not count, and a spectator can cut it short.
    pub(super) async fn rest(&self, length: Duration) {
        let mut changes = self.state.subscribe();
        let onwards = changes.borrow_and_update().onwards;
        let mut left = length;
        loop {
            let state = *changes.borrow_and_update();
            if state.onwards != onwards {
                return;
            }
            let began = Instant::now();
            tokio::select! {
                () = tokio::time::sleep(left), if !state.paused => return,
                changed = changes.changed() => if changed.is_err() { return },
            }
            if !state.paused {
                left = left.saturating_sub(began.elapsed());
            }
        }
    }
}

impl Pace {
    /// How long a text takes to read for somebody who also looks at two screens.
    pub(super) fn reading(self, text: &str) -> Duration {
        match self {
            Self::Slow => {
                let words = u32::try_from(text.split_whitespace().count()).unwrap_or(u32::MAX);
                BEGINNING + Duration::from_millis(270) * words
            }
            Self::Headless | Self::Sandbox => Duration::ZERO,
        }
    }

    /// How long one page of several takes.
    pub(super) fn reading_page(self, page: &str) -> Duration {
        self.reading(page).saturating_sub(BEGINNING)
    }

    /// Between two keys that move the cursor.
    pub(super) fn between_moves(self) -> Duration {
        match self {
            Self::Slow => Duration::from_millis(70),
            Self::Headless | Self::Sandbox => Duration::ZERO,
        }
    }

    /// Between two keys that do something.
    pub(super) fn between_keys(self) -> Duration {
        match self {
            Self::Slow => Duration::from_millis(400),
            Self::Headless | Self::Sandbox => Duration::ZERO,
        }
    }

    /// To look at what has just happened; what it says is on a desk's screen too, for the most part.
    pub(super) fn looking(self, happened: &str) -> Duration {
        match self {
            Self::Slow => {
                let words = u32::try_from(happened.split_whitespace().count()).unwrap_or(u32::MAX);
                Duration::from_millis(1500) + Duration::from_millis(80) * words
            }
            Self::Headless | Self::Sandbox => Duration::ZERO,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Long enough that a test which waits for it would be noticed.
    const FOR_EVER: Duration = Duration::from_secs(24 * 3600);

    #[tokio::test]
    async fn a_spectator_cuts_a_rest_short_and_one_who_pauses_holds_it_up() {
        let controls = Controls::default();
        let resting = |length| {
            let controls = controls.clone();
            tokio::spawn(async move { controls.rest(length).await })
        };
        let long = resting(FOR_EVER);
        while controls.state.receiver_count() == 0 {
            tokio::task::yield_now().await;
        }
        controls.onwards();
        long.await.unwrap();

        controls.toggle();
        let paused = resting(Duration::ZERO);
        while controls.state.receiver_count() == 0 {
            tokio::task::yield_now().await;
        }
        assert!(controls.is_paused() && !paused.is_finished());
        controls.toggle();
        paused.await.unwrap();
    }
}
