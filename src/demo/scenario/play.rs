//! A play: the steps of a scenario carried out in order, each over before the next begins, and held against what is
//! expected. It knows no terminal: whoever owns the desks carries its orders out and shows its cues.

mod checks;
mod deeds;

use std::time::Duration;

use tokio::sync::mpsc;

use crate::demo::scenario::crew::{Asked, Cell, Crew, CurtainFell};
use crate::demo::scenario::setting::Setting;
use crate::demo::scenario::tempo::{Controls, Pace};
use crate::demo::scenario::{
    Actor, Ask, Deed, Expectation, Outcome, Played, Problem, Report, Scenario, Stage, Step,
};
use crate::demo::script::Order;
use crate::domain::{Command, Desk, Request};
use crate::store::{PromptAnswer, StoreError};
use crate::terminal::text::display;

/// How long something may take that is waited for, on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often is looked whether it has happened.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// More keys than any way across a site needs.
const MOST_KEYS: usize = 2_000;

/// What a spectator is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cue {
    /// A step begins.
    Step {
        /// Which, from 1.
        number: usize,
        /// Of how many.
        of: usize,
        /// What to read; none goes on under the caption before it.
        caption: Option<String>,
    },
    /// What became of it, in sentences.
    Happened(String),
    /// A person takes over; what to try.
    HandOver(String),
    /// It is over.
    Over(Report),
}

/// Why a play can't go on.
enum Stopped {
    /// Something was not as expected, or can't be done.
    Problem(String),
    /// Nobody shows it any more.
    CurtainFell,
}

impl From<CurtainFell> for Stopped {
    fn from(_: CurtainFell) -> Self {
        Self::CurtainFell
    }
}

impl From<String> for Stopped {
    fn from(problem: String) -> Self {
        Self::Problem(problem)
    }
}

impl From<StoreError> for Stopped {
    fn from(error: StoreError) -> Self {
        Self::Problem(error.to_string())
    }
}

/// A scenario that is being played. As long as it lives, its psql windows and its transactions stay open.
pub struct Play {
    scenario: Scenario,
    pace: Pace,
    controls: Controls,
    crew: Crew,
    setting: Setting,
    cues: mpsc::UnboundedSender<Cue>,
    report: Report,
}

impl Play {
    /// Makes ready to play a scenario: orders go to whoever owns the desks, cues to whoever shows them.
    ///
    /// # Errors
    /// If the site can't be read.
    pub async fn new(
        scenario: Scenario,
        stage: &Stage,
        pace: Pace,
        orders: mpsc::UnboundedSender<Order>,
        cues: mpsc::UnboundedSender<Cue>,
    ) -> Result<Self, StoreError> {
        let site_store = stage.site_store().clone();
        let setting = Setting::read(&site_store).await?;
        let scratch = stage.scratch().map(str::to_owned);
        Ok(Self {
            report: Report {
                title: scenario.title.clone(),
                ok: true,
                steps: Vec::new(),
                problems: Vec::new(),
            },
            scenario,
            pace,
            controls: Controls::default(),
            crew: Crew::new(site_store, orders, scratch),
            setting,
            cues,
        })
    }

    /// What a spectator can do to it.
    pub fn controls(&self) -> Controls {
        self.controls.clone()
    }

    /// Plays it: to the end, or to where a person takes over.
    pub async fn run(&mut self) -> Report {
        let problem = match self.act_all().await {
            Ok(true) => return self.report.clone(),
            Ok(false) => self.check_ending().await.err(),
            Err(problem) => problem,
        };
        if let Some(problem) = problem {
            self.report.problems.push(problem);
        }
        self.report.ok = self.report.problems.is_empty();
        self.cue(Cue::Over(self.report.clone()));
        self.report.clone()
    }

    /// Plays the steps; says whether a person takes over. Stops at a problem, or when nobody shows it any more.
    async fn act_all(&mut self) -> Result<bool, Option<Problem>> {
        self.open().await?;
        let (take_over, what_to_try) = self.scenario.hand_over();
        let (take_over, what_to_try) = (take_over, what_to_try.to_owned());
        let steps = self.scenario.steps.clone();
        for (index, step) in steps.iter().enumerate() {
            if self.pace == Pace::Sandbox && index == take_over {
                break;
            }
            if self.pace == Pace::Slow
                && let Some(which) = step.desk()
            {
                // If the desks are gone, the next order finds out.
                let _ = self.crew.desks(move |desks| desks.look_at(which)).await;
            }
            self.cue(Cue::Step {
                number: index + 1,
                of: steps.len(),
                caption: step.caption.clone(),
            });
            self.report.steps.push(Played {
                line: step.line,
                caption: step.caption.clone(),
                happened: Vec::new(),
            });
            if let Some(caption) = &step.caption {
                self.note(caption).await;
                self.controls.rest(self.pace.reading(caption)).await;
            }
            let played = self.play(step).await;
            let happened = self.tell(step).await;
            played.map_err(|stopped| stopped.at(step.line))?;
            let looking = match (self.pace, step.pause) {
                (Pace::Slow, Some(pause)) => pause,
                _ => self.pace.looking(&happened),
            };
            self.controls.rest(looking).await;
        }
        if self.pace == Pace::Sandbox {
            self.cue(Cue::HandOver(what_to_try));
        }
        Ok(self.pace == Pace::Sandbox)
    }

    /// Writes a line into the transcript.
    async fn note(&self, text: &str) {
        let text = text.to_owned();
        // If the desks are gone, the next order finds out.
        let _ = self.crew.desks(move |desks| desks.note(&text)).await;
    }

    fn cue(&self, cue: Cue) {
        // Whoever showed it may have gone; the play ends with the next order.
        let _ = self.cues.send(cue);
    }

    /// Says what became of what this step is about.
    async fn tell(&mut self, step: &Step) -> String {
        let mut about: Vec<Actor> = step.acts.iter().map(|act| act.who.clone()).collect();
        about.extend(
            step.expect
                .iter()
                .filter_map(|expectation| match expectation {
                    Expectation::Of(who, _) => Some(who.clone()),
                    Expectation::Winners { .. } => None,
                }),
        );
        about.sort();
        about.dedup();
        let mut told: Vec<String> = Vec::new();
        for act in &step.acts {
            if let Deed::Sql { sql, .. } = &act.deed {
                let words: Vec<&str> = sql.split_whitespace().collect();
                let typed = format!("{}> {}", act.who, display(&words.join(" ")));
                told.push(typed);
            }
        }
        for who in about {
            if let Ok(Some(outcome)) = self.crew.outcome(&who).await {
                let more = self.crew.sentence(&who);
                let more = more.map_or(String::new(), |more| format!(" {more}"));
                told.push(match outcome {
                    Outcome::NotAsked => format!("{who}: refused by the console itself.{more}"),
                    Outcome::Refused(code) => format!("{who}: refused ({code}).{more}"),
                    outcome => format!("{who}: {outcome}.{more}"),
                });
            }
        }
        let together = told.join(" ");
        self.note(&together).await;
        if let Some(step) = self.report.steps.last_mut() {
            step.happened = told;
        }
        if !together.is_empty() {
            self.cue(Cue::Happened(together.clone()));
        }
        together
    }

    /// Stays for as long as somebody shows the desks.
    pub async fn stay(&self) {
        self.crew.stay().await;
    }

    /// What is there when the curtain rises.
    async fn open(&mut self) -> Result<(), Option<Problem>> {
        if let Some(sql) = self.scenario.scratch.clone() {
            let prompt = self.crew.prompt_of(&Actor::Prompt("psql".into())).await;
            match prompt
                .map_err(|error| Some(Problem::of_all(error.to_string())))?
                .run(&sql)
                .await
            {
                PromptAnswer::Done(_) => {}
                said => {
                    return Err(Some(Problem::of_all(format!(
                        "The scratch schema could not be filled: {said:?}"
                    ))));
                }
            }
        }
        for opening in self.scenario.opening.clone() {
            let at = |stopped: Stopped| stopped.at(opening.line);
            let who = Actor::named(&opening.desk);
            let asks = [
                Some(opening.ask.clone()),
                opening.confirmed.then(|| Ask::Confirm(OPENED.into())),
            ];
            for ask in asks.into_iter().flatten() {
                let command = self.command(&ask).map_err(|problem| at(problem.into()))?;
                let Some(command) = command else { continue };
                let site_store = self
                    .crew
                    .site_store_of(&who)
                    .await
                    .map_err(|error| at(error.into()))?;
                let request = Request::fresh(Desk(opening.desk.clone()), command);
                let answer = site_store
                    .execute(request.clone())
                    .await
                    .map_err(|error| at(error.into()))?;
                if let Some(refusal) = answer.refusal() {
                    let sentence = refusal.sentence(&site_store.site().calendar);
                    return Err(Some(Problem::at(opening.line, sentence)));
                }
                let asked = Asked {
                    request,
                    which: None,
                    steps: None,
                    answer: Cell::empty(),
                };
                asked.answer.set(Ok(answer));
                for name in [Some(OPENED.to_owned()), opening.name.clone()]
                    .into_iter()
                    .flatten()
                {
                    self.crew.named.insert(name, Box::new(asked.clone()));
                }
            }
        }
        Ok(())
    }

    fn command(&self, ask: &Ask) -> Result<Option<Command>, String> {
        self.setting.command(ask, |name| self.crew.claim(name))
    }

    /// One step, until what it is about is as it is expected to be.
    async fn play(&mut self, step: &Step) -> Result<(), Stopped> {
        let hands = step
            .acts
            .iter()
            .any(|act| matches!(act.deed, Deed::Hands { .. }));
        if hands {
            self.freshen().await?;
        }
        for act in &step.acts {
            if let Deed::Hands { go, text, keys, .. } = &act.deed {
                self.prepare(&act.who, go.as_ref(), text, keys).await?;
            }
        }
        self.press_last_keys(&step.acts).await?;
        self.send_others(&step.acts).await?;
        for act in &step.acts {
            if let Deed::Move(step_move) = &act.deed {
                self.make(&act.who, step_move).await?;
            }
        }
        self.settle(step).await?;
        if let Some(wait) = &step.wait {
            self.wait(wait).await?;
        }
        for expectation in &step.expect {
            self.expect(step, expectation).await?;
        }
        self.hold_returns(step).await
    }
}

/// The claim of the opening that has just been made; no name in a file is empty.
const OPENED: &str = "";

impl Stopped {
    /// What is wrong, if anything is.
    fn at(self, line: usize) -> Option<Problem> {
        match self {
            Self::Problem(problem) => Some(Problem::at(line, problem)),
            Self::CurtainFell => None,
        }
    }
}
