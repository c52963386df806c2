//! Why a key can't do its work at the moment, in full sentences. Asked before every command, for the hint line and for
//! help. The database decides all the same: what is refused here is what the person can see to be impossible.

use chrono::{DateTime, Utc};

use crate::domain::refusal::SlotTaken;
use crate::domain::{ClaimState, Period, Purpose, Refusal, Room, SlotHold, StockHold};

use super::carry::{Carried, Grip};
use super::keys::Action;
use super::layout::Screen;
use super::model::{Connection, Model, Panel};
use super::selection::Target;

/// Always possible.
pub fn never(_: &Model) -> Option<String> {
    None
}

/// Possible in the grid.
pub fn rooms_only(model: &Model) -> Option<String> {
    (model.panel != Panel::Rooms).then(|| "That moves in the grid of rooms; Tab goes there.".into())
}

/// Possible in the grid, where there is a room.
pub fn stretch(model: &Model) -> Option<String> {
    rooms_only(model)
        .or_else(|| {
            model
                .room()
                .is_none()
                .then(|| "There is no room here yet.".into())
        })
        .or_else(|| match &model.carried {
            Some(carried) if carried.grip == Grip::Whole => hands_full(model),
            _ => None,
        })
}

/// Possible in stock, and where something was offered.
pub fn count(model: &Model) -> Option<String> {
    match model.panel {
        Panel::Stock => None,
        _ if !model.alternatives().is_empty() => reach(model),
        _ => Some("A number counts units of stock; Tab goes there.".into()),
    }
}

/// Why nothing can be asked of the database now.
pub fn command(model: &Model) -> Option<String> {
    reach(model).or_else(|| {
        (model.cursor.surprised && model.panel == Panel::Rooms).then(|| {
            "What is under the cursor has changed at this moment. Look, then press again.".into()
        })
    })
}

fn reach(model: &Model) -> Option<String> {
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

/// Why something else has to wait: a claim is in the hand.
fn hands_full(model: &Model) -> Option<String> {
    let carried = model.carried.as_ref()?;
    let [put, back] = [Action::Hold, Action::Back].map(|action| model.keymap.first(action));
    Some(format!(
        "You have the claim on {} in hand: {put} puts it down here, {back} lets go of it.",
        carried.claim.room_name
    ))
}

fn free_hands(model: &Model) -> Option<String> {
    command(model).or_else(|| hands_full(model))
}

/// Why the selection can't be held; with a claim in the hand, why it can't be put down here.
pub fn hold(model: &Model) -> Option<String> {
    if model.carried.is_some() {
        return command(model).or_else(|| put_down(model));
    }
    command(model).or_else(|| match model.target() {
        Target::Free(room, period) if model.panel == Panel::Rooms => {
            room_free(model, room, period, None)
        }
        Target::Claim(claim) if model.panel == Panel::Rooms && !claim.is_due(model.now()) => {
            own(model, claim)
                .or_else(|| Some(Refusal::SlotTaken(taken(claim)).sentence(&model.calendar())))
        }
        Target::Claim(_) if model.panel == Panel::Rooms => None,
        Target::Item(item) if model.pending_of_item(item.id).is_some() => Some(waiting()),
        Target::Item(item) if item.retired_at.is_some() => Some(
            Refusal::Retired {
                name: item.name.clone(),
            }
            .sentence(&model.calendar()),
        ),
        Target::Item(_) => None,
        Target::StockClaim(_) => {
            Some("This is held already; go to the item to hold more of it.".into())
        }
        _ => Some("There is nothing here to hold.".into()),
    })
}

/// Why a room can't be had for a period, as far as can be seen; a claim that moves there is not in its own way (R14).
fn room_free(
    model: &Model,
    room: &Room,
    period: Period,
    moved: Option<&SlotHold>,
) -> Option<String> {
    let board = model.board.as_ref()?;
    let now = model.now();
    if !model.is_day_known() {
        return Some("This day is still being read; wait for a moment.".into());
    }
    if model
        .pending_in(room.id)
        .any(|(_, asked)| asked.overlaps(&period))
    {
        return Some(waiting());
    }
    let stays = moved.is_some_and(|claim| claim.room == room.id);
    let refusal = if room.retired_at.is_some() && !stays {
        Refusal::Retired {
            name: room.name.clone(),
        }
    } else if period.end() <= now {
        Refusal::InThePast { to: period.end() }
    } else {
        Refusal::SlotTaken(taken(board.in_the_way(
            room.id,
            &period,
            now,
            moved.map(|claim| claim.id),
        )?))
    };
    Some(refusal.sentence(&model.calendar()))
}

/// The desk's own hold, as when the key was pressed twice.
fn own(model: &Model, claim: &SlotHold) -> Option<String> {
    let own = claim.state == ClaimState::Held && claim.desk == model.desk;
    let until = claim.expires_at.filter(|_| own)?;
    let key = model.keymap.first(Action::Confirm);
    let until = model.calendar().clock_time(until);
    Some(format!(
        "This is your own hold already, until {until}; {key} confirms it."
    ))
}

fn waiting() -> String {
    "That has been asked already; the answer is on its way.".into()
}

fn taken(claim: &SlotHold) -> Box<SlotTaken> {
    Box::new(SlotTaken {
        room_id: claim.room,
        room: claim.room_name.clone(),
        hold_id: Some(claim.id),
        period: Some(claim.period),
        occupied_until: Some(claim.occupied_until),
        state: Some(claim.state),
        purpose: Some(claim.purpose),
        guest: Some(claim.guest.clone()),
        desk: Some(claim.desk.0.clone()),
        expires_at: claim.expires_at,
        choices: Vec::new(),
    })
}

/// Why the claim can't be confirmed.
pub fn confirm(model: &Model) -> Option<String> {
    free_hands(model).or_else(|| match acting(model) {
        Target::Claim(claim) if model.pending_on(claim.id).is_some() => Some(waiting()),
        Target::StockClaim(claim) if model.pending_on_stock(claim.id).is_some() => Some(waiting()),
        Target::Claim(SlotHold {
            state, expires_at, ..
        })
        | Target::StockClaim(StockHold {
            state, expires_at, ..
        }) => not_confirmable(model, *state, *expires_at),
        Target::Item(_) => {
            Some("Choose one of the holds beneath the item, then confirm it.".into())
        }
        _ => Some("There is no claim under the cursor to confirm.".into()),
    })
}

/// Said of a hold that is due.
fn run_out(model: &Model, state: ClaimState, deadline: Option<DateTime<Utc>>) -> Option<String> {
    let due = state == ClaimState::Held && deadline.is_some_and(|deadline| deadline <= model.now());
    due.then(|| {
        "This hold has run out and is being given back. Hold it again if it is still wanted.".into()
    })
}

fn not_confirmable(
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

/// Why the hold can't be given more time.
pub fn renew(model: &Model) -> Option<String> {
    free_hands(model).or_else(|| match acting(model) {
        Target::Claim(claim) if model.pending_on(claim.id).is_some() => Some(waiting()),
        Target::StockClaim(claim) if model.pending_on_stock(claim.id).is_some() => Some(waiting()),
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
        }) => not_confirmable(model, *state, *expires_at),
        Target::Item(_) => Some("Choose one of the holds beneath the item, then renew it.".into()),
        _ => Some("There is no hold under the cursor to renew.".into()),
    })
}

/// Why the claim under the cursor can't be taken along, or the one in the hand not be put down here.
pub fn carry(model: &Model) -> Option<String> {
    if model.panel != Panel::Rooms {
        return Some("Claims are moved in the grid of rooms; Tab goes there.".into());
    }
    if model.carried.is_some() {
        return command(model).or_else(|| put_down(model));
    }
    command(model).or_else(|| match model.target() {
        Target::Claim(claim) if model.pending_on(claim.id).is_some() => Some(waiting()),
        Target::Claim(claim) => run_out(model, claim.state, claim.expires_at),
        _ => Some("There is no claim under the cursor to move.".into()),
    })
}

/// Why the claim in the hand can't be put down where the cursor is.
pub fn put_down(model: &Model) -> Option<String> {
    let Carried { claim, grip } = model.carried.as_ref()?;
    let Some((room, period)) = model.destination() else {
        return Some(match grip {
            Grip::End => "A claim ends after it begins; go further to the right.".into(),
            Grip::Whole => {
                "Of these two rooms one is booked by the hour and one by the night, so the claim can't come here.".into()
            }
        });
    };
    if model.pending_on(claim.id).is_some() {
        return Some(waiting());
    }
    if (room.id, period) == (claim.room, claim.period) {
        return None;
    }
    run_out(model, claim.state, claim.expires_at)
        .or_else(|| room_free(model, room, period, Some(claim)))
}

/// Why the claim can't be given back.
pub fn cancel(model: &Model) -> Option<String> {
    free_hands(model).or_else(|| match acting(model) {
        Target::Claim(claim) if model.pending_on(claim.id).is_some() => Some(waiting()),
        Target::Claim(_) => None,
        Target::StockClaim(claim) if model.pending_on_stock(claim.id).is_some() => Some(waiting()),
        Target::StockClaim(claim) if claim.state == ClaimState::Confirmed => {
            Some(Refusal::SaleIsFinal {}.sentence(&model.calendar()))
        }
        Target::StockClaim(_) => None,
        Target::Item(_) => {
            Some("Choose one of the holds beneath the item, then give it back.".into())
        }
        _ => Some("There is no claim under the cursor to cancel.".into()),
    })
}

/// Why guest and note can't be written.
pub fn edit(model: &Model) -> Option<String> {
    free_hands(model).or_else(|| match acting(model) {
        Target::Claim(claim) if model.pending_on(claim.id).is_some() => Some(waiting()),
        Target::Claim(_) => None,
        Target::StockClaim(_) => {
            Some("Guest and note of a hold on stock are given when it is made.".into())
        }
        _ => Some("There is no claim under the cursor to write on.".into()),
    })
}

/// Why the selection can't be blocked.
pub fn block(model: &Model) -> Option<String> {
    free_hands(model).or_else(|| match model.target() {
        Target::Free(room, period) if model.panel == Panel::Rooms => {
            room_free(model, room, period, None)
        }
        Target::Claim(claim) if model.panel == Panel::Rooms => {
            let whose = match claim.purpose {
                Purpose::Block => "is blocked already",
                Purpose::Guest => "is taken",
            };
            Some(format!(
                "This time {whose}; cancel that first, or choose another time."
            ))
        }
        _ => Some("Only a room can be blocked; Tab goes to the rooms.".into()),
    })
}

/// What confirming, cancelling and editing act on: also in the feed, nothing.
fn acting(model: &Model) -> Target<'_> {
    if model.panel == Panel::Feed {
        Target::Nothing
    } else {
        model.target()
    }
}
