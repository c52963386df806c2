//! Hold what is selected: a period of a room, or units of an item.

use chrono::TimeDelta;
use crokey::key;

use crate::console::actions::action::{Action, ask};
use crate::console::actions::{move_claim, names, reasons, words};
use crate::console::effect::Effect;
use crate::console::message::Press;
use crate::console::model::Model;
use crate::console::model::cursor::{Panel, StockCursor, Target};
use crate::domain::duration::spoken;
use crate::domain::refusal::SlotTaken;
use crate::domain::{
    ClaimState, Command, Period, Refusal, Request, RoomId, SlotDetails, SlotHold, StockHold,
    Success,
};

pub(super) const ACTION: Action = Action {
    name: names::HOLD,
    keys: &[key!(enter)],
    hint: |model| match model.panel {
        _ if model.grab.is_some() => "put down here",
        Panel::Stock if model.count.is_none() => "hold one",
        _ => "hold",
    },
    help: "Hold the selected period, or one unit of the selected item, for the house's usual time",
    why_not,
    act,
    done,
    ..Action::PLAIN
};

/// Why the selection can't be held; with a grabbed claim, why it can't be put down here.
fn why_not(model: &Model) -> Option<String> {
    if model.grab.is_some() {
        return reasons::command(model).or_else(|| move_claim::why_not_here(model));
    }
    reasons::command(model).or_else(|| match model.target() {
        Target::Free(room, period) if model.panel == Panel::Rooms => {
            reasons::room_free(model, room, period, None)
        }
        // A hold that is due: whoever comes first takes its time over (R11).
        Target::Claim(claim) if model.panel == Panel::Rooms && claim.is_due(model.now()) => None,
        Target::Claim(claim) if model.panel == Panel::Rooms => {
            own_hold(model, claim).or_else(|| {
                let taken = Refusal::SlotTaken(Box::new(SlotTaken::by(claim)));
                Some(taken.sentence(&model.calendar()))
            })
        }
        Target::Item(item) if model.pending_of_item(item.id).is_some() => {
            Some(reasons::asked_already())
        }
        Target::Item(item) if item.retired_at.is_some() => {
            let name = item.name.clone();
            Some(Refusal::Retired { name }.sentence(&model.calendar()))
        }
        Target::Item(_) => None,
        Target::StockClaim(_) => {
            Some("This is held already; go to the item to hold more of it.".into())
        }
        _ => Some("There is nothing here to hold.".into()),
    })
}

/// The desk's own hold, as when the key was pressed twice.
fn own_hold(model: &Model, claim: &SlotHold) -> Option<String> {
    let own = claim.state == ClaimState::Held && claim.desk == model.desk;
    let until = claim.expires_at.filter(|_| own)?;
    let key = model.keymap.first(names::CONFIRM);
    let until = model.calendar().clock_time(until);
    Some(format!(
        "This is your own hold already, until {until}; {key} confirms it."
    ))
}

fn act(model: &mut Model, press: Press) -> Vec<Effect> {
    if model.grab.is_some() {
        return move_claim::put_down(model, press);
    }
    let command = match model.target() {
        Target::Free(room, period) => hold_slot(room.id, period),
        Target::Claim(claim) => hold_slot(claim.room, claim.period),
        Target::Item(item) => Command::HoldStock {
            item: item.id,
            quantity: model.count.unwrap_or(1),
            ttl: None,
            guest: String::new(),
            note: String::new(),
        },
        Target::StockClaim(_) | Target::Nothing => return Vec::new(),
    };
    vec![ask(model, names::HOLD, press, command)]
}

fn hold_slot(room: RoomId, period: Period) -> Command {
    Command::HoldSlot {
        room,
        period,
        ttl: None,
        details: SlotDetails::default(),
    }
}

fn done(model: &mut Model, request: &Request, done: &Success) -> String {
    let (what, next) = match done {
        Success::Slot(claim) => {
            show_held(model, &request.command, claim);
            let until = words::until(model, claim.expires_at);
            let next: &[_] = &[
                (names::CONFIRM, "confirm"),
                (names::EDIT, "guest & note"),
                (names::CANCEL, "cancel"),
            ];
            (format!("{}{until}", words::slot(model, claim)), next)
        }
        Success::Stock(claim) => {
            show_held_stock(model, claim);
            let ttl = claim
                .expires_at
                .map_or(TimeDelta::zero(), |at| at - claim.changed_at);
            let next: &[_] = &[(names::CONFIRM, "confirm"), (names::CANCEL, "cancel")];
            (format!("{} for {}", words::stock(claim), spoken(ttl)), next)
        }
        _ => return String::new(),
    };
    let next: Vec<String> = next
        .iter()
        .map(|(action, hint)| format!("{} {hint}", model.keymap.first(*action)))
        .collect();
    format!("Held: {what}. {}", next.join(", "))
}

/// A cursor that still stands where was asked for stands on the claim now.
fn show_held(model: &mut Model, asked: &Command, claim: &SlotHold) {
    let Command::HoldSlot { period, .. } = asked else {
        return;
    };
    if model.cursor.room == Some(claim.room) && period.contains(model.cursor.at) {
        model.cursor.unstretch();
        model.cursor_moved();
    }
}

fn show_held_stock(model: &mut Model, claim: &StockHold) {
    if model.stock_cursor == Some(StockCursor::Item(claim.item)) {
        model.stock_cursor = Some(StockCursor::Claim(claim.id, claim.item));
    }
}
