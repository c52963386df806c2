//! What is free instead of what was refused: which command takes it, and the sentence that offers it.

use crate::console::actions::names;
use crate::console::model::Model;
use crate::console::model::alternative::AlternativeCommand;
use crate::domain::refusal_details::SlotTaken;
use crate::domain::{Alternative, Command, Period, SiteCalendar};
use crate::terminal::text::{display, truncate};

/// The most alternatives that have a key.
const MOST: usize = 9;

/// Adds to the refusal that was just said what can be had instead, each with its key.
pub(crate) fn offer(model: &mut Model, refused: &Command, taken: &SlotTaken) {
    let wanted = match refused {
        Command::HoldSlot { period, .. } => Some(*period),
        _ => taken.period,
    };
    let alternatives = alternatives(refused, taken);
    if alternatives.is_empty() {
        return;
    }
    let keys = (1..=alternatives.len()).map(|digit| {
        let key = model.keymap.nth(names::COUNT, digit);
        key.unwrap_or_default()
    });
    let keys: Vec<String> = keys.collect();
    let sentence = words(&alternatives, &keys, wanted, &model.calendar());
    if let Some(notice) = &mut model.notice {
        notice.alternatives = alternatives;
        notice.alternatives_in_words = sentence;
    }
}

/// What was asked for, with the room and the period of each alternative.
fn alternatives(refused: &Command, taken: &SlotTaken) -> Vec<AlternativeCommand> {
    let alternatives = taken.choices.iter().take(MOST).filter_map(|alternative| {
        Some(AlternativeCommand {
            alternative: alternative.clone(),
            command: command(refused, alternative)?,
        })
    });
    alternatives.collect()
}

fn command(refused: &Command, alternative: &Alternative) -> Option<Command> {
    let mut command = refused.clone();
    match &mut command {
        Command::HoldSlot { room, period, .. } => {
            *room = alternative.room;
            *period = alternative.period;
        }
        Command::MoveSlot {
            to_room, from, to, ..
        } => {
            *to_room = Some(alternative.room);
            *from = Some(alternative.period.start());
            *to = Some(alternative.period.end());
        }
        _ => return None,
    }
    Some(command)
}

/// The alternatives in words, each behind its key; with its date where that is another than was asked for.
fn words(
    alternatives: &[AlternativeCommand],
    keys: &[String],
    wanted: Option<Period>,
    calendar: &SiteCalendar,
) -> String {
    let offers = alternatives.iter().zip(keys).map(|(offer, key)| {
        let period = &offer.alternative.period;
        let name = display(&offer.alternative.room_name);
        let day = |period: &Period| (calendar.date(period.start()), calendar.date(period.end()));
        let when = if wanted.is_some_and(|wanted| day(&wanted) == day(period)) {
            let [from, to] = [period.start(), period.end()].map(|at| calendar.tick(at).label());
            format!("{from}–{to}")
        } else {
            calendar.span(period)
        };
        format!("{key} for {} {when}", truncate(&name, 24, "…"))
    });
    let offers: Vec<String> = offers.collect();
    format!("Free instead: press {}.", offers.join(", "))
}
