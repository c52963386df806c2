//! The scenario's file: TOML in, a [`Scenario`] out, or the first thing that is wrong with it and its line.
//!
//! `assets/scenarios/the-same-slot.toml` documents the format. The tables of the site are those of a site file.

mod acts;
mod raw;

use std::collections::HashSet;
use std::ops::Range;

use chrono::TimeDelta;
use toml::Spanned;

use self::raw::{OneOrMore, RawAct, RawClaim, RawRows, RawScenario, RawStep};
use crate::demo::scenario::{
    Actor, Ask, Expectation, Opening, Place, Rows, Scenario, Step, Wait, words,
};
use crate::domain::site_file::SiteFileError;
use crate::domain::text::{harmless, limits};
use crate::domain::{SiteEntry, SiteFile, duration, mistake};

/// Why a text is no scenario, and in which line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ScenarioError {
    /// Counted from one.
    pub line: usize,
    /// A sentence. May quote the file, so make it harmless before it is shown (R26).
    pub problem: String,
}

impl From<SiteFileError> for ScenarioError {
    fn from(error: SiteFileError) -> Self {
        Self {
            line: error.line,
            problem: error.problem,
        }
    }
}

impl Scenario {
    /// Reads a scenario; the first thing that is wrong with it is the error.
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        let raw: RawScenario = toml::from_str(text).map_err(|error| ScenarioError {
            line: line(text, error.span().unwrap_or_default()),
            problem: mistake::in_words(error.message()),
        })?;
        let usual = SiteEntry::new("Demo house".into(), chrono_tz::Europe::London);
        let site_file = SiteFile::part_of(text, raw.site, raw.room, raw.item, usual)?;
        let mut reader = Reader {
            text,
            site_file: &site_file,
            names: HashSet::new(),
        };
        let opening = reader.all(raw.claim, Reader::opening)?;
        let steps = reader.all(raw.step, Reader::step)?;
        let ending = reader.all(raw.rows, Reader::rows)?;
        if let Some(second) = steps.iter().filter(|step| step.hand_over.is_some()).nth(1) {
            return Err(ScenarioError {
                line: second.line,
                problem:
                    "A person can take over at one step only; an earlier one says hand_over too."
                        .into(),
            });
        }
        let headless_hold = reader.length(&raw.headless_hold)?;
        if let (Some(length), Some(written)) = (headless_hold, &raw.headless_hold)
            && (length <= TimeDelta::zero() || length > site_file.site.longest_hold)
        {
            return Err(reader.error(
                written.span(),
                "A hold lasts longer than nothing and no longer than the house allows.",
            ));
        }
        Ok(Self {
            title: prose(&raw.title),
            shows: prose(&raw.shows),
            headless_hold,
            scratch: raw.scratch,
            opening,
            steps,
            ending,
            finds: raw.finds,
            site_file,
        })
    }
}

/// What is to be read: one paragraph, however it was written, that a terminal can show.
fn prose(written: &str) -> String {
    let words: Vec<&str> = written.split_whitespace().collect();
    harmless(&words.join(" "))
}

fn line(text: &str, span: Range<usize>) -> usize {
    let before = text.get(..span.start).unwrap_or_default();
    before.matches('\n').count() + 1
}

/// Turns what was written into what it means, and remembers where it stood and what has a name.
struct Reader<'text> {
    text: &'text str,
    site_file: &'text SiteFile,
    names: HashSet<String>,
}

impl Reader<'_> {
    fn error(&self, span: Range<usize>, problem: impl Into<String>) -> ScenarioError {
        ScenarioError {
            line: line(self.text, span),
            problem: problem.into(),
        }
    }

    fn all<Raw, Read>(
        &mut self,
        raw: Vec<Spanned<Raw>>,
        read: impl Fn(&mut Self, Raw, usize) -> Result<Read, ScenarioError>,
    ) -> Result<Vec<Read>, ScenarioError> {
        raw.into_iter()
            .map(|raw| {
                let line = line(self.text, raw.span());
                read(self, raw.into_inner(), line)
            })
            .collect()
    }

    /// Reads a phrase; its mistakes are at its line.
    fn phrase<Read>(
        &self,
        written: &Spanned<String>,
        read: impl Fn(&str) -> Result<Read, String>,
    ) -> Result<Read, ScenarioError> {
        read(written.get_ref()).map_err(|problem| self.error(written.span(), problem))
    }

    fn maybe<Read>(
        &self,
        written: &Option<Spanned<String>>,
        read: impl Fn(&str) -> Result<Read, String>,
    ) -> Result<Option<Read>, ScenarioError> {
        written
            .as_ref()
            .map(|written| self.phrase(written, &read))
            .transpose()
    }

    fn place(&self, written: &Spanned<String>) -> Result<Place, ScenarioError> {
        self.phrase(written, |written| words::place(written, self.site_file))
    }

    fn places(&self, written: &Spanned<OneOrMore>) -> Result<Vec<Place>, ScenarioError> {
        let places: Vec<_> = written
            .get_ref()
            .each()
            .iter()
            .map(|place| words::place(place, self.site_file))
            .collect::<Result<_, _>>()
            .map_err(|problem| self.error(written.span(), problem))?;
        if places.is_empty() {
            return Err(self.error(written.span(), "There is nothing here to hold."));
        }
        Ok(places)
    }

    /// A name that something gets.
    fn new_name(
        &mut self,
        written: &Option<Spanned<String>>,
    ) -> Result<Option<String>, ScenarioError> {
        let Some(written) = written else {
            return Ok(None);
        };
        let name = written.get_ref();
        if name.is_empty() || name.contains(['{', '}']) {
            return Err(self.error(
                written.span(),
                "A name can't be empty and has no braces in it.",
            ));
        }
        if !self.names.insert(name.clone()) {
            return Err(self.error(written.span(), format!("“{name}” is the name of another.")));
        }
        Ok(Some(name.clone()))
    }

    /// A name that something has.
    fn known(&self, name: &str) -> Result<String, String> {
        if self.names.contains(name) {
            Ok(name.to_owned())
        } else {
            Err(format!(
                "Nothing has the name “{name}” yet; give it to a claim or a step with name = \"{name}\"."
            ))
        }
    }

    fn desk(&self, name: &str) -> Result<Actor, String> {
        if name.trim().is_empty() || name.chars().count() > limits::DESK {
            return Err(format!(
                "A name of a desk has between 1 and {} characters.",
                limits::DESK
            ));
        }
        Ok(Actor::named(name))
    }

    fn opening(&mut self, raw: RawClaim, line: usize) -> Result<Opening, ScenarioError> {
        let desk = self.phrase(&raw.desk, |name| self.desk(name))?;
        let ask = Ask::Hold {
            places: self.places(&raw.hold)?,
            ttl: self.length(&raw.ttl)?,
            guest: raw.guest,
        };
        Ok(Opening {
            line,
            desk: desk.name().to_owned(),
            ask,
            confirmed: raw.confirmed,
            name: self.new_name(&raw.name)?,
        })
    }

    fn length(
        &self,
        written: &Option<Spanned<String>>,
    ) -> Result<Option<TimeDelta>, ScenarioError> {
        self.maybe(written, |written| {
            duration::parse(written).map_err(|error| format!("{error}."))
        })
    }

    fn step(&mut self, raw: RawStep, line: usize) -> Result<Step, ScenarioError> {
        let pause = self.length(&raw.pause)?;
        let acts = self.step_acts(
            raw.together,
            raw.who.map(|who| RawAct {
                who,
                go: raw.go.clone(),
                typed: raw.typed.clone(),
                press: raw.press.clone(),
                stop: raw.stop.clone(),
                ask: raw.ask,
                sql: raw.sql.clone(),
                returns: raw.returns.clone(),
                step_move: raw.step_move.clone(),
                name: raw.name.clone(),
            }),
            [
                &raw.go,
                &raw.typed,
                &raw.press,
                &raw.stop,
                &raw.sql,
                &raw.returns,
                &raw.step_move,
                &raw.name,
            ],
        )?;
        let wait = self.maybe(&raw.wait, words::wait)?;
        if let (Some(Wait::Deadline(claim) | Wait::State(claim, _)), Some(written)) =
            (&wait, &raw.wait)
        {
            self.known(claim)
                .map_err(|problem| self.error(written.span(), problem))?;
        }
        let mut expect = Vec::new();
        for (name, outcome) in &raw.expect {
            let who = self
                .desk(name)
                .map_err(|problem| self.error(outcome.span(), problem))?;
            expect.push(Expectation::Of(who, self.phrase(outcome, words::outcome)?));
        }
        match (&raw.winners, &raw.others) {
            (Some(winners), Some(others)) => expect.push(Expectation::Winners {
                count: usize::try_from(*winners.get_ref())
                    .map_err(|_| self.error(winners.span(), "This must be a number from 0 on."))?,
                others: self.phrase(others, words::outcome)?,
            }),
            (Some(alone), None) => {
                return Err(self.error(
                    alone.span(),
                    "winners needs others: what those get who don't win.",
                ));
            }
            (None, Some(alone)) => {
                return Err(self.error(alone.span(), "others needs winners: how many win."));
            }
            (None, None) => {}
        }
        Ok(Step {
            line,
            caption: raw.caption.as_deref().map(prose),
            pause: pause.and_then(|pause| pause.to_std().ok()),
            acts,
            wait,
            expect,
            hand_over: raw.hand_over,
        })
    }

    fn rows(&mut self, raw: RawRows, line: usize) -> Result<Rows, ScenarioError> {
        let error = |problem: &str| ScenarioError {
            line,
            problem: problem.to_owned(),
        };
        let counts = [raw.held, raw.confirmed, raw.cancelled, raw.expired];
        if counts
            .iter()
            .chain([&raw.available, &raw.sold])
            .any(|count| *count < 0)
        {
            return Err(error("These are numbers from 0 on."));
        }
        match (raw.room, raw.item) {
            (Some(room), None) => {
                let name = room.get_ref();
                if !self.site_file.rooms.iter().any(|known| known.name == *name) {
                    let problem = format!("There is no room “{name}” in this house.");
                    return Err(self.error(room.span(), problem));
                }
                if raw.available + raw.sold > 0 {
                    return Err(error("Only items have available and sold."));
                }
                Ok(Rows::Room {
                    line,
                    room: name.clone(),
                    counts: counts.map(|count| usize::try_from(count).unwrap_or(0)),
                })
            }
            (None, Some(item)) => {
                let name = item.get_ref();
                if !self.site_file.items.iter().any(|known| known.name == *name) {
                    let problem = format!("There is no item “{name}” in this house.");
                    return Err(self.error(item.span(), problem));
                }
                if raw.confirmed + raw.cancelled + raw.expired > 0 {
                    return Err(error("An item has available, held and sold."));
                }
                Ok(Rows::Item {
                    line,
                    item: name.clone(),
                    figures: [raw.available, raw.held, raw.sold],
                })
            }
            _ => Err(error("Rows are of a room or of an item: say which.")),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
