//! What can be had: the free choices that come with a refusal, and what a search for free rooms finds.

use serde::{Deserialize, Serialize};

use crate::domain::ids::RoomId;
use crate::domain::period::Period;

/// A room and a period in which it was free at the moment of the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alternative {
    /// The room.
    #[serde(rename = "room_id")]
    pub room: RoomId,
    /// Its name.
    #[serde(rename = "room")]
    pub room_name: String,
    /// The period.
    #[serde(flatten)]
    pub period: Period,
    /// How many people fit in, where that is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<i32>,
    /// Nights in dates, for a room booked by the night (R7), where that is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nights: Option<i32>,
}
