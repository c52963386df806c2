//! Claims, one in full or many in a table.

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use serde_json::Value;

use crate::cli::output::result::{Output, to_value};
use crate::cli::output::table::table;
use crate::domain::text::harmless;
use crate::domain::{ClaimState, Group, Purpose, RequestId, Site, SlotHold, StockHold, duration};

/// Where and when a claim is looked at: its house, and the database's clock (R10).
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClaimPrinter<'a> {
    pub(crate) site: &'a Site,
    pub(crate) now: DateTime<Utc>,
    /// Whether the claim answers a request that had been answered before (R21).
    pub(crate) repeated: bool,
}

#[derive(Serialize)]
struct SlotJson<'a> {
    hold_id: i64,
    group_id: Option<i64>,
    site: &'a str,
    room: &'a str,
    from: String,
    to: String,
    nights: Option<i32>,
    #[serde(flatten)]
    rest: ClaimJson<'a>,
}

#[derive(Serialize)]
struct StockJson<'a> {
    hold_id: i64,
    group_id: Option<i64>,
    site: &'a str,
    item: &'a str,
    quantity: i32,
    #[serde(flatten)]
    rest: ClaimJson<'a>,
}

/// What claims of both kinds have.
#[derive(Serialize)]
struct ClaimJson<'a> {
    purpose: Purpose,
    state: ClaimState,
    guest: &'a str,
    note: &'a str,
    party: Option<i32>,
    expires_at: Option<String>,
    seconds_left: Option<i64>,
    version: i64,
    desk: &'a str,
    request_id: Option<RequestId>,
    repeated: bool,
}

/// A group, for programs. Its claims are of two shapes.
#[derive(Serialize)]
struct GroupJson {
    group_id: i64,
    state: ClaimState,
    claims: Vec<Value>,
}

impl ClaimPrinter<'_> {
    pub(crate) fn slot_json<'a>(&'a self, hold: &'a SlotHold) -> impl Serialize + 'a {
        let calendar = &self.site.calendar;
        SlotJson {
            hold_id: hold.id.0,
            group_id: hold.group.map(|group| group.0),
            site: &self.site.name,
            room: &hold.room_name,
            from: calendar.rfc3339(hold.period.start()),
            to: calendar.rfc3339(hold.period.end()),
            nights: hold.nights,
            rest: ClaimJson {
                purpose: hold.purpose,
                state: hold.state,
                guest: &hold.guest,
                note: &hold.note,
                party: hold.party,
                expires_at: self.deadline(hold.state, hold.expires_at),
                seconds_left: hold.seconds_left(self.now),
                version: hold.version.0,
                desk: &hold.desk.0,
                request_id: hold.request,
                repeated: self.repeated,
            },
        }
    }

    pub(crate) fn stock_json<'a>(&'a self, hold: &'a StockHold) -> impl Serialize + 'a {
        StockJson {
            hold_id: hold.id.0,
            group_id: hold.group.map(|group| group.0),
            site: &self.site.name,
            item: &hold.item_name,
            quantity: hold.quantity,
            rest: ClaimJson {
                purpose: Purpose::Guest,
                state: hold.state,
                guest: &hold.guest,
                note: &hold.note,
                party: None,
                expires_at: self.deadline(hold.state, hold.expires_at),
                seconds_left: hold.seconds_left(self.now),
                version: hold.version.0,
                desk: &hold.desk.0,
                request_id: hold.request,
                repeated: self.repeated,
            },
        }
    }

    /// Several claims that were made as one (R20).
    pub(crate) fn group(&self, group: &Group) -> Output {
        let mut text = format!("Group {} is {}.", group.id, group.state);
        for claim in group
            .slots
            .iter()
            .map(|hold| self.slot(hold))
            .chain(group.stock.iter().map(|hold| self.stock(hold)))
        {
            text.push('\n');
            text.push_str(&claim.text);
        }
        let claims = group
            .slots
            .iter()
            .map(|hold| to_value(&self.slot_json(hold)))
            .chain(
                group
                    .stock
                    .iter()
                    .map(|hold| to_value(&self.stock_json(hold))),
            )
            .collect();
        Output::new(
            text,
            &GroupJson {
                group_id: group.id.0,
                state: group.state,
                claims,
            },
        )
    }

    fn deadline(&self, state: ClaimState, deadline: Option<DateTime<Utc>>) -> Option<String> {
        deadline
            .filter(|_| state == ClaimState::Held)
            .map(|deadline| self.site.calendar.rfc3339(deadline))
    }

    pub(crate) fn slot(&self, hold: &SlotHold) -> Output {
        let calendar = &self.site.calendar;
        let what = match hold.purpose {
            Purpose::Guest => format!("Hold {} on {}", hold.id, harmless(&hold.room_name)),
            Purpose::Block => format!("Block {} on {}", hold.id, harmless(&hold.room_name)),
        };
        let nights = match hold.nights {
            Some(1) => ", 1 night".to_owned(),
            Some(nights) => format!(", {nights} nights"),
            None => String::new(),
        };
        let standing = self.standing(hold.state, hold.seconds_left(self.now), hold.expires_at);
        let mut text = format!(
            "{what} is {standing}: {}{nights}.",
            calendar.span(&hold.period)
        );
        let party = hold
            .party
            .map(|party| party.to_string())
            .unwrap_or_default();
        let facts = [
            ("guest", hold.guest.as_str()),
            ("party", &party),
            ("note", &hold.note),
        ];
        self.finish(&mut text, &facts, &hold.desk.0, hold.version.0);
        Output::new(text, &self.slot_json(hold))
    }

    pub(crate) fn stock(&self, hold: &StockHold) -> Output {
        let standing = self.standing(hold.state, hold.seconds_left(self.now), hold.expires_at);
        let mut text = format!(
            "Hold {} on {} of {} is {standing}.",
            hold.id,
            hold.quantity,
            harmless(&hold.item_name)
        );
        let facts = [("guest", hold.guest.as_str()), ("note", &hold.note)];
        self.finish(&mut text, &facts, &hold.desk.0, hold.version.0);
        Output::new(text, &self.stock_json(hold))
    }

    fn standing(
        &self,
        state: ClaimState,
        seconds_left: Option<i64>,
        deadline: Option<DateTime<Utc>>,
    ) -> String {
        match (seconds_left, deadline) {
            (Some(0), _) => "expiring".to_owned(),
            (Some(seconds), Some(deadline)) => format!(
                "held until {} ({} left)",
                self.site.calendar.clock_time(deadline),
                duration::spoken(TimeDelta::seconds(seconds))
            ),
            _ => state.word().to_owned(),
        }
    }

    fn finish(&self, text: &mut String, facts: &[(&str, &str)], desk: &str, version: i64) {
        for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
            text.push_str(&format!("\n  {name:<8} {}", harmless(value)));
        }
        text.push_str(&format!(
            "\n  desk     {}\n  version  {version}",
            harmless(desk)
        ));
        if self.repeated {
            text.push_str("\n  This request had been answered before; nothing was changed now.");
        }
    }

    pub(crate) fn slots(&self, holds: &[SlotHold]) -> Output {
        let calendar = &self.site.calendar;
        let rows = holds.iter().map(|hold| {
            [
                hold.id.to_string(),
                hold.room_name.clone(),
                calendar.date_and_time(hold.period.start()),
                calendar.date_and_time(hold.period.end()),
                self.short_standing(hold.state, hold.seconds_left(self.now), hold.purpose),
                hold.guest.clone(),
                hold.party
                    .map(|party| party.to_string())
                    .unwrap_or_default(),
                hold.note.clone(),
            ]
        });
        let header = [
            "HOLD", "ROOM", "FROM", "TO", "STATE", "GUEST", "PARTY", "NOTE",
        ];
        let json: Vec<_> = holds.iter().map(|hold| self.slot_json(hold)).collect();
        Output::new(table(header, rows), &json)
    }

    pub(crate) fn stocks(&self, holds: &[StockHold]) -> Output {
        let rows = holds.iter().map(|hold| {
            [
                hold.id.to_string(),
                hold.item_name.clone(),
                hold.quantity.to_string(),
                self.short_standing(hold.state, hold.seconds_left(self.now), Purpose::Guest),
                hold.guest.clone(),
                hold.note.clone(),
            ]
        });
        let header = ["HOLD", "ITEM", "QUANTITY", "STATE", "GUEST", "NOTE"];
        let json: Vec<_> = holds.iter().map(|hold| self.stock_json(hold)).collect();
        Output::new(table(header, rows), &json)
    }

    /// `confirmed`, `held 4m12s`, `block`.
    pub(crate) fn short_standing(
        &self,
        state: ClaimState,
        seconds_left: Option<i64>,
        purpose: Purpose,
    ) -> String {
        match (seconds_left, purpose) {
            (Some(0), _) => "expiring".to_owned(),
            (Some(seconds), _) => {
                format!("held {}", duration::written(TimeDelta::seconds(seconds)))
            }
            (None, Purpose::Block) if state == ClaimState::Confirmed => "block".to_owned(),
            (None, _) => state.word().to_owned(),
        }
    }
}
