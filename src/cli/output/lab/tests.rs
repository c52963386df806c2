//! What a lab looks like, with figures as large as they get.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::*;
use crate::store::lab::{STRATEGIES, Server};

const PLAIN: Paper = Paper {
    width: 80,
    ascii: false,
    colour: false,
};

fn plan() -> Plan {
    Plan {
        strategies: STRATEGIES.iter().collect(),
        clients: 500,
        length: Length::Time(Duration::from_secs(2)),
        think: Duration::from_millis(2),
        seed: 1,
    }
}

/// Wrong ones went wrong often, and the n-th of all answered n hundred times a second.
fn report() -> Report {
    let measured = |(index, strategy): (usize, &'static Strategy)| Measured {
        strategy,
        wrong: if strategy.sound { 0 } else { 12_345_678 },
        rounds: 10,
        done: 1,
        refused: 1_234_567,
        gave_up: 0,
        deadlocks: u64::from(strategy.name == "exclusion-alone") * 123_456,
        retries: u64::from(strategy.name == "serializable-retry") * 1_234_567,
        answers_per_second: 100.0 * (index + 1) as f64,
        median: Duration::from_micros(1230),
        percentile_99: Duration::from_millis(12_345),
    };
    Report {
        server: Server {
            version: "15.13".into(),
            deadlock_timeout: "1s".into(),
            spare_connections: 100,
        },
        measured: STRATEGIES.iter().enumerate().map(measured).collect(),
        stopped: false,
    }
}

fn row<'a>(text: &'a str, name: &str, nth: usize) -> &'a str {
    text.lines()
        .filter(|line| line.starts_with(name))
        .nth(nth)
        .unwrap()
}

#[test]
fn every_row_fits_into_eighty_columns_and_says_its_verdict_in_words() {
    let text = lab(&plan(), &report(), PLAIN).text;
    for line in text.lines() {
        assert!(line.width() <= 80, "{line}");
    }
    for (name, verdict) in [
        ("check-then-insert", " double-books "),
        ("read-then-write", " oversells "),
        ("exclusion-alone", " safe, deadlocks "),
        ("serializable-retry", " safe, retries "),
        ("exclusion-behind-lock", " safe "),
    ] {
        assert!(row(&text, name, 0).contains(verdict), "{text}");
    }
    assert!(text.contains("500 clients") && text.contains("2 ms pass between"));
}

#[test]
fn wide_paper_has_one_row_for_each_strategy() {
    let wide = Paper {
        width: 120,
        ..PLAIN
    };
    let text = lab(&plan(), &report(), wide).text;
    let rows = |name: &str| text.lines().filter(|line| line.starts_with(name)).count();
    assert_eq!(rows("exclusion-behind-lock"), 1, "{text}");
    assert!(row(&text, "exclusion-behind-lock", 0).contains('█'));
    assert!(text.lines().all(|line| line.width() <= 120), "{text}");
    assert!(text.lines().count() < 40, "{text}");
}

#[test]
fn bars_are_as_long_as_their_figures_and_light_where_answers_were_wrong() {
    let text = lab(&plan(), &report(), PLAIN).text;
    let bar = |name| {
        let row = row(&text, name, 1);
        (row.matches('█').count(), row.matches('░').count())
    };
    let (full, light) = bar("exclusion-behind-lock");
    assert!(full > 20 && light == 0, "{text}");
    assert_eq!(bar("row-lock-then-check"), ((full * 7).div_ceil(10), 0));
    assert_eq!(bar("check-then-insert").0, 0);
    assert!(bar("check-then-insert").1 > 0, "{text}");
}

#[test]
fn a_plain_terminal_gets_ascii_and_no_escape_sequence() {
    let paper = Paper {
        ascii: true,
        ..PLAIN
    };
    let text = lab(&plan(), &report(), paper).text;
    assert!(text.is_ascii() && !text.contains('\u{1b}'), "{text}");
    assert!(row(&text, "exclusion-behind-lock", 1).ends_with("####"));
    assert!(row(&text, "check-then-insert", 1).ends_with("..."));
    let listed = strategies(&plan().strategies, paper).text;
    assert!(listed.is_ascii(), "{listed}");
}

#[test]
fn figures_stand_under_each_other() {
    let text = lab(&plan(), &report(), PLAIN).text;
    let end = |name: &str, figure: &str| {
        let row = row(&text, name, 0);
        row.find(figure).unwrap() + figure.len()
    };
    assert_eq!(
        end("check-then-insert", "12345678"),
        end("STRATEGY", "OVERLAPS")
    );
    assert_eq!(
        end("exclusion-alone", "123456 "),
        end("STRATEGY", "DEADLOCKS ")
    );
}

#[test]
fn a_stopped_lab_says_how_far_it_came() {
    let mut report = report();
    report.measured.truncate(2);
    report.stopped = true;
    let output = lab(&plan(), &report, PLAIN);
    assert!(
        output.text.contains("2 of 15 strategies"),
        "{}",
        output.text
    );
    let json: Value = serde_json::from_str(&output.json).unwrap();
    assert_eq!(json["stopped"], true);
    assert_eq!(json["strategies"].as_array().unwrap().len(), 2);
}

#[test]
fn a_right_strategy_that_goes_wrong_fails_the_lab() {
    let mut report = report();
    assert!(!lab(&plan(), &report, PLAIN).failed);
    let last = report.measured.last_mut().unwrap();
    last.wrong = 1;
    let output = lab(&plan(), &report, PLAIN);
    assert!(output.failed);
    assert!(row(&output.text, "skip-locked-units", 0).contains("oversells"));
}

#[test]
fn a_lab_of_few_explains_them() {
    let (mut plan, mut report) = (plan(), report());
    plan.strategies.truncate(1);
    report.measured.truncate(1);
    let text = lab(&plan, &report, PLAIN).text;
    assert!(text.contains("check-then-insert (double-books)"), "{text}");
    assert!(!text.contains("An item"), "{text}");
}
