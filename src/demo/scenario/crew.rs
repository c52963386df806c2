//! Who plays: hands at the two desks, desks that are not on the screen, and psql windows; and what each has under way.
//!
//! Whoever shows the desks owns them. The crew sends them orders ([`Order`]) and goes on when they are carried out, so
//! that a play is told in order while the desks stay alive.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use crate::console::model::notice::Tone;
use crate::demo::scenario::{Actor, Outcome};
use crate::demo::script::Order;
use crate::demo::{Desks, Which, steps};
use crate::domain::sentences::fault::Rollback;
use crate::domain::{Answer, ClaimId, Desk, Request, RequestId, Success};
use crate::store::stepping::Ending;
use crate::store::{Prompt, PromptAnswer, SiteStore, StepLimits, StepPlace, Stepwise, StoreError};
use crate::terminal::text::display;

/// A transaction that stops stands while captions are read.
pub(super) const LIMITS: StepLimits = StepLimits {
    total: Duration::from_secs(180),
};

/// The owner of the desks is gone, and with it the play.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CurtainFell;

/// What somebody asked, and what became of it.
#[derive(Debug, Clone)]
pub(super) enum UnderWay {
    /// The console said no without asking; the sentence.
    NotAsked(String),
    /// A request of the site.
    Asked(Box<Asked>),
    /// SQL.
    Typed(Cell<PromptAnswer>),
    /// A sweep.
    Swept(Cell<Result<i64, String>>),
}

/// A request that was sent.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) request: Request,
    /// The desk on the screen, if it is one's.
    pub(super) which: Option<Which>,
    /// Its transaction, if that stops.
    pub(super) steps: Option<Stepwise>,
    pub(super) answer: Cell<Result<Answer, String>>,
}

/// Something that will be known.
#[derive(Debug)]
pub(super) struct Cell<T>(Arc<Mutex<Option<T>>>);

impl<T> Clone for Cell<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Clone + Send + 'static> Cell<T> {
    pub(super) fn empty() -> Self {
        Self(Arc::default())
    }

    pub(super) fn set(&self, value: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    }

    pub(super) fn get(&self) -> Option<T> {
        let value = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        value.clone()
    }

    /// What a future will bring; it goes on if nobody looks.
    pub(super) fn of(future: impl Future<Output = T> + Send + 'static) -> Self {
        let cell = Self::empty();
        let filled = cell.clone();
        tokio::spawn(async move { filled.set(future.await) });
        cell
    }
}

/// Everybody who plays.
pub(super) struct Crew {
    site_store: SiteStore,
    orders: mpsc::UnboundedSender<Order>,
    scratch: Option<String>,
    rivals: HashMap<String, SiteStore>,
    prompts: HashMap<String, Prompt>,
    pub(super) under_way: HashMap<Actor, UnderWay>,
    pub(super) named: HashMap<String, Box<Asked>>,
}

impl Crew {
    pub(super) fn new(
        site_store: SiteStore,
        orders: mpsc::UnboundedSender<Order>,
        scratch: Option<String>,
    ) -> Self {
        Self {
            site_store,
            orders,
            scratch,
            rivals: HashMap::new(),
            prompts: HashMap::new(),
            under_way: HashMap::new(),
            named: HashMap::new(),
        }
    }

    /// Until nobody owns the desks any more.
    pub(super) async fn stay(&self) {
        self.orders.closed().await;
    }

    /// The site, as the play itself looks at it.
    pub(super) fn site_store(&self) -> &SiteStore {
        &self.site_store
    }

    /// Has something done with the desks, and brings back what came of it.
    pub(super) async fn desks<T: Send + 'static>(
        &self,
        what: impl FnOnce(&mut Desks) -> T + Send + 'static,
    ) -> Result<T, CurtainFell> {
        let (sender, heard) = oneshot::channel();
        let order: Order = Box::new(move |desks| {
            // If nobody waits for it any more, it was done all the same.
            let _ = sender.send(what(desks));
        });
        self.orders.send(order).map_err(|_| CurtainFell)?;
        heard.await.map_err(|_| CurtainFell)
    }

    /// The site through connections of somebody's own, which say whose they are.
    pub(super) async fn site_store_of(&mut self, who: &Actor) -> Result<SiteStore, StoreError> {
        if let Some(site_store) = self.rivals.get(who.name()) {
            return Ok(site_store.clone());
        }
        let desk = Desk(who.name().to_owned());
        let store = self.site_store.store().another_desk_named(&desk).await?;
        let site_store = store.site_store(self.site_store.site().clone());
        self.rivals
            .insert(who.name().to_owned(), site_store.clone());
        Ok(site_store)
    }

    /// Somebody's psql window.
    pub(super) async fn prompt_of(&mut self, who: &Actor) -> Result<Prompt, StoreError> {
        if let Some(prompt) = self.prompts.get(who.name()) {
            return Ok(prompt.clone());
        }
        let schema = self.scratch.as_deref();
        let prompt = self.site_store.store().prompt(who.name(), schema).await?;
        self.prompts.insert(who.name().to_owned(), prompt.clone());
        Ok(prompt)
    }

    /// What a desk on the screen has been answered is known to the desks.
    pub(super) async fn listen(&self) -> Result<(), CurtainFell> {
        let asked = self
            .under_way
            .values()
            .filter_map(|under_way| match under_way {
                UnderWay::Asked(asked) if asked.which.is_some() => Some(asked),
                _ => None,
            });
        for asked in asked.chain(self.named.values().filter(|asked| asked.which.is_some())) {
            if asked.answer.get().is_none() {
                let id = asked.request.id;
                if let Some(answer) = self.desks(move |desks| desks.answer(id)).await? {
                    asked.answer.set(answer);
                }
            }
        }
        Ok(())
    }

    /// What became of what somebody has under way; none while it is on its way.
    pub(super) async fn outcome(&self, who: &Actor) -> Result<Option<Outcome>, StoreError> {
        let outcome = match self.under_way.get(who) {
            None => None,
            Some(UnderWay::NotAsked(_)) => Some(Outcome::NotAsked),
            Some(UnderWay::Asked(asked)) => asked.outcome(),
            Some(UnderWay::Typed(said)) => said.get().map(|said| match said {
                PromptAnswer::Done(_) => Outcome::Done,
                PromptAnswer::Error { name, .. } => Outcome::Error(name),
                PromptAnswer::Lost => Outcome::Broken("The session is gone.".into()),
            }),
            Some(UnderWay::Swept(swept)) => swept.get().map(|swept| match swept {
                Ok(_) => Outcome::Done,
                Err(sentence) => Outcome::Broken(sentence),
            }),
        };
        if outcome.is_some() || !self.under_way.contains_key(who) {
            return Ok(outcome);
        }
        let waiting = self.site_store.store().lock_waits().await?;
        let mut whom: Vec<_> = waiting
            .into_iter()
            .filter(|waiting| waiting.who.0 == who.name())
            .map(|waiting| waiting.whom.0)
            .collect();
        whom.dedup();
        // Of several, the one that it has waited for longest is the first; the others stand in the same queue.
        Ok(whom.into_iter().next().map(Outcome::WaitsFor))
    }

    /// What somebody heard, in a sentence, beyond the outcome's word.
    pub(super) fn sentence(&self, who: &Actor) -> Option<String> {
        match self.under_way.get(who)? {
            UnderWay::NotAsked(sentence) => Some(sentence.clone()),
            UnderWay::Asked(asked) => match asked.answer.get()? {
                Ok(answer) => {
                    let refusal = answer.refusal()?;
                    Some(refusal.sentence(&self.site_store.site().calendar))
                }
                Err(sentence) => Some(sentence),
            },
            UnderWay::Typed(said) => match said.get()? {
                PromptAnswer::Done(last) => last.map(|last| format!("It says {}.", display(&last))),
                PromptAnswer::Error { message, .. } => {
                    Some(format!("It says: {}.", display(&message)))
                }
                PromptAnswer::Lost => None,
            },
            UnderWay::Swept(swept) => match swept.get()? {
                Ok(0) => Some("Nothing was left to expire.".into()),
                Ok(1) => Some("1 hold expired.".into()),
                Ok(expired) => Some(format!("{expired} holds expired.")),
                Err(sentence) => Some(sentence),
            },
        }
    }

    /// The claim that a named request made.
    pub(super) fn claim(&self, name: &str) -> Result<ClaimId, String> {
        let asked = self
            .named
            .get(name)
            .ok_or_else(|| format!("Nothing was asked under the name {name}."))?;
        let unanswered = || format!("{name} has made no claim that could be meant.");
        match asked.answer.get() {
            Some(Ok(answer)) => claim_of(&answer).ok_or_else(unanswered),
            _ => Err(unanswered()),
        }
    }
}

fn claim_of(answer: &Answer) -> Option<ClaimId> {
    let slot = || answer.slot().map(|hold| ClaimId::Slot(hold.id));
    let stock = || answer.stock().map(|hold| ClaimId::Stock(hold.id));
    match &answer.outcome {
        Ok(Success::Group(group)) => Some(ClaimId::Group(group.id)),
        _ => slot().or_else(stock),
    }
}

impl Asked {
    /// The id under which it was asked.
    pub(super) fn id(&self) -> RequestId {
        self.request.id
    }

    fn outcome(&self) -> Option<Outcome> {
        if let Some(answer) = self.answer.get()
            && !self.ended_unanswered()
        {
            return Some(match answer {
                Ok(answer) => outcome_of(&answer),
                Err(sentence) => Outcome::Broken(sentence),
            });
        }
        match self.steps.as_ref()?.look().place {
            StepPlace::AtGate(step) => Some(Outcome::StopsBefore(step.name)),
            StepPlace::Answered(_) => Some(Outcome::StopsBeforeCommit),
            StepPlace::Ended(ending) => match ending {
                Ending::RolledBack(Rollback::Wanted) => Some(Outcome::RolledBack),
                Ending::RolledBack(Rollback::Cut) => Some(Outcome::Cut),
                Ending::RolledBack(Rollback::Killed) => Some(Outcome::Killed),
                // The id is being asked again (R24).
                Ending::CommitUnknown => None,
                ending => Some(Outcome::Broken(steps::ending(&ending))),
            },
            StepPlace::Running(_) | StepPlace::Waiting(_) | StepPlace::Done(_) => None,
        }
    }

    /// Ended by a move in step mode, so that there is no answer but what the desk was told instead.
    fn ended_unanswered(&self) -> bool {
        let place = self.steps.as_ref().map(|steps| steps.look().place);
        matches!(place, Some(StepPlace::Ended(ending)) if ending != Ending::CommitUnknown)
    }
}

fn outcome_of(answer: &Answer) -> Outcome {
    let outcome = match answer.refusal() {
        None => Outcome::Done,
        Some(refusal) => Outcome::Refused(refusal.code().to_owned()),
    };
    if answer.repeated {
        Outcome::Repeated(Box::new(outcome))
    } else {
        outcome
    }
}

/// What a press at a desk led to.
pub(super) fn asked_at(desks: &Desks, which: Which, before: &[RequestId]) -> Option<UnderWay> {
    let model = desks.session(which).model();
    let fresh = model
        .pending
        .iter()
        .find(|pending| !before.contains(&pending.request.id));
    match (fresh, &model.notice) {
        (Some(pending), _) => Some(UnderWay::Asked(Box::new(Asked {
            request: pending.request.clone(),
            which: Some(which),
            steps: None,
            answer: Cell::empty(),
        }))),
        (None, Some(notice)) if notice.tone == Tone::Refused => {
            Some(UnderWay::NotAsked(notice.text.clone()))
        }
        _ => None,
    }
}

/// What a desk has asked so far and was not answered.
pub(super) fn pending_at(desks: &Desks, which: Which) -> Vec<RequestId> {
    let pending = &desks.session(which).model().pending;
    pending.iter().map(|pending| pending.request.id).collect()
}

/// Whether what a desk asks next stops between the protocol's steps.
pub(super) fn stop_next(desks: &mut Desks, which: Which, stops: bool) {
    desks.step_mode(which, stops.then_some(LIMITS));
}

/// The transaction of a request that stops, if it has begun.
pub(super) fn transaction(desks: &Desks, which: Which, id: RequestId) -> Option<Stepwise> {
    desks
        .stepped(which)
        .filter(|steps| steps.request().id == id)
}
