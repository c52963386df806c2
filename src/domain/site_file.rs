//! A site as a file: what `keyrack site apply FILE.toml` reads (`assets/sample-house.toml` documents it).
//!
//! Text in, domain values out. Whoever reads the file and writes the database is elsewhere.

use std::collections::HashSet;
use std::ops::Range;

use chrono::{NaiveTime, TimeDelta};
use chrono_tz::Tz;
use serde::Deserialize;
use toml::Spanned;

use crate::domain::catalogue::{BookedBy, NewItem, NewRoom};
use crate::domain::night_times::NightTimes;
use crate::domain::text::{check_name, limits};
use crate::domain::{duration, mistake};

/// A site with everything that it has, as its file describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteFile {
    /// The site and its settings.
    pub site: SiteEntry,
    /// Its rooms, in the file's order.
    pub rooms: Vec<NewRoom>,
    /// Its items, with their opening quantities, in the file's order.
    pub items: Vec<NewItem>,
}

/// The site and its settings.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteEntry {
    /// Its name.
    pub name: String,
    /// Its IANA zone.
    pub time_zone: Tz,
    /// How long a hold lasts when nobody says.
    pub default_hold: TimeDelta,
    /// How long a hold may last at most.
    pub longest_hold: TimeDelta,
    /// How often a hold may be renewed (R13).
    pub renewals: i32,
    /// How far ahead a claim may end (R8).
    pub horizon: TimeDelta,
    /// Whether a refused desk is told the name of the guest who has the slot.
    pub conflict_shows_guest: bool,
}

impl SiteEntry {
    /// A site with the settings that hold when nobody says otherwise.
    pub(crate) fn new(name: String, time_zone: Tz) -> Self {
        Self {
            name,
            time_zone,
            default_hold: TimeDelta::minutes(10),
            longest_hold: TimeDelta::hours(24),
            renewals: 3,
            horizon: TimeDelta::days(730),
            conflict_shows_guest: true,
        }
    }
}

/// Why a text is no site, and in which line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct SiteFileError {
    /// Counted from one.
    pub line: usize,
    /// A sentence. May quote the file, so make it harmless before it is shown (R26).
    pub problem: String,
}

impl SiteFile {
    /// Reads a site; the first thing that is wrong with it is the error.
    pub fn parse(text: &str) -> Result<Self, SiteFileError> {
        let reader = Reader { text };
        let raw: RawSiteFile = toml::from_str(text).map_err(|error| {
            reader.error(
                error.span().unwrap_or_default(),
                mistake::in_words(error.message()),
            )
        })?;
        Ok(Self {
            site: reader.site(raw.site)?,
            rooms: reader.each(raw.room, Reader::room)?,
            items: reader.each(raw.item, Reader::item)?,
        })
    }

    /// Reads the site that is a part of a larger text, whose tables are those of a site file but for the site, which
    /// may be the usual one. Lines are counted in the whole text.
    pub(crate) fn part_of(
        text: &str,
        site: Option<RawSite>,
        rooms: Vec<RawRoom>,
        items: Vec<RawItem>,
        usual: SiteEntry,
    ) -> Result<Self, SiteFileError> {
        let reader = Reader { text };
        Ok(Self {
            site: site.map_or(Ok(usual), |site| reader.site(site))?,
            rooms: reader.each(rooms, Reader::room)?,
            items: reader.each(items, Reader::item)?,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSiteFile {
    site: RawSite,
    #[serde(default)]
    room: Vec<RawRoom>,
    #[serde(default)]
    item: Vec<RawItem>,
}

/// The table of a site, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawSite {
    name: Spanned<String>,
    time_zone: Spanned<String>,
    default_hold: Option<Spanned<String>>,
    longest_hold: Option<Spanned<String>>,
    renewals: Option<Spanned<i64>>,
    horizon: Option<Spanned<String>>,
    conflict_shows_guest: Option<bool>,
}

/// The table of a room, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawRoom {
    name: Spanned<String>,
    capacity: Option<Spanned<i64>>,
    booked_by: Option<Spanned<String>>,
    turnaround: Option<Spanned<String>>,
    #[serde(default)]
    features: Vec<Spanned<String>>,
    check_in: Option<Spanned<String>>,
    check_out: Option<Spanned<String>>,
}

/// The table of an item, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawItem {
    name: Spanned<String>,
    total: Spanned<i64>,
}

trait Named {
    fn name(&self) -> &Spanned<String>;
}

impl Named for RawRoom {
    fn name(&self) -> &Spanned<String> {
        &self.name
    }
}

impl Named for RawItem {
    fn name(&self) -> &Spanned<String> {
        &self.name
    }
}

/// Turns what was written into what it means, and remembers where it stood.
struct Reader<'text> {
    text: &'text str,
}

impl Reader<'_> {
    fn error(&self, span: Range<usize>, problem: String) -> SiteFileError {
        let before = self.text.get(..span.start).unwrap_or_default();
        SiteFileError {
            line: before.matches('\n').count() + 1,
            problem,
        }
    }

    fn site(&self, raw: RawSite) -> Result<SiteEntry, SiteFileError> {
        let time_zone = raw.time_zone.get_ref().parse().map_err(|_| {
            self.error(
                raw.time_zone.span(),
                format!(
                    "“{}” is not an IANA time zone; write it like Europe/London.",
                    raw.time_zone.get_ref()
                ),
            )
        })?;
        let defaults = SiteEntry::new(self.name(&raw.name)?, time_zone);
        let site = SiteEntry {
            default_hold: self.length(&raw.default_hold, defaults.default_hold)?,
            longest_hold: self.length(&raw.longest_hold, defaults.longest_hold)?,
            renewals: match &raw.renewals {
                Some(renewals) => self.count(renewals, 0)?,
                None => defaults.renewals,
            },
            horizon: self.length(&raw.horizon, defaults.horizon)?,
            conflict_shows_guest: raw
                .conflict_shows_guest
                .unwrap_or(defaults.conflict_shows_guest),
            ..defaults
        };
        for (length, written) in [
            (site.default_hold, &raw.default_hold),
            (site.longest_hold, &raw.longest_hold),
            (site.horizon, &raw.horizon),
        ] {
            if let (true, Some(written)) = (length <= TimeDelta::zero(), written) {
                return Err(self.error(written.span(), "This must be longer than nothing.".into()));
            }
        }
        if site.default_hold > site.longest_hold {
            let written = raw.default_hold.or(raw.longest_hold);
            return Err(self.error(
                written.map(|written| written.span()).unwrap_or_default(),
                format!(
                    "default_hold ({}) is longer than longest_hold ({}).",
                    duration::written(site.default_hold),
                    duration::written(site.longest_hold)
                ),
            ));
        }
        Ok(site)
    }

    /// Reads every entry of a kind; no two may have the same name.
    fn each<Raw: Named, Entry>(
        &self,
        raw: Vec<Raw>,
        read: impl Fn(&Self, Raw) -> Result<Entry, SiteFileError>,
    ) -> Result<Vec<Entry>, SiteFileError> {
        let mut names = HashSet::new();
        raw.into_iter()
            .map(|entry| {
                let name = entry.name();
                if !names.insert(name.get_ref().clone()) {
                    let problem = format!("“{}” is there twice.", name.get_ref());
                    return Err(self.error(name.span(), problem));
                }
                read(self, entry)
            })
            .collect()
    }

    fn room(&self, raw: RawRoom) -> Result<NewRoom, SiteFileError> {
        let booked_by = match &raw.booked_by {
            Some(word) => word
                .get_ref()
                .parse()
                .map_err(|error| self.error(word.span(), format!("{error}.")))?,
            None => BookedBy::Hour,
        };
        let defaults = NightTimes::default();
        let night_times = NightTimes {
            check_in: self.time(&raw.check_in, defaults.check_in)?,
            check_out: self.time(&raw.check_out, defaults.check_out)?,
        };
        if night_times.check_out > night_times.check_in {
            let written = raw.check_out.or(raw.check_in);
            return Err(self.error(
                written.map_or(raw.name.span(), |written| written.span()),
                "check_out is later than check_in, so that no guest could arrive on the day that another leaves.".into(),
            ));
        }
        let turnaround = self.length(&raw.turnaround, TimeDelta::zero())?;
        if turnaround >= TimeDelta::hours(24) {
            return Err(self.error(
                raw.turnaround
                    .map(|written| written.span())
                    .unwrap_or_default(),
                "A turnaround must be shorter than 24h.".into(),
            ));
        }
        Ok(NewRoom {
            name: self.name(&raw.name)?,
            capacity: match &raw.capacity {
                Some(capacity) => self.count(capacity, 1)?,
                None => 1,
            },
            booked_by,
            night_times,
            turnaround,
            features: raw
                .features
                .iter()
                .map(|feature| self.name(feature))
                .collect::<Result<_, _>>()?,
        })
    }

    fn item(&self, raw: RawItem) -> Result<NewItem, SiteFileError> {
        Ok(NewItem {
            name: self.name(&raw.name)?,
            quantity: self.count(&raw.total, 0)?,
        })
    }

    fn name(&self, written: &Spanned<String>) -> Result<String, SiteFileError> {
        let name = written.get_ref();
        let length = name.chars().count();
        if let Err(problem) = check_name(name) {
            Err(self.error(written.span(), problem.to_string()))
        } else if length > limits::NAME {
            let problem = format!(
                "This name has {length} characters and at most {} are stored.",
                limits::NAME
            );
            Err(self.error(written.span(), problem))
        } else {
            Ok(name.clone())
        }
    }

    fn count(&self, written: &Spanned<i64>, least: i32) -> Result<i32, SiteFileError> {
        i32::try_from(*written.get_ref())
            .ok()
            .filter(|count| *count >= least)
            .ok_or_else(|| {
                let problem = format!("This must be a number from {least} to {}.", i32::MAX);
                self.error(written.span(), problem)
            })
    }

    fn length(
        &self,
        written: &Option<Spanned<String>>,
        default: TimeDelta,
    ) -> Result<TimeDelta, SiteFileError> {
        let Some(written) = written else {
            return Ok(default);
        };
        duration::parse(written.get_ref())
            .map_err(|error| self.error(written.span(), format!("{error}.")))
    }

    fn time(
        &self,
        written: &Option<Spanned<String>>,
        default: NaiveTime,
    ) -> Result<NaiveTime, SiteFileError> {
        let Some(written) = written else {
            return Ok(default);
        };
        NaiveTime::parse_from_str(written.get_ref(), "%H:%M").map_err(|_| {
            let problem = format!(
                "“{}” is not a time of day; write it like 15:00.",
                written.get_ref()
            );
            self.error(written.span(), problem)
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const SITE: &str = "[site]\nname = \"Riverside House\"\ntime_zone = \"Europe/London\"\n";

    fn error(rest: &str) -> SiteFileError {
        SiteFile::parse(&format!("{SITE}{rest}")).unwrap_err()
    }

    #[test]
    fn the_smallest_house_has_the_usual_settings() {
        let site_file = SiteFile::parse(&format!(
            "{SITE}[[room]]\nname = \"Blue room\"\n[[item]]\nname = \"Breakfast\"\ntotal = 40\n"
        ))
        .unwrap();
        let expected = SiteEntry::new("Riverside House".into(), Tz::Europe__London);
        assert_eq!(site_file.site, expected);
        assert_eq!(site_file.rooms, [NewRoom::named("Blue room")]);
        let breakfast = NewItem {
            name: "Breakfast".into(),
            quantity: 40,
        };
        assert_eq!(site_file.items, [breakfast]);
    }

    #[test]
    fn the_documented_sample_is_a_house_and_states_the_defaults() {
        let site_file = SiteFile::parse(include_str!("../../assets/sample-house.toml")).unwrap();
        let defaults = SiteEntry::new("Riverside House".into(), Tz::Europe__London);
        assert_eq!(site_file.site, defaults);
        let by_night = |room: &&NewRoom| room.booked_by == BookedBy::Night;
        assert_eq!(site_file.rooms.iter().filter(by_night).count(), 1);
        assert_eq!((site_file.rooms.len(), site_file.items.len()), (10, 6));
    }

    #[test]
    fn every_setting_is_read() {
        let site_file = SiteFile::parse(
            "[site]\nname = \"X\"\ntime_zone = \"Asia/Tokyo\"\ndefault_hold = \"5m\"\nlongest_hold = \"2h\"\n\
             renewals = 0\nhorizon = \"400d\"\nconflict_shows_guest = false\n\
             [[room]]\nname = \"Loft\"\ncapacity = 2\nbooked_by = \"night\"\ncheck_in = \"16:00\"\n\
             check_out = \"10:30\"\nturnaround = \"15m\"\nfeatures = [\"view\"]\n",
        )
        .unwrap();
        assert_eq!(site_file.site.default_hold, TimeDelta::minutes(5));
        assert_eq!(site_file.site.longest_hold, TimeDelta::hours(2));
        assert_eq!(site_file.site.renewals, 0);
        assert_eq!(site_file.site.horizon, TimeDelta::days(400));
        assert!(!site_file.site.conflict_shows_guest);
        let room = &site_file.rooms[0];
        assert_eq!((room.capacity, room.booked_by), (2, BookedBy::Night));
        assert_eq!(room.night_times.check_in.to_string(), "16:00:00");
        assert_eq!(room.night_times.check_out.to_string(), "10:30:00");
        assert_eq!(room.turnaround, TimeDelta::minutes(15));
        assert_eq!(room.features, ["view"]);
    }

    #[test]
    fn an_unknown_key_is_an_error_with_its_line() {
        let error = error("\n[[room]]\nname = \"Blue room\"\nwindows = 3\n");
        assert_eq!(error.line, 7);
        assert!(error.problem.contains("windows"), "{error}");
    }

    #[test]
    fn a_mistake_is_an_error_with_its_line() {
        for (rest, line, word) in [
            (
                "[[room]]\nname = \"A\"\n[[room]]\nname = \"A\"\n",
                7,
                "twice",
            ),
            (
                "[[item]]\nname = \"A\"\ntotal = 1\n[[item]]\nname = \"A\"\ntotal = 1\n",
                8,
                "twice",
            ),
            ("[[room]]\nname = \"A\"\ncapacity = 0\n", 6, "from 1"),
            (
                "[[room]]\nname = \"A\"\ncapacity = 9999999999\n",
                6,
                "from 1",
            ),
            ("[[item]]\nname = \"A\"\ntotal = -1\n", 6, "from 0"),
            ("[[room]]\nname = \"A\"\nbooked_by = \"week\"\n", 6, "week"),
            ("[[room]]\nname = \"A\"\nturnaround = \"soon\"\n", 6, "soon"),
            ("[[room]]\nname = \"A\"\nturnaround = \"24h\"\n", 6, "24h"),
            ("[[room]]\nname = \"A\"\ncheck_in = \"3pm\"\n", 6, "3pm"),
            ("[[room]]\nname = \"A\"\ncheck_in = \"10:00\"\n", 6, "later"),
            ("[[room]]\nname = \" \"\n", 5, "empty"),
            ("default_hold = \"25h\"\n", 4, "longest_hold"),
            ("default_hold = \"0s\"\n", 4, "longer than nothing"),
            ("[[room]]\ncapacity = 3\n", 4, "name"),
            ("[[room]\n", 4, ""),
        ] {
            let error = error(rest);
            assert_eq!(error.line, line, "{rest}: {error}");
            assert!(error.problem.contains(word), "{rest}: {error}");
        }
        let long = "x".repeat(81);
        assert_eq!(error(&format!("[[room]]\nname = \"{long}\"\n")).line, 5);
        let zone = "[site]\nname = \"X\"\ntime_zone = \"Mars/Olympus\"\n";
        assert_eq!(SiteFile::parse(zone).unwrap_err().line, 3);
        assert_eq!(SiteFile::parse("").unwrap_err().line, 1);
    }
}
