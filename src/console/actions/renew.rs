//! Give the hold under the cursor, or all of its group, more time.

use crokey::key;

use crate::console::actions::action::{Action, ask};
use crate::console::actions::{reasons, words};
use crate::console::effect::Effect;
use crate::console::message::Press;
use crate::console::model::Model;
use crate::console::model::cursor::Target;
use crate::console::model::keymap::ActionName;
use crate::domain::{ClaimState, Command, Request, SlotHold, StockHold, Success};

pub(super) const ACTION: Action = Action {
    name: ActionName("renew"),
    keys: &[key!('+')],
    hint: |_| "renew",
    help: "Give the hold under the cursor, or all of its group, the house's usual time again from now on",
    why_not,
    act,
    done,
    ..Action::PLAIN
};

fn why_not(model: &Model) -> Option<String> {
    let reason = reasons::command_here(model).or_else(|| reasons::claim_pending(model));
    reason.or_else(|| match reasons::claim_target(model) {
        Target::Claim(SlotHold {
            state: ClaimState::Confirmed,
            ..
        })
        | Target::StockClaim(StockHold {
            state: ClaimState::Confirmed,
            ..
        }) => Some("This is confirmed: it has no deadline, so there is nothing to renew.".into()),
        Target::Claim(SlotHold {
            state, expires_at, ..
        })
        | Target::StockClaim(StockHold {
            state, expires_at, ..
        }) => reasons::not_held(model, *state, *expires_at),
        Target::Item(_) => Some("Choose one of the holds beneath the item, then renew it.".into()),
        _ => Some("There is no hold under the cursor to renew.".into()),
    })
}

fn act(model: &mut Model, press: Press) -> Vec<Effect> {
    let command = match model.target() {
        // A group is renewed as a whole (R20).
        Target::Claim(SlotHold {
            group: Some(group), ..
        })
        | Target::StockClaim(StockHold {
            group: Some(group), ..
        }) => Command::RenewGroup {
            group: *group,
            ttl: None,
        },
        Target::Claim(claim) => Command::RenewSlot {
            hold: claim.id,
            expect_version: Some(claim.version),
            ttl: None,
        },
        Target::StockClaim(claim) => Command::RenewStock {
            hold: claim.id,
            expect_version: Some(claim.version),
            ttl: None,
        },
        _ => return Vec::new(),
    };
    vec![ask(model, ACTION.name, press, command)]
}

fn done(model: &mut Model, _: &Request, done: &Success) -> String {
    let (what, deadline) = match done {
        Success::Slot(claim) => (words::slot(model, claim), claim.expires_at),
        Success::Stock(claim) => (words::stock(claim), claim.expires_at),
        Success::Group(group) => (words::group(group), words::group_deadline(group)),
        _ => return String::new(),
    };
    format!("Renewed: {what}{}.", words::until(model, deadline))
}
