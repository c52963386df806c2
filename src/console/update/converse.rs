//! What keys do while a dialog is open. Nothing typed is lost because the house or the database said no.

use crokey::{KeyCombination, key};
use crossterm::event::{Event, KeyEvent};
use tui_input::InputRequest;
use tui_input::backend::crossterm::to_input_request;

use crate::domain::Command;

use super::super::dates;
use super::super::dialog::{Dialog, Subject};
use super::super::effect::Effect;
use super::super::keys::Action;
use super::super::message::Press;
use super::super::model::Model;
use super::super::reasons;
use super::super::text::display;
use super::ask;

/// Everything as it is, but for the line's end that came along when a whole line was copied.
pub(super) fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    let Some(field) = model.dialog.as_mut().and_then(Dialog::field) else {
        return Vec::new();
    };
    for character in text.trim_end_matches(['\r', '\n']).chars() {
        field.input.handle(InputRequest::InsertChar(character));
    }
    vec![Effect::Draw]
}

pub(super) fn press(model: &mut Model, press: Press) -> Vec<Effect> {
    let Some(dialog) = model.dialog.as_mut() else {
        return Vec::new();
    };
    if dialog.is_opener_repeating(&press) {
        return Vec::new();
    }
    if let Subject::Help { scroll } = &mut dialog.subject {
        let scroll = *scroll;
        return help(model, scroll, press.key);
    }
    let key = press.key;
    if key == key!(esc) || key == key!(ctrl - c) {
        model.dialog = None;
        return vec![Effect::Draw];
    }
    if dialog.sent.is_some() {
        return Vec::new();
    }
    if let Some(button) = dialog.button() {
        return press_button(model, button, press);
    }
    match key {
        key!(enter) => return enter(model, press),
        key!(tab) | key!(down) => dialog.turn(true),
        key!(shift - backtab) | key!(up) => dialog.turn(false),
        _ => {
            let event: KeyEvent = key.into();
            let Some(request) = to_input_request(&Event::Key(event)) else {
                return Vec::new();
            };
            if let Some(field) = dialog.field() {
                field.input.handle(request);
                dialog.complaint = None;
            }
        }
    }
    vec![Effect::Draw]
}

fn help(model: &mut Model, scroll: u16, key: KeyCombination) -> Vec<Effect> {
    let most = super::super::view::help::most_scroll(model);
    let scrolled = match model.keymap.action(key) {
        Some(Action::Down | Action::Right) => Some(scroll.saturating_add(1).min(most)),
        Some(Action::Up | Action::Left) => Some(scroll.saturating_sub(1)),
        _ => None,
    };
    match (scrolled, model.dialog.as_mut()) {
        (Some(scroll), Some(dialog)) => dialog.subject = Subject::Help { scroll },
        _ => model.dialog = None,
    }
    vec![Effect::Draw]
}

fn press_button(model: &mut Model, button: usize, press: Press) -> Vec<Effect> {
    let Some(dialog) = model.dialog.as_mut() else {
        return Vec::new();
    };
    match press.key {
        key!(enter) if button == 1 => return submit(model, press),
        key!(y) => return submit(model, press),
        key!(enter) | key!(n) => model.dialog = None,
        key!(tab) | key!(right) | key!(down) => dialog.turn(true),
        key!(shift - backtab) | key!(left) | key!(up) => dialog.turn(false),
        _ => return Vec::new(),
    }
    vec![Effect::Draw]
}

/// Enter in a field: on to the buttons where there are some, so that it alone never gives anything back.
fn enter(model: &mut Model, press: Press) -> Vec<Effect> {
    let Some(dialog) = model.dialog.as_mut() else {
        return Vec::new();
    };
    if !dialog.buttons.is_empty() {
        dialog.focus = dialog.fields.len();
        return vec![Effect::Draw];
    }
    submit(model, press)
}

fn submit(model: &mut Model, press: Press) -> Vec<Effect> {
    let Some(dialog) = model.dialog.clone() else {
        return Vec::new();
    };
    if dialog.subject == Subject::GoTo {
        return go_to(model, &dialog);
    }
    let command = match command(&dialog) {
        Ok(Some(command)) => command,
        Ok(None) => {
            model.dialog = None;
            return vec![Effect::Draw];
        }
        Err(complaint) => return complain(model, complaint),
    };
    model.cursor.surprised = false; // The dialog names its claim: what has come under the cursor since doesn't matter.
    if let Some(reason) = reasons::command(model) {
        return complain(model, reason);
    }
    let effect = ask(model, press, command);
    if let Some(dialog) = model.dialog.as_mut() {
        dialog.sent = Some(press.id);
        dialog.complaint = None;
    }
    vec![Effect::Draw, effect]
}

fn complain(model: &mut Model, complaint: String) -> Vec<Effect> {
    if let Some(dialog) = model.dialog.as_mut() {
        dialog.complaint = Some(complaint);
    }
    vec![Effect::Draw]
}

/// The command that the dialog asks for; none if nothing was changed.
fn command(dialog: &Dialog) -> Result<Option<Command>, String> {
    Ok(Some(match &dialog.subject {
        Subject::Edit { hold, version } => {
            let party = party(dialog)?;
            let [guest, note] =
                [0, 1].map(|index| dialog.fields.get(index).and_then(|field| field.changed()));
            if guest.is_none() && note.is_none() && party.is_none() {
                return Ok(None);
            }
            Command::EditSlot {
                hold: *hold,
                expect_version: Some(*version),
                guest,
                note,
                party,
            }
        }
        Subject::CancelSlot { hold, version } => Command::CancelSlot {
            hold: *hold,
            expect_version: Some(*version),
            reason: dialog.text(0).to_owned(),
        },
        Subject::CancelStock { hold, version } => Command::CancelStock {
            hold: *hold,
            expect_version: Some(*version),
            reason: dialog.text(0).to_owned(),
        },
        Subject::Block { room, period } => {
            if dialog.text(0).trim().is_empty() {
                return Err("Say why, so that the next desk knows; then Enter.".into());
            }
            Command::BlockSlot {
                room: *room,
                period: *period,
                reason: dialog.text(0).to_owned(),
            }
        }
        Subject::Help { .. } | Subject::GoTo => return Ok(None),
    }))
}

fn party(dialog: &Dialog) -> Result<Option<i32>, String> {
    let Some(typed) = dialog.fields.get(2).and_then(|field| field.changed()) else {
        return Ok(None);
    };
    match typed.trim().parse::<i32>() {
        Ok(party) if party > 0 => Ok(Some(party)),
        _ => Err(format!(
            "“{}” is not a number of people; write a number like 8.",
            display(typed.trim())
        )),
    }
}

fn go_to(model: &mut Model, dialog: &Dialog) -> Vec<Effect> {
    let today = model.calendar().date(model.now());
    match dates::parse(dialog.text(0), today) {
        Some(date) if model.calendar().day(date).is_some() => {
            model.dialog = None;
            model.show_date(date);
            vec![Effect::Draw]
        }
        Some(_) => complain(model, "This house has no such day. Choose another.".into()),
        None => complain(
            model,
            "That is no date; write it like 2026-12-03, 3 Dec, tomorrow, fri or +7.".into(),
        ),
    }
}
