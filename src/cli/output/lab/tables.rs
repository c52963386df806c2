//! The lab's figures in columns, with bars and colours. In one table where the paper is wide, else in two.

use crossterm::style::{Color, Stylize, style};
use unicode_width::UnicodeWidthStr;

use crate::cli::output::lab::{Paper, milliseconds, verdict_words};
use crate::cli::output::table::{Align, aligned_table};
use crate::demo::lab::{Measured, Verdict};
use crate::store::lab::Subject;

/// No bar is longer, however wide the paper.
const LONGEST_BAR: usize = 60;

/// A chart whose longest bar is shorter than this shows nothing.
const SHORTEST_CHART: usize = 12;

/// What a column shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Strategy,
    Verdict,
    Wrong,
    Refused,
    Deadlocks,
    Retries,
    Rate,
    Median,
    Percentile99,
}

impl Column {
    const ALL: [Self; 9] = [
        Self::Strategy,
        Self::Verdict,
        Self::Wrong,
        Self::Refused,
        Self::Deadlocks,
        Self::Retries,
        Self::Rate,
        Self::Median,
        Self::Percentile99,
    ];
    const WHAT_HAPPENED: [Self; 6] = [
        Self::Strategy,
        Self::Verdict,
        Self::Wrong,
        Self::Refused,
        Self::Deadlocks,
        Self::Retries,
    ];
    const HOW_FAST: [Self; 4] = [Self::Strategy, Self::Rate, Self::Median, Self::Percentile99];

    fn header(self, subject: Subject) -> (&'static str, Align) {
        match self {
            Self::Strategy => ("STRATEGY", Align::Left),
            Self::Verdict => ("VERDICT", Align::Left),
            Self::Wrong => match subject {
                Subject::Slots => ("OVERLAPS", Align::Right),
                Subject::Stock => ("OVERSOLD", Align::Right),
            },
            Self::Refused => ("REFUSED", Align::Right),
            Self::Deadlocks => ("DEADLOCKS", Align::Right),
            Self::Retries => ("RETRIES", Align::Right),
            Self::Rate => ("ANSWERS/S", Align::Right),
            Self::Median => ("MEDIAN", Align::Right),
            Self::Percentile99 => ("99 %", Align::Right),
        }
    }

    fn cell(self, measured: &Measured) -> String {
        match self {
            Self::Strategy => measured.strategy.name.to_owned(),
            Self::Verdict => verdict_words(measured.verdict()).to_owned(),
            Self::Wrong => measured.wrong.to_string(),
            Self::Refused => measured.refused.to_string(),
            Self::Deadlocks => measured.deadlocks.to_string(),
            Self::Retries => measured.retries.to_string(),
            Self::Rate => figure(measured.answers_per_second),
            Self::Median => format!("{} ms", figure(milliseconds(measured.median))),
            Self::Percentile99 => format!("{} ms", figure(milliseconds(measured.percentile_99))),
        }
    }
}

/// Small figures with a tenth, others without.
fn figure(value: f64) -> String {
    if value < 100.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

/// The figures of strategies for the same subject.
pub(crate) fn figures(measured: &[&Measured], paper: Paper) -> Vec<String> {
    let all = in_columns(Column::ALL, measured);
    if width(&all) + 2 + SHORTEST_CHART <= paper.width {
        return painted(with_bars(all, measured, paper), measured, paper);
    }
    let what_happened = in_columns(Column::WHAT_HAPPENED, measured);
    let how_fast = with_bars(in_columns(Column::HOW_FAST, measured), measured, paper);
    let mut lines = painted(what_happened, measured, paper);
    lines.push(String::new());
    lines.extend(painted(how_fast, measured, paper));
    lines
}

fn in_columns<const N: usize>(columns: [Column; N], measured: &[&Measured]) -> Vec<String> {
    let subject = measured
        .first()
        .map_or(Subject::Slots, |measured| measured.strategy.subject);
    let header = columns.map(|column| column.header(subject));
    let rows = measured
        .iter()
        .map(|measured| columns.map(|column| column.cell(measured)));
    aligned_table(header, rows)
}

fn width(lines: &[String]) -> usize {
    lines.iter().map(|line| line.width()).max().unwrap_or(0)
}

/// Answers a second as bars, behind a table whose last column ends alike in every line.
fn with_bars(mut lines: Vec<String>, measured: &[&Measured], paper: Paper) -> Vec<String> {
    let longest = paper
        .width
        .saturating_sub(width(&lines) + 2)
        .clamp(1, LONGEST_BAR);
    let fastest = measured
        .iter()
        .map(|measured| measured.answers_per_second)
        .fold(0.0, f64::max);
    for (line, measured) in lines.iter_mut().skip(1).zip(measured) {
        let length = (measured.answers_per_second / fastest * longest as f64).round() as usize;
        let sign = bar_sign(measured.wrong > 0, paper);
        line.push_str("  ");
        line.push_str(&sign.repeat(length.clamp(1, longest)));
    }
    lines
}

/// Full for answers that can be trusted, light where some were wrong.
pub(crate) fn bar_sign(wrong: bool, paper: Paper) -> &'static str {
    match (wrong, paper.ascii) {
        (false, false) => "█",
        (true, false) => "░",
        (false, true) => "#",
        (true, true) => ".",
    }
}

/// Colours rows by their verdict, where there is colour; the words say the same.
fn painted(lines: Vec<String>, measured: &[&Measured], paper: Paper) -> Vec<String> {
    if !paper.colour {
        return lines;
    }
    let colours = measured
        .iter()
        .map(|measured| Some(colour(measured.verdict())));
    lines
        .into_iter()
        .zip(std::iter::once(None).chain(colours))
        .map(|(line, colour)| match colour {
            Some(colour) => style(line).with(colour).to_string(),
            None => style(line).bold().to_string(),
        })
        .collect()
}

/// Dark enough for a light background, and of the terminal's own sixteen.
fn colour(verdict: Verdict) -> Color {
    match verdict {
        Verdict::DoubleBooks | Verdict::Oversells => Color::DarkRed,
        Verdict::Lucky | Verdict::GivesUp | Verdict::Deadlocks | Verdict::Retries => {
            Color::DarkYellow
        }
        Verdict::Safe => Color::DarkGreen,
    }
}
