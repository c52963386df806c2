//! Confirm the held claim under the cursor; of a group, all of it.

use crokey::key;

use crate::console::actions::action::{Action, ask};
use crate::console::actions::{names, reasons, words};
use crate::console::effect::Effect;
use crate::console::message::Press;
use crate::console::model::Model;
use crate::console::model::cursor::Target;
use crate::domain::{Command, Request, SlotHold, StockHold, Success};

pub(super) const ACTION: Action = Action {
    name: names::CONFIRM,
    keys: &[key!(c)],
    hint: |_| "confirm",
    help: "Confirm the held claim under the cursor; of a group, all of it",
    why_not,
    act,
    done,
    ..Action::PLAIN
};

fn why_not(model: &Model) -> Option<String> {
    let reason = reasons::command_here(model).or_else(|| reasons::claim_pending(model));
    reason.or_else(|| match reasons::claim_target(model) {
        Target::Claim(SlotHold {
            state, expires_at, ..
        })
        | Target::StockClaim(StockHold {
            state, expires_at, ..
        }) => reasons::not_held(model, *state, *expires_at),
        Target::Item(_) => {
            Some("Choose one of the holds beneath the item, then confirm it.".into())
        }
        _ => Some("There is no claim under the cursor to confirm.".into()),
    })
}

fn act(model: &mut Model, press: Press) -> Vec<Effect> {
    let command = match model.target() {
        // A group is confirmed as a whole (R20).
        Target::Claim(SlotHold {
            group: Some(group), ..
        })
        | Target::StockClaim(StockHold {
            group: Some(group), ..
        }) => Command::ConfirmGroup { group: *group },
        Target::Claim(claim) => Command::ConfirmSlot {
            hold: claim.id,
            expect_version: Some(claim.version),
        },
        Target::StockClaim(claim) => Command::ConfirmStock {
            hold: claim.id,
            expect_version: Some(claim.version),
        },
        _ => return Vec::new(),
    };
    vec![ask(model, names::CONFIRM, press, command)]
}

fn done(model: &mut Model, _: &Request, done: &Success) -> String {
    match done {
        Success::Slot(claim) => {
            let guest = words::guest(&claim.guest);
            format!("Confirmed: {}{guest}.", words::slot(model, claim))
        }
        Success::Stock(claim) => {
            let guest = words::guest(&claim.guest);
            format!("Sold: {}{guest}.", words::stock(claim))
        }
        Success::Group(group) => format!("Confirmed: {}.", words::group(group)),
        _ => String::new(),
    }
}
