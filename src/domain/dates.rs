//! Dates as people type them.

use chrono::{Datelike, Days, NaiveDate, Weekday};

/// Reads `2026-12-03`, `3.12.`, `3.12.2026`, `3 Dec`, `Dec 3 2026`, `3`, `today`, `tomorrow`, `fri`, `+7`, `-1`.
///
/// Without a year the next such date is meant, counted from today; a weekday is the next one after today.
pub fn parse(typed: &str, today: NaiveDate) -> Option<NaiveDate> {
    let typed = typed.trim().to_lowercase();
    match typed.as_str() {
        "today" => return Some(today),
        "tomorrow" => return today.succ_opt(),
        "yesterday" => return today.pred_opt(),
        _ => {}
    }
    if let Some(days) = typed.strip_prefix('+') {
        return today.checked_add_days(Days::new(days.trim().parse().ok()?));
    }
    if let Some(days) = typed.strip_prefix('-') {
        return today.checked_sub_days(Days::new(days.trim().parse().ok()?));
    }
    if let Ok(date) = NaiveDate::parse_from_str(&typed, "%Y-%m-%d") {
        return Some(date);
    }
    if let Ok(weekday) = typed.parse::<Weekday>() {
        let days =
            (weekday.num_days_from_monday() + 7 - today.weekday().num_days_from_monday() + 6) % 7
                + 1;
        return today.checked_add_days(Days::new(days.into()));
    }
    parts(&typed, today)
}

fn parts(typed: &str, today: NaiveDate) -> Option<NaiveDate> {
    let words: Vec<&str> = typed
        .split(|sign: char| !sign.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let (day, month, year) = match words[..] {
        [day] => (day, None, None),
        [day, month] if !is_month(day) => (day, Some(month), None),
        [month, day] => (day, Some(month), None),
        [day, month, year] if !is_month(day) => (day, Some(month), Some(year)),
        [month, day, year] => (day, Some(month), Some(year)),
        _ => return None,
    };
    let day: u32 = day.parse().ok()?;
    let month = match month {
        Some(word) => Some(word.parse().ok().or_else(|| month_number(word))?),
        None => None,
    };
    match (month, year) {
        (Some(month), Some(year)) => {
            let year: i32 = year.parse().ok()?;
            NaiveDate::from_ymd_opt(if year < 100 { 2000 + year } else { year }, month, day)
        }
        (Some(month), None) => next(today, |date| date.day() == day && date.month() == month),
        _ => next(today, |date| date.day() == day),
    }
}

fn next(today: NaiveDate, wanted: impl Fn(&NaiveDate) -> bool) -> Option<NaiveDate> {
    // Eight years hold a 29 February, whatever century ends in between.
    today.iter_days().take(8 * 366 + 1).find(wanted)
}

fn is_month(word: &str) -> bool {
    month_number(word).is_some()
}

fn month_number(word: &str) -> Option<u32> {
    word.parse::<chrono::Month>()
        .ok()
        .map(|month| month.number_from_month())
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
            ("today", Some(today)),
            (" Tomorrow ", date(2026, 12, 4)),
            ("+7", date(2026, 12, 10)),
            ("-1", date(2026, 12, 2)),
            ("fri", date(2026, 12, 4)),
            ("thursday", date(2026, 12, 10)),
            ("wed", date(2026, 12, 9)),
            ("3.12.", Some(today)),
            ("2.12", date(2027, 12, 2)),
            ("24 dec", date(2026, 12, 24)),
            ("dec 24", date(2026, 12, 24)),
            ("1 January 2028", date(2028, 1, 1)),
            ("1.1.28", date(2028, 1, 1)),
            ("29 feb", date(2028, 2, 29)),
            ("31", date(2026, 12, 31)),
            ("2", date(2027, 1, 2)),
        ] {
            assert_eq!(parse(typed, today), meant, "{typed}");
        }
        for nonsense in [
            "",
            "soon",
            "32",
            "31.2.",
            "+",
            "2026-13-01",
            "-99999999999",
            "1 2 3 4",
        ] {
            assert_eq!(parse(nonsense, today), None, "{nonsense}");
        }
    }
}
