//! Sites, rooms and items.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::cli::output::result::Output;
use crate::cli::output::table::table;
use crate::domain::text::harmless;
use crate::domain::{BookedBy, Item, Room, Site, duration};

#[derive(Serialize)]
struct RoomJson<'a> {
    room_id: i64,
    room: &'a str,
    capacity: i32,
    booked_by: BookedBy,
    turnaround: String,
    features: &'a [String],
    retired: bool,
}

pub(crate) fn room_json(room: &Room) -> impl Serialize + '_ {
    RoomJson {
        room_id: room.id.0,
        room: &room.name,
        capacity: room.capacity,
        booked_by: room.booked_by,
        turnaround: duration::written(room.turnaround),
        features: &room.features,
        retired: room.retired_at.is_some(),
    }
}

/// One room, and what became of it.
pub(crate) fn room(room: &Room, done: &str) -> Output {
    let text = format!("{} (#{}) is {done}.", harmless(&room.name), room.id);
    Output::new(text, &room_json(room))
}

pub(crate) fn rooms(rooms: &[Room]) -> Output {
    let rows = rooms.iter().map(|room| {
        [
            format!("#{}", room.id),
            room.name.clone(),
            room.capacity.to_string(),
            room.booked_by.to_string(),
            duration::written(room.turnaround),
            room.features.join(", "),
            retired_word(room.retired_at),
        ]
    });
    let header = ["ID", "ROOM", "CAPACITY", "BY", "TURNAROUND", "FEATURES", ""];
    let json: Vec<_> = rooms.iter().map(room_json).collect();
    Output::new(table(header, rows), &json)
}

#[derive(Serialize)]
struct ItemJson<'a> {
    item_id: i64,
    item: &'a str,
    total: i32,
    available: i32,
    held: i32,
    sold: i32,
}

pub(crate) fn item_json(item: &Item) -> impl Serialize + '_ {
    ItemJson {
        item_id: item.id.0,
        item: &item.name,
        total: item.total,
        available: item.available,
        held: item.held,
        sold: item.sold,
    }
}

pub(crate) fn item(item: &Item) -> Output {
    let text = format!(
        "{} (#{}): {} available, {} held, {} sold, {} in all.",
        harmless(&item.name),
        item.id,
        item.available,
        item.held,
        item.sold,
        item.total
    );
    Output::new(text, &item_json(item))
}

pub(crate) fn items(items: &[Item]) -> Output {
    let json: Vec<_> = items.iter().map(item_json).collect();
    Output::new(items_table(items), &json)
}

/// Items, one a line, for people.
pub(crate) fn items_table(items: &[Item]) -> String {
    let rows = items.iter().map(|item| {
        [
            format!("#{}", item.id),
            item.name.clone(),
            item.available.to_string(),
            item.held.to_string(),
            item.sold.to_string(),
            item.total.to_string(),
            retired_word(item.retired_at),
        ]
    });
    table(
        ["ID", "ITEM", "AVAILABLE", "HELD", "SOLD", "TOTAL", ""],
        rows,
    )
}

fn retired_word(retired_at: Option<DateTime<Utc>>) -> String {
    retired_at.map_or("", |_| "retired").to_owned()
}

#[derive(Serialize)]
pub(crate) struct SiteJson<'a> {
    site_id: i64,
    site: &'a str,
    time_zone: &'a str,
    default_hold: String,
    longest_hold: String,
    renewals: i32,
    horizon: String,
    default: bool,
}

pub(crate) fn site_json(site: &Site) -> SiteJson<'_> {
    SiteJson {
        site_id: site.id.0,
        site: &site.name,
        time_zone: site.calendar.zone().name(),
        default_hold: duration::written(site.default_hold),
        longest_hold: duration::written(site.longest_hold),
        renewals: site.renewals,
        horizon: duration::written(site.horizon),
        default: site.is_default,
    }
}

pub(crate) fn sites(sites: &[Site]) -> Output {
    let rows = sites.iter().map(|site| {
        [
            site.name.clone(),
            site.calendar.zone().name().to_owned(),
            if site.is_default { "default" } else { "" }.to_owned(),
        ]
    });
    let json: Vec<_> = sites.iter().map(site_json).collect();
    Output::new(table(["SITE", "TIME ZONE", ""], rows), &json)
}
