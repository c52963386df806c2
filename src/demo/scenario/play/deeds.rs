//! What is done in a step: cursors walk, keys are pressed, commands and SQL are sent, transactions are moved on.

use std::time::Instant;

use crokey::KeyCombination;
use crossterm::event::{KeyCode, KeyModifiers};

use crate::demo::scenario::crew::{self, Asked, Cell, CurtainFell, LIMITS, UnderWay};
use crate::demo::scenario::hand::{self, Goal, Next};
use crate::demo::scenario::play::{LOOK_AGAIN, MOST_KEYS, PATIENCE, Play, Stopped};
use crate::demo::scenario::{Act, Actor, Ask, Deed, Place, StepMove, Stop};
use crate::demo::{Desks, Which};
use crate::domain::{Desk, Request};
use crate::store::{Prompt, SiteStore, StepPlace, StepView, Stepwise, StoreError};

impl Play {
    /// Both desks show the site as it is now.
    pub(super) async fn freshen(&mut self) -> Result<(), Stopped> {
        let now = self.crew.site_store().now().await?;
        let refresh = |desks: &mut Desks| {
            for which in Which::BOTH {
                let tick = desks.session(which).tick();
                desks.take_in(which, tick);
                desks.session(which).refresh();
            }
        };
        self.crew.desks(refresh).await?;
        let is_fresh = move |desks: &mut Desks| {
            Which::BOTH.into_iter().all(|which| {
                let indexed = desks.session(which).model().indexed.as_ref();
                indexed.is_some_and(|indexed| indexed.snapshot().read_at >= now)
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
    pub(super) async fn prepare(
        &mut self,
        who: &Actor,
        go: Option<&Place>,
        text: &str,
        keys: &[KeyCombination],
    ) -> Result<(), Stopped> {
        let Some(which) = who.which() else {
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
            let next = move |desks: &mut Desks| hand::next(desks.session(which).model(), &goal);
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
    pub(super) async fn press_last_keys(&mut self, acts: &[Act]) -> Result<(), Stopped> {
        let pressing: Vec<Pressing> = acts.iter().filter_map(Pressing::of).collect();
        if let [one, other] = &pressing[..]
            && one.key == other.key
            && one.which != other.which
            && one.stop.is_none()
            && other.stop.is_none()
        {
            let key = one.key;
            let whose = [one, other].map(|pressing| (pressing.act.who.clone(), pressing.which));
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
        for Pressing {
            act,
            which,
            key,
            stop,
        } in pressing
        {
            let (who, name, stops) = (act.who.clone(), act.name.clone(), stop.is_some());
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
                run_to(&steps, stop).await;
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
    pub(super) async fn send_others(&mut self, acts: &[Act]) -> Result<(), Stopped> {
        let mut ready = Vec::new();
        for act in acts {
            match &act.deed {
                Deed::Ask { ask, stop } => {
                    let site_store = self.crew.site_store_of(&act.who).await?;
                    match (self.request(&act.who, ask)?, stop) {
                        (Some(request), Some(stop)) => {
                            let asked = self
                                .send_stopping(&act.who, &site_store, request, stop)
                                .await?;
                            self.remember(act.who.clone(), Some(asked), act.name.clone());
                        }
                        (Some(request), None) => {
                            site_store.make_ready(&request).await?;
                            ready.push((act, Ready::Ask(Box::new(site_store), request)));
                        }
                        (None, _) => ready.push((act, Ready::Sweep(Box::new(site_store)))),
                    }
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
            self.remember(act.who.clone(), Some(ready.go()), act.name.clone());
        }
        Ok(())
    }

    /// What is asked, under a fresh id or, to repeat it, under the one that it had; nothing for a sweep.
    fn request(&self, who: &Actor, ask: &Ask) -> Result<Option<Request>, String> {
        match (self.command(ask)?, ask) {
            (Some(command), _) => Ok(Some(Request::fresh(Desk(who.name().to_owned()), command))),
            (None, Ask::Repeat(name)) => {
                let asked = self.crew.named.get(name);
                let asked = asked.ok_or_else(|| format!("Nothing was asked as {name}."))?;
                Ok(Some(asked.request.clone()))
            }
            (None, _) => Ok(None),
        }
    }

    /// Sends a command whose transaction stops. One of a desk on the screen is shown there.
    async fn send_stopping(
        &self,
        who: &Actor,
        site_store: &SiteStore,
        request: Request,
        stop: &Stop,
    ) -> Result<UnderWay, Stopped> {
        let steps = site_store.step_through(request.clone(), LIMITS).await?;
        if let Some(which) = who.which() {
            let shown = steps.clone();
            self.crew
                .desks(move |desks| desks.show_steps(which, shown))
                .await?;
        }
        run_to(&steps, stop).await;
        Ok(UnderWay::Asked(Box::new(Asked {
            request,
            which: None,
            steps: Some(steps),
            answer: Cell::empty(),
        })))
    }

    /// A move of the transaction that somebody has in step mode.
    pub(super) async fn make(&mut self, who: &Actor, step_move: &StepMove) -> Result<(), Stopped> {
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
                            let site_store = self.crew.site_store_of(who).await?;
                            let answer = site_store.execute(asked.request.clone()).await;
                            asked.answer.set(answer.map_err(|error| error.to_string()));
                        }
                        Err(error) => asked.answer.set(Err(error.to_string())),
                    }
                }
            }
        }
        Ok(())
    }
}

/// The last key of an act.
struct Pressing<'a> {
    act: &'a Act,
    which: Which,
    key: KeyCombination,
    stop: Option<&'a Stop>,
}

impl<'a> Pressing<'a> {
    fn of(act: &'a Act) -> Option<Self> {
        let Deed::Hands { keys, stop, .. } = &act.deed else {
            return None;
        };
        Some(Self {
            act,
            which: act.who.which()?,
            key: *keys.last()?,
            stop: stop.as_ref(),
        })
    }
}

/// Something that can be sent at once.
enum Ready {
    Ask(Box<SiteStore>, Request),
    Sweep(Box<SiteStore>),
    Sql(Prompt, String),
}

impl Ready {
    fn go(self) -> UnderWay {
        match self {
            Self::Sql(prompt, sql) => {
                UnderWay::Typed(Cell::of(async move { prompt.run(&sql).await }))
            }
            Self::Sweep(site_store) => UnderWay::Swept(Cell::of(async move {
                let swept = site_store.sweep(&Desk("the sweep".into())).await;
                swept.map_err(|error| error.to_string())
            })),
            Self::Ask(site_store, request) => {
                let sent = request.clone();
                UnderWay::Asked(Box::new(Asked {
                    request,
                    which: None,
                    steps: None,
                    answer: Cell::of(async move {
                        site_store
                            .execute(sent)
                            .await
                            .map_err(|error| error.to_string())
                    }),
                }))
            }
        }
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
            let is_passed =
                |view: &StepView| view.passed().any(|(passed, _)| passed.step.name == *name);
            while matches!(view.place, StepPlace::AtGate(_)) && !is_passed(&view) {
                view = steps.step().await;
            }
        }
    }
}
