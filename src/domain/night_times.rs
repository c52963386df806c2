//! When guests of a room booked by the night come and go.

use chrono::{NaiveTime, TimeDelta};
use serde::{Deserialize, Serialize};

/// When guests of a room booked by the night come and go, in the site's zone (R7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NightTimes {
    /// From when on the arrival date.
    pub check_in: NaiveTime,
    /// Until when on the departure date.
    pub check_out: NaiveTime,
}

impl Default for NightTimes {
    /// In from 15:00, out by 11:00.
    fn default() -> Self {
        let hour = |hour| NaiveTime::MIN + TimeDelta::hours(hour);
        Self {
            check_in: hour(15),
            check_out: hour(11),
        }
    }
}
