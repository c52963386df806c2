//! What the watch says: the database is there or away, and how the site looks now.
//!
//! A person who looks at a claim that has ended, or made it, learns what became of it.

use std::sync::Arc;
use std::time::Duration;

use crate::console::actions::words;
use crate::console::effect::Effect;
use crate::console::model::Model;
use crate::console::model::clock::{Clock, Connection};
use crate::console::model::cursor::{EndedClaim, StockCursor};
use crate::console::model::notice::Tone;
use crate::domain::{ClaimState, Event, EventSubject, ItemId, SlotHoldId, StockHoldId};
use crate::store::{Snapshot, WatchEvent};

pub(super) fn event(model: &mut Model, event: WatchEvent, at: Duration) -> Vec<Effect> {
    match event {
        WatchEvent::Alive { now, latency } => {
            model.clock = Clock::new(now, at);
            alive(model, latency)
        }
        WatchEvent::Snapshot(snapshot) => {
            show(model, snapshot);
            vec![Effect::DRAW]
        }
        WatchEvent::Lost { sentence } => {
            lost(model, sentence);
            vec![Effect::DRAW]
        }
    }
}

/// The database is there: what was left in the open is asked again, under its own id (R24).
fn alive(model: &mut Model, latency: Duration) -> Vec<Effect> {
    let was_lost = model.is_lost();
    model.connection = Connection::Live {
        latency: Some(latency),
    };
    let mut effects = Vec::new();
    for pending in model.pending.iter_mut().filter(|pending| pending.ask_again) {
        pending.ask_again = false;
        effects.push(Effect::Execute(pending.request.clone()));
    }
    if was_lost {
        model.say(Tone::Good, "The database is back.");
        effects.push(Effect::DRAW);
    }
    effects
}

fn lost(model: &mut Model, sentence: String) {
    let since = match &model.connection {
        Connection::Lost { since, .. } => *since,
        Connection::Live { .. } => {
            model.notice = None;
            model.clock.answered()
        }
    };
    model.connection = Connection::Lost { since, sentence };
}

/// Shows a new snapshot, and says what has become of claims since the one before.
pub(super) fn show(model: &mut Model, snapshot: Arc<Snapshot>) {
    let newest = model.indexed.as_ref().map(|indexed| {
        indexed
            .snapshot()
            .events
            .first()
            .map_or(0, |event| event.id)
    });
    if let Some(newest) = newest {
        let news = snapshot.events.iter().take_while(|event| event.id > newest);
        let ends = news.filter_map(|event| Some((event, end(event)?)));
        for (event, state) in ends.collect::<Vec<_>>().into_iter().rev() {
            match event.subject {
                EventSubject::SlotHold(id, _) => slot_ended(model, event, id, state),
                EventSubject::StockHold(id, item) => stock_ended(model, event, id, item, state),
                EventSubject::Room(_) | EventSubject::Item(_) | EventSubject::Site => {}
            }
        }
    }
    model.accept(snapshot);
}

/// The state in which a claim ended with an event.
fn end(event: &Event) -> Option<ClaimState> {
    event.kind.state().filter(|state| !state.is_active())
}

fn slot_ended(model: &mut Model, event: &Event, id: SlotHoldId, state: ClaimState) {
    model.grab.take_if(|grab| grab.claim.id == id);
    let Some(claim) = model
        .indexed
        .as_ref()
        .and_then(|indexed| indexed.claim(id))
        .cloned()
    else {
        return;
    };
    let calendar = model.calendar();
    let is_watched = model.cursor.on == Some(id);
    let what = words::slot(model, &claim);
    let is_own = claim.desk == model.desk;
    say_end(model, event, state, &what, is_watched, is_own);
    if is_watched {
        let at = calendar.clock_time(event.at);
        model.ended_claim = Some(EndedClaim { claim, state, at });
    }
}

fn stock_ended(model: &mut Model, event: &Event, id: StockHoldId, item: ItemId, state: ClaimState) {
    let Some(claim) = model
        .indexed
        .as_ref()
        .and_then(|indexed| indexed.stock_claim(id))
    else {
        return;
    };
    let is_watched = model.stock_cursor == Some(StockCursor::Claim(id, item));
    let what = words::stock(claim);
    let is_own = claim.desk == model.desk;
    say_end(model, event, state, &what, is_watched, is_own);
}

fn say_end(
    model: &mut Model,
    event: &Event,
    state: ClaimState,
    what: &str,
    is_watched: bool,
    is_own: bool,
) {
    let guest = words::guest(&event.guest);
    let reason = if event.reason.is_empty() {
        String::new()
    } else {
        format!(" ({})", event.reason)
    };
    if state == ClaimState::Expired && (is_watched || is_own) {
        let sentence = format!("Expired: {what}{guest}. It is free again.");
        model.say(Tone::Refused, &sentence);
    } else if is_watched && event.desk != model.desk {
        let desk = &event.desk;
        let sentence = format!("Given back by desk {desk}: {what}{guest}{reason}.");
        model.say(Tone::Refused, &sentence);
    }
}
