//! A scenario's side of a demo: what it has done with the desks, and what it says meanwhile. Whoever plays it is
//! elsewhere; here is only the way to the desks and to the screen.

use tokio::sync::mpsc::UnboundedReceiver;

use crate::demo::desks::Desks;

/// Something to be done with the desks.
pub type Order = Box<dyn FnOnce(&mut Desks) + Send>;

/// Something to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// What is going on; stays until the next.
    Caption(String),
    /// How far it is: at this step, of so many.
    At(usize, usize),
    /// What has just happened.
    Happened(String),
    /// The scenario is done with the desks, which are the spectator's from now on.
    YourTurn(String),
}

/// What a spectator does to a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Pauses it, or lets it go on.
    Pause,
    /// Has it go on at once.
    Onwards,
}

/// What comes from a scenario, and where a spectator's wishes go.
pub struct Script {
    /// What is to be done with the desks.
    pub orders: Option<UnboundedReceiver<Order>>,
    /// What is to be read.
    pub lines: Option<UnboundedReceiver<Line>>,
    /// What a spectator wishes.
    pub director: Box<dyn Fn(Direction) + Send>,
}

impl Script {
    /// No scenario.
    pub fn none() -> Self {
        Self {
            orders: None,
            lines: None,
            director: Box::new(|_| ()),
        }
    }

    pub(super) fn direct(&self, direction: Direction) {
        (self.director)(direction);
    }

    /// What comes next. Nothing is lost if the wait is given up.
    pub(super) async fn next(&mut self) -> Turn {
        tokio::select! {
            order = next(&mut self.orders) => Turn::Order(order),
            line = next(&mut self.lines) => Turn::Line(line),
        }
    }
}

/// What comes from a scenario.
pub(super) enum Turn {
    Order(Order),
    Line(Line),
}

/// The next of a channel; never, once it has ended.
async fn next<T>(channel: &mut Option<UnboundedReceiver<T>>) -> T {
    if let Some(open) = channel {
        if let Some(value) = open.recv().await {
            return value;
        }
        *channel = None;
    }
    std::future::pending().await
}
