//! What a message does to the model, and what is to be done about it: one file for each kind of message.
//!
//! Synchronous and pure: no tasks, no SQL, no clock, no random numbers. Effects are returned as data.

mod answer;
mod dialog;
mod key;
mod mouse;
mod watch;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::console::actions;
use crate::console::effect::{Effect, TerminalEffect};
use crate::console::message::Message;
use crate::console::model::Model;
use crate::console::model::keymap::KeymapError;
use crate::domain::Desk;
use crate::store::Snapshot;

/// A console that shows a snapshot, with the usual keys: for benches and tests.
///
/// # Errors
/// If the table of keys contradicts itself, which a test rules out.
pub fn showing(
    desk: Desk,
    snapshot: Arc<Snapshot>,
    size: (u16, u16),
) -> Result<Model, KeymapError> {
    let keymap = Arc::new(actions::keymap(&HashMap::new())?);
    let (site, now) = (snapshot.site.clone(), snapshot.read_at);
    let mut model = Model::new(desk, site, keymap, size, now, Duration::ZERO);
    watch::show(&mut model, snapshot);
    Ok(model)
}

/// Lets a message act on the model.
pub fn update(model: &mut Model, message: Message) -> Vec<Effect> {
    let window = model.window();
    let mut effects = change(model, message);
    if model.window() != window {
        effects.push(Effect::LookAt(model.window()));
    }
    effects
}

fn change(model: &mut Model, message: Message) -> Vec<Effect> {
    match message {
        Message::Key(press) => key::press(model, press),
        Message::Paste(text) => dialog::paste(model, &text),
        Message::Click { column, row } => mouse::click(model, column, row),
        Message::Drag { column } => mouse::drag(model, column),
        Message::Wheel { column, row, lines } => mouse::wheel(model, column, row, lines),
        Message::Resized { width, height } => {
            model.size = (width, height);
            model.keep_in_view();
            vec![Effect::DRAW]
        }
        Message::Tick { uptime } => {
            model.clock.tick(uptime);
            model.forget_read_notice();
            vec![Effect::DRAW]
        }
        Message::Watch { event, at } => watch::event(model, event, at),
        Message::Checking(request) => {
            for pending in &mut model.pending {
                pending.checking |= pending.request.id == request;
            }
            vec![Effect::DRAW]
        }
        Message::Answered { request, result } => answer::answered(model, request, result),
        Message::Resumed => vec![Effect::Terminal(TerminalEffect::Redraw)],
        Message::Ended => vec![Effect::Terminal(TerminalEffect::Quit)],
    }
}
