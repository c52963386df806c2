//! A time of day as people type it, and the offset that may follow it: `9:00`, `10:00:30.5`, `24:00`, `10:00+01:00`.

use chrono::{FixedOffset, NaiveTime, TimeDelta};

/// What a clock shows where a date ends (R6), or a time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClockText {
    Time(NaiveTime),
    /// `24:00`.
    EndOfDay,
}

/// `9:00`, `10:00`, `10:00:30`, `10:00:30.5`. Finer than a microsecond is not kept.
pub(crate) fn read(text: &str) -> Option<ClockText> {
    let mut parts = text.split(':');
    let hour = parts.next()?;
    let hour = number(hour, 1).or_else(|| number(hour, 2))?;
    let minute = number(parts.next()?, 2)?;
    let seconds = parts.next().unwrap_or("00");
    if parts.next().is_some() {
        return None;
    }
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let second = number(whole, 2)?;
    let microsecond = format!("{:0<6}", digits(fraction)?.get(..6).unwrap_or(fraction))
        .parse()
        .ok()?;
    if (hour, minute, second, microsecond) == (24, 0, 0, 0) {
        return Some(ClockText::EndOfDay);
    }
    NaiveTime::from_hms_micro_opt(hour, minute, second, microsecond).map(ClockText::Time)
}

/// The clock and the offset that follows it, if one does: `Z`, `+01:00`, `-03:30`.
pub(crate) fn split_offset(text: &str) -> Option<(&str, Option<FixedOffset>)> {
    if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        return Some((clock, FixedOffset::east_opt(0)));
    }
    let Some(sign) = text.find(['+', '-']) else {
        return Some((text, None));
    };
    let (clock, offset) = text.split_at(sign);
    let (hours, minutes) = offset[1..].split_once(':')?;
    let (hours, minutes) = (number(hours, 2)?, number(minutes, 2)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let east = TimeDelta::minutes(i64::from(hours * 60 + minutes)).num_seconds() as i32;
    let offset = FixedOffset::east_opt(if offset.starts_with('-') { -east } else { east })?;
    Some((clock, Some(offset)))
}

fn number(text: &str, length: usize) -> Option<u32> {
    digits(text)
        .filter(|text| text.len() == length)
        .and_then(|text| text.parse().ok())
}

fn digits(text: &str) -> Option<&str> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then_some(text)
}
