//! Scenarios: one text that can be watched, taken over halfway by a person, or played as a test.
//!
//! A scenario is a site, what is booked in it when the curtain rises, and steps: who does what, what to wait for, what
//! is expected. This module is the parsed text: values without I/O. [`mod@format`] reads the file, [`words`] the short
//! phrases in it, [`library`] has the built-in ones. What is played with it is elsewhere.

mod crew;
pub mod format;
pub mod hand;
pub mod headless;
pub mod library;
mod play;
mod report;
mod setting;
pub mod show;
mod stage;
mod tempo;
pub mod words;

use std::fmt;
use std::time::Duration;

use chrono::{NaiveTime, TimeDelta};
use crokey::KeyCombination;

use crate::demo::Which;
use crate::domain::SiteFile;

pub use format::ScenarioError;
pub use play::{Cue, Play};
pub use report::{Played, Problem, Report};
pub use stage::Stage;
pub use tempo::{Controls, Pace};

/// The desks of every scenario: the left one and the right one.
pub const DESKS: [&str; 2] = ["anna", "bert"];

/// A scenario, as its file describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// A line.
    pub title: String,
    /// What it shows, in a sentence.
    pub shows: String,
    /// The site.
    pub site_file: SiteFile,
    /// How long holds last when nobody watches, if not as long as the site says.
    pub headless_hold: Option<TimeDelta>,
    /// SQL that fills a scratch schema of its own, in which the psql windows then work.
    pub scratch: Option<String>,
    /// What is booked before it begins.
    pub opening: Vec<Opening>,
    /// What happens, in order.
    pub steps: Vec<Step>,
    /// What there is at the end.
    pub ending: Vec<Rows>,
    /// What `keyrack check` finds then: rules, in order. Nothing, but where somebody went around the protocol.
    pub finds: Vec<String>,
}

/// A claim that is there from the beginning.
#[derive(Debug, Clone, PartialEq)]
pub struct Opening {
    /// Where it stands in the file.
    pub line: usize,
    /// Who made it.
    pub desk: String,
    /// What.
    pub ask: Ask,
    /// Whether it is confirmed.
    pub confirmed: bool,
    /// What the steps call it.
    pub name: Option<String>,
}

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Where it stands in the file.
    pub line: usize,
    /// What a spectator is told.
    pub caption: Option<String>,
    /// How long a spectator gets to look, if not as long as the caption takes to read.
    pub pause: Option<Duration>,
    /// What is done; all of it at once.
    pub acts: Vec<Act>,
    /// What to wait for then.
    pub wait: Option<Wait>,
    /// What is expected then.
    pub expect: Vec<Expectation>,
    /// From here on a person drives, in the sandbox; what to try.
    pub hand_over: Option<String>,
}

/// What somebody does.
#[derive(Debug, Clone, PartialEq)]
pub struct Act {
    /// Who.
    pub who: Actor,
    /// What.
    pub deed: Deed,
    /// What later steps call the request, and the claim that it makes.
    pub name: Option<String>,
}

/// Somebody who acts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Actor {
    /// One of the two desks, by its place in [`DESKS`].
    Desk(usize),
    /// Another desk, which is not on the screen.
    Rival(String),
    /// A window with psql in it.
    Prompt(String),
}

impl Actor {
    /// The one with a name.
    pub fn named(name: &str) -> Self {
        if let Some(place) = DESKS.iter().position(|desk| *desk == name) {
            Self::Desk(place)
        } else if name.starts_with("psql") {
            Self::Prompt(name.to_owned())
        } else {
            Self::Rival(name.to_owned())
        }
    }

    /// Which of the two desks it is, if it is one.
    pub fn which(&self) -> Option<Which> {
        match self {
            Self::Desk(0) => Some(Which::First),
            Self::Desk(_) => Some(Which::Second),
            Self::Rival(_) | Self::Prompt(_) => None,
        }
    }

    /// The name.
    pub fn name(&self) -> &str {
        match self {
            Self::Desk(place) => DESKS.get(*place).copied().unwrap_or("desk"),
            Self::Rival(name) | Self::Prompt(name) => name,
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&crate::domain::text::harmless(self.name()))
    }
}

/// What is done.
#[derive(Debug, Clone, PartialEq)]
pub enum Deed {
    /// Hands on the console's keys: go there, type this, then press these.
    Hands {
        /// Where the cursor goes first.
        go: Option<Place>,
        /// What is typed into the open dialog.
        text: String,
        /// The keys, one after the other.
        keys: Vec<KeyCombination>,
        /// Where the transaction of what is asked stops.
        stop: Option<Stop>,
    },
    /// A command that is sent as it is, around the keys.
    Ask {
        /// The command.
        ask: Ask,
        /// Where its transaction stops.
        stop: Option<Stop>,
    },
    /// SQL in a psql window.
    Sql {
        /// With names in double braces.
        sql: String,
        /// What the first column of the last row must be.
        returns: Option<String>,
    },
    /// A move of the transaction that this desk has in step mode.
    Move(StepMove),
}

/// A place in the site.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// A room, from a time on, and until when if a period is meant.
    Slot {
        /// The room's name.
        room: String,
        /// On the scenario's day.
        from: NaiveTime,
        /// The same; none is one cell of the cursor. Midnight is the end of the day.
        to: Option<NaiveTime>,
    },
    /// A room by the night, from the scenario's day on.
    Nights {
        /// The room's name.
        room: String,
        /// How many.
        nights: u32,
    },
    /// An item and how many of it.
    Stock {
        /// The item's name.
        item: String,
        /// At least one.
        quantity: i32,
    },
}

/// A command in the scenario's words.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// One place, or several as a group.
    Hold {
        /// What.
        places: Vec<Place>,
        /// For how long.
        ttl: Option<TimeDelta>,
        /// For whom.
        guest: String,
    },
    /// A period for the site itself.
    Block {
        /// What.
        place: Place,
        /// Why.
        reason: String,
    },
    /// Of a claim, by its name here.
    Confirm(String),
    /// Of a claim.
    Cancel(String),
    /// Of a claim.
    Renew(String),
    /// Of a claim, to a place.
    Move(String, Place),
    /// Of two claims.
    Swap(String, String),
    /// The very same request again, with its id.
    Repeat(String),
    /// Write "expired" over whatever is due.
    Sweep,
}

/// Where a transaction stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// Before a step of the protocol.
    Before(String),
    /// After it.
    After(String),
    /// With its answer, before the COMMIT.
    BeforeCommit,
}

/// A move in step mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepMove {
    /// One step.
    Step,
    /// On to the answer.
    RunOn,
    /// On to before a step.
    RunOnTo(String),
    /// COMMIT; before its answer, on to that first.
    Commit,
    /// COMMIT, and the line is cut before anybody hears of it.
    CommitAndCut,
    /// ROLLBACK.
    RollBack,
    /// The line is cut.
    Cut,
    /// The backend is killed.
    Kill,
}

/// What to wait for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wait {
    /// The database's clock to pass the deadline of a claim.
    Deadline(String),
    /// A claim to be in a state.
    State(String, crate::domain::ClaimState),
}

/// What somebody is expected to have or to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expectation {
    /// This one.
    Of(Actor, Outcome),
    /// So many of those who act have it done, and all others are refused like this.
    Winners {
        /// How many.
        count: usize,
        /// The refusal's code, or the name of what psql ran against.
        others: Outcome,
    },
}

/// What became of what somebody did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Done.
    Done,
    /// Refused, with this code.
    Refused(String),
    /// What was answered before.
    Repeated(Box<Outcome>),
    /// PostgreSQL said no to psql: the name of a constraint, or an SQLSTATE.
    Error(String),
    /// Waiting for somebody's lock.
    WaitsFor(String),
    /// In step mode, before a step.
    StopsBefore(String),
    /// In step mode, with an answer, before the COMMIT.
    StopsBeforeCommit,
    /// The transaction is rolled back on request.
    RolledBack,
    /// Its line was cut, and nothing of it remains.
    Cut,
    /// Its backend was killed.
    Killed,
    /// The console itself said no.
    NotAsked,
    /// Something broke, in a sentence. Nobody can expect this.
    Broken(String),
}

impl Outcome {
    /// Whether it stays as it is by itself.
    pub fn is_final(&self) -> bool {
        !matches!(
            self,
            Self::WaitsFor(_) | Self::StopsBefore(_) | Self::StopsBeforeCommit
        )
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let harmless = crate::domain::text::harmless;
        match self {
            Self::Done => formatter.write_str("done"),
            Self::Refused(code) => formatter.write_str(code),
            Self::Repeated(outcome) if **outcome == Self::Done => formatter.write_str("repeated"),
            Self::Repeated(outcome) => write!(formatter, "repeated {outcome}"),
            Self::Error(name) => write!(formatter, "error {}", harmless(name)),
            Self::WaitsFor(whom) => write!(formatter, "waits for {}", harmless(whom)),
            Self::StopsBefore(step) => write!(formatter, "stops before {step}"),
            Self::StopsBeforeCommit => formatter.write_str("stops before commit"),
            Self::RolledBack => formatter.write_str("rolled back"),
            Self::Cut => formatter.write_str("cut"),
            Self::Killed => formatter.write_str("killed"),
            Self::NotAsked => formatter.write_str("not asked"),
            Self::Broken(_) => formatter.write_str("broken"),
        }
    }
}

/// What there is at the end of one room or item: exactly this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rows {
    /// The claims of a room, by state.
    Room {
        /// Where it stands in the file.
        line: usize,
        /// The room.
        room: String,
        /// How many are held, confirmed, cancelled and expired.
        counts: [usize; 4],
    },
    /// The figures of an item.
    Item {
        /// Where it stands in the file.
        line: usize,
        /// The item.
        item: String,
        /// Available, held and sold.
        figures: [i32; 3],
    },
}

impl Step {
    /// The desk to look at, where only one can be seen: the one that acts or, if none does, the one of which something is
    /// expected. None if it is about both, or about neither.
    pub fn desk(&self) -> Option<Which> {
        let acting = self.acts.iter().map(|act| &act.who);
        let expected = self.expect.iter().filter_map(|expected| match expected {
            Expectation::Of(who, _) => Some(who),
            Expectation::Winners { .. } => None,
        });
        match desks(acting)[..] {
            [one] => Some(one),
            [] => match desks(expected)[..] {
                [one] => Some(one),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The desks among some actors, each once.
fn desks<'a>(actors: impl Iterator<Item = &'a Actor>) -> Vec<Which> {
    let of_desks: Vec<Which> = actors.filter_map(Actor::which).collect();
    let both = Which::BOTH.into_iter();
    both.filter(|which| of_desks.contains(which)).collect()
}

impl Scenario {
    /// The site in which it plays when nobody watches.
    pub fn headless_site_file(&self) -> SiteFile {
        let mut site_file = self.site_file.clone();
        site_file.site.default_hold = self.headless_hold.unwrap_or(site_file.site.default_hold);
        site_file
    }

    /// Where a person takes over: after so many steps. Without a mark, before the first step that does something.
    pub fn hand_over(&self) -> (usize, &str) {
        let marked = self
            .steps
            .iter()
            .enumerate()
            .find_map(|(index, step)| Some((index + 1, step.hand_over.as_deref()?)));
        marked.unwrap_or_else(|| {
            let acting = self.steps.iter().position(|step| !step.acts.is_empty());
            (acting.unwrap_or(self.steps.len()), "")
        })
    }
}
