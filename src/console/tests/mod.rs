//! What the console does and shows: stories of messages, and frames.

mod dialogs;
mod ended;
pub(crate) mod fixtures;
mod frames;
mod movement;
mod moves;
mod stories;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use crokey::KeyCombination;

use crate::console::effect::Effect;
use crate::console::message::{Fault, Message};
use crate::console::model::Model;
use crate::console::tests::fixtures::{console, now, press, request, sample_snapshot};
use crate::console::update::update;
use crate::domain::{
    Answer, Command, Refusal, RefusalAnswer, Request, RequestId, SlotHold, Success,
};
use crate::store::{Snapshot, WatchEvent};

/// A console under test: keys go in, commands come out.
struct Desk {
    model: Model,
    presses: u32,
}

impl Desk {
    fn at(snapshot: Snapshot) -> Self {
        Self {
            model: console(snapshot, (80, 24)),
            presses: 0,
        }
    }

    fn new() -> Self {
        Self::at(sample_snapshot())
    }

    /// A press, a second after the one before.
    fn press(&mut self, key: KeyCombination) -> Vec<Effect> {
        self.presses += 1;
        self.tell(Message::Key(press(key, self.presses)))
    }

    fn type_text(&mut self, text: &str) {
        for character in text.chars() {
            let code = crossterm::event::KeyCode::Char(character);
            let key = KeyCombination::one_key(code, crossterm::event::KeyModifiers::NONE);
            self.press(key.normalized());
        }
    }

    fn alive(&mut self, now: DateTime<Utc>) -> Vec<Effect> {
        let latency = Duration::from_millis(2);
        self.watch(WatchEvent::Alive { now, latency })
    }

    fn watch(&mut self, event: WatchEvent) -> Vec<Effect> {
        let at = Duration::ZERO;
        self.tell(Message::Watch { event, at })
    }

    fn tell(&mut self, message: Message) -> Vec<Effect> {
        update(&mut self.model, message)
    }

    /// The commands that a press sends.
    fn asks(&mut self, key: KeyCombination) -> Vec<Command> {
        commands(self.press(key))
            .into_iter()
            .map(|request| request.command)
            .collect()
    }

    fn snapshot(&mut self, change: impl FnOnce(&mut Snapshot)) {
        let mut snapshot = self.model.indexed.as_ref().unwrap().snapshot().clone();
        snapshot.read_at += chrono::TimeDelta::seconds(30);
        change(&mut snapshot);
        self.watch(WatchEvent::Snapshot(Arc::new(snapshot)));
    }

    fn lose(&mut self) {
        let sentence = "The database is away.".into();
        self.watch(WatchEvent::Lost { sentence });
    }

    fn find(&mut self) {
        let latency = Duration::from_millis(3);
        let uptime = Duration::from_secs(1000);
        let event = WatchEvent::Alive {
            now: now(),
            latency,
        };
        self.tell(Message::Watch { event, at: uptime });
    }

    fn done(&mut self, id: RequestId, claim: SlotHold) {
        let answer = answer(Ok(Success::Slot(claim)));
        self.tell(Message::Answered {
            request: id,
            result: Ok(Box::new(answer)),
        });
    }

    fn refuse(&mut self, id: RequestId, refusal: Refusal) -> Vec<Effect> {
        self.tell(Message::Answered {
            request: id,
            result: Ok(Box::new(answer(Err(refusal.into())))),
        })
    }

    fn fail(&mut self, id: RequestId, outcome_unknown: bool) -> Vec<Effect> {
        let fault = Fault {
            sentence: "The connection broke.".into(),
            outcome_unknown,
        };
        self.tell(Message::Answered {
            request: id,
            result: Err(fault),
        })
    }

    fn last(&self) -> RequestId {
        request(self.presses)
    }

    fn notice(&self) -> &str {
        self.model.notice.as_ref().map_or("", |notice| &notice.text)
    }

    fn cursor_at(&self) -> DateTime<Utc> {
        self.model.cursor.at
    }
}

fn answer(outcome: Result<Success, RefusalAnswer>) -> Answer {
    Answer {
        outcome,
        repeated: false,
        now: now(),
    }
}

fn commands(effects: Vec<Effect>) -> Vec<Request> {
    effects
        .into_iter()
        .filter_map(|effect| match effect {
            Effect::Execute(request) => Some(request),
            _ => None,
        })
        .collect()
}
