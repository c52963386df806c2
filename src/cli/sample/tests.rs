//! The samples, before a database sees them: the real one is tried in `tests/`.
#![allow(clippy::unwrap_used)]

use chrono::NaiveTime;

use super::*;
use crate::domain::{Period, RoomId, examples};

fn day() -> SampleDay {
    toml::from_str(DAY).unwrap()
}

fn rooms() -> Vec<Room> {
    let site_file = SiteFile::parse(SITE_FILE).unwrap();
    let rooms = site_file.rooms.into_iter().zip(1..).map(|(room, id)| Room {
        id: RoomId(id),
        name: room.name,
        booked_by: room.booked_by,
        night_times: room.night_times,
        turnaround: room.turnaround,
        ..examples::room()
    });
    rooms.collect()
}

fn placed(today: NaiveDate) -> Vec<(RoomId, TimeDelta, Period)> {
    let rooms = rooms();
    let london = SiteCalendar::new(chrono_tz::Europe::London);
    day()
        .booking
        .iter()
        .map(|booking| {
            let room = rooms.iter().find(|room| room.name == booking.room).unwrap();
            match booking.command(room, today, &london).unwrap() {
                Command::HoldSlot {
                    room: id, period, ..
                }
                | Command::ImportSlot {
                    room: id, period, ..
                } => (id, room.turnaround, period),
                Command::BlockSlot {
                    room: id, period, ..
                } => (id, room.turnaround, period),
                command => panic!("no booking: {command:?}"),
            }
        })
        .collect()
}

fn summer_day() -> NaiveDate {
    NaiveDate::from_ymd_opt(2027, 7, 1).unwrap()
}

#[test]
fn r1_r4_no_two_samples_are_in_each_others_way() {
    let placed = placed(summer_day());
    for (index, (room, turnaround, period)) in placed.iter().enumerate() {
        let occupied = Period::new(period.start(), period.end() + *turnaround).unwrap();
        for (other_room, other_turnaround, other) in &placed[index + 1..] {
            let other = Period::new(other.start(), other.end() + *other_turnaround).unwrap();
            assert!(
                room != other_room || !occupied.overlaps(&other),
                "{period:?} and {other:?}"
            );
        }
    }
}

#[test]
fn something_is_left_to_see_today_whenever_they_are_loaded() {
    let london = SiteCalendar::new(chrono_tz::Europe::London);
    let today = london.day(summer_day()).unwrap();
    let placed = placed(summer_day());
    for tick in london.ticks(today, TimeDelta::minutes(15)) {
        let ahead = placed
            .iter()
            .filter(|(.., period)| period.overlaps(&today) && period.end() > tick.at)
            .count();
        let evening = NaiveTime::from_hms_opt(20, 0, 0).unwrap();
        let least = if tick.local.time() < evening { 9 } else { 3 };
        assert!(ahead >= least, "{ahead} at {}", tick.label());
    }
}

#[test]
fn every_sample_can_be_read_and_fits_the_house() {
    let site_file = SiteFile::parse(SITE_FILE).unwrap();
    let day = day();
    for sale in &day.sale {
        let item = site_file
            .items
            .iter()
            .find(|item| item.name == sale.item)
            .unwrap();
        let asked: i32 = day
            .sale
            .iter()
            .filter(|other| other.item == sale.item)
            .map(|other| other.quantity)
            .sum();
        assert!(asked <= item.quantity, "{}", sale.item);
    }
    let bookings = day
        .booking
        .iter()
        .map(|booking| (booking.state, &booking.ttl));
    for (state, ttl) in bookings.chain(day.sale.iter().map(|sale| (sale.state, &sale.ttl))) {
        assert_eq!(length(ttl).is_some(), state == State::Held);
    }
    for booking in &day.booking {
        let room = site_file
            .rooms
            .iter()
            .find(|room| room.name == booking.room)
            .unwrap();
        assert!(
            booking.party.unwrap_or(1) <= room.capacity,
            "{}",
            booking.guest
        );
    }
}

#[test]
fn on_days_when_the_clocks_change_the_rest_is_still_there() {
    let rooms = rooms();
    let london = SiteCalendar::new(chrono_tz::Europe::London);
    for date in ["2027-03-28", "2027-10-31", "2027-03-27", "2027-10-30"] {
        let today: NaiveDate = date.parse().unwrap();
        let day = day();
        let placed = day.booking.iter().filter(|booking| {
            let room = rooms.iter().find(|room| room.name == booking.room).unwrap();
            booking.command(room, today, &london).is_some()
        });
        assert!(placed.count() + 2 >= day.booking.len(), "{date}");
    }
}
