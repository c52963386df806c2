//! What the console does and shows: stories of messages, and frames.

mod dialogs;
mod frames;
mod movement;
mod moves;
mod news;
mod stories;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use crokey::KeyCombination;

use super::effect::Effect;
use super::fixtures::{console, house, now, press, request};
use super::message::{Fault, Message};
use super::model::Model;
use super::update::update;
use crate::domain::{Answer, Command, Done, Refusal, Refused, Request, RequestId, SlotHold};
use crate::store::Picture;

/// A console under test: keys go in, commands come out.
struct Desk {
    model: Model,
    presses: u32,
}

impl Desk {
    fn at(picture: Picture) -> Self {
        Self {
            model: console(picture, (80, 24)),
            presses: 0,
        }
    }

    fn new() -> Self {
        Self::at(house())
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

    fn picture(&mut self, change: impl FnOnce(&mut Picture)) {
        let mut picture = self.model.board.as_ref().unwrap().picture().clone();
        picture.read_at += chrono::TimeDelta::seconds(30);
        change(&mut picture);
        self.tell(Message::Picture(Arc::new(picture)));
    }

    fn lose(&mut self) {
        let sentence = "The database is away.".into();
        self.tell(Message::Lost { sentence });
    }

    fn find(&mut self) {
        let latency = Duration::from_millis(3);
        let uptime = Duration::from_secs(1000);
        self.tell(Message::Alive {
            now: now(),
            latency,
            uptime,
        });
    }

    fn done(&mut self, id: RequestId, claim: SlotHold) {
        let answer = answer(Ok(Done::Slot(claim)));
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

fn answer(outcome: Result<Done, Refused>) -> Answer {
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
