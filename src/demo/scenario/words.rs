//! The short phrases of a scenario: places, keys, stops, moves, waits and outcomes. Pure; whoever reads the file knows
//! the lines.

use chrono::NaiveTime;
use crokey::KeyCombination;

use crate::demo::scenario::{Outcome, Place, StepMove, Stop, Wait};
use crate::domain::{BookedBy, ClaimState, Refusal, SiteFile};

/// A place, by the rooms and items of the site: `Blue room, 10:00-12:00`, `Blue room, 10:00`, `Loft, 2 nights`,
/// `Breakfast`, `2 Breakfast`.
pub fn place(written: &str, site_file: &SiteFile) -> Result<Place, String> {
    let is_item = |name: &str| site_file.items.iter().any(|item| item.name == name);
    if is_item(written) {
        return Ok(stock(written, 1));
    }
    if let Some((count, item)) = written.split_once(' ')
        && is_item(item)
    {
        return match count.parse() {
            Ok(quantity @ 1..) => Ok(stock(item, quantity)),
            _ => Err(format!("“{count}” is not a number of units.")),
        };
    }
    let (room, when) = written.rsplit_once(',').ok_or_else(|| {
        format!(
            "“{written}” is not an item of this house, and as a room it lacks the time; write it like Blue room, \
             10:00-12:00."
        )
    })?;
    let (room, when) = (room.trim(), when.trim());
    let known = site_file.rooms.iter().find(|known| known.name == room);
    let known = known.ok_or_else(|| format!("There is no room “{room}” in this house."))?;
    match known.booked_by {
        BookedBy::Night => {
            let nights = when
                .strip_suffix(" nights")
                .or_else(|| when.strip_suffix(" night"))
                .and_then(|count| count.parse().ok())
                .filter(|count| *count > 0);
            let nights = nights.ok_or_else(|| {
                format!("“{room}” is booked by the night; write it like {room}, 2 nights.")
            })?;
            Ok(Place::Nights {
                room: room.to_owned(),
                nights,
            })
        }
        BookedBy::Hour => {
            let (from, to) = match when.split_once('-') {
                Some((from, to)) => (clock(from)?, Some(end(to)?)),
                None => (clock(when)?, None),
            };
            if to.is_some_and(|to| to != NaiveTime::MIN && to <= from) {
                return Err(format!("“{when}” does not end after it begins."));
            }
            Ok(Place::Slot {
                room: room.to_owned(),
                from,
                to,
            })
        }
    }
}

fn stock(item: &str, quantity: i32) -> Place {
    Place::Stock {
        item: item.to_owned(),
        quantity,
    }
}

/// A time of day.
pub fn clock(written: &str) -> Result<NaiveTime, String> {
    NaiveTime::parse_from_str(written.trim(), "%H:%M").map_err(|_| {
        format!(
            "“{}” is not a time of day; write it like 15:00.",
            written.trim()
        )
    })
}

/// The same where a period ends; 24:00 is midnight.
fn end(written: &str) -> Result<NaiveTime, String> {
    match written.trim() {
        "24:00" => Ok(NaiveTime::MIN),
        "00:00" => Err("The end of the day is written 24:00.".into()),
        written => clock(written),
    }
}

/// Keys with blanks between them, as the configuration writes them: `2 enter`, `x tab y`, `shift-right`.
pub fn keys(written: &str) -> Result<Vec<KeyCombination>, String> {
    let keys: Vec<_> = written
        .split_whitespace()
        .map(|key| {
            crokey::parse(key)
                .map(KeyCombination::normalized)
                .map_err(|_| {
                    format!("“{key}” is not a key; write it like c, Enter, Tab or Shift-Right.")
                })
        })
        .collect::<Result<_, _>>()?;
    if keys.is_empty() {
        return Err("There is no key here; write it like Enter.".into());
    }
    Ok(keys)
}

/// Where a transaction stops.
pub fn stop(written: &str) -> Result<Stop, String> {
    match written.split_once(' ') {
        Some(("before", "commit")) => Ok(Stop::BeforeCommit),
        Some(("before", step)) if is_step(step) => Ok(Stop::Before(step.to_owned())),
        Some(("after", step)) if is_step(step) => Ok(Stop::After(step.to_owned())),
        _ => Err(format!(
            "“{written}” is not a place to stop; write it like before place_slot, after lock_room, or before commit."
        )),
    }
}

/// A move in step mode.
pub fn step_move(written: &str) -> Result<StepMove, String> {
    Ok(match written {
        "step" => StepMove::Step,
        "run on" => StepMove::RunOn,
        "commit" => StepMove::Commit,
        "commit and cut" => StepMove::CommitAndCut,
        "roll back" => StepMove::RollBack,
        "cut" => StepMove::Cut,
        "kill" => StepMove::Kill,
        _ => match written.strip_prefix("run on to ") {
            Some(step) if is_step(step) => StepMove::RunOnTo(step.to_owned()),
            _ => {
                return Err(format!(
                    "“{written}” is not a move; it is one of step, run on, run on to STEP, commit, commit and cut, roll \
                     back, cut, kill."
                ));
            }
        },
    })
}

/// What to wait for: `the deadline of CLAIM`, `CLAIM is expired`.
pub fn wait(written: &str) -> Result<Wait, String> {
    if let Some(claim) = written.strip_prefix("the deadline of ") {
        return Ok(Wait::Deadline(claim.to_owned()));
    }
    written
        .split_once(" is ")
        .and_then(|(claim, state)| Some((claim, state.parse::<ClaimState>().ok()?)))
        .map(|(claim, state)| Wait::State(claim.to_owned(), state))
        .ok_or_else(|| {
            format!(
                "“{written}” is nothing to wait for; write it like the deadline of CLAIM, or CLAIM is expired."
            )
        })
}

/// What became of something.
pub fn outcome(written: &str) -> Result<Outcome, String> {
    let said = |name: &str| {
        name.strip_prefix("waits for ")
            .map(|whom| Outcome::WaitsFor(whom.to_owned()))
    };
    Ok(match written {
        "done" => Outcome::Done,
        "repeated" => Outcome::Repeated(Box::new(Outcome::Done)),
        "rolled back" => Outcome::RolledBack,
        "cut" => Outcome::Cut,
        "killed" => Outcome::Killed,
        "not asked" => Outcome::NotAsked,
        "stops before commit" => Outcome::StopsBeforeCommit,
        _ => {
            if let Some(step) = written.strip_prefix("stops before ")
                && is_step(step)
            {
                Outcome::StopsBefore(step.to_owned())
            } else if let Some(waits) = said(written) {
                waits
            } else if let Some(code) = written.strip_prefix("repeated ")
                && Refusal::CODES.contains(&code)
            {
                Outcome::Repeated(Box::new(Outcome::Refused(code.to_owned())))
            } else if let Some(name) = written.strip_prefix("error ")
                && is_step(name)
            {
                Outcome::Error(name.to_owned())
            } else if Refusal::CODES.contains(&written) {
                Outcome::Refused(written.to_owned())
            } else {
                return Err(format!(
                    "“{written}” is nothing to expect; it is done, a refusal such as slot_taken, repeated, not asked, \
                     waits for NAME, stops before STEP, stops before commit, rolled back, cut, killed, or error NAME."
                ));
            }
        }
    })
}

/// A word such as functions, constraints and error codes are called by.
fn is_step(word: &str) -> bool {
    !word.is_empty()
        && word
            .chars()
            .all(|sign| sign.is_ascii_alphanumeric() || sign == '_')
}

/// The names in double braces of a text, each after what stands before it, and what stands after all of them.
pub type Holes<'text> = (Vec<(&'text str, &'text str)>, &'text str);

/// Finds the names in double braces of a text.
pub fn holes(text: &str) -> Result<Holes<'_>, String> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once("{{") {
        let (hole, after) = after
            .split_once("}}")
            .ok_or("A name in double braces is not closed.")?;
        found.push((before, hole.trim()));
        rest = after;
    }
    Ok((found, rest))
}

/// What a name in double braces stands for in SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hole {
    /// The number of the scenario's site.
    Site,
    /// The number of a room.
    Room(String),
    /// The number of an item.
    Item(String),
    /// The number of a claim.
    Claim(String),
    /// An instant of the scenario's day.
    Instant(NaiveTime),
    /// A period of it.
    Period(NaiveTime, NaiveTime),
}

/// Reads what stands in double braces: `site`, `room Blue room`, `item Breakfast`, `claim NAME`, `10:00`, `10:00-11:00`.
pub fn hole(
    written: &str,
    has_room: impl Fn(&str) -> bool,
    has_item: impl Fn(&str) -> bool,
) -> Result<Hole, String> {
    match written.split_once(' ') {
        None if written == "site" => Ok(Hole::Site),
        Some(("room", name)) if has_room(name) => Ok(Hole::Room(name.to_owned())),
        Some(("item", name)) if has_item(name) => Ok(Hole::Item(name.to_owned())),
        Some(("claim", name)) => Ok(Hole::Claim(name.to_owned())),
        None => match written.split_once('-') {
            Some((from, to)) => Ok(Hole::Period(clock(from)?, end(to)?)),
            None => Ok(Hole::Instant(clock(written)?)),
        },
        Some(_) => Err(format!(
            "“{written}” names nothing of this house; write it like site, room Blue room, item Breakfast, claim NAME, \
             10:00 or 10:00-11:00."
        )),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_read() {
        let refused = || Outcome::Refused("stale".into());
        for (written, meant) in [
            ("done", Outcome::Done),
            ("stale", refused()),
            ("repeated", Outcome::Repeated(Box::new(Outcome::Done))),
            ("repeated stale", Outcome::Repeated(Box::new(refused()))),
            ("waits for psql 2", Outcome::WaitsFor("psql 2".into())),
            ("stops before commit", Outcome::StopsBeforeCommit),
            (
                "stops before lock_room",
                Outcome::StopsBefore("lock_room".into()),
            ),
            ("error 40P01", Outcome::Error("40P01".into())),
            ("not asked", Outcome::NotAsked),
        ] {
            assert_eq!(outcome(written).unwrap(), meant);
        }
        assert!(outcome("repeated nonsense").is_err());
        assert!(outcome("stops before a; DROP").is_err());
    }

    #[test]
    fn names_in_double_braces_are_found_with_what_is_around_them() {
        let (holes, rest) = holes("a {{site}} b {{ claim x }}").unwrap();
        assert_eq!(holes, [("a ", "site"), (" b ", "claim x")]);
        assert_eq!(rest, "");
    }
}
