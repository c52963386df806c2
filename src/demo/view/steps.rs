//! What a stopped transaction is about: its statement in words and in SQL, what the last step returned, its locks, whom
//! it waits for, the clock against the deadline, and what would come of it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::demo::keys::{Action, binding_of};
use crate::demo::state::State;
use crate::demo::steps::{self, KnownFrom};
use crate::demo::words::span_of;
use crate::domain::SiteCalendar;
use crate::store::{StepPlace, StepView};
use crate::terminal::canvas::{fill, put};
use crate::terminal::text::{truncate, width, wrap};
use crate::terminal::theme::Theme;

/// The cells of a line's label.
const LABEL: u16 = 11;

/// The rows of the panel while there is little to say.
const USUAL: usize = 17;

/// One line of the panel.
struct Line {
    label: &'static str,
    words: String,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Strong,
    Plain,
    Code,
    Good,
    Warning,
    Dim,
}

/// How many rows the panel of a transaction wants.
pub(super) fn height(view: &StepView, columns: u16, calendar: SiteCalendar) -> usize {
    // The rule, and the lines as they would be now; times do not change how many there are. Not fewer than usual, so
    // that the console above does not jump from step to step.
    (1 + lines(view, view.seen, columns, calendar, Length::Usual).len()).max(USUAL)
}

/// Paints the panel.
pub(super) fn draw(
    buffer: &mut Buffer,
    area: Rect,
    view: &StepView,
    state: &State,
    theme: &Theme,
    both_seen: bool,
) {
    for y in area.top()..area.bottom() {
        fill(buffer, area.x, y, area.width, " ", theme.text);
    }
    fill(
        buffer,
        area.x,
        area.y,
        area.width,
        theme.glyphs.rule,
        theme.rule,
    );
    let title = format!(
        " Step mode {} {} {} backend {} ",
        theme.glyphs.hour, view.command, theme.glyphs.hour, view.backend
    );
    put(
        buffer,
        area.x + 2,
        area.y,
        &title,
        area.width.saturating_sub(2),
        theme.title_focused,
    );
    let rows = usize::from(area.height.saturating_sub(1));
    let said = |length| lines(view, state.moment, area.width, state.calendar, length);
    let whole = said(Length::Whole);
    let lines = if whole.len() <= rows {
        whole
    } else {
        said(Length::Usual)
    };
    let hidden = lines.len().saturating_sub(rows);
    for (y, line) in (area.top() + 1..area.bottom()).zip(lines) {
        put(buffer, area.x + 1, y, line.label, LABEL, theme.dim);
        let x = area.x + 1 + LABEL;
        let cells = area.right().saturating_sub(x);
        let words = truncate(&line.words, cells.into(), theme.glyphs.cut);
        put(buffer, x, y, &words, cells, style(line.kind, theme));
    }
    if hidden > 0 {
        let more = format!("{} {hidden} more", theme.glyphs.below);
        // With all the room for one desk there is more to be seen of it.
        let key = binding_of(Action::Alone).keys();
        let words = [format!(" {more}: {key} "), format!(" {more} ")];
        let room = usize::from(area.width).saturating_sub(width(&title) + 4);
        let fitting = words
            .iter()
            .skip(usize::from(!both_seen))
            .find(|words| width(words) <= room);
        let words = fitting.unwrap_or(&words[1]);
        let cells = u16::try_from(width(words)).unwrap_or(0);
        let x = area.right().saturating_sub(cells + 1);
        put(buffer, x, area.y, words, cells, theme.title);
    }
}

fn style(kind: Kind, theme: &Theme) -> Style {
    match kind {
        Kind::Strong => theme.strong,
        Kind::Plain => theme.text,
        Kind::Code => theme.key,
        Kind::Good => theme.good,
        Kind::Warning => theme.warning,
        Kind::Dim => theme.dim,
    }
}

/// How much of a long sentence or statement is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    /// Its first rows.
    Usual,
    /// All of it.
    Whole,
}

/// What there is to say, the most important first.
fn lines(
    view: &StepView,
    moment: std::time::Instant,
    columns: u16,
    calendar: SiteCalendar,
    length: Length,
) -> Vec<Line> {
    let cells = usize::from(columns.saturating_sub(LABEL + 2)).max(20);
    let mut lines = Vec::new();
    let mut add = |label: &'static str, words: &str, kind: Kind, most: usize| {
        let wrapped = wrap(words, cells);
        let most = match length {
            Length::Usual => most,
            Length::Whole => wrapped.len(),
        };
        let cut = wrapped.len() > most;
        for (index, line) in wrapped.into_iter().take(most).enumerate() {
            let words = if cut && index + 1 == most {
                format!("{line} \u{2026}")
            } else {
                line
            };
            let label = if index == 0 { label } else { "" };
            lines.push(Line { label, words, kind });
        }
    };
    if let Some(warning) = &view.warning {
        let who: Vec<String> = warning.blocks.iter().map(ToString::to_string).collect();
        let left = view.left_at(moment).as_secs();
        let words = if who.is_empty() {
            format!("This transaction is rolled back in {left} s: its time is running out.")
        } else {
            format!(
                "This transaction is rolled back in {left} s, so that {} need not wait any longer.",
                who.join(" and ")
            )
        };
        add("warning", &words, Kind::Warning, 2);
    }
    let (label, words, kind) = place(view, moment);
    add(label, &words, kind, 3);
    if let Some(step) = view.step() {
        add("SQL", &format!("SELECT {}", step.call), Kind::Code, 3);
    }
    if let Some((passed, returned)) = view.passed().filter(|(passed, _)| !passed.undone).last() {
        let words = format!(
            "{} returned {}",
            passed.step.name,
            steps::returned(&returned.result)
        );
        add("before", &words, Kind::Plain, 2);
    }
    // The protocol's own locks before those that every transaction has.
    let (own, others): (Vec<_>, Vec<_>) = steps::locks(view)
        .into_iter()
        .partition(|lock| lock.known_from == KnownFrom::Steps);
    if own.is_empty() {
        add("holds", "no lock of the protocol's", Kind::Dim, 1);
    }
    for (index, lock) in own.iter().enumerate() {
        add(
            if index == 0 { "holds" } else { "" },
            &lock.words,
            Kind::Plain,
            2,
        );
    }
    for (index, other) in view.blocked.iter().enumerate() {
        add(
            if index == 0 { "keeps out" } else { "" },
            &other.to_string(),
            Kind::Warning,
            1,
        );
    }
    let now = view.clock_at(moment);
    match &view.deadline {
        Some(deadline) => {
            let left = deadline.at - now;
            let words = if left > chrono::TimeDelta::zero() {
                format!(
                    "{}: {} left by the database's clock",
                    steps::claim(deadline.claim),
                    span_of(left)
                )
            } else {
                format!(
                    "{}: over since {}",
                    steps::claim(deadline.claim),
                    span_of(-left)
                )
            };
            add("deadline", &words, Kind::Plain, 2);
        }
        None => add(
            "clock",
            &format!(
                "{}, the database's",
                calendar.local(now).format("%H:%M:%S %Z")
            ),
            Kind::Dim,
            1,
        ),
    }
    let consequences = steps::consequences(view);
    for (index, words) in consequences.on_commit.iter().enumerate() {
        add(
            if index == 0 { "COMMIT" } else { "" },
            words,
            Kind::Plain,
            2,
        );
    }
    for (index, words) in consequences.on_rollback.iter().enumerate() {
        add(
            if index == 0 { "ROLLBACK" } else { "" },
            words,
            Kind::Plain,
            2,
        );
    }
    for (index, lock) in others.iter().enumerate() {
        add(
            if index == 0 { "also holds" } else { "" },
            &lock.words,
            Kind::Dim,
            2,
        );
    }
    lines
}

/// Where it is.
fn place(view: &StepView, moment: std::time::Instant) -> (&'static str, String, Kind) {
    match &view.place {
        StepPlace::Running(Some(step)) => (
            "runs",
            format!("{}: {}", step.name, step.words),
            Kind::Strong,
        ),
        StepPlace::Running(None) => ("runs", "on its way to the next step".into(), Kind::Strong),
        StepPlace::AtGate(step) => (
            "next",
            format!("{}. {}: {}", step.gate, step.name, step.words),
            Kind::Strong,
        ),
        StepPlace::Waiting(wait) => {
            let whom: Vec<String> = wait.whom.iter().map(ToString::to_string).collect();
            let since = view.clock_at(moment) - wait.since;
            let words = format!(
                "for {}, {} now: {}",
                whom.join(" and "),
                span_of(since.max(chrono::TimeDelta::zero())),
                steps::awaited(view, wait)
            );
            ("waits", words, Kind::Warning)
        }
        StepPlace::Answered(answer) => {
            let words = match answer.refusal() {
                None => "It is done in this transaction, and nobody else sees it yet. COMMIT is the next step.".to_owned(),
                Some(refusal) => format!(
                    "It is refused ({}), and COMMIT remembers that. COMMIT is the next step.",
                    refusal.code()
                ),
            };
            ("answered", words, Kind::Good)
        }
        StepPlace::Done(_) => ("over", "Committed.".into(), Kind::Good),
        StepPlace::Ended(ending) => ("over", steps::ending(ending), Kind::Warning),
    }
}
