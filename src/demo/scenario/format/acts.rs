//! What somebody does: by hand, by a command, at psql, in step mode.

use toml::Spanned;

use crate::demo::scenario::format::raw::{RawAct, RawAsk};
use crate::demo::scenario::format::{Reader, ScenarioError};
use crate::demo::scenario::words::{self, Hole};
use crate::demo::scenario::{Act, Actor, Ask, Deed};

impl Reader<'_> {
    /// What one does alone or several do alike, or what each of several does at the same moment.
    pub(super) fn step_acts(
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
            let has_room = |name: &str| self.site_file.rooms.iter().any(|room| room.name == name);
            let has_item = |name: &str| self.site_file.items.iter().any(|item| item.name == name);
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
}
