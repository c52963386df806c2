//! What is waited for and expected: of those who act, of SQL, and of what there is at the end.

use std::time::Instant;

use chrono::{DateTime, TimeDelta, Utc};

use crate::demo::scenario::crew::UnderWay;
use crate::demo::scenario::play::{LOOK_AGAIN, PATIENCE, Play, Stopped};
use crate::demo::scenario::{Deed, Expectation, Outcome, Problem, Rows, Step, Wait};
use crate::domain::{ClaimId, ClaimState, rule};
use crate::store::{PromptAnswer, SlotFilter, StoreError};
use crate::terminal::text::display;

/// The states of claims, as rows count them.
const STATES: [ClaimState; 4] = [
    ClaimState::Held,
    ClaimState::Confirmed,
    ClaimState::Cancelled,
    ClaimState::Expired,
];

impl Play {
    /// Waits until what was done is answered, stands, or is seen to wait. What is expected to become of it is waited
    /// for later.
    pub(super) async fn settle(&mut self, step: &Step) -> Result<(), Stopped> {
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

    pub(super) async fn wait(&mut self, wait: &Wait) -> Result<(), Stopped> {
        self.crew.listen().await?;
        match wait {
            Wait::Deadline(name) => {
                let Some(deadline) = self.standing(name).await?.1 else {
                    return Err(Stopped::Problem(format!("{name} has no deadline.")));
                };
                loop {
                    let left = deadline - self.crew.site_store().now().await?;
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
    async fn standing(&self, name: &str) -> Result<(ClaimState, Option<DateTime<Utc>>), Stopped> {
        let site_store = self.crew.site_store();
        let found = match self.crew.claim(name)? {
            ClaimId::Slot(id) => site_store
                .slot_hold(id)
                .await?
                .map(|hold| (hold.state, hold.expires_at)),
            ClaimId::Stock(id) => site_store
                .stock_hold(id)
                .await?
                .map(|hold| (hold.state, hold.expires_at)),
            ClaimId::Group(id) => site_store.group(id).await?.map(|group| {
                let slots = group.slots.iter().filter_map(|hold| hold.expires_at);
                let stock = group.stock.iter().filter_map(|hold| hold.expires_at);
                (group.state, slots.chain(stock).min())
            }),
        };
        found.ok_or_else(|| Stopped::Problem(format!("{name} is not there any more.")))
    }

    /// Waits until it is as expected; not for long if that can't come any more.
    pub(super) async fn expect(
        &mut self,
        step: &Step,
        expectation: &Expectation,
    ) -> Result<(), Stopped> {
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
    pub(super) async fn hold_returns(&mut self, step: &Step) -> Result<(), Stopped> {
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
                Some(PromptAnswer::Done(Some(returned))) if returned == *expected => {}
                said => {
                    let seen = match said {
                        Some(PromptAnswer::Done(returned)) => {
                            returned.unwrap_or_else(|| "nothing".into())
                        }
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
    pub(super) async fn check_ending(&mut self) -> Result<(), Problem> {
        let site_store = self.crew.site_store().clone();
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
                    let holds = site_store.slot_holds(&filter).await.map_err(fault)?;
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
                    let items = site_store.items().await.map_err(fault)?;
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
        let found = site_store.check().await.map_err(fault)?;
        let mut rules: Vec<&str> = found.iter().map(|problem| problem.rule.as_str()).collect();
        rules.sort_unstable();
        if rules == self.scenario.finds {
            return Ok(());
        }
        let expected_rules = self.scenario.finds.iter().map(String::as_str);
        let explained = rule::explained(expected_rules.chain(rules)).join(" ");
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
            "`keyrack check` was expected to find {expected} at the end, and found {found}. {explained}"
        )))
    }
}
