//! What many commands take, and how it is read.

use chrono::TimeDelta;
use clap::Args;
use uuid::Uuid;

use crate::domain::text::{NameError, check_name};
use crate::domain::unknown_word::enumerate;
use crate::domain::{Change, ClaimState, RequestId, SlotDetails, SlotEdit, Version, duration};

/// How times and dates are written, for the end of `--help`.
pub(crate) const TIMES: &str = "\
Times are the house's own: 2027-01-01T10:00, \"tomorrow 10:00\", \"thu 15:00\", \"3 dec 9:30\", \"+7 9:30\", now, tonight (18:00); \
24:00 can end a day. Or RFC 3339 with an offset. Rooms by the night take dates: 2027-01-01, \"3 dec\", thu, tomorrow, +7.";

/// For every command that changes something.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct RequestArgument {
    /// The id of this request; asked again with the same id, it is done once
    #[arg(long, value_name = "UUID")]
    request_id: Option<Uuid>,
}

impl RequestArgument {
    pub(crate) fn id(self) -> RequestId {
        self.request_id.map_or_else(RequestId::fresh, RequestId)
    }
}

/// For every command that changes an existing claim.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ClaimArguments {
    /// The number of the claim
    #[arg(value_parser = number)]
    pub(crate) hold: i64,
    /// Refuse if the claim has changed since it had this version
    #[arg(long, value_name = "N")]
    expect_version: Option<i64>,
    #[command(flatten)]
    pub(crate) request: RequestArgument,
}

impl ClaimArguments {
    pub(crate) fn expect_version(self) -> Option<Version> {
        self.expect_version.map(Version)
    }
}

/// A number as every list prints it, or with the sign that it has on screen: `17`, `#17`.
pub(crate) fn number(typed: &str) -> Result<i64, String> {
    typed
        .strip_prefix('#')
        .unwrap_or(typed)
        .parse()
        .map_err(|_| "it is a number, as the hold printed it, like 17".into())
}

/// Why somebody does something, where it has to be said.
pub(crate) fn reason(typed: &str) -> Result<String, String> {
    if typed.trim().is_empty() {
        return Err("say why, in a word or two".into());
    }
    Ok(typed.to_owned())
}

/// For every command that makes a hold.
#[derive(Debug, Clone, Args)]
pub(crate) struct HoldArguments {
    #[command(flatten)]
    pub(crate) length: LengthArgument,
    /// For whom
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) guest: String,
    /// What else to know
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) note: String,
}

/// For every command that holds rooms.
#[derive(Debug, Clone, Args)]
pub(crate) struct SlotArguments {
    #[command(flatten)]
    hold: HoldArguments,
    /// How many people
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    party: Option<i32>,
}

impl SlotArguments {
    pub(crate) fn ttl(&self) -> Option<TimeDelta> {
        self.hold.length.ttl
    }

    pub(crate) fn details(self) -> SlotDetails {
        SlotDetails {
            guest: self.hold.guest,
            note: self.hold.note,
            party: self.party,
        }
    }
}

/// The options that write such details, as they are typed.
pub(crate) fn details_options(details: &SlotDetails) -> Vec<(&'static str, String)> {
    let mut options = vec![
        ("--guest", details.guest.clone()),
        ("--note", details.note.clone()),
    ];
    options.retain(|(_, text)| !text.is_empty());
    options.extend(details.party.map(|party| ("--party", party.to_string())));
    options
}

/// What becomes of what is written on a claim on a room; something has to.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct SlotEditArguments {
    /// Who comes
    #[arg(long, value_name = "TEXT")]
    guest: Option<String>,
    /// What else to know
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// How many people; 0 if that is not known any more
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    party: Option<i32>,
}

impl SlotEditArguments {
    pub(crate) fn edit(self) -> SlotEdit {
        SlotEdit {
            guest: self.guest,
            note: self.note,
            party: match self.party {
                None => Change::Keep,
                Some(0) => Change::Clear,
                Some(party) => Change::Set(party),
            },
        }
    }
}

/// What `--state` takes.
pub(crate) fn state_help() -> String {
    format!("Only in this state: {}", enumerate::<ClaimState>("or"))
}

/// For every command that sets a deadline.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct LengthArgument {
    /// How long to hold, like 10m; without it, as long as the house usually does
    #[arg(long, value_name = "DURATION", value_parser = hold_length)]
    pub(crate) ttl: Option<TimeDelta>,
}

/// The name of what is to be added.
pub(crate) fn new_name(typed: &str) -> Result<String, NameError> {
    check_name(typed)?;
    Ok(typed.to_owned())
}

/// Longer than any house lets anybody hold, and not longer than the database can be told of.
const LONGER_THAN_ALLOWED: TimeDelta = TimeDelta::days(100_000);

pub(crate) fn hold_length(typed: &str) -> Result<TimeDelta, duration::DurationError> {
    Ok(duration::parse(typed)?.min(LONGER_THAN_ALLOWED))
}
