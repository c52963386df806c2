//! What the clients of a round want: drawn from a seed, so that every strategy meets the same race.

use chrono::{DateTime, TimeDelta, Utc};
use fastrand::Rng;

use crate::domain::Period;
use crate::store::lab::Wish;

/// The hours of a day that everybody wants; a claim has one to three of them.
const HOT_HOURS: i64 = 6;
const LONGEST: i64 = 3;

/// Ten o'clock on a day for each round, from 2031 on; the days before are for rehearsals.
fn hour(day: i64, hour: i64) -> DateTime<Utc> {
    // 2031-01-01T10:00:00Z.
    const FIRST: i64 = 1_925_028_000;
    DateTime::from_timestamp(FIRST, 0).unwrap_or_default()
        + TimeDelta::days(day)
        + TimeDelta::hours(hour)
}

fn period(day: i64, from: i64, hours: i64) -> Period {
    Period::new(hour(day, from), hour(day, from + hours))
        .unwrap_or_else(|error| unreachable!("a period of one to three hours: {error}"))
}

/// A period in the hot hours of a day.
pub(super) fn booking(day: i64, rng: &mut Rng) -> Wish {
    let hours = rng.i64(1..=LONGEST);
    Wish::Book(period(day, rng.i64(0..=HOT_HOURS - hours), hours))
}

/// A period that nobody else will want.
pub(super) fn quiet_booking() -> Wish {
    Wish::Book(period(-1, 0, 1))
}

/// An item, as it is when a round begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shelf {
    /// How many units there are.
    pub units: i32,
    /// How many of them are taken, one by a claim.
    pub taken: i32,
}

impl Shelf {
    /// A quarter of the clients give a unit back, and the others want one or two of what is there: enough for a third of
    /// them at most.
    pub(super) fn for_clients(clients: u16) -> Self {
        let givers = clients / 4;
        let free = ((clients - givers) / 3).max(1);
        Self {
            units: i32::from(givers + free),
            taken: i32::from(givers),
        }
    }

    /// What each client wants of the item: those that there is a claim for give it back. Who does is drawn too.
    pub(super) fn wishes(
        self,
        item: i64,
        claims: &[i64],
        clients: u16,
        rng: &mut Rng,
    ) -> Vec<Wish> {
        let givers = claims.iter().map(|claim| Wish::GiveBack { claim: *claim });
        let takers = (claims.len()..usize::from(clients)).map(|_| Wish::Take { item, quantity: 1 });
        let mut wishes: Vec<Wish> = givers.chain(takers).collect();
        let most = (self.units - self.taken).min(2);
        for wish in &mut wishes {
            if let Wish::Take { quantity, .. } = wish {
                *quantity = rng.i32(1..=most);
            }
        }
        rng.shuffle(&mut wishes);
        wishes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_race() {
        let race = |seed| {
            let mut rng = Rng::with_seed(seed);
            let shelf = Shelf::for_clients(8);
            let mut wishes: Vec<Wish> = (0..20).map(|day| booking(day, &mut rng)).collect();
            wishes.extend(shelf.wishes(1, &[5, 6], 8, &mut rng));
            wishes
        };
        assert_eq!(race(1), race(1));
        assert_ne!(race(1), race(2));
    }

    #[test]
    fn bookings_overlap_in_every_way() {
        let mut rng = Rng::with_seed(1);
        let periods: Vec<Period> = (0..200)
            .filter_map(|_| match booking(0, &mut rng) {
                Wish::Book(period) => Some(period),
                _ => None,
            })
            .collect();
        let pairs = || {
            periods
                .iter()
                .flat_map(|one| periods.iter().map(move |other| (one, other)))
        };
        assert!(pairs().any(|(one, other)| one.start() < other.start() && other.end() < one.end()));
        assert!(pairs().any(|(one, other)| one.start() < other.start()
            && other.start() < one.end()
            && one.end() < other.end()));
        assert!(pairs().any(|(one, other)| one.end() == other.start()));
        assert!(
            periods
                .iter()
                .all(|period| hour(0, 0) <= period.start() && period.end() <= hour(0, HOT_HOURS))
        );
    }

    #[test]
    fn there_is_always_less_than_is_wanted() {
        for clients in 2..100 {
            let shelf = Shelf::for_clients(clients);
            let claims: Vec<i64> = (0..i64::from(shelf.taken)).collect();
            let wishes = shelf.wishes(1, &claims, clients, &mut Rng::with_seed(7));
            assert_eq!(wishes.len(), usize::from(clients));
            let wanted: i32 = wishes
                .iter()
                .map(|wish| match wish {
                    Wish::Take { quantity, .. } => *quantity,
                    _ => 0,
                })
                .sum();
            assert!(wanted > shelf.units - shelf.taken, "{clients} clients");
        }
    }
}
