//! Keys and pasted text while a dialog is open. Nothing typed is lost because the rules or the database said no.

use crokey::{KeyCombination, key};
use crossterm::event::{Event, KeyEvent};
use tui_input::InputRequest;
use tui_input::backend::crossterm::to_input_request;

use crate::console::actions;
use crate::console::actions::action::{Submission, ask};
use crate::console::actions::{names, reasons};
use crate::console::effect::Effect;
use crate::console::message::Press;
use crate::console::model::Model;
use crate::console::model::dialog::Dialog;

/// Everything as it is, but for the line's end that came along when a whole line was copied.
pub(super) fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    let Some(field) = model.dialog.as_mut().and_then(Dialog::focused_field) else {
        return Vec::new();
    };
    for character in text.trim_end_matches(['\r', '\n']).chars() {
        field.input.handle(InputRequest::InsertChar(character));
    }
    vec![Effect::DRAW]
}

pub(super) fn press(model: &mut Model, press: Press) -> Vec<Effect> {
    let Some(dialog) = model.dialog.as_mut() else {
        return Vec::new();
    };
    if dialog.is_opener_repeating(&press) {
        return Vec::new();
    }
    if actions::form(dialog.action).is_some_and(|form| form.is_page) {
        return page(model, press.key);
    }
    let key = press.key;
    if key == key!(esc) || key == key!(ctrl - c) {
        model.dialog = None;
        return vec![Effect::DRAW];
    }
    if dialog.sent.is_some() {
        return Vec::new();
    }
    if let Some(button) = dialog.focused_button() {
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
            if let Some(field) = dialog.focused_field() {
                field.input.handle(request);
                dialog.complaint = None;
            }
        }
    }
    vec![Effect::DRAW]
}

/// A page to read: the arrows scroll, any other key closes.
fn page(model: &mut Model, key: KeyCombination) -> Vec<Effect> {
    let most = actions::help_page::most_scroll(model);
    let lines = match model.keymap.action(key) {
        Some(names::DOWN | names::RIGHT) => 1,
        Some(names::UP | names::LEFT) => -1,
        _ => {
            model.dialog = None;
            return vec![Effect::DRAW];
        }
    };
    if let Some(dialog) = &mut model.dialog {
        dialog.scroll = dialog.scroll.saturating_add_signed(lines).min(most);
    }
    vec![Effect::DRAW]
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
    vec![Effect::DRAW]
}

/// Enter in a field: on to the buttons where there are some, so that it alone never gives anything back.
fn enter(model: &mut Model, press: Press) -> Vec<Effect> {
    let Some(dialog) = model.dialog.as_mut() else {
        return Vec::new();
    };
    if !dialog.buttons.is_empty() {
        dialog.focus = dialog.fields.len();
        return vec![Effect::DRAW];
    }
    submit(model, press)
}

fn submit(model: &mut Model, press: Press) -> Vec<Effect> {
    let Some(dialog) = model.dialog.clone() else {
        return Vec::new();
    };
    let Some(form) = actions::form(dialog.action) else {
        return Vec::new();
    };
    let command = match (form.submit)(model, &dialog) {
        Submission::Ask(command) => command,
        Submission::Close => {
            model.dialog = None;
            return vec![Effect::DRAW];
        }
        Submission::Complain(complaint) => return complain(model, complaint),
    };
    // The dialog names its claim, so what has come under the cursor since doesn't matter.
    if let Some(reason) = reasons::out_of_reach(model) {
        return complain(model, reason);
    }
    model.cursor.surprised = false;
    let effect = ask(model, dialog.action, press, command);
    if let Some(dialog) = model.dialog.as_mut() {
        dialog.sent = Some(press.id);
        dialog.complaint = None;
    }
    vec![Effect::DRAW, effect]
}

fn complain(model: &mut Model, complaint: String) -> Vec<Effect> {
    if let Some(dialog) = model.dialog.as_mut() {
        dialog.complaint = Some(complaint);
    }
    vec![Effect::DRAW]
}
