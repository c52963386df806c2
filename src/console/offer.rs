//! What the house says is free instead of what was refused, each with the key that asks for it.

use crate::domain::refusal::{FreeChoice, SlotTaken};
use crate::domain::{Command, Period, SiteCalendar};

use super::text::{display, truncate};

/// Something that can be had with one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Where and when.
    pub choice: FreeChoice,
    /// What asks for it.
    pub command: Command,
}

/// The offers that come with a refusal: what was asked for, with the room and the period of each choice.
pub fn offers(refused: &Command, taken: &SlotTaken) -> Vec<Offer> {
    let offers = taken.choices.iter().take(9).filter_map(|choice| {
        Some(Offer {
            choice: choice.clone(),
            command: instead(refused, choice)?,
        })
    });
    offers.collect()
}

fn instead(refused: &Command, choice: &FreeChoice) -> Option<Command> {
    let mut command = refused.clone();
    match &mut command {
        Command::HoldSlot { room, period, .. } => {
            *room = choice.room_id;
            *period = choice.period;
        }
        Command::MoveSlot {
            to_room, from, to, ..
        } => {
            *to_room = Some(choice.room_id);
            *from = Some(choice.period.start());
            *to = Some(choice.period.end());
        }
        _ => return None,
    }
    Some(command)
}

/// The offers in words, each behind its key; with its date where that is another than was asked for.
pub fn words(offers: &[Offer], wanted: Option<Period>, calendar: &SiteCalendar) -> String {
    let mut words = "Free instead: press".to_owned();
    for (offer, key) in offers.iter().zip(1..) {
        let FreeChoice { room, period, .. } = &offer.choice;
        let name = display(room);
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
