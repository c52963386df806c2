//! An answer came. Only here does a claim become won, and only here do refusals become sentences.

use crate::console::actions::{self, alternatives};
use crate::console::effect::Effect;
use crate::console::message::Fault;
use crate::console::model::Model;
use crate::console::model::dialog::Subject;
use crate::console::model::notice::Tone;
use crate::console::model::pending::Pending;
use crate::domain::{Answer, Refusal, RefusalAnswer, Request, RequestId, Success};
use crate::terminal::text::display;

pub(super) fn answered(
    model: &mut Model,
    id: RequestId,
    result: Result<Box<Answer>, Fault>,
) -> Vec<Effect> {
    // Late, or told before: nobody waits for it any more.
    let Some(index) = model
        .pending
        .iter()
        .position(|pending| pending.request.id == id)
    else {
        return Vec::new();
    };
    match result {
        Err(fault) if fault.outcome_unknown => {
            model.pending[index].checking = true;
            model.pending[index].ask_again = true;
            model.say(Tone::Fault, &fault.sentence);
            vec![Effect::DRAW]
        }
        Err(fault) => {
            model.pending.remove(index);
            complain(model, id, Tone::Fault, &fault.sentence);
            vec![Effect::DRAW]
        }
        Ok(answer) => {
            let pending = model.pending.remove(index);
            accept(model, &answer);
            match answer.outcome {
                Ok(done) => {
                    close_dialog(model, id);
                    succeed(model, &pending, &done);
                    vec![Effect::DRAW]
                }
                Err(RefusalAnswer { refusal, .. }) => {
                    refused(model, &pending.request, &refusal);
                    vec![Effect::DRAW, Effect::Refresh]
                }
            }
        }
    }
}

/// Shows the claims as the answer has them.
fn accept(model: &mut Model, answer: &Answer) {
    if let Some(claim) = answer.slot() {
        model.accept_slot(claim.clone(), answer.now);
    }
    if let Some(claim) = answer.stock() {
        model.accept_stock(claim.clone(), answer.now);
    }
    if let Ok(Success::Group(group)) = &answer.outcome {
        for claim in &group.slots {
            model.accept_slot(claim.clone(), answer.now);
        }
        for claim in &group.stock {
            model.accept_stock(claim.clone(), answer.now);
        }
    }
}

fn close_dialog(model: &mut Model, id: RequestId) {
    model.dialog.take_if(|dialog| dialog.sent == Some(id));
}

/// In the dialog that asked, with what was typed still there; else on the message line.
fn complain(model: &mut Model, id: RequestId, tone: Tone, sentence: &str) {
    match model
        .dialog
        .as_mut()
        .filter(|dialog| dialog.sent == Some(id))
    {
        Some(dialog) => {
            dialog.sent = None;
            dialog.complaint = Some(display(sentence));
        }
        None => model.say(tone, sentence),
    }
}

fn succeed(model: &mut Model, pending: &Pending, done: &Success) {
    if let Some(action) = actions::find(pending.action) {
        let sentence = (action.done)(model, &pending.request, done);
        model.say(Tone::Good, &sentence);
    }
}

fn refused(model: &mut Model, request: &Request, refusal: &Refusal) {
    let sentence = refusal.sentence(&model.calendar());
    complain(model, request.id, Tone::Refused, &sentence);
    match (refusal, &mut model.dialog) {
        (Refusal::SlotTaken(taken), None) => {
            alternatives::offer(model, &request.command, taken);
        }
        // A claim that has changed: the dialog goes on with what it is now, because the person is told so (R22).
        (Refusal::Stale { version: now, .. }, Some(dialog)) => match &mut dialog.subject {
            Subject::Slot(_, version) | Subject::Stock(_, version) => *version = *now,
            Subject::Nothing | Subject::Place(..) => {}
        },
        _ => {}
    }
}
