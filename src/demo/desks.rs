//! The core of a demo: two consoles without a terminal on the same house, and the moves that can be made with them.

use std::sync::Arc;
use std::time::Duration;

use color_eyre::eyre::Result;
use crossterm::event::KeyEvent;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::console::effect::TerminalEffect;
use crate::console::message::Message;
use crate::console::model::keymap::Keymap;
use crate::console::run::session::{self, ConsoleSession, SessionEvents};
use crate::demo::switch::Switch;
use crate::demo::transcript::{Shared, Transcript};
use crate::demo::volley::{Verdict, Volley};
use crate::demo::words::Words;
use crate::domain::{Answer, Desk, RequestId};
use crate::store::{Revive, SiteStore, StepLimits, Stepwise, StoreError};

/// One of the two desks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Which {
    /// The left or upper one.
    First,
    /// The other.
    Second,
}

impl Which {
    /// Both, in order.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// Its place in an array of two.
    pub fn index(self) -> usize {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }
}

/// What two desks need.
pub struct Context {
    /// The site that both show.
    pub site_store: SiteStore,
    /// Who works at them.
    pub names: [Desk; 2],
    /// What each key does, at both.
    pub keymap: Arc<Keymap>,
    /// Columns and rows that each may paint.
    pub sizes: [(u16, u16); 2],
    /// Brings an embedded server back when it is lost.
    pub revive: Option<Revive>,
}

/// What has happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    /// Something came to a desk, and this is to be done with its screen.
    Desk(Which, Vec<TerminalEffect>),
    /// Both commands that were let go together have been answered.
    Verdict(Box<Verdict>),
    /// The transaction of a desk in step mode has moved.
    Steps(Which),
}

/// What the desks' ways to the site report.
#[derive(Debug)]
pub(super) enum Report {
    /// Who was first.
    Verdict(Box<Verdict>),
    /// A transaction in step mode has moved.
    Steps(Which),
}

/// Two desks at work.
pub struct Desks {
    desks: [DemoDesk; 2],
    shared: Arc<Shared>,
    reports: UnboundedReceiver<Report>,
    volleys: usize,
    spotlight: Option<Which>,
}

struct DemoDesk {
    session: ConsoleSession,
    session_events: SessionEvents,
    switch: Arc<Switch>,
    /// What the station reads through. Commands have connections of their own, so that one that is ready stays so.
    reading: SiteStore,
}

impl Desks {
    /// Opens both desks, each with its own connections.
    ///
    /// # Errors
    /// If the database can't be asked.
    pub async fn open(context: Context) -> Result<Self> {
        let words = Words::read(&context.site_store).await?;
        let now = context.site_store.now().await?;
        let shared = Arc::new(Shared::new(context.names.clone(), words, now));
        let (sender, reports) = unbounded_channel();
        let open = async |which: Which| {
            let commands = another(&context.site_store).await?;
            let reading = another(&context.site_store).await?;
            let switch = Arc::new(Switch::new(which, commands, shared.clone(), sender.clone()));
            let (session, session_events) = ConsoleSession::open(session::Context {
                site_store: reading.clone(),
                desk: context.names[which.index()].clone(),
                keymap: context.keymap.clone(),
                size: context.sizes[which.index()],
                revive: context.revive.clone(),
                executor: Some(switch.executor()),
            })
            .await?;
            color_eyre::eyre::Ok(DemoDesk {
                session,
                session_events,
                switch,
                reading,
            })
        };
        let desks = [open(Which::First).await?, open(Which::Second).await?];
        Ok(Self {
            desks,
            shared,
            reports,
            volleys: 0,
            spotlight: None,
        })
    }

    /// A desk's console.
    pub fn session(&self, which: Which) -> &ConsoleSession {
        &self.desks[which.index()].session
    }

    /// What its desk is called.
    pub fn name(&self, which: Which) -> &Desk {
        &self.shared.names[which.index()]
    }

    /// A message for one desk.
    pub fn take_in(&mut self, which: Which, message: Message) -> Vec<TerminalEffect> {
        self.desks[which.index()].session.take_in(message)
    }

    /// Presses a key at one desk.
    pub fn press(&mut self, which: Which, key: KeyEvent) -> Vec<TerminalEffect> {
        let message = self.session(which).pressed(key);
        self.take_in(which, message)
    }

    /// Presses a key at both desks, at the first one first.
    pub fn both(&mut self, key: KeyEvent) -> [Vec<TerminalEffect>; 2] {
        Which::BOTH.map(|which| self.press(which, key))
    }

    /// Presses a key at both desks and lets what they ask of the site go within the same millisecond: first both
    /// connections are made ready, then both commands are sent at once. A [`Verdict`] follows, if both ask something.
    pub fn fire(&mut self, key: KeyEvent) -> [Vec<TerminalEffect>; 2] {
        let volley = Arc::new(Volley::new());
        for desk in &self.desks {
            desk.switch.arm(Some(volley.clone()));
        }
        let terminal_effects = self.both(key);
        for desk in &self.desks {
            desk.switch.arm(None);
        }
        if volley.is_full() {
            self.volleys += 1;
        }
        tokio::spawn(volley.let_go());
        terminal_effects
    }

    /// What a desk asks from now on stops between the protocol's steps, for as long as the limits allow; without limits
    /// it goes through.
    pub fn step_mode(&mut self, which: Which, limits: Option<StepLimits>) {
        self.desks[which.index()].switch.step(limits);
    }

    /// The last command of a desk that was in step mode.
    pub fn stepped(&self, which: Which) -> Option<Stepwise> {
        self.desks[which.index()].switch.stepped()
    }

    /// Shows a command at a desk that was sent for it around its keys, and stops.
    pub fn show_steps(&mut self, which: Which, steps: Stepwise) {
        // It goes on without anybody waiting for it.
        drop(self.desks[which.index()].switch.show(steps));
    }

    /// What a request of one of the desks was answered; if it has no answer, the sentence that the desk was told.
    pub fn answer(&self, request: RequestId) -> Option<Result<Answer, String>> {
        self.shared.answer(request)
    }

    /// Takes in the next thing that happens. Nothing is lost if the wait is given up.
    pub async fn next(&mut self) -> Happening {
        let [first, second] = &mut self.desks;
        let (which, message) = tokio::select! {
            Some(report) = self.reports.recv() => return self.reported(report),
            message = first.session_events.next() => (Which::First, message),
            message = second.session_events.next() => (Which::Second, message),
        };
        Happening::Desk(which, self.take_in(which, message))
    }

    /// The next thing that has happened already, if there is one.
    pub fn happened(&mut self) -> Option<Happening> {
        if let Ok(report) = self.reports.try_recv() {
            return Some(self.reported(report));
        }
        let (which, message) = Which::BOTH
            .into_iter()
            .find_map(|which| Some((which, self.desks[which.index()].session_events.arrived()?)))?;
        Some(Happening::Desk(which, self.take_in(which, message)))
    }

    fn reported(&mut self, report: Report) -> Happening {
        match report {
            Report::Verdict(verdict) => {
                self.volleys = self.volleys.saturating_sub(1);
                Happening::Verdict(verdict)
            }
            Report::Steps(which) => Happening::Steps(which),
        }
    }

    /// How many commands the desks have sent so far.
    pub fn asked(&self) -> usize {
        self.shared.asked_so_far()
    }

    /// A verdict for people: who was first and what the other was told, then both times.
    pub fn verdict_lines(&self, verdict: &Verdict) -> Vec<String> {
        self.shared.verdict_lines(verdict)
    }

    /// The same in few words, and in fewer.
    pub fn verdict_in_short(&self, verdict: &Verdict) -> Vec<String> {
        verdict.in_short(&self.shared.names)
    }

    /// The desk at which a scenario acts now, for a screen that has room for one.
    pub fn spotlight(&self) -> Option<Which> {
        self.spotlight
    }

    /// Has spectators look at a desk.
    pub fn look_at(&mut self, which: Which) {
        self.spotlight = Some(which);
    }

    /// Whether an answer is being waited for.
    pub fn is_waiting(&self) -> bool {
        self.volleys > 0
            || self
                .desks
                .iter()
                .any(|desk| !desk.session.model().pending.is_empty())
    }

    /// Takes in what happens until nothing is pending and both desks show the site as it then is.
    ///
    /// # Errors
    /// If the database can't be asked what time it is.
    pub async fn settle(&mut self) -> Result<(), StoreError> {
        while self.is_waiting() {
            self.next().await;
        }
        let settled_at = self.desks[0].reading.now().await?;
        for desk in &self.desks {
            desk.session.refresh();
        }
        let is_fresh = |desk: &DemoDesk| {
            let indexed = desk.session.model().indexed.as_ref();
            indexed.is_some_and(|indexed| indexed.snapshot().read_at >= settled_at)
        };
        while !self.desks.iter().all(is_fresh) {
            self.next().await;
        }
        Ok(())
    }

    /// What has happened so far.
    pub fn transcript(&self) -> Transcript {
        self.shared.transcript()
    }

    /// Writes a line of one's own into the transcript: a caption, say.
    pub fn note(&self, text: &str) {
        self.shared.note(text);
    }

    /// How long until the next second of a desk's clock.
    pub fn until_next_second(&self) -> Duration {
        self.desks[0].session.until_next_second()
    }

    /// Both desks leave: transactions that stand are rolled back; what else has been asked is answered before, if that is
    /// soon.
    pub async fn close(self) {
        for which in Which::BOTH {
            if let Some(steps) = self.stepped(which) {
                steps.roll_back().await;
            }
        }
        let [first, second] = self.desks;
        tokio::join!(first.close(), second.close());
    }
}

impl DemoDesk {
    async fn close(self) {
        let Self {
            mut session,
            session_events,
            switch,
            reading,
        } = self;
        session.farewell(session_events).await;
        drop(session);
        switch.site_store().store().close().await;
        reading.store().close().await;
    }
}

/// The site through connections of its own.
async fn another(site_store: &SiteStore) -> Result<SiteStore, StoreError> {
    let store = site_store.store().another_desk().await?;
    Ok(store.site_store(site_store.site().clone()))
}
