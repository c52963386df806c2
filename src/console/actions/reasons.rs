//! Why something can't be done at the moment, in full sentences: what several actions share.
//!
//! Asked before every command, for the hint line and for help. The database decides all the same: what is refused here is
//! what the person can see to be impossible.

use chrono::{DateTime, Utc};

use crate::console::actions::names::{BACK, HOLD};
use crate::console::model::Model;
use crate::console::model::clock::Connection;
use crate::console::model::cursor::{Panel, Target};
use crate::console::model::layout::Screen;
use crate::domain::refusal_details::SlotTaken;
use crate::domain::{ClaimState, Period, Refusal, Room, SlotHold};

/// Possible in the grid.
pub(crate) fn rooms_only(model: &Model) -> Option<String> {
    (model.panel != Panel::Rooms).then(|| "That moves in the grid of rooms; Tab goes there.".into())
}

/// Why nothing can be asked of the database now.
pub(crate) fn command(model: &Model) -> Option<String> {
    out_of_reach(model).or_else(|| {
        (model.cursor.surprised && model.panel == Panel::Rooms).then(|| {
            "What is under the cursor has changed at this moment. Look, then press again.".into()
        })
    })
}

/// Why the database can't be asked, whatever is under the cursor.
pub(crate) fn out_of_reach(model: &Model) -> Option<String> {
    if model.screen() == Screen::TooSmall {
        return Some("The window is too small to see what would happen.".into());
    }
    if let Connection::Lost { since, .. } = &model.connection {
        let since = model.calendar().clock_time(*since);
        return Some(format!(
            "The database is away since {since}, so nothing can be asked of it. Try again when it is back."
        ));
    }
    None
}

/// Why something else has to wait: a claim is grabbed.
pub(crate) fn grab_under_way(model: &Model) -> Option<String> {
    let grab = model.grab.as_ref()?;
    let [put, back] = [HOLD, BACK].map(|action| model.keymap.first(action));
    Some(format!(
        "You have the claim on {} in hand: {put} puts it down here, {back} lets go of it.",
        grab.claim.room_name
    ))
}

/// Why no command on what is under the cursor can be asked for now.
pub(crate) fn command_here(model: &Model) -> Option<String> {
    command(model).or_else(|| grab_under_way(model))
}

/// Why a room can't be had for a period, as far as can be seen; a claim that moves there is not in its own way (R14).
pub(crate) fn room_free(
    model: &Model,
    room: &Room,
    period: Period,
    moved: Option<&SlotHold>,
) -> Option<String> {
    let indexed = model.indexed.as_ref()?;
    let now = model.now();
    if !model.is_day_known() {
        return Some("This day is still being read; wait for a moment.".into());
    }
    if model
        .pending_in(room.id)
        .any(|(_, asked)| asked.overlaps(&period))
    {
        return Some(asked_already());
    }
    let stays = moved.is_some_and(|claim| claim.room == room.id);
    let refusal = if room.retired_at.is_some() && !stays {
        Refusal::Retired {
            name: room.name.clone(),
        }
    } else if period.end() <= now {
        Refusal::InThePast { to: period.end() }
    } else {
        let moved = moved.map(|claim| claim.id);
        let claim = indexed.in_the_way(room.id, &period, now, moved)?;
        Refusal::SlotTaken(Box::new(SlotTaken::by(claim)))
    };
    Some(refusal.sentence(&model.calendar()))
}

/// Why nothing can be asked about the claim under the cursor: the answer to something is on its way.
pub(crate) fn claim_pending(model: &Model) -> Option<String> {
    let is_pending = match claim_target(model) {
        Target::Claim(claim) => model.pending_on(claim.id).is_some(),
        Target::StockClaim(claim) => model.pending_on_stock(claim.id).is_some(),
        Target::Nothing | Target::Free(..) | Target::Item(_) => false,
    };
    is_pending.then(asked_already)
}

/// Said of what is under way.
pub(crate) fn asked_already() -> String {
    "That has been asked already; the answer is on its way.".into()
}

/// Said of a hold that is due.
pub(crate) fn run_out(
    model: &Model,
    state: ClaimState,
    deadline: Option<DateTime<Utc>>,
) -> Option<String> {
    let due = state == ClaimState::Held && deadline.is_some_and(|deadline| deadline <= model.now());
    due.then(|| {
        "This hold has run out and is being given back. Hold it again if it is still wanted.".into()
    })
}

/// Why a claim is no hold that lasts on.
pub(crate) fn not_held(
    model: &Model,
    state: ClaimState,
    deadline: Option<DateTime<Utc>>,
) -> Option<String> {
    let calendar = model.calendar();
    match state {
        ClaimState::Held => run_out(model, state, deadline),
        ClaimState::Confirmed => Some(Refusal::AlreadyConfirmed {}.sentence(&calendar)),
        ClaimState::Cancelled => Some(Refusal::AlreadyCancelled {}.sentence(&calendar)),
        ClaimState::Expired => {
            Some("This hold has run out. Hold it again if it is still wanted.".into())
        }
    }
}

/// What commands on claims act on: in the feed, nothing.
pub(crate) fn claim_target(model: &Model) -> Target<'_> {
    if model.panel == Panel::Feed {
        Target::Nothing
    } else {
        model.target()
    }
}
