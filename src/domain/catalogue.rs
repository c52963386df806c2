//! The catalogue: a site, its rooms and its items.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use strum::{Display, EnumString, IntoStaticStr, VariantNames};

use crate::domain::calendar::SiteCalendar;
use crate::domain::ids::{ItemId, RoomId, SiteId};
use crate::domain::night_times::NightTimes;
use crate::domain::unknown_word::UnknownWord;

/// A site with one time zone: the tenant.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// Its number.
    pub id: SiteId,
    /// Its name, unique on the server.
    pub name: String,
    /// Its zone and the arithmetic that goes with it (R5).
    pub calendar: SiteCalendar,
    /// How long a hold lasts when nobody says.
    pub default_hold: TimeDelta,
    /// How long a hold may last at most.
    pub longest_hold: TimeDelta,
    /// How often a hold may be renewed (R13).
    pub renewals: i32,
    /// How far ahead a claim may end (R8).
    pub horizon: TimeDelta,
    /// Whether this is the default of its server.
    pub is_default: bool,
    /// Whether it was made for one run of a demo and goes with it; it never counts as a site to choose.
    pub is_demo: bool,
}

/// How a room is booked.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    VariantNames,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[strum(parse_err_ty = UnknownWord, parse_err_fn = no_way)]
pub enum BookedBy {
    /// From any instant to any other.
    Hour,
    /// From an arrival date to a departure date (R7).
    Night,
}

impl BookedBy {
    pub(crate) fn word(self) -> &'static str {
        self.into()
    }
}

fn no_way(word: &str) -> UnknownWord {
    UnknownWord::new::<BookedBy>("way to book a room", word)
}

/// One bookable unit, capacity one claim at any instant. Read from the columns of the view `room_line`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Room {
    /// Its number.
    #[serde(rename = "room_id")]
    pub id: RoomId,
    /// Its name, unique in the site.
    pub name: String,
    /// How many people fit in.
    pub capacity: i32,
    /// By the hour or by the night.
    pub booked_by: BookedBy,
    /// Check-in and check-out; they matter for a room booked by the night.
    #[serde(flatten)]
    pub night_times: NightTimes,
    /// Cleaning time after a booking (R4).
    #[serde(rename = "turnaround_seconds", deserialize_with = "seconds")]
    pub turnaround: TimeDelta,
    /// What it has: "screen", "step-free".
    pub features: Vec<String>,
    /// Since when no new claim is taken (R28).
    pub retired_at: Option<DateTime<Utc>>,
}

impl Room {
    /// See [`crate::domain::examples`].
    pub(super) fn example() -> Self {
        Self {
            id: RoomId(1),
            name: "Blue room".into(),
            capacity: 8,
            booked_by: BookedBy::Hour,
            night_times: NightTimes::default(),
            turnaround: TimeDelta::zero(),
            features: Vec::new(),
            retired_at: None,
        }
    }
}

/// A pool of interchangeable units that are used up when sold.
///
/// The figures are those that every reader shows (R15): a hold that is due counts as available again, whether or not
/// the sweep has been there yet.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Item {
    /// Its number.
    #[serde(rename = "item_id")]
    pub id: ItemId,
    /// Its name, unique in the site.
    #[serde(rename = "item")]
    pub name: String,
    /// Everything that was ever received and not adjusted away.
    pub total: i32,
    /// What a hold could get now.
    pub available: i32,
    /// Held and not due.
    pub held: i32,
    /// Confirmed.
    pub sold: i32,
    /// Since when no new claim is taken (R28).
    pub retired_at: Option<DateTime<Utc>>,
}

/// A length in whole seconds.
fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TimeDelta, D::Error> {
    TimeDelta::try_seconds(i64::deserialize(deserializer)?)
        .ok_or_else(|| serde::de::Error::custom("too long"))
}

/// The same, written.
fn in_seconds<S: Serializer>(length: &TimeDelta, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i64(length.num_seconds())
}

/// A room that is to be added. Written with the keys that the database's functions read it by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NewRoom {
    /// Its name, unique in the site.
    pub name: String,
    /// How many people fit in.
    pub capacity: i32,
    /// By the hour or by the night.
    pub booked_by: BookedBy,
    /// Check-in and check-out.
    #[serde(flatten)]
    pub night_times: NightTimes,
    /// Cleaning time after a booking (R4).
    #[serde(serialize_with = "in_seconds")]
    pub turnaround: TimeDelta,
    /// What it has.
    pub features: Vec<String>,
}

impl NewRoom {
    /// A room with what holds where nobody says otherwise.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            capacity: 1,
            booked_by: BookedBy::Hour,
            night_times: NightTimes::default(),
            turnaround: TimeDelta::zero(),
            features: Vec::new(),
        }
    }
}

/// An item that is to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewItem {
    /// Its name, unique in the site.
    pub name: String,
    /// How many units there are at the start.
    pub quantity: i32,
}
