//! The scenario's file: TOML in, a [`Scenario`] out, or the first thing that is wrong with it and its line.
//!
//! `assets/scenarios/the-same-slot.toml` documents the format. The tables of the house are those of a house file.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use chrono::TimeDelta;
use serde::Deserialize;
use toml::Spanned;

use super::words::{self, Hole};
use super::{Act, Actor, Ask, Deed, Expectation, Opening, Place, Rows, Scenario, Step, Wait};
use crate::domain::house_file::{HouseFileError, RawItem, RawRoom, RawSite};
use crate::domain::text::limits;
use crate::domain::{HouseFile, SiteEntry, duration};

/// Why a text is no scenario, and in which line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ScenarioError {
    /// Counted from one.
    pub line: usize,
    /// A sentence. May quote the file, so make it harmless before it is shown (R26).
    pub problem: String,
}

impl From<HouseFileError> for ScenarioError {
    fn from(error: HouseFileError) -> Self {
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
            problem: error.message().to_owned(),
        })?;
        let usual = SiteEntry::new("Demo house".into(), chrono_tz::Europe::London);
        let house = HouseFile::part_of(text, raw.site, raw.room, raw.item, usual)?;
        let mut reader = Reader {
            text,
            house: &house,
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
            && (length <= TimeDelta::zero() || length > house.site.longest_hold)
        {
            return Err(reader.error(
                written.span(),
                "A hold lasts longer than nothing and no longer than the house allows.",
            ));
        }
        Ok(Self {
            title: raw.title,
            shows: raw.shows,
            headless_hold,
            scratch: raw.scratch,
            opening,
            steps,
            ending,
            finds: raw.finds,
            house,
        })
    }
}

fn line(text: &str, span: Range<usize>) -> usize {
    let before = text.get(..span.start).unwrap_or_default();
    before.matches('\n').count() + 1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScenario {
    title: String,
    shows: String,
    site: Option<RawSite>,
    #[serde(default)]
    room: Vec<RawRoom>,
    #[serde(default)]
    item: Vec<RawItem>,
    headless_hold: Option<Spanned<String>>,
    scratch: Option<String>,
    #[serde(default)]
    claim: Vec<Spanned<RawClaim>>,
    #[serde(default)]
    step: Vec<Spanned<RawStep>>,
    #[serde(default)]
    rows: Vec<Spanned<RawRows>>,
    #[serde(default)]
    finds: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawClaim {
    desk: Spanned<String>,
    hold: Spanned<OneOrMore>,
    ttl: Option<Spanned<String>>,
    #[serde(default)]
    guest: String,
    #[serde(default)]
    confirmed: bool,
    name: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    caption: Option<String>,
    pause: Option<Spanned<String>>,
    who: Option<Spanned<OneOrMore>>,
    go: Option<Spanned<String>>,
    #[serde(rename = "type")]
    typed: Option<Spanned<String>>,
    press: Option<Spanned<String>>,
    stop: Option<Spanned<String>>,
    ask: Option<Spanned<RawAsk>>,
    sql: Option<Spanned<String>>,
    returns: Option<Spanned<String>>,
    #[serde(rename = "move")]
    step_move: Option<Spanned<String>>,
    name: Option<Spanned<String>>,
    together: Option<Vec<Spanned<RawAct>>>,
    wait: Option<Spanned<String>>,
    #[serde(default)]
    expect: BTreeMap<String, Spanned<String>>,
    winners: Option<Spanned<i64>>,
    others: Option<Spanned<String>>,
    hand_over: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAct {
    who: Spanned<OneOrMore>,
    go: Option<Spanned<String>>,
    #[serde(rename = "type")]
    typed: Option<Spanned<String>>,
    press: Option<Spanned<String>>,
    stop: Option<Spanned<String>>,
    ask: Option<Spanned<RawAsk>>,
    sql: Option<Spanned<String>>,
    returns: Option<Spanned<String>>,
    #[serde(rename = "move")]
    step_move: Option<Spanned<String>>,
    name: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAsk {
    hold: Option<Spanned<OneOrMore>>,
    block: Option<Spanned<String>>,
    confirm: Option<Spanned<String>>,
    cancel: Option<Spanned<String>>,
    renew: Option<Spanned<String>>,
    #[serde(rename = "move")]
    moved: Option<Spanned<String>>,
    to: Option<Spanned<String>>,
    swap: Option<Spanned<[String; 2]>>,
    repeat: Option<Spanned<String>>,
    sweep: Option<bool>,
    ttl: Option<Spanned<String>>,
    guest: Option<Spanned<String>>,
    reason: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRows {
    room: Option<Spanned<String>>,
    #[serde(default)]
    held: i32,
    #[serde(default)]
    confirmed: i32,
    #[serde(default)]
    cancelled: i32,
    #[serde(default)]
    expired: i32,
    item: Option<Spanned<String>>,
    #[serde(default)]
    available: i32,
    #[serde(default)]
    sold: i32,
}

#[derive(Deserialize, Clone)]
#[serde(untagged, expecting = "this must be a text or a list of texts")]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    fn each(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::More(more) => more,
        }
    }
}

/// Turns what was written into what it means, and remembers where it stood and what has a name.
struct Reader<'text> {
    text: &'text str,
    house: &'text HouseFile,
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
        self.phrase(written, |written| words::place(written, self.house))
    }

    fn places(&self, written: &Spanned<OneOrMore>) -> Result<Vec<Place>, ScenarioError> {
        let places: Vec<_> = written
            .get_ref()
            .each()
            .iter()
            .map(|place| words::place(place, self.house))
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
            caption: raw.caption,
            pause: pause.and_then(|pause| pause.to_std().ok()),
            acts,
            wait,
            expect,
            hand_over: raw.hand_over,
        })
    }

    /// What one does alone or several do alike, or what each of several does at the same moment.
    fn step_acts(
        &mut self,
        together: Option<Vec<Spanned<RawAct>>>,
        alone: Option<RawAct>,
        without_who: [&Option<Spanned<String>>; 8],
    ) -> Result<Vec<Act>, ScenarioError> {
        let stray = without_who.into_iter().flatten().next();
        match (together, alone) {
            (Some(together), None) => {
                if let Some(stray) = stray {
                    return Err(self.error(
                        stray.span(),
                        "With together, this belongs into one of its tables.",
                    ));
                }
                let acts = self.all(together, |reader, raw, _| reader.acts(raw))?;
                Ok(acts.into_iter().flatten().collect())
            }
            (Some(_), Some(alone)) => {
                Err(self.error(alone.who.span(), "A step has who or together, not both."))
            }
            (None, Some(alone)) => self.acts(alone),
            (None, None) => match stray {
                Some(stray) => Err(self.error(stray.span(), "Say who does this: who = \"anna\".")),
                None => Ok(Vec::new()),
            },
        }
    }

    fn acts(&mut self, raw: RawAct) -> Result<Vec<Act>, ScenarioError> {
        let who: Vec<Actor> = raw
            .who
            .get_ref()
            .each()
            .iter()
            .map(|name| self.desk(name))
            .collect::<Result<_, _>>()
            .map_err(|problem| self.error(raw.who.span(), problem))?;
        if let (Some(name), 2..) = (&raw.name, who.len()) {
            return Err(self.error(name.span(), "One name can't be given to what several do."));
        }
        let deed = self.deed(&raw)?;
        for who in &who {
            let problem = match (&deed, who) {
                (Deed::Hands { .. }, Actor::Desk(_)) | (Deed::Sql { .. }, Actor::Prompt(_)) => None,
                (Deed::Hands { .. }, _) => Some("Only anna and bert have keys."),
                (Deed::Sql { .. }, _) => Some("SQL is typed at psql: who = \"psql\"."),
                (_, Actor::Prompt(_)) => Some("At psql there is only sql."),
                (Deed::Ask { .. } | Deed::Move(_), _) => None,
            };
            if let Some(problem) = problem {
                return Err(self.error(raw.who.span(), problem));
            }
        }
        let name = self.new_name(&raw.name)?;
        Ok(who
            .into_iter()
            .map(|who| Act {
                who,
                deed: deed.clone(),
                name: name.clone(),
            })
            .collect())
    }

    fn deed(&self, raw: &RawAct) -> Result<Deed, ScenarioError> {
        let hands = raw.go.is_some() || raw.typed.is_some() || raw.press.is_some();
        let deeds = [
            hands,
            raw.ask.is_some(),
            raw.sql.is_some(),
            raw.step_move.is_some(),
        ];
        if deeds.iter().filter(|deed| **deed).count() != 1 {
            return Err(self.error(
                raw.who.span(),
                "Say one thing that is done: go, type and press; or ask; or sql; or move.",
            ));
        }
        if let (Some(returns), None) = (&raw.returns, &raw.sql) {
            return Err(self.error(returns.span(), "Only sql returns something."));
        }
        let stop = self.maybe(&raw.stop, words::stop)?;
        if let (Some(written), true) = (&raw.stop, raw.sql.is_some() || raw.step_move.is_some()) {
            return Err(self.error(
                written.span(),
                "Only what is asked by keys or by ask stops.",
            ));
        }
        if let Some(ask) = &raw.ask {
            let ask = self.ask(ask)?;
            return Ok(Deed::Ask { ask, stop });
        }
        if let Some(sql) = &raw.sql {
            self.phrase(sql, |sql| self.sql(sql))?;
            return Ok(Deed::Sql {
                sql: sql.get_ref().clone(),
                returns: raw.returns.as_ref().map(|text| text.get_ref().clone()),
            });
        }
        if let Some(step_move) = &raw.step_move {
            return Ok(Deed::Move(self.phrase(step_move, words::step_move)?));
        }
        Ok(Deed::Hands {
            go: raw.go.as_ref().map(|go| self.place(go)).transpose()?,
            text: raw
                .typed
                .as_ref()
                .map(|text| text.get_ref().clone())
                .unwrap_or_default(),
            keys: self.maybe(&raw.press, words::keys)?.unwrap_or_default(),
            stop,
        })
    }

    /// Every name in the SQL means something.
    fn sql(&self, sql: &str) -> Result<(), String> {
        for (_, hole) in words::holes(sql)?.0 {
            let has_room = |name: &str| self.house.rooms.iter().any(|room| room.name == name);
            let has_item = |name: &str| self.house.items.iter().any(|item| item.name == name);
            if let Hole::Claim(name) = words::hole(hole, has_room, has_item)? {
                self.known(&name)?;
            }
        }
        Ok(())
    }

    fn ask(&self, raw: &Spanned<RawAsk>) -> Result<Ask, ScenarioError> {
        let ask = raw.get_ref();
        let named = |written: &Spanned<String>| self.phrase(written, |name| self.known(name));
        let verbs = [
            ask.hold.is_some(),
            ask.block.is_some(),
            ask.confirm.is_some(),
            ask.cancel.is_some(),
            ask.renew.is_some(),
            ask.moved.is_some(),
            ask.swap.is_some(),
            ask.repeat.is_some(),
            ask.sweep == Some(true),
        ];
        if verbs.iter().filter(|verb| **verb).count() != 1 {
            return Err(self.error(
                raw.span(),
                "Ask for one thing: hold, block, confirm, cancel, renew, move, swap, repeat, or sweep = true.",
            ));
        }
        let for_others = [
            (&ask.ttl, ask.hold.is_some(), "Only hold takes a ttl."),
            (&ask.guest, ask.hold.is_some(), "Only hold takes a guest."),
            (
                &ask.reason,
                ask.block.is_some(),
                "Only block takes a reason.",
            ),
            (&ask.to, ask.moved.is_some(), "Only move takes a to."),
        ];
        for (written, fits, problem) in for_others {
            if let (Some(written), false) = (written, fits) {
                return Err(self.error(written.span(), problem));
            }
        }
        let text = |written: &Option<Spanned<String>>| {
            written
                .as_ref()
                .map(|text| text.get_ref().clone())
                .unwrap_or_default()
        };
        if let Some(places) = &ask.hold {
            return Ok(Ask::Hold {
                places: self.places(places)?,
                ttl: self.length(&ask.ttl)?,
                guest: text(&ask.guest),
            });
        }
        if let Some(place) = &ask.block {
            return Ok(Ask::Block {
                place: self.place(place)?,
                reason: text(&ask.reason),
            });
        }
        if let Some(claim) = &ask.moved {
            let to = ask.to.as_ref().ok_or_else(|| {
                self.error(
                    claim.span(),
                    "A move needs a to: where to, like Blue room, 10:00-11:00.",
                )
            })?;
            return Ok(Ask::Move(named(claim)?, self.place(to)?));
        }
        if let Some(two) = &ask.swap {
            let [first, second] = two.get_ref();
            let known = |name| {
                self.known(name)
                    .map_err(|problem| self.error(two.span(), problem))
            };
            return Ok(Ask::Swap(known(first)?, known(second)?));
        }
        for (written, make) in [
            (&ask.confirm, Ask::Confirm as fn(String) -> Ask),
            (&ask.cancel, Ask::Cancel),
            (&ask.renew, Ask::Renew),
            (&ask.repeat, Ask::Repeat),
        ] {
            if let Some(written) = written {
                return Ok(make(named(written)?));
            }
        }
        Ok(Ask::Sweep)
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
                if !self.house.rooms.iter().any(|known| known.name == *name) {
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
                if !self.house.items.iter().any(|known| known.name == *name) {
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
