//! What an answer of the house does. Only here does a claim become won, and only here do refusals become sentences.

use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::duration::spoken;
use crate::domain::{
    Answer, ClaimState, Command, Done, Group, Purpose, Refusal, Refused, Request, RequestId,
    SlotHold, StockHold,
};

use super::super::alternative::alternatives;
use super::super::effect::Effect;
use super::super::keys::Action;
use super::super::message::Fault;
use super::super::model::{Model, Tone};
use super::super::selection::StockCursor;

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
            vec![Effect::Draw]
        }
        Err(fault) => {
            model.pending.remove(index);
            complain(model, id, Tone::Fault, &fault.sentence);
            vec![Effect::Draw]
        }
        Ok(answer) => {
            let request = model.pending.remove(index).request;
            settle(model, &answer);
            match answer.outcome {
                Ok(done) => {
                    close_dialog(model, id);
                    succeed(model, &request, &done);
                    vec![Effect::Draw]
                }
                Err(Refused { refusal, .. }) => {
                    refused(model, &request, &refusal);
                    vec![Effect::Draw, Effect::Refresh]
                }
            }
        }
    }
}

fn settle(model: &mut Model, answer: &Answer) {
    if let Some(claim) = answer.slot() {
        model.settle_slot(claim.clone(), answer.now);
    }
    if let Some(claim) = answer.stock() {
        model.settle_stock(claim.clone(), answer.now);
    }
    if let Ok(Done::Group(group)) = &answer.outcome {
        for claim in &group.slots {
            model.settle_slot(claim.clone(), answer.now);
        }
        for claim in &group.stock {
            model.settle_stock(claim.clone(), answer.now);
        }
    }
}

fn close_dialog(model: &mut Model, id: RequestId) {
    if model
        .dialog
        .as_ref()
        .is_some_and(|dialog| dialog.sent == Some(id))
    {
        model.dialog = None;
    }
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
            dialog.complaint = Some(super::super::text::display(sentence));
        }
        None => model.say(tone, sentence),
    }
}

fn refused(model: &mut Model, request: &Request, refusal: &Refusal) {
    let sentence = refusal.sentence(&model.calendar());
    let in_dialog = model.dialog.is_some();
    complain(model, request.id, Tone::Refused, &sentence);
    if let (Refusal::SlotTaken(taken), false) = (refusal, in_dialog) {
        let wanted = match &request.command {
            Command::HoldSlot { period, .. } => Some(*period),
            _ => taken.period,
        };
        model.offer(alternatives(&request.command, taken), wanted);
    }
    // A claim that has changed: the dialog goes on with what it is now, because the person is told so (R22).
    if let (Refusal::Stale { version: now, .. }, Some(dialog)) = (refusal, model.dialog.as_mut()) {
        use super::super::dialog::Subject;
        match &mut dialog.subject {
            Subject::Edit { version, .. }
            | Subject::CancelSlot { version, .. }
            | Subject::CancelStock { version, .. } => *version = *now,
            _ => {}
        }
    }
}

fn succeed(model: &mut Model, request: &Request, done: &Done) {
    let sentence = match done {
        Done::Slot(claim) => slot(model, request, claim),
        Done::Stock(claim) => stock(model, request, claim),
        Done::Room(room) => match room.retired_at {
            None => format!("{} is there.", room.name),
            Some(_) => format!("{} is retired.", room.name),
        },
        Done::Item(item) => format!(
            "{} has {} of {} available now.",
            item.name, item.available, item.total
        ),
        Done::Group(group) => self::group(model, request, group),
    };
    model.say(Tone::Good, &sentence);
}

fn slot(model: &mut Model, request: &Request, claim: &SlotHold) -> String {
    let calendar = model.calendar();
    let what = format!("{} {}", claim.room_name, calendar.span(&claim.period));
    match request.command {
        Command::HoldSlot { period, .. } => {
            if model.cursor.room == Some(claim.room) && period.contains(model.cursor.at) {
                model.cursor.anchor = None;
                model.cursor.stretching = false;
                model.look();
            }
            format!(
                "Held: {what}{}. {}",
                until(model, claim.expires_at),
                next_keys(model, &[Action::Confirm, Action::Edit, Action::Cancel])
            )
        }
        Command::BlockSlot { .. } => {
            model.cursor.anchor = None;
            model.cursor.stretching = false;
            model.look();
            format!("Blocked: {what}.")
        }
        Command::RenewSlot { .. } => format!("Renewed: {what}{}.", until(model, claim.expires_at)),
        Command::MoveSlot { .. } => {
            model.look();
            format!("Moved: {what}{}.", guest(&claim.guest))
        }
        Command::ConfirmSlot { .. } => format!("Confirmed: {what}{}.", guest(&claim.guest)),
        Command::CancelSlot { .. } => format!("Given back: {what}{}.", guest(&claim.guest)),
        _ if claim.state == ClaimState::Held && claim.purpose == Purpose::Guest => {
            format!(
                "Written down: {what}{}. {}",
                guest(&claim.guest),
                next_keys(model, &[Action::Confirm])
            )
        }
        _ => format!("Written down: {what}{}.", guest(&claim.guest)),
    }
}

fn stock(model: &mut Model, request: &Request, claim: &StockHold) -> String {
    let what = format!("{} of {}", claim.quantity, claim.item_name);
    match request.command {
        Command::HoldStock { .. } => {
            if model.stock_cursor == Some(StockCursor::Item(claim.item)) {
                model.stock_cursor = Some(StockCursor::Claim(claim.id, claim.item));
            }
            let ttl = claim
                .expires_at
                .map_or(TimeDelta::zero(), |at| at - claim.changed_at);
            format!(
                "Held: {what} for {}. {}",
                spoken(ttl),
                next_keys(model, &[Action::Confirm, Action::Cancel])
            )
        }
        Command::RenewStock { .. } => {
            format!("Renewed: {what}{}.", until(model, claim.expires_at))
        }
        Command::ConfirmStock { .. } => format!("Sold: {what}{}.", guest(&claim.guest)),
        _ => format!("Given back: {what}{}.", guest(&claim.guest)),
    }
}

fn group(model: &Model, request: &Request, group: &Group) -> String {
    let slots = group.slots.iter().map(|hold| hold.expires_at);
    let deadline = slots.chain(group.stock.iter().map(|hold| hold.expires_at));
    let what = match group.slots.len() + group.stock.len() {
        1 => format!("group {}, 1 claim", group.id),
        claims => format!("group {}, {claims} claims", group.id),
    };
    match request.command {
        Command::RenewGroup { .. } => {
            format!("Renewed: {what}{}.", until(model, deadline.flatten().max()))
        }
        Command::ConfirmGroup { .. } => format!("Confirmed: {what}."),
        _ => format!("{what} is {} now.", group.state),
    }
}

fn until(model: &Model, deadline: Option<DateTime<Utc>>) -> String {
    let clock_time = |at| format!(" until {}", model.calendar().clock_time(at));
    deadline.map_or(String::new(), clock_time)
}

fn guest(name: &str) -> String {
    if name.is_empty() {
        String::new()
    } else {
        format!(", {name}")
    }
}

fn next_keys(model: &Model, actions: &[Action]) -> String {
    let words: Vec<String> = actions
        .iter()
        .map(|action| {
            let hint = super::super::keys::binding_of(*action).hint;
            format!("{} {hint}", model.keymap.first(*action))
        })
        .collect();
    words.join(", ")
}
