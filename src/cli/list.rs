//! `keyrack list`: in plain text what the console's grid shows, for a day or a week.

use chrono::{Datelike, Days, NaiveDate};
use clap::Args;
use serde::Serialize;

use crate::cli::connect::Session;
use crate::cli::failure::Failure;
use crate::cli::lookup;
use crate::cli::output::{ClaimPrinter, Output, item_json, items_table, table};
use crate::domain::text::harmless;
use crate::domain::{Period, Room, SiteCalendar, SlotHold, duration};
use crate::store::Snapshot;

/// Which days.
#[derive(Debug, Args)]
pub(crate) struct Command {
    /// The day, like 2027-01-01, 3 dec, thu, tomorrow or +7; without it, today in the house
    #[arg(long, value_name = "DATE", allow_negative_numbers = true)]
    date: Option<String>,
    /// The week from Monday to Sunday that the day is in
    #[arg(long)]
    week: bool,
}

#[derive(Serialize)]
struct ListJson<D, I> {
    site: String,
    now: String,
    days: Vec<D>,
    stock: Vec<I>,
}

#[derive(Serialize)]
struct DayJson<R> {
    date: NaiveDate,
    from: String,
    to: String,
    rooms: Vec<R>,
}

#[derive(Serialize)]
struct RoomJson<'a, C> {
    room: &'a str,
    claims: Vec<C>,
}

impl Command {
    /// Rooms with their claims, day by day, and the stock.
    pub(crate) async fn run(self, session: &Session) -> Result<Output, Failure> {
        let site_store = session.site_store().await?;
        let calendar = &site_store.site().calendar;
        let date = match &self.date {
            Some(typed) => lookup::times(&site_store, |reader| reader.date(typed)).await?,
            None => calendar.date(site_store.now().await?),
        };
        let days = days(calendar, date, self.week);
        let (Some((_, first)), Some((_, last))) = (days.first(), days.last()) else {
            return Err(Failure::Usage(format!(
                "{date} is not a date in {}: the house skipped it.",
                calendar.zone().name()
            )));
        };
        let window = Period::new(first.start(), last.end()).unwrap_or(*first);
        let snapshot = site_store.snapshot(window).await?;
        Ok(show(&snapshot, &days))
    }
}

/// The days that the house has, of the day or week asked for.
fn days(calendar: &SiteCalendar, date: NaiveDate, week: bool) -> Vec<(NaiveDate, Period)> {
    let monday = date - Days::new(u64::from(date.weekday().num_days_from_monday()));
    let dates: Vec<NaiveDate> = if week {
        monday.iter_days().take(7).collect()
    } else {
        vec![date]
    };
    dates
        .into_iter()
        .filter_map(|date| Some((date, calendar.day(date)?)))
        .collect()
}

fn show(snapshot: &Snapshot, days: &[(NaiveDate, Period)]) -> Output {
    let calendar = &snapshot.site.calendar;
    let printer = ClaimPrinter {
        site: &snapshot.site,
        now: snapshot.read_at,
        repeated: false,
    };
    let mut text = format!(
        "{}, {}, now {}",
        harmless(&snapshot.site.name),
        calendar.zone().name(),
        calendar.date_and_time(snapshot.read_at)
    );
    for (date, day) in days {
        text.push_str(&format!("\n\n{}", date.format("%A %-d %B %Y")));
        let length = day.length();
        if length != chrono::TimeDelta::hours(24) {
            text.push_str(&format!(
                " ({} long: the clocks change)",
                duration::spoken(length)
            ));
        }
        text.push('\n');
        text.push_str(&day_text(snapshot, &printer, *date, *day));
    }
    if !snapshot.items.is_empty() {
        text.push_str("\n\nStock\n");
        text.push_str(&items_table(&snapshot.items));
    }
    let json = ListJson {
        site: snapshot.site.name.clone(),
        now: calendar.rfc3339(snapshot.read_at),
        days: days
            .iter()
            .map(|(date, day)| DayJson {
                date: *date,
                from: calendar.rfc3339(day.start()),
                to: calendar.rfc3339(day.end()),
                rooms: snapshot
                    .rooms
                    .iter()
                    .map(|room| RoomJson {
                        room: &room.name,
                        claims: claims(snapshot, room, *day)
                            .map(|claim| printer.slot_json(claim))
                            .collect(),
                    })
                    .collect(),
            })
            .collect(),
        stock: snapshot.items.iter().map(item_json).collect(),
    };
    Output::new(text, &json)
}

/// The claims on a room that touch a day, wherever they start or end (R6).
fn claims<'a>(
    snapshot: &'a Snapshot,
    room: &Room,
    day: Period,
) -> impl Iterator<Item = &'a SlotHold> + use<'a> {
    let room = room.id;
    snapshot
        .claims
        .iter()
        .filter(move |claim| claim.room == room && claim.period.overlaps(&day))
}

fn day_text(
    snapshot: &Snapshot,
    printer: &ClaimPrinter<'_>,
    date: NaiveDate,
    day: Period,
) -> String {
    let calendar = &snapshot.site.calendar;
    let rows = snapshot.rooms.iter().flat_map(|room| {
        let mut lines: Vec<[String; 6]> = claims(snapshot, room, day)
            .map(|claim| {
                [
                    String::new(),
                    String::new(),
                    clock_span(calendar, date, day, &claim.period),
                    printer.short_standing(
                        claim.state,
                        claim.seconds_left(printer.now),
                        claim.purpose,
                    ),
                    who(claim),
                    format!("hold {}", claim.id),
                ]
            })
            .collect();
        if lines.is_empty() {
            let nothing = [(); 6].map(|()| String::new());
            lines.push(nothing);
            lines[0][2] = "free".to_owned();
        }
        lines[0][0] = room.name.clone();
        lines[0][1] = room.capacity.to_string();
        lines
    });
    table(["ROOM", "FOR", "WHEN", "STATE", "WHO", ""], rows)
}

fn who(claim: &SlotHold) -> String {
    let name = if claim.guest.is_empty() {
        &claim.note
    } else {
        &claim.guest
    };
    match claim.party {
        Some(party) => format!("{name} ({party})"),
        None => name.clone(),
    }
}

/// `22:00–24:00`; where the claim starts or ends on another day, that day is named (R6).
fn clock_span(calendar: &SiteCalendar, date: NaiveDate, day: Period, period: &Period) -> String {
    let label = |at| {
        let tick = calendar.tick(at);
        let on = tick.local.date();
        if on == date {
            tick.label()
        } else {
            format!("{} {}", on.format("%a %-d %b"), tick.label())
        }
    };
    let end = if period.end() == day.end() {
        "24:00".to_owned()
    } else {
        label(period.end())
    };
    format!("{}–{end}", label(period.start()))
}

#[cfg(test)]
mod tests;
