//! The tables of a scenario, as they are written.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::domain::site_file::{RawItem, RawRoom, RawSite};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawScenario {
    pub(super) title: String,
    pub(super) shows: String,
    pub(super) site: Option<RawSite>,
    #[serde(default)]
    pub(super) room: Vec<RawRoom>,
    #[serde(default)]
    pub(super) item: Vec<RawItem>,
    pub(super) headless_hold: Option<Spanned<String>>,
    pub(super) scratch: Option<String>,
    #[serde(default)]
    pub(super) claim: Vec<Spanned<RawClaim>>,
    #[serde(default)]
    pub(super) step: Vec<Spanned<RawStep>>,
    #[serde(default)]
    pub(super) rows: Vec<Spanned<RawRows>>,
    #[serde(default)]
    pub(super) finds: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawClaim {
    pub(super) desk: Spanned<String>,
    pub(super) hold: Spanned<OneOrMore>,
    pub(super) ttl: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) guest: String,
    #[serde(default)]
    pub(super) confirmed: bool,
    pub(super) name: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawStep {
    pub(super) caption: Option<String>,
    pub(super) pause: Option<Spanned<String>>,
    pub(super) who: Option<Spanned<OneOrMore>>,
    pub(super) go: Option<Spanned<String>>,
    #[serde(rename = "type")]
    pub(super) typed: Option<Spanned<String>>,
    pub(super) press: Option<Spanned<String>>,
    pub(super) stop: Option<Spanned<String>>,
    pub(super) ask: Option<Spanned<RawAsk>>,
    pub(super) sql: Option<Spanned<String>>,
    pub(super) returns: Option<Spanned<String>>,
    #[serde(rename = "move")]
    pub(super) step_move: Option<Spanned<String>>,
    pub(super) name: Option<Spanned<String>>,
    pub(super) together: Option<Vec<Spanned<RawAct>>>,
    pub(super) wait: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) expect: BTreeMap<String, Spanned<String>>,
    pub(super) winners: Option<Spanned<i64>>,
    pub(super) others: Option<Spanned<String>>,
    pub(super) hand_over: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAct {
    pub(super) who: Spanned<OneOrMore>,
    pub(super) go: Option<Spanned<String>>,
    #[serde(rename = "type")]
    pub(super) typed: Option<Spanned<String>>,
    pub(super) press: Option<Spanned<String>>,
    pub(super) stop: Option<Spanned<String>>,
    pub(super) ask: Option<Spanned<RawAsk>>,
    pub(super) sql: Option<Spanned<String>>,
    pub(super) returns: Option<Spanned<String>>,
    #[serde(rename = "move")]
    pub(super) step_move: Option<Spanned<String>>,
    pub(super) name: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAsk {
    pub(super) hold: Option<Spanned<OneOrMore>>,
    pub(super) block: Option<Spanned<String>>,
    pub(super) confirm: Option<Spanned<String>>,
    pub(super) cancel: Option<Spanned<String>>,
    pub(super) renew: Option<Spanned<String>>,
    #[serde(rename = "move")]
    pub(super) moved: Option<Spanned<String>>,
    pub(super) to: Option<Spanned<String>>,
    pub(super) swap: Option<Spanned<[String; 2]>>,
    pub(super) repeat: Option<Spanned<String>>,
    pub(super) sweep: Option<bool>,
    pub(super) ttl: Option<Spanned<String>>,
    pub(super) guest: Option<Spanned<String>>,
    pub(super) reason: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRows {
    pub(super) room: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) held: i32,
    #[serde(default)]
    pub(super) confirmed: i32,
    #[serde(default)]
    pub(super) cancelled: i32,
    #[serde(default)]
    pub(super) expired: i32,
    pub(super) item: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) available: i32,
    #[serde(default)]
    pub(super) sold: i32,
}

#[derive(Deserialize, Clone)]
#[serde(untagged, expecting = "this must be a text or a list of texts")]
pub(super) enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    pub(super) fn each(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::More(more) => more,
        }
    }
}
