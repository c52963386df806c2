//! Lengths of time as people write and say them: `90s`, `10m`, `2h`, `1h30m`, `400d`.

use chrono::TimeDelta;

/// Why a text is no length of time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("“{typed}” is not a length of time; write it like 90s, 10m, 2h or 1h30m")]
pub(crate) struct DurationError {
    /// What was typed.
    pub typed: String,
}

/// Reads `90s`, `10m`, `2h`, `1h30m`, `400d`; a day is 24 hours here.
pub(crate) fn parse(typed: &str) -> Result<TimeDelta, DurationError> {
    let error = || DurationError {
        typed: typed.to_owned(),
    };
    let duration = humantime::parse_duration(typed.trim()).map_err(|_| error())?;
    // PostgreSQL counts microseconds.
    if duration.subsec_nanos() % 1000 != 0 {
        return Err(error());
    }
    TimeDelta::from_std(duration).map_err(|_| error())
}

/// Writes it the way that [`parse`] reads it: `0s`, `15m`, `1h30m`, `2d`.
pub(crate) fn written(length: TimeDelta) -> String {
    let seconds = length.num_seconds().max(0);
    let parts = [
        (seconds / 86_400, "d"),
        (seconds % 86_400 / 3600, "h"),
        (seconds % 3600 / 60, "m"),
        (seconds % 60, "s"),
    ];
    let text: String = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, unit)| format!("{count}{unit}"))
        .collect();
    if text.is_empty() { "0s".into() } else { text }
}

/// Says it in words, by its two largest units: "4 minutes 12 seconds".
pub(crate) fn spoken(length: TimeDelta) -> String {
    let seconds = length.num_seconds().max(0);
    let parts = [
        (seconds / 86_400, "day"),
        (seconds % 86_400 / 3600, "hour"),
        (seconds % 3600 / 60, "minute"),
        (seconds % 60, "second"),
    ];
    let words: Vec<String> = parts
        .iter()
        .skip_while(|(count, _)| *count == 0)
        .take(2)
        .filter(|(count, _)| *count > 0)
        .map(|(count, unit)| format!("{count} {unit}{}", if *count == 1 { "" } else { "s" }))
        .collect();
    if words.is_empty() {
        "less than a second".into()
    } else {
        words.join(" ")
    }
}

/// [`spoken`], for a number of seconds that may have a fraction.
pub(crate) fn spoken_seconds(seconds: f64) -> String {
    spoken(TimeDelta::milliseconds((seconds * 1000.0) as i64))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for text in ["0s", "90s", "10m", "2h", "1h30m", "400d"] {
            let length = parse(text).unwrap();
            assert_eq!(parse(&written(length)).unwrap(), length, "{text}");
        }
        assert_eq!(written(TimeDelta::seconds(90)), "1m30s");
        assert!(parse("soon").is_err());
        assert!(parse("-5m").is_err());
        assert!(parse("").is_err());
        assert!(parse("1ns").is_err());
        assert!(parse("1us").is_ok());
    }

    #[test]
    fn says_the_two_largest_units() {
        assert_eq!(spoken(TimeDelta::seconds(252)), "4 minutes 12 seconds");
        assert_eq!(spoken(TimeDelta::seconds(3600)), "1 hour");
        assert_eq!(spoken(TimeDelta::milliseconds(300)), "less than a second");
        assert_eq!(spoken_seconds(2.5), "2 seconds");
    }
}
