//! What to type to get one of the alternatives that come with a refusal.

use std::borrow::Cow;

use crate::cli::arguments::details_options;
use crate::domain::time_reader::typed_period;
use crate::domain::{Alternative, BookedBy, Command, Room, SiteCalendar, duration};

/// The command that was refused, once for each alternative with that in it. Of a group, the line.
pub(crate) fn alternatives(
    refused: &Command,
    alternatives: &[Alternative],
    rooms: &[Room],
    site: Option<&str>,
    calendar: &SiteCalendar,
) -> Vec<String> {
    let lines = alternatives.iter().filter_map(|alternative| {
        let booked_by = rooms
            .iter()
            .find(|room| room.id == alternative.room)
            .map_or(BookedBy::Hour, |room| room.booked_by);
        let (from, to) = typed_period(booked_by, &alternative.period, calendar);
        let mut words = words(refused, &alternative.room_name, &from, &to)?;
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
        Command::HoldSlot { ttl, details, .. } => {
            say(&["keyrack", "room", "hold", room, from, to]);
            if let Some(ttl) = ttl {
                say(&["--ttl", &duration::written(*ttl)]);
            }
            for (option, text) in details_options(details) {
                say(&[option, &text]);
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
