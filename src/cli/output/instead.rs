//! What to type to get one of the free choices that come with a refusal.

use std::borrow::Cow;

use crate::domain::local_time::typed_period;
use crate::domain::refusal::FreeChoice;
use crate::domain::{BookedBy, Command, Room, SiteCalendar, duration};

/// The command that was refused, once for each choice with that in it. Of a group, the line.
pub fn instead(
    refused: &Command,
    choices: &[FreeChoice],
    rooms: &[Room],
    site: Option<&str>,
    calendar: &SiteCalendar,
) -> Vec<String> {
    let lines = choices.iter().filter_map(|choice| {
        let booked_by = rooms
            .iter()
            .find(|room| room.id == choice.room_id)
            .map_or(BookedBy::Hour, |room| room.booked_by);
        let (from, to) = typed_period(booked_by, &choice.period, calendar);
        let mut words = words(refused, &choice.room, &from, &to)?;
        if let (Some(site), false) = (site, matches!(refused, Command::HoldGroup { .. })) {
            words.extend(["--site".into(), site.into()]);
        }
        let quoted: Vec<_> = words.iter().map(|word| quoted(word)).collect();
        Some(quoted.join(" "))
    });
    lines.collect()
}

fn words(refused: &Command, room: &str, from: &str, to: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    let mut say = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
    match refused {
        Command::HoldSlot {
            ttl,
            guest,
            note,
            party,
            ..
        } => {
            say(&["keyrack", "room", "hold", room, from, to]);
            if let Some(ttl) = ttl {
                say(&["--ttl", &duration::written(*ttl)]);
            }
            for (option, text) in [("--guest", guest), ("--note", note)] {
                if !text.is_empty() {
                    say(&[option, text]);
                }
            }
            if let Some(party) = party {
                say(&["--party", &party.to_string()]);
            }
        }
        Command::BlockSlot { reason, .. } => {
            say(&["keyrack", "room", "block", room, from, to]);
            say(&["--reason", reason]);
        }
        Command::MoveSlot { hold, .. } => {
            say(&["keyrack", "room", "move", &hold.to_string()]);
            say(&["--to-room", room, "--from", from, "--to", to]);
        }
        Command::HoldGroup { .. } => say(&["--room", &format!("{room},{from},{to}")]),
        _ => return None,
    }
    Some(words)
}

/// A word for a shell.
fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |character: char| {
        character.is_alphanumeric() || matches!(character, '-' | '_' | ':' | '.' | ',' | '+' | '/')
    };
    if !word.is_empty() && word.chars().all(plain) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(format!("'{}'", word.replace('\'', "'\\''")))
    }
}
