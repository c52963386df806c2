//! Why a key can't do its work at the moment, in full sentences. Asked before every command, for the hint line and for
//! help. The database decides all the same: what is refused here is what the person can see to be impossible.

use chrono::{DateTime, Utc};

use crate::domain::refusal::SlotTaken;
use crate::domain::{ClaimState, Period, Purpose, Refusal, Room, SlotHold, StockHold};

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
    rooms_only(model).or_else(|| {
        model
            .room()
            .is_none()
            .then(|| "There is no room here yet.".into())
    })
}

/// Possible in stock.
pub fn count(model: &Model) -> Option<String> {
    (model.panel != Panel::Stock).then(|| "A number counts units of stock; Tab goes there.".into())
}

/// Why nothing can be asked of the database now.
pub fn command(model: &Model) -> Option<String> {
    if model.screen() == Screen::TooSmall {
        return Some("The window is too small to see what would happen.".into());
    }
    if let Connection::Lost { since, .. } = &model.connection {
        let since = model.calendar().clock_time(*since);
        return Some(format!(
            "The database is away since {since}, so nothing can be asked of it. Try again when it is back."
        ));
    }
    if model.cursor.surprised && model.panel == Panel::Rooms {
        return Some(
            "What is under the cursor has changed at this moment. Look, then press again.".into(),
        );
    }
    None
}

/// Why the selection can't be held.
pub fn hold(model: &Model) -> Option<String> {
    command(model).or_else(|| match model.target() {
        Target::Free(room, period) if model.panel == Panel::Rooms => room_free(model, room, period),
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

fn room_free(model: &Model, room: &Room, period: Period) -> Option<String> {
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
    let refusal = if room.retired_at.is_some() {
        Refusal::Retired {
            name: room.name.clone(),
        }
    } else if period.end() <= now {
        Refusal::InThePast { to: period.end() }
    } else {
        Refusal::SlotTaken(taken(board.in_the_way(room.id, &period, now)?))
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
    command(model).or_else(|| match acting(model) {
        Target::Claim(claim) if model.pending_on(claim.id).is_some() => Some(waiting()),
        Target::StockClaim(claim) if model.pending_on_stock(claim.id).is_some() => Some(waiting()),
        Target::Claim(SlotHold {
            state,
            group,
            expires_at,
            ..
        })
        | Target::StockClaim(StockHold {
            state,
            group,
            expires_at,
            ..
        }) => not_confirmable(model, *state, group.map(|group| group.0), *expires_at),
        Target::Item(_) => {
            Some("Choose one of the holds beneath the item, then confirm it.".into())
        }
        _ => Some("There is no claim under the cursor to confirm.".into()),
    })
}

fn not_confirmable(
    model: &Model,
    state: ClaimState,
    group: Option<i64>,
    deadline: Option<DateTime<Utc>>,
) -> Option<String> {
    let calendar = model.calendar();
    match state {
        ClaimState::Held => {
            let due = deadline.is_some_and(|deadline| deadline <= model.now());
            if due {
                return Some("This hold has run out and is being given back. Hold it again if it is still wanted.".into());
            }
            group.map(|group_id| Refusal::PartOfGroup { group_id }.sentence(&calendar))
        }
        ClaimState::Confirmed => Some(Refusal::AlreadyConfirmed {}.sentence(&calendar)),
        ClaimState::Cancelled => Some(Refusal::AlreadyCancelled {}.sentence(&calendar)),
        ClaimState::Expired => {
            Some("This hold has run out. Hold it again if it is still wanted.".into())
        }
    }
}

/// Why the claim can't be given back.
pub fn cancel(model: &Model) -> Option<String> {
    command(model).or_else(|| match acting(model) {
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
    command(model).or_else(|| match acting(model) {
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
    command(model).or_else(|| match model.target() {
        Target::Free(room, period) if model.panel == Panel::Rooms => room_free(model, room, period),
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
