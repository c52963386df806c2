//! A play: the steps of a scenario carried out in order, each over before the next begins, and held against what is
//! expected. It knows no terminal: whoever owns the desks carries its orders out and shows its cues.

use std::time::{Duration, Instant};

use chrono::TimeDelta;
use crokey::KeyCombination;
use crossterm::event::{KeyCode, KeyModifiers};
use tokio::sync::mpsc;

use crate::console::text::display;
use crate::demo::{Desks, Which};
use crate::domain::{ClaimState, Desk, Request};
use crate::store::{House, Said, SlotFilter, StepPlace, Stepwise, StoreError};

use super::crew::{self, Asked, Cell, Crew, CurtainFell, LIMITS, Order, UnderWay};
use super::hand::{self, Goal, Next};
use super::setting::{ClaimId, Setting};
use super::tempo::{Controls, Pace};
use super::{
    Act, Actor, Ask, Deed, Expectation, Outcome, Place, Played, Problem, Report, Rows, Scenario,
    Stage, Step, StepMove, Stop, Wait,
};

/// How long something may take that is waited for, on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often is looked whether it has happened.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// More keys than any way across a house needs.
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
    /// Something happened, in a sentence.
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
    /// If the house can't be read.
    pub async fn new(
        scenario: Scenario,
        stage: &Stage,
        pace: Pace,
        orders: mpsc::UnboundedSender<Order>,
        cues: mpsc::UnboundedSender<Cue>,
    ) -> Result<Self, StoreError> {
        let house = stage.house().clone();
        let setting = Setting::read(&house).await?;
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
            crew: Crew::new(house, orders, scratch),
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
            Ok(false) => self.curtain_call().await,
            Err(problem) => Some(problem),
        };
        if let Some(problem) = problem {
            self.report.problems.push(problem);
        }
        self.report.ok = self.report.problems.is_empty();
        self.cue(Cue::Over(self.report.clone()));
        self.report.clone()
    }

    /// Plays the steps; says whether a person takes over.
    async fn act_all(&mut self) -> Result<bool, Problem> {
        self.open().await?;
        let (take_over, what_to_try) = self.scenario.hand_over();
        let (take_over, what_to_try) = (take_over, what_to_try.to_owned());
        let steps = self.scenario.steps.clone();
        for (index, step) in steps.iter().enumerate() {
            if self.pace == Pace::Sandbox && index == take_over {
                break;
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
                self.controls.rest(self.pace.reading(caption)).await;
            }
            let played = self.play(step).await;
            self.tell(step).await;
            played.map_err(|stopped| stopped.at(step.line))?;
            let looking = match (self.pace, step.pause) {
                (Pace::Slow, Some(pause)) => pause,
                _ => self.pace.looking(),
            };
            self.controls.rest(looking).await;
        }
        if self.pace == Pace::Sandbox {
            self.cue(Cue::HandOver(what_to_try));
        }
        Ok(self.pace == Pace::Sandbox)
    }

    fn cue(&self, cue: Cue) {
        // Whoever showed it may have gone; the play ends with the next order.
        let _ = self.cues.send(cue);
    }

    fn happened(&mut self, what: String) {
        if let Some(step) = self.report.steps.last_mut() {
            step.happened.push(what.clone());
        }
        self.cue(Cue::Happened(what));
    }

    /// Says what became of what this step is about.
    async fn tell(&mut self, step: &Step) {
        let mut about: Vec<Actor> = step.acts.iter().map(|act| act.who.clone()).collect();
        about.extend(
            step.expect
                .iter()
                .filter_map(|expectation| match expectation {
                    Expectation::Of(who, _) => Some(who.clone()),
                    Expectation::Winners { .. } => None,
                }),
        );
        let mut told = Vec::new();
        for who in about {
            if told.contains(&who) {
                continue;
            }
            if let Ok(Some(outcome)) = self.crew.outcome(&who).await {
                let more = self.crew.sentence(&who);
                let more = more.map_or(String::new(), |more| format!(" {more}"));
                self.happened(format!("{who}: {outcome}.{more}"));
            }
            told.push(who);
        }
    }

    /// What is there when the curtain rises.
    async fn open(&mut self) -> Result<(), Problem> {
        if let Some(sql) = self.scenario.scratch.clone() {
            let prompt = self.crew.prompt_of(&Actor::Prompt("psql".into())).await;
            match prompt
                .map_err(|error| Problem::of_all(error.to_string()))?
                .run(&sql)
                .await
            {
                Said::Done(_) => {}
                said => {
                    return Err(Problem::of_all(format!(
                        "The scratch schema could not be filled: {said:?}"
                    )));
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
                let house = self
                    .crew
                    .house_of(&who)
                    .await
                    .map_err(|error| at(error.into()))?;
                let request = Request::fresh(Desk(opening.desk.clone()), command);
                let answer = house
                    .execute(request.clone())
                    .await
                    .map_err(|error| at(error.into()))?;
                if let Err(refusal) = &answer.outcome {
                    let sentence = refusal.sentence(&house.site().calendar);
                    return Err(Problem::at(opening.line, sentence));
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
                    self.crew.named.insert(name, asked.clone());
                }
            }
        }
        Ok(())
    }

    fn command(&self, ask: &Ask) -> Result<Option<crate::domain::Command>, String> {
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

    /// Both desks show the house as it is now.
    async fn freshen(&mut self) -> Result<(), Stopped> {
        let now = self.crew.house().now().await?;
        let refresh = |desks: &mut Desks| {
            for which in Which::BOTH {
                let tick = desks.station(which).tick();
                desks.take_in(which, tick);
                desks.station(which).refresh();
            }
        };
        self.crew.desks(refresh).await?;
        let is_fresh = move |desks: &mut Desks| {
            Which::BOTH.into_iter().all(|which| {
                let board = desks.station(which).model().board.as_ref();
                board.is_some_and(|board| board.picture().read_at >= now)
            })
        };
        let began = Instant::now();
        while !self.crew.desks(is_fresh).await? {
            if began.elapsed() > PATIENCE {
                return Err(Stopped::Problem(
                    "The desks don't get to see the house.".into(),
                ));
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(())
    }

    /// Everything that hands do before the last key.
    async fn prepare(
        &mut self,
        who: &Actor,
        go: Option<&Place>,
        text: &str,
        keys: &[KeyCombination],
    ) -> Result<(), Stopped> {
        let Some(which) = which(who) else {
            return Ok(());
        };
        // What was said at this desk before is over.
        self.crew.under_way.remove(who);
        if let Some(place) = go {
            let goal = self.setting.goal(place)?;
            self.walk(which, goal).await?;
        }
        for character in text.chars() {
            let key = KeyCombination::one_key(KeyCode::Char(character), KeyModifiers::NONE);
            self.press(which, key.normalized()).await?;
            self.controls.rest(self.pace.between_moves()).await;
        }
        for key in keys.split_last().map_or(&[][..], |(_, before)| before) {
            self.press(which, *key).await?;
            self.controls.rest(self.pace.between_keys()).await;
        }
        Ok(())
    }

    async fn press(&self, which: Which, key: KeyCombination) -> Result<(), CurtainFell> {
        self.crew
            .desks(move |desks| drop(desks.press(which, key.into())))
            .await
    }

    /// Moves the cursor, key by key.
    async fn walk(&self, which: Which, goal: Goal) -> Result<(), Stopped> {
        let (mut keys, began) = (0, Instant::now());
        loop {
            let next = move |desks: &mut Desks| hand::next(desks.station(which).model(), &goal);
            match self.crew.desks(next).await?? {
                Next::There => return Ok(()),
                Next::Press(key) if keys < MOST_KEYS => {
                    keys += 1;
                    self.press(which, key).await?;
                    self.controls.rest(self.pace.between_moves()).await;
                }
                Next::Look if began.elapsed() < PATIENCE => tokio::time::sleep(LOOK_AGAIN).await,
                _ => return Err(Stopped::Problem("The cursor does not come there.".into())),
            }
        }
    }

    /// The keys that matter: the same one at both desks goes off at both in the same moment.
    async fn press_last_keys(&mut self, acts: &[Act]) -> Result<(), Stopped> {
        let pressing: Vec<(Actor, Which, KeyCombination, Option<Stop>, Option<String>)> = acts
            .iter()
            .filter_map(|act| match &act.deed {
                Deed::Hands { keys, stop, .. } => Some((
                    act.who.clone(),
                    which(&act.who)?,
                    *keys.last()?,
                    stop.clone(),
                    act.name.clone(),
                )),
                _ => None,
            })
            .collect();
        if let [(one, first, key, None, _), (other, second, same, None, _)] = &pressing[..]
            && key == same
            && first != second
        {
            let (key, whose) = (*key, [(one.clone(), *first), (other.clone(), *second)]);
            let asked = self
                .crew
                .desks(move |desks| {
                    let before = Which::BOTH.map(|which| crew::pending_at(desks, which));
                    desks.fire(key.into());
                    whose.map(|(who, which)| {
                        (who, crew::asked_at(desks, which, &before[which.index()]))
                    })
                })
                .await?;
            for (who, asked) in asked {
                self.remember(who, asked, None);
            }
            return Ok(());
        }
        for (who, which, key, stop, name) in pressing {
            let stops = stop.is_some();
            let asked = self
                .crew
                .desks(move |desks| {
                    let before = crew::pending_at(desks, which);
                    crew::stop_next(desks, which, stops);
                    desks.press(which, key.into());
                    crew::stop_next(desks, which, false);
                    crew::asked_at(desks, which, &before)
                })
                .await?;
            self.remember(who.clone(), asked, name);
            if let Some(stop) = stop {
                let steps = self.transaction_of(&who, which).await?;
                run_to(&steps, &stop).await;
            }
        }
        Ok(())
    }

    fn remember(&mut self, who: Actor, under_way: Option<UnderWay>, name: Option<String>) {
        let Some(under_way) = under_way else { return };
        if let (Some(name), UnderWay::Asked(asked)) = (name, &under_way) {
            self.crew.named.insert(name, asked.clone());
        }
        self.crew.under_way.insert(who, under_way);
    }

    /// The transaction of what a desk has just asked.
    async fn transaction_of(&mut self, who: &Actor, which: Which) -> Result<Stepwise, Stopped> {
        let began = Instant::now();
        loop {
            let Some(UnderWay::Asked(asked)) = self.crew.under_way.get_mut(who) else {
                let told = self.crew.sentence(who).unwrap_or_default();
                return Err(Stopped::Problem(format!(
                    "{who} asks nothing that could stop. {told}"
                )));
            };
            let id = asked.id();
            let found = self
                .crew
                .desks(move |desks| crew::transaction(desks, which, id))
                .await?;
            if let (Some(steps), Some(UnderWay::Asked(asked))) =
                (found, self.crew.under_way.get_mut(who))
            {
                asked.steps = Some(steps.clone());
                return Ok(steps);
            }
            if began.elapsed() > PATIENCE {
                return Err(Stopped::Problem(format!(
                    "{who}'s transaction never began."
                )));
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// What is sent around the keys: made ready first, then all of it at once.
    async fn send_others(&mut self, acts: &[Act]) -> Result<(), Stopped> {
        let mut ready = Vec::new();
        for act in acts {
            match &act.deed {
                Deed::Ask { ask, stop } => {
                    let house = self.crew.house_of(&act.who).await?;
                    let request = match (self.command(ask)?, ask) {
                        (Some(command), _) => {
                            Some(Request::fresh(Desk(act.who.name().to_owned()), command))
                        }
                        (None, Ask::Repeat(name)) => {
                            let asked = self.crew.named.get(name);
                            let asked =
                                asked.ok_or_else(|| format!("Nothing was asked as {name}."))?;
                            Some(asked.request.clone())
                        }
                        (None, _) => None,
                    };
                    if let (Some(request), None) = (&request, stop) {
                        house.make_ready(request).await?;
                    }
                    ready.push((act, Ready::Ask(house, request, stop.clone())));
                }
                Deed::Sql { sql, .. } => {
                    let sql = self.setting.sql(sql, |name| self.crew.claim(name))?;
                    let prompt = self.crew.prompt_of(&act.who).await?;
                    ready.push((act, Ready::Sql(prompt, sql)));
                }
                Deed::Hands { .. } | Deed::Move(_) => {}
            }
        }
        for (act, ready) in ready {
            let under_way = ready.go().await?;
            self.remember(act.who.clone(), Some(under_way), act.name.clone());
        }
        Ok(())
    }

    /// A move of the transaction that somebody has in step mode.
    async fn make(&mut self, who: &Actor, step_move: &StepMove) -> Result<(), Stopped> {
        let asked = match self.crew.under_way.get(who) {
            Some(UnderWay::Asked(asked)) => asked.clone(),
            _ => {
                return Err(Stopped::Problem(format!(
                    "{who} has no transaction in step mode."
                )));
            }
        };
        let Some(steps) = asked.steps.clone() else {
            return Err(Stopped::Problem(format!(
                "{who} has no transaction in step mode."
            )));
        };
        match step_move {
            StepMove::Step => drop(steps.step().await),
            StepMove::RunOn => drop(steps.run_on().await),
            StepMove::RunOnTo(step) => drop(steps.run_on_to(step).await),
            StepMove::RollBack => drop(steps.roll_back().await),
            StepMove::Cut => drop(steps.cut().await),
            StepMove::Kill => drop(steps.kill().await),
            StepMove::Commit | StepMove::CommitAndCut => {
                if !matches!(steps.look().place, StepPlace::Answered(_)) {
                    steps.run_on().await;
                }
                let committed = if *step_move == StepMove::Commit {
                    steps.commit().await
                } else {
                    steps.commit_and_cut().await
                };
                if asked.which.is_none() {
                    match committed {
                        Ok(answer) => asked.answer.set(Ok(answer)),
                        // Neither success nor failure until the id has been asked again (R24).
                        Err(StoreError::Unknown { .. }) => {
                            let house = self.crew.house_of(who).await?;
                            let answer = house.execute(asked.request.clone()).await;
                            asked.answer.set(answer.map_err(|error| error.to_string()));
                        }
                        Err(error) => asked.answer.set(Err(error.to_string())),
                    }
                }
            }
        }
        Ok(())
    }

    /// Waits until what was done is answered, stands, or is seen to wait. What is expected to become of it is waited
    /// for later.
    async fn settle(&mut self, step: &Step) -> Result<(), Stopped> {
        let winners = step
            .expect
            .iter()
            .any(|expectation| matches!(expectation, Expectation::Winners { .. }));
        for act in &step.acts {
            let expected = step.expect.iter().any(
                |expectation| matches!(expectation, Expectation::Of(who, _) if *who == act.who),
            );
            if expected || !self.crew.under_way.contains_key(&act.who) {
                continue;
            }
            let began = Instant::now();
            loop {
                self.crew.listen().await?;
                match self.crew.outcome(&act.who).await? {
                    Some(outcome) if outcome.is_final() || !winners => break,
                    _ if began.elapsed() > PATIENCE => {
                        let problem = format!(
                            "{} has no answer within {} seconds.",
                            act.who,
                            PATIENCE.as_secs()
                        );
                        return Err(Stopped::Problem(problem));
                    }
                    _ => tokio::time::sleep(LOOK_AGAIN).await,
                }
            }
        }
        Ok(())
    }

    async fn wait(&mut self, wait: &Wait) -> Result<(), Stopped> {
        self.crew.listen().await?;
        match wait {
            Wait::Deadline(name) => {
                let Some(deadline) = self.standing(name).await?.1 else {
                    return Err(Stopped::Problem(format!("{name} has no deadline.")));
                };
                loop {
                    let left = deadline - self.crew.house().now().await?;
                    if left <= TimeDelta::zero() {
                        return Ok(());
                    }
                    tokio::time::sleep(left.to_std().unwrap_or_default() + LOOK_AGAIN).await;
                }
            }
            Wait::State(name, state) => {
                let began = Instant::now();
                loop {
                    let seen = self.standing(name).await?.0;
                    if seen == *state {
                        return Ok(());
                    }
                    if began.elapsed() > PATIENCE {
                        let problem = format!("{name} was expected to be {state} and is {seen}.");
                        return Err(Stopped::Problem(problem));
                    }
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
            }
        }
    }

    /// The state and the deadline of a claim, as it is stored.
    async fn standing(
        &self,
        name: &str,
    ) -> Result<(ClaimState, Option<chrono::DateTime<chrono::Utc>>), Stopped> {
        let house = self.crew.house();
        let found = match self.crew.claim(name)? {
            ClaimId::Slot(id) => house
                .slot_hold(id)
                .await?
                .map(|hold| (hold.state, hold.expires_at)),
            ClaimId::Stock(id) => house
                .stock_hold(id)
                .await?
                .map(|hold| (hold.state, hold.expires_at)),
            ClaimId::Group(id) => house.group(id).await?.map(|group| {
                let slots = group.slots.iter().filter_map(|hold| hold.expires_at);
                let stock = group.stock.iter().filter_map(|hold| hold.expires_at);
                (group.state, slots.chain(stock).min())
            }),
        };
        found.ok_or_else(|| Stopped::Problem(format!("{name} is not there any more.")))
    }

    /// Waits until it is as expected; not for long if that can't come any more.
    async fn expect(&mut self, step: &Step, expectation: &Expectation) -> Result<(), Stopped> {
        let began = Instant::now();
        match expectation {
            Expectation::Of(who, expected) => loop {
                self.crew.listen().await?;
                let seen = self.crew.outcome(who).await?;
                if seen.as_ref() == Some(expected) {
                    return Ok(());
                }
                let hopeless = seen.as_ref().is_some_and(Outcome::is_final);
                if hopeless || began.elapsed() > PATIENCE {
                    let seen = seen.map_or("nothing".to_owned(), |seen| format!("“{seen}”"));
                    let told = self
                        .crew
                        .sentence(who)
                        .map_or(String::new(), |told| format!(" {told}"));
                    let problem = format!(
                        "{who} was expected to have “{expected}”, and {seen} was seen.{told}"
                    );
                    return Err(Stopped::Problem(problem));
                }
                tokio::time::sleep(LOOK_AGAIN).await;
            },
            Expectation::Winners { count, others } => {
                let mut seen = Vec::new();
                for act in &step.acts {
                    let outcome = self.crew.outcome(&act.who).await?;
                    seen.push((&act.who, outcome));
                }
                let won = seen
                    .iter()
                    .filter(|(_, outcome)| *outcome == Some(Outcome::Done))
                    .count();
                let lost = seen
                    .iter()
                    .filter(|(_, outcome)| outcome.as_ref() == Some(others))
                    .count();
                if won == *count && won + lost == seen.len() {
                    return Ok(());
                }
                let seen: Vec<String> = seen
                    .iter()
                    .map(|(who, outcome)| match outcome {
                        Some(outcome) => format!("{who}: {outcome}"),
                        None => format!("{who}: nothing"),
                    })
                    .collect();
                Err(Stopped::Problem(format!(
                    "{count} were expected to have it done and the others “{others}”; seen was: {}.",
                    seen.join(", ")
                )))
            }
        }
    }

    /// SQL has returned what it was expected to.
    async fn hold_returns(&mut self, step: &Step) -> Result<(), Stopped> {
        for act in &step.acts {
            let Deed::Sql {
                returns: Some(expected),
                ..
            } = &act.deed
            else {
                continue;
            };
            let Some(UnderWay::Typed(said)) = self.crew.under_way.get(&act.who) else {
                continue;
            };
            match said.get() {
                Some(Said::Done(Some(returned))) if returned == *expected => {}
                said => {
                    let seen = match said {
                        Some(Said::Done(returned)) => returned.unwrap_or_else(|| "nothing".into()),
                        _ => "no answer".into(),
                    };
                    return Err(Stopped::Problem(format!(
                        "{} was expected to return {}, and returned {}.",
                        act.who,
                        display(expected),
                        display(&seen)
                    )));
                }
            }
        }
        Ok(())
    }

    /// What there is at the end, and whether the rules are kept.
    async fn curtain_call(&mut self) -> Option<Problem> {
        self.check_ending().await.err()
    }

    async fn check_ending(&mut self) -> Result<(), Problem> {
        let house = self.crew.house().clone();
        let fault = |error: StoreError| Problem::of_all(error.to_string());
        for rows in self.scenario.ending.clone() {
            match rows {
                Rows::Room { line, room, counts } => {
                    let id = self
                        .setting
                        .room_id(&room)
                        .map_err(|problem| Problem::at(line, problem))?;
                    let filter = SlotFilter {
                        room: Some(id),
                        ..SlotFilter::default()
                    };
                    let holds = house.slot_holds(&filter).await.map_err(fault)?;
                    let seen =
                        STATES.map(|state| holds.iter().filter(|hold| hold.state == state).count());
                    if seen != counts {
                        let words = |counts: [usize; 4]| {
                            let pairs = STATES.iter().zip(counts);
                            let words: Vec<_> = pairs
                                .map(|(state, count)| format!("{count} {state}"))
                                .collect();
                            words.join(", ")
                        };
                        return Err(Problem::at(
                            line,
                            format!(
                                "{} should have {} and has {}.",
                                display(&room),
                                words(counts),
                                words(seen)
                            ),
                        ));
                    }
                }
                Rows::Item {
                    line,
                    item,
                    figures,
                } => {
                    let id = self
                        .setting
                        .item(&item)
                        .map_err(|problem| Problem::at(line, problem))?
                        .id;
                    let items = house.items().await.map_err(fault)?;
                    let now = items.iter().find(|now| now.id == id);
                    let seen = now.map(|now| [now.available, now.held, now.sold]);
                    if seen != Some(figures) {
                        let words = |[available, held, sold]: [i32; 3]| {
                            format!("{available} available, {held} held, {sold} sold")
                        };
                        let seen = seen.map_or_else(|| "nothing".into(), words);
                        return Err(Problem::at(
                            line,
                            format!(
                                "{} should have {} and has {seen}.",
                                display(&item),
                                words(figures)
                            ),
                        ));
                    }
                }
            }
        }
        let found = house.check().await.map_err(fault)?;
        let mut rules: Vec<&str> = found.iter().map(|problem| problem.rule.as_str()).collect();
        rules.sort_unstable();
        if rules == self.scenario.finds {
            return Ok(());
        }
        let found: Vec<String> = found
            .iter()
            .map(|problem| {
                format!(
                    "{}, {}: {}",
                    problem.rule,
                    display(&problem.subject),
                    display(&problem.problem)
                )
            })
            .collect();
        let found = if found.is_empty() {
            "nothing".to_owned()
        } else {
            found.join("; ")
        };
        let expected = if self.scenario.finds.is_empty() {
            "nothing".to_owned()
        } else {
            self.scenario.finds.join(", ")
        };
        Err(Problem::of_all(format!(
            "`keyrack check` was expected to find {expected} at the end, and found {found}."
        )))
    }
}

/// The states of claims, as rows count them.
const STATES: [ClaimState; 4] = [
    ClaimState::Held,
    ClaimState::Confirmed,
    ClaimState::Cancelled,
    ClaimState::Expired,
];

/// The claim of the opening that has just been made; no name in a file is empty.
const OPENED: &str = "";

impl Stopped {
    fn at(self, line: usize) -> Problem {
        match self {
            Self::Problem(problem) => Problem::at(line, problem),
            Self::CurtainFell => Problem::at(line, "The play was ended here."),
        }
    }
}

/// Something that can be sent at once.
enum Ready {
    Ask(House, Option<Request>, Option<Stop>),
    Sql(crate::store::Prompt, String),
}

impl Ready {
    async fn go(self) -> Result<UnderWay, Stopped> {
        Ok(match self {
            Self::Sql(prompt, sql) => {
                UnderWay::Typed(Cell::of(async move { prompt.run(&sql).await }))
            }
            Self::Ask(house, None, _) => UnderWay::Swept(Cell::of(async move {
                let swept = house.sweep(&Desk("the sweep".into())).await;
                swept.map_err(|error| error.to_string())
            })),
            Self::Ask(house, Some(request), None) => {
                let sent = request.clone();
                UnderWay::Asked(Asked {
                    request,
                    which: None,
                    steps: None,
                    answer: Cell::of(async move {
                        house.execute(sent).await.map_err(|error| error.to_string())
                    }),
                })
            }
            Self::Ask(house, Some(request), Some(stop)) => {
                let steps = house.step_through(request.clone(), LIMITS).await?;
                run_to(&steps, &stop).await;
                UnderWay::Asked(Asked {
                    request,
                    which: None,
                    steps: Some(steps),
                    answer: Cell::empty(),
                })
            }
        })
    }
}

/// Runs a transaction on to where it is to stop, or to where it waits for somebody.
async fn run_to(steps: &Stepwise, stop: &Stop) {
    let mut view = steps.settled().await;
    let stands_before = |place: &StepPlace, name: &str| matches!(place, StepPlace::AtGate(step) if step.name == name);
    match stop {
        Stop::BeforeCommit => drop(steps.run_on().await),
        Stop::Before(name) => {
            if !stands_before(&view.place, name) {
                steps.run_on_to(name).await;
            }
        }
        Stop::After(name) => {
            if !stands_before(&view.place, name) {
                view = steps.run_on_to(name).await;
            }
            let is_passed = |view: &crate::store::StepView| {
                view.passed.iter().any(|passed| passed.step.name == *name)
            };
            while matches!(view.place, StepPlace::AtGate(_)) && !is_passed(&view) {
                view = steps.step().await;
            }
        }
    }
}

fn which(who: &Actor) -> Option<Which> {
    match who {
        Actor::Desk(0) => Some(Which::First),
        Actor::Desk(_) => Some(Which::Second),
        Actor::Rival(_) | Actor::Prompt(_) => None,
    }
}
