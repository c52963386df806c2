//! The status line: site, date, zone; connection, the database's clock, desk.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::console::model::Model;
use crate::console::model::clock::Connection;
use crate::terminal::canvas::put;
use crate::terminal::text::{display, truncate, width};
use crate::terminal::theme::Theme;

/// Paints the line.
pub(crate) fn draw(buffer: &mut Buffer, area: Rect, model: &Model, theme: &Theme) {
    let right = right(model, theme);
    let (right, right_width) = fit(right, usize::from(area.width) / 2 + 8);
    let left_width = usize::from(area.width).saturating_sub(right_width + 3);
    let (left, _) = fit(left(model, theme), left_width);

    let mut x = area.x + 1;
    for (words, style, _) in &left {
        x = put(
            buffer,
            x,
            area.y,
            words,
            area.right().saturating_sub(x),
            *style,
        ) + 3;
    }
    let mut x = area
        .right()
        .saturating_sub(u16::try_from(right_width).unwrap_or(0) + 1);
    for (words, style, _) in &right {
        x = put(
            buffer,
            x,
            area.y,
            words,
            area.right().saturating_sub(x),
            *style,
        ) + 3;
    }
}

/// Words, their style, and how soon they go when there is no room (0: never).
type Part = (String, Style, u8);

fn left(model: &Model, theme: &Theme) -> Vec<Part> {
    let date = model.date();
    let today = model.calendar().date(model.now());
    let hours = model.day().length().num_minutes();
    let written = date.format("%a %-d %b %Y").to_string();
    let mut parts = vec![
        (
            truncate(&display(&model.site.name), 28, theme.glyphs.cut).into_owned(),
            theme.strong,
            2,
        ),
        (written, theme.strong, 0),
        (model.calendar().zone().name().to_owned(), theme.dim, 4),
    ];
    if date == today {
        parts.insert(2, ("today".into(), theme.now, 5));
    }
    if hours != 24 * 60 {
        let halves = if hours % 60 == 0 { "" } else { "½" };
        parts.insert(
            2,
            (format!("{}{halves} h day", hours / 60), theme.warning, 3),
        );
    }
    parts
}

fn right(model: &Model, theme: &Theme) -> Vec<Part> {
    let calendar = model.calendar();
    let glyphs = &theme.glyphs;
    let desk = (
        format!("desk {}", truncate(&display(&model.desk.0), 16, glyphs.cut)),
        theme.dim,
        5,
    );
    let mut parts = Vec::new();
    match &model.connection {
        Connection::Live { latency } => {
            let checking = model.pending.iter().any(|pending| pending.checking);
            parts.push(if checking {
                (format!("{} checking", glyphs.pending), theme.warning, 0)
            } else if model.pending.is_empty() {
                let latency = latency.map_or(String::new(), |latency| {
                    format!(" {} ms", latency.as_millis().max(1))
                });
                (format!("{} live{latency}", glyphs.live), theme.good, 2)
            } else {
                (format!("{} asking", glyphs.pending), theme.warning, 0)
            });
            let clock = calendar
                .local(model.now())
                .format("%H:%M:%S %Z")
                .to_string();
            parts.push((clock, theme.text, 0));
        }
        Connection::Lost { since, .. } => {
            let age = (model.now() - *since).num_seconds().max(0);
            let since = calendar.clock_time(*since);
            parts.push((
                format!("{} away since {since}", glyphs.away),
                theme.fault,
                0,
            ));
            parts.push((format!("last picture {age} s old"), theme.dim, 4));
        }
    }
    parts.push(desk);
    parts
}

/// Leaves out what matters least until the rest fits with three spaces between; returns the width too.
fn fit(mut parts: Vec<Part>, cells: usize) -> (Vec<Part>, usize) {
    loop {
        let total = parts.iter().map(|(words, ..)| width(words)).sum::<usize>()
            + 3 * parts.len().saturating_sub(1);
        let least = parts.iter().map(|(.., rank)| *rank).max().unwrap_or(0);
        if total <= cells || least == 0 {
            return (parts, total);
        }
        if let Some(index) = parts.iter().position(|(.., rank)| *rank == least) {
            parts.remove(index);
        }
    }
}
