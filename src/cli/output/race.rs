//! What became of a race: who got it, everyone's answer, and how long each waited.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use crate::cli::output::result::Output;
use crate::cli::output::table::table;
use crate::domain::{Refusal, SiteCalendar};

/// One client of a race.
#[derive(Debug)]
pub(crate) struct Client {
    /// Counted from 1.
    pub(crate) number: usize,
    pub(crate) reply: Reply,
    /// From the start of the race to the answer.
    pub(crate) waited: Duration,
}

/// What a client was told.
#[derive(Debug)]
pub(crate) enum Reply {
    /// It holds, and this is the number of the hold.
    Held(i64),
    Refused(Refusal),
    /// No answer came, and why.
    None(String),
}

#[derive(Serialize)]
struct RaceJson<'a> {
    winners: usize,
    refusals: BTreeMap<&'a str, usize>,
    clients: Vec<ClientJson<'a>>,
}

#[derive(Serialize)]
struct ClientJson<'a> {
    client: usize,
    answer: &'a str,
    hold_id: Option<i64>,
    message: String,
    milliseconds: f64,
}

/// A race; one in which somebody got no answer counts as failed.
pub(crate) fn race(clients: &[Client], calendar: &SiteCalendar) -> Output {
    let json = RaceJson {
        winners: clients
            .iter()
            .filter(|client| matches!(client.reply, Reply::Held(_)))
            .count(),
        refusals: refusals(clients),
        clients: clients
            .iter()
            .map(|client| ClientJson {
                client: client.number,
                answer: client.reply.word(),
                hold_id: client.reply.hold(),
                message: client.reply.sentence(calendar),
                milliseconds: milliseconds(client.waited),
            })
            .collect(),
    };
    Output {
        failed: clients
            .iter()
            .any(|client| matches!(client.reply, Reply::None(_))),
        ..Output::new(text(clients, &json, calendar), &json)
    }
}

fn refusals(clients: &[Client]) -> BTreeMap<&str, usize> {
    let mut count = BTreeMap::new();
    for client in clients {
        if let Reply::Refused(refusal) = &client.reply {
            *count.entry(refusal.code()).or_insert(0) += 1;
        }
    }
    count
}

fn text(clients: &[Client], json: &RaceJson<'_>, calendar: &SiteCalendar) -> String {
    let mut by_wait: Vec<&Client> = clients.iter().collect();
    by_wait.sort_by_key(|client| client.waited);
    let rows = by_wait.into_iter().map(|client| {
        [
            client.number.to_string(),
            format!("{:.1} ms", milliseconds(client.waited)),
            client.reply.word().to_owned(),
            client.reply.sentence(calendar),
        ]
    });
    let winners = match json.winners {
        1 => "1 winner".to_owned(),
        winners => format!("{winners} winners"),
    };
    let refusals: Vec<String> = json
        .refusals
        .iter()
        .map(|(code, count)| format!("{count} {code}"))
        .collect();
    let refusals = match refusals.is_empty() {
        true => "nobody was refused".to_owned(),
        false => format!("refused: {}", refusals.join(", ")),
    };
    format!(
        "{} clients, {winners}; {refusals}.\n{}",
        clients.len(),
        table(["CLIENT", "WAITED", "ANSWER", ""], rows)
    )
}

impl Reply {
    fn word(&self) -> &str {
        match self {
            Self::Held(_) => "held",
            Self::Refused(refusal) => refusal.code(),
            Self::None(_) => "none",
        }
    }

    fn hold(&self) -> Option<i64> {
        match self {
            Self::Held(hold) => Some(*hold),
            Self::Refused(_) | Self::None(_) => None,
        }
    }

    fn sentence(&self, calendar: &SiteCalendar) -> String {
        match self {
            Self::Held(hold) => format!("It won: hold {hold}."),
            Self::Refused(refusal) => refusal.sentence(calendar),
            Self::None(why) => why.clone(),
        }
    }
}

/// To a tenth.
fn milliseconds(waited: Duration) -> f64 {
    (waited.as_secs_f64() * 10_000.0).round() / 10.0
}
