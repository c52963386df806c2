//! What the house says is free instead of what was refused, each with the key that asks for it.

use crate::domain::refusal::SlotTaken;
use crate::domain::{Alternative, Command, Period, SiteCalendar};

use super::text::{display, truncate};

/// Something that can be had with one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlternativeCommand {
    /// Where and when.
    pub alternative: Alternative,
    /// What asks for it.
    pub command: Command,
}

/// What a refusal offers: what was asked for, with the room and the period of each alternative.
pub fn alternatives(refused: &Command, taken: &SlotTaken) -> Vec<AlternativeCommand> {
    let alternatives = taken.choices.iter().take(9).filter_map(|alternative| {
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
pub fn words(
    alternatives: &[AlternativeCommand],
    wanted: Option<Period>,
    calendar: &SiteCalendar,
) -> String {
    let mut words = "Free instead: press".to_owned();
    for (AlternativeCommand { alternative, .. }, key) in alternatives.iter().zip(1..) {
        let period = &alternative.period;
        let name = display(&alternative.room_name);
        let day = |period: &Period| (calendar.date(period.start()), calendar.date(period.end()));
        let when = if wanted.is_some_and(|wanted| day(&wanted) == day(period)) {
            let [from, to] = [period.start(), period.end()].map(|at| calendar.tick(at).label());
            format!("{from}–{to}")
        } else {
            calendar.span(period)
        };
        let comma = if key == 1 { "" } else { "," };
        words.push_str(&format!(
            "{comma} {key} for {} {when}",
            truncate(&name, 24, "…")
        ));
    }
    words + "."
}
