//! Dates as people type them.

use chrono::{Datelike, Days, Month, NaiveDate, Weekday};

/// A date as it was typed, before anybody says which day is today.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DateText {
    /// Written in full.
    Exact(NaiveDate),
    /// So many days from today: `today`, `tomorrow`, `+7`, `-1`.
    Shifted(i64),
    /// The next one after today.
    Weekday(Weekday),
    /// The next such date, today included; of any month, if none is named.
    Next { day: u32, month: Option<u32> },
}

impl DateText {
    /// Reads `2026-12-03`, `3.12.`, `3.12.2026`, `3 Dec`, `Dec 3 2026`, `3`, `today`, `tomorrow`, `yesterday`, `fri`, `+7`,
    /// `-1`, in whatever capitals.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        match text.as_str() {
            "today" => return Some(Self::Shifted(0)),
            "tomorrow" => return Some(Self::Shifted(1)),
            "yesterday" => return Some(Self::Shifted(-1)),
            _ => {}
        }
        if let Some(days) = text.strip_prefix('+') {
            return Some(Self::Shifted(digits::<i64>(days.trim())?));
        }
        if let Some(days) = text.strip_prefix('-') {
            return Some(Self::Shifted(-digits::<i64>(days.trim())?));
        }
        if let Ok(weekday) = text.parse() {
            return Some(Self::Weekday(weekday));
        }
        iso(&text)
            .map(Self::Exact)
            .or_else(|| Self::read_parts(&text))
    }

    fn read_parts(text: &str) -> Option<Self> {
        let words: Vec<&str> = text
            .split(|sign: char| !sign.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        let (day, month, year) = match words[..] {
            [day] => (day, None, None),
            [month, day] if named_month(month).is_some() => (day, Some(month), None),
            [day, month] => (day, Some(month), None),
            [month, day, year] if named_month(month).is_some() => (day, Some(month), Some(year)),
            [day, month, year] => (day, Some(month), Some(year)),
            _ => return None,
        };
        let day = digits(day)?;
        let month = match month {
            // Figures with dashes between are read from the year down by everybody else, and only so.
            Some(word) if !text.contains('-') => Some(digits(word).or_else(|| named_month(word))?),
            Some(word) => Some(named_month(word)?),
            None => None,
        };
        if !(1..=31).contains(&day) || month.is_some_and(|month| !(1..=12).contains(&month)) {
            return None;
        }
        match year {
            None => Some(Self::Next { day, month }),
            Some(year) => {
                let year = match digits(year)? {
                    year @ 0..100 => 2000 + year,
                    year => year,
                };
                countable(NaiveDate::from_ymd_opt(year, month?, day)?).map(Self::Exact)
            }
        }
    }

    /// Which date it is, if that does not depend on the day on which it was typed.
    pub(crate) fn exact(self) -> Option<NaiveDate> {
        match self {
            Self::Exact(date) => Some(date),
            _ => None,
        }
    }

    /// Which date it is today; none if there is no such date, or not within the years that are written with four figures.
    pub(crate) fn on(self, today: NaiveDate) -> Option<NaiveDate> {
        let date = match self {
            Self::Exact(date) => Some(date),
            Self::Shifted(days @ 0..) => today.checked_add_days(Days::new(days.unsigned_abs())),
            Self::Shifted(days) => today.checked_sub_days(Days::new(days.unsigned_abs())),
            Self::Weekday(weekday) => {
                let after = today.weekday().succ();
                let days = 1 + u64::from(weekday.days_since(after));
                today.checked_add_days(Days::new(days))
            }
            // Eight years hold a 29 February, whatever century ends in between.
            Self::Next { day, month } => today
                .iter_days()
                .take(8 * 366 + 1)
                .find(|date| date.day() == day && month.is_none_or(|month| date.month() == month)),
        };
        date.and_then(countable)
    }
}

/// What every other program can read and the database can count.
fn countable(date: NaiveDate) -> Option<NaiveDate> {
    (1..=9999).contains(&date.year()).then_some(date)
}

/// `2026-12-03`, `2026-12-3`.
fn iso(text: &str) -> Option<NaiveDate> {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else {
        return None;
    };
    if year.len() != 4 || month.len() > 2 || day.len() > 2 {
        return None;
    }
    countable(NaiveDate::from_ymd_opt(
        digits(year)?,
        digits(month)?,
        digits(day)?,
    )?)
}

fn digits<Number: std::str::FromStr>(text: &str) -> Option<Number> {
    text.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| text.parse().ok())?
}

fn named_month(word: &str) -> Option<u32> {
    let month: Month = word.parse().ok()?;
    Some(month.number_from_month())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_type() {
        let date = |year, month, day| NaiveDate::from_ymd_opt(year, month, day);
        let today = date(2026, 12, 3).unwrap(); // a Thursday
        for (typed, meant) in [
            ("2027-01-31", date(2027, 1, 31)),
            ("2027-1-3", date(2027, 1, 3)),
            ("today", Some(today)),
            (" Tomorrow ", date(2026, 12, 4)),
            ("YESTERDAY", date(2026, 12, 2)),
            ("+7", date(2026, 12, 10)),
            ("-1", date(2026, 12, 2)),
            ("-0", Some(today)),
            ("fri", date(2026, 12, 4)),
            ("Thursday", date(2026, 12, 10)),
            ("wed", date(2026, 12, 9)),
            ("3.12.", Some(today)),
            ("2.12", date(2027, 12, 2)),
            ("24 dec", date(2026, 12, 24)),
            ("DEC 24", date(2026, 12, 24)),
            ("dec 24 2026", date(2026, 12, 24)),
            ("24-dec-2026", date(2026, 12, 24)),
            ("1 January 2028", date(2028, 1, 1)),
            ("1.1.28", date(2028, 1, 1)),
            ("29 feb", date(2028, 2, 29)),
            ("31", date(2026, 12, 31)),
            ("2", date(2027, 1, 2)),
        ] {
            let read = DateText::read(typed).and_then(|read| read.on(today));
            assert_eq!(read, meant, "{typed}");
        }
        for nonsense in [
            "",
            "soon",
            "32",
            "31.2.",
            "+",
            "-",
            "--1",
            "2026-13-01",
            "27-01-01",
            "3-12",
            "0000-01-01",
            "1.1.10000",
            "+9999999",
            "-99999999999",
            "+99999999999999999999999",
            "1 2 3 4",
            "thu fri",
        ] {
            let read = DateText::read(nonsense).and_then(|read| read.on(today));
            assert_eq!(read, None, "{nonsense}");
        }
    }
}
