//! What the lab found: figures and bars for people, an object for programs.

mod tables;

use std::time::Duration;

use serde::Serialize;

use crate::cli::output::result::Output;
use crate::demo::lab::{Length, Measured, Plan, Report, Verdict};
use crate::store::lab::{Strategy, Subject};
use crate::terminal::text::wrap;

/// What is printed on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paper {
    /// In columns.
    pub(crate) width: usize,
    pub(crate) ascii: bool,
    pub(crate) colour: bool,
}

/// So few strategies are explained below their figures.
const FEW: usize = 3;

#[derive(Serialize)]
struct LabJson<'a> {
    postgresql: &'a str,
    clients: u16,
    seconds: Option<u64>,
    think_ms: f64,
    seed: u64,
    stopped: bool,
    strategies: Vec<MeasuredJson>,
}

#[derive(Serialize)]
struct MeasuredJson {
    strategy: &'static str,
    subject: &'static str,
    sound: bool,
    verdict: &'static str,
    double_bookings: Option<i64>,
    oversold_units: Option<i64>,
    rounds: u32,
    done: u64,
    refused: u64,
    gave_up: u64,
    deadlocks: u64,
    retries: u64,
    answers_per_second: f64,
    median_ms: f64,
    p99_ms: f64,
}

/// What a lab found. It fails if a strategy that is known to be right went wrong, or if it was stopped before its end.
pub(crate) fn lab(plan: &Plan, report: &Report, paper: Paper) -> Output {
    let json = LabJson {
        postgresql: &report.server.version,
        clients: plan.clients,
        seconds: match plan.length {
            Length::Time(time) => Some(time.as_secs()),
            Length::Rounds(_) => None,
        },
        think_ms: milliseconds(plan.think),
        seed: plan.seed,
        stopped: report.stopped,
        strategies: report.measured.iter().map(measured_json).collect(),
    };
    Output {
        failed: report.stopped || report.measured.iter().any(Measured::is_surprising),
        ..Output::new(text(plan, report, paper), &json)
    }
}

fn measured_json(measured: &Measured) -> MeasuredJson {
    let subject = measured.strategy.subject;
    let wrong_for = |asked| (subject == asked).then_some(measured.wrong);
    MeasuredJson {
        strategy: measured.strategy.name,
        subject: subject_word(subject),
        sound: measured.strategy.sound,
        verdict: verdict_words(measured.verdict()),
        double_bookings: wrong_for(Subject::Slots),
        oversold_units: wrong_for(Subject::Stock),
        rounds: measured.rounds,
        done: measured.done,
        refused: measured.refused,
        gave_up: measured.gave_up,
        deadlocks: measured.deadlocks,
        retries: measured.retries,
        answers_per_second: tenths(measured.answers_per_second),
        median_ms: milliseconds(measured.median),
        p99_ms: milliseconds(measured.percentile_99),
    }
}

fn subject_word(subject: Subject) -> &'static str {
    match subject {
        Subject::Slots => "slots",
        Subject::Stock => "stock",
    }
}

fn verdict_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::DoubleBooks => "double-books",
        Verdict::Oversells => "oversells",
        Verdict::Lucky => "lucky this time",
        Verdict::GivesUp => "safe, gives up",
        Verdict::Deadlocks => "safe, deadlocks",
        Verdict::Retries => "safe, retries",
        Verdict::Safe => "safe",
    }
}

fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn milliseconds(time: Duration) -> f64 {
    tenths(time.as_secs_f64() * 1000.0)
}

fn text(plan: &Plan, report: &Report, paper: Paper) -> String {
    let mut lines = wrap(&heading(plan, report), paper.width);
    for subject in [Subject::Slots, Subject::Stock] {
        let measured: Vec<&Measured> = report
            .measured
            .iter()
            .filter(|measured| measured.strategy.subject == subject)
            .collect();
        if !measured.is_empty() {
            lines.extend(section(subject, &measured, paper));
        }
    }
    lines.push(String::new());
    lines.extend(wrap(&closing(plan, report, paper), paper.width));
    if plan.strategies.len() <= FEW {
        for measured in &report.measured {
            lines.extend(explained(measured.strategy, paper));
        }
    }
    lines.join("\n")
}

fn heading(plan: &Plan, report: &Report) -> String {
    let length = match plan.length {
        Length::Time(time) => format!("{} s", time.as_secs()),
        Length::Rounds(1) => "1 round".to_owned(),
        Length::Rounds(rounds) => format!("{rounds} rounds"),
    };
    format!(
        "{} clients ask at once, {length} for each strategy. {} ms pass between looking and writing; whoever locks holds \
         the lock meanwhile. PostgreSQL {}, seed {}.",
        plan.clients,
        milliseconds(plan.think),
        report.server.version,
        plan.seed,
    )
}

fn section(subject: Subject, measured: &[&Measured], paper: Paper) -> Vec<String> {
    let title = match subject {
        Subject::Slots => "One room: in every round all want overlapping hours of a new day",
        Subject::Stock => "An item with few units: in every round a new one, some of it given back",
    };
    let mut lines = vec![String::new()];
    lines.extend(wrap(title, paper.width));
    lines.extend(tables::figures(measured, paper));
    lines
}

fn closing(plan: &Plan, report: &Report, paper: Paper) -> String {
    let mut sentences = vec![format!(
        "Waits are from asking to the answer, retries included. Bars are answers a second, {} where some were wrong.",
        tables::bar_sign(true, paper)
    )];
    if report
        .measured
        .iter()
        .any(|measured| measured.deadlocks > 0)
    {
        sentences.push(format!(
            "The server notices a deadlock after {}.",
            report.server.deadlock_timeout
        ));
    }
    let gave_up: u64 = report
        .measured
        .iter()
        .map(|measured| measured.gave_up)
        .sum();
    if gave_up > 0 {
        sentences.push(format!(
            "{gave_up} gave up after too many tries or seconds."
        ));
    }
    if report.stopped {
        sentences.push(format!(
            "Stopped before the end: {} of {} strategies were measured.",
            report.measured.len(),
            plan.strategies.len()
        ));
    } else if plan.strategies.len() > FEW {
        sentences.push("`keyrack lab --list` says what each does.".into());
    }
    sentences.push("The scratch schema is gone.".into());
    sentences.join(" ")
}

#[derive(Serialize)]
struct StrategyJson {
    strategy: &'static str,
    subject: &'static str,
    sound: bool,
    about: &'static str,
}

/// What strategies there are, and what each does.
pub(crate) fn strategies(strategies: &[&'static Strategy], paper: Paper) -> Output {
    let json: Vec<StrategyJson> = strategies
        .iter()
        .map(|strategy| StrategyJson {
            strategy: strategy.name,
            subject: subject_word(strategy.subject),
            sound: strategy.sound,
            about: strategy.about,
        })
        .collect();
    let lines: Vec<String> = strategies
        .iter()
        .flat_map(|strategy| explained(strategy, paper))
        .skip(1)
        .collect();
    Output::new(lines.join("\n"), &json)
}

/// An empty line, the name, and what it does, indented.
fn explained(strategy: &Strategy, paper: Paper) -> Vec<String> {
    const INDENT: &str = "    ";
    let about = wrap(
        strategy.about,
        paper.width.saturating_sub(INDENT.len()).max(20),
    );
    let word = match (strategy.sound, strategy.subject) {
        (true, _) => "right",
        (false, Subject::Slots) => "double-books",
        (false, Subject::Stock) => "oversells",
    };
    let mut lines = vec![String::new(), format!("{} ({word})", strategy.name)];
    lines.extend(about.iter().map(|line| format!("{INDENT}{line}")));
    lines
}

#[cfg(test)]
mod tests;
