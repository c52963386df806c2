//! What each action does, once the table has said that it is possible.

use crate::domain::{ClaimState, Command, Purpose, SlotHold, StockHold};

use super::super::alternative::AlternativeCommand;
use super::super::carry::{Carried, Grip};
use super::super::dialog::{Dialog, Field, Subject};
use super::super::effect::Effect;
use super::super::keys::{self, Action};
use super::super::message::Press;
use super::super::model::{Model, Panel, Tone};
use super::super::selection::Target;
use super::super::text::display;
use super::ask;

/// The most units that a typed number can mean.
const MOST: i32 = 9_999;

pub(super) fn act(model: &mut Model, action: Action, press: Press) -> Vec<Effect> {
    let count = if action == Action::Count {
        model.count
    } else {
        model.count.take()
    };
    // What was said last was about what was there before this key.
    if action != Action::Count {
        model.notice = None;
    }
    let mut effects = vec![Effect::Draw];
    match action {
        Action::Left => model.step_time(false, model.cursor.stretching),
        Action::Right => model.step_time(true, model.cursor.stretching),
        Action::StretchLeft => model.step_time(false, true),
        Action::StretchRight => model.step_time(true, true),
        Action::Up => step(model, -1),
        Action::Down => step(model, 1),
        Action::Stretch => stretch(model),
        Action::Hold if model.carried.is_some() => effects.extend(put_down(model, press)),
        Action::Hold => effects.extend(hold(model, press, count)),
        Action::Count if model.panel == Panel::Stock => type_digit(model, press),
        Action::Count => effects.extend(choose(model, press)),
        Action::Confirm => effects.extend(confirm(model, press)),
        Action::Cancel => open_cancel(model, press),
        Action::Renew => effects.extend(renew(model, press)),
        Action::Move if model.carried.is_some() => effects.extend(put_down(model, press)),
        Action::Move => model.pick_up(),
        Action::Edit => open_edit(model, press),
        Action::Block => open_block(model, press),
        Action::PreviousDay => model.show_date(model.calendar().previous_date(model.date())),
        Action::NextDay => model.show_date(model.calendar().next_date(model.date())),
        Action::Now => now(model),
        Action::GoTo => open_go_to(model, press),
        Action::NextPanel => turn(model, true),
        Action::PreviousPanel => turn(model, false),
        Action::Refresh => {
            model.say(Tone::Plain, "Reading everything anew.");
            effects.push(Effect::Refresh);
        }
        Action::Help => {
            let heading = "Keys".to_owned();
            model.dialog = Some(Dialog::open(
                Subject::Help { scroll: 0 },
                heading,
                Vec::new(),
                press,
            ));
        }
        Action::Back => back(model),
        Action::Suspend => effects.push(Effect::Suspend),
        Action::Quit => effects.push(Effect::Quit),
    }
    effects
}

fn step(model: &mut Model, lines: isize) {
    match model.panel {
        Panel::Rooms => model.step_room(lines),
        Panel::Stock => model.step_stock(lines),
        Panel::Feed => model.step_feed(lines),
    }
}

fn turn(model: &mut Model, forwards: bool) {
    model.panel = match (model.panel, forwards) {
        (Panel::Rooms, true) | (Panel::Feed, false) => Panel::Stock,
        (Panel::Stock, true) | (Panel::Rooms, false) => Panel::Feed,
        (Panel::Feed, true) | (Panel::Stock, false) => Panel::Rooms,
    };
    model.carried = None;
}

fn stretch(model: &mut Model) {
    let stretching = !model.cursor.stretching;
    model.let_go();
    model.cursor.stretching = stretching;
    if stretching {
        model.begin_stretch();
    }
    let at = model.cursor.at;
    model.place_cursor(at);
}

fn back(model: &mut Model) {
    model.let_go();
    let at = model.cursor.at;
    model.place_cursor(at);
}

fn now(model: &mut Model) {
    model.cursor.anchor = None;
    model.cursor.stretching = false;
    let now = model.now();
    model.place_cursor(now);
    model.scroll_to_business();
}

fn digit(press: Press) -> Option<u32> {
    match press.key.codes.first() {
        crossterm::event::KeyCode::Char(sign) => sign.to_digit(10),
        _ => None,
    }
}

/// Takes what was offered in place of what was refused, and goes there.
fn choose(model: &mut Model, press: Press) -> Option<Effect> {
    let index = usize::try_from(digit(press)?).ok()?.checked_sub(1)?;
    let AlternativeCommand {
        alternative,
        command,
    } = model.alternatives().get(index)?.clone();
    model.notice = None;
    model.panel = Panel::Rooms;
    model.let_go();
    model.cursor.room = Some(alternative.room);
    model.place_cursor(alternative.period.start());
    Some(ask(model, press, command))
}

fn type_digit(model: &mut Model, press: Press) {
    if let Some(digit) = digit(press).and_then(|digit| i32::try_from(digit).ok()) {
        model.count = Some((model.count.unwrap_or(0) * 10 + digit).min(MOST));
    }
}

fn hold(model: &mut Model, press: Press, count: Option<i32>) -> Option<Effect> {
    let command = match model.target() {
        Target::Free(room, period) => hold_slot(room.id, period),
        // A hold that is due: whoever comes first takes its time over (R11).
        Target::Claim(claim) => hold_slot(claim.room, claim.period),
        Target::Item(item) => Command::HoldStock {
            item: item.id,
            quantity: count.unwrap_or(1),
            ttl: None,
            guest: String::new(),
            note: String::new(),
        },
        Target::StockClaim(_) | Target::Nothing => return None,
    };
    Some(ask(model, press, command))
}

fn hold_slot(room: crate::domain::RoomId, period: crate::domain::Period) -> Command {
    Command::HoldSlot {
        room,
        period,
        ttl: None,
        guest: String::new(),
        note: String::new(),
        party: None,
    }
}

/// Asks for the claim in the hand to be where the cursor is; where it was already, nothing is asked.
fn put_down(model: &mut Model, press: Press) -> Option<Effect> {
    let (room, period) = model
        .destination()
        .map(|(room, period)| (room.id, period))?;
    let Carried { claim, grip } = model.carried.take()?;
    if (room, period) == (claim.room, claim.period) {
        model.let_go();
        model.look();
        model.say(Tone::Plain, "It stays where it was.");
        return None;
    }
    let whole = grip == Grip::Whole;
    let command = Command::MoveSlot {
        hold: claim.id,
        expect_version: Some(claim.version),
        to_room: whole.then_some(room),
        from: whole.then_some(period.start()),
        to: Some(period.end()),
    };
    model.let_go();
    model.look();
    Some(ask(model, press, command))
}

fn renew(model: &mut Model, press: Press) -> Option<Effect> {
    let command = match model.target() {
        // A group is renewed and confirmed as a whole (R20).
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
        _ => return None,
    };
    Some(ask(model, press, command))
}

fn confirm(model: &mut Model, press: Press) -> Option<Effect> {
    let command = match model.target() {
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
        _ => return None,
    };
    Some(ask(model, press, command))
}

fn open_cancel(model: &mut Model, press: Press) {
    let calendar = model.calendar();
    let (subject, heading) = match model.target() {
        Target::Claim(claim) => {
            let what = match (claim.purpose, claim.state) {
                (Purpose::Block, _) => "Lift the block on",
                (_, ClaimState::Confirmed) => "Cancel the confirmed booking of",
                _ => "Let go of the hold on",
            };
            let guest = named(&claim.guest);
            let heading = format!(
                "{what} {}{guest}, {}?",
                claim.room_name,
                calendar.span(&claim.period)
            );
            (
                Subject::CancelSlot {
                    hold: claim.id,
                    version: claim.version,
                },
                heading,
            )
        }
        Target::StockClaim(claim) => {
            let guest = named(&claim.guest);
            let heading = format!(
                "Give back {} of {}{guest}?",
                claim.quantity, claim.item_name
            );
            (
                Subject::CancelStock {
                    hold: claim.id,
                    version: claim.version,
                },
                heading,
            )
        }
        _ => return,
    };
    model.dialog = Some(Dialog::open(
        subject,
        display(&heading),
        vec![Field::new("Reason", "")],
        press,
    ));
}

fn named(guest: &str) -> String {
    if guest.is_empty() {
        String::new()
    } else {
        format!(" for {guest}")
    }
}

fn open_edit(model: &mut Model, press: Press) {
    let Target::Claim(claim) = model.target() else {
        return;
    };
    let heading = format!(
        "{}, {}",
        claim.room_name,
        model.calendar().span(&claim.period)
    );
    let party = claim.party.map_or(String::new(), |party| party.to_string());
    let fields = vec![
        Field::new("Guest", &claim.guest),
        Field::new("Note", &claim.note),
        Field::new("Party", &party),
    ];
    let subject = Subject::Edit {
        hold: claim.id,
        version: claim.version,
    };
    model.dialog = Some(Dialog::open(subject, display(&heading), fields, press));
}

fn open_block(model: &mut Model, press: Press) {
    let Target::Free(room, period) = model.target() else {
        return;
    };
    let heading = format!(
        "Take {} for the house, {}",
        room.name,
        model.calendar().span(&period)
    );
    let subject = Subject::Block {
        room: room.id,
        period,
    };
    model.dialog = Some(Dialog::open(
        subject,
        display(&heading),
        vec![Field::new("Reason", "")],
        press,
    ));
}

fn open_go_to(model: &mut Model, press: Press) {
    let heading = keys::binding_of(Action::GoTo).help.to_owned();
    model.dialog = Some(Dialog::open(
        Subject::GoTo,
        heading,
        vec![Field::new("Date", "")],
        press,
    ));
}
