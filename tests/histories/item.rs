//! An item, one call after the other: what rules R15 to R19 say of it.

use std::collections::BTreeMap;

use crate::checker::Model;
use crate::room::Standing;

/// A part of a call; the parts of one call happen at the same moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// That many were there and are held until then.
    Take {
        claim: i64,
        quantity: i64,
        deadline: i64,
    },
    /// It was held and was given back.
    Cancel {
        claim: i64,
    },
    /// It was held and is sold.
    Confirm {
        claim: i64,
    },
    /// It was held and is held until then.
    Renew {
        claim: i64,
        deadline: i64,
    },
    /// The total has changed to this.
    Count {
        change: i64,
        total: Option<i64>,
    },
    /// Refused: only so many were there.
    SoldOut {
        asked: i64,
        available: i64,
    },
    /// Refused: fewer would be left than are held and sold.
    BelowCommitted {
        total: i64,
        held: i64,
        sold: i64,
    },
    /// Refused for what the claim was.
    WasActive {
        claim: i64,
    },
    WasConfirmed {
        claim: i64,
    },
    WasCancelled {
        claim: i64,
    },
    WasExpired {
        claim: i64,
    },
    /// What stands in the tables when all is over: the total, what is available, and the claims.
    Rows {
        total: i64,
        available: i64,
        claims: Vec<(i64, String)>,
    },
}

/// The item's total, and its claims by number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Item {
    total: i64,
    claims: BTreeMap<i64, (i64, Standing)>,
}

impl Item {
    /// With so many units.
    pub fn with(total: i64) -> Self {
        Self {
            total,
            claims: BTreeMap::new(),
        }
    }

    fn sum(&self, counts: impl Fn(Standing) -> bool) -> i64 {
        self.claims
            .values()
            .filter(|(_, standing)| counts(*standing))
            .map(|(quantity, _)| quantity)
            .sum()
    }

    fn available(&self, at: i64) -> i64 {
        self.total - self.sum(|standing| standing.is_active(at))
    }

    fn held(&mut self, claim: i64, at: i64) -> Option<&mut Standing> {
        let (_, standing) = self.claims.get_mut(&claim)?;
        matches!(*standing, Standing::Held(deadline) if at < deadline).then_some(standing)
    }

    fn standing(&self, claim: i64) -> Option<Standing> {
        self.claims.get(&claim).map(|(_, standing)| *standing)
    }

    fn part(&mut self, part: &Part, at: i64) -> Option<()> {
        let right = match *part {
            Part::Take {
                claim,
                quantity,
                deadline,
            } => {
                let enough = quantity <= self.available(at);
                enough
                    && self
                        .claims
                        .insert(claim, (quantity, Standing::Held(deadline)))
                        .is_none()
            }
            Part::Cancel { claim } => {
                *self.held(claim, at)? = Standing::Cancelled;
                true
            }
            Part::Confirm { claim } => {
                *self.held(claim, at)? = Standing::Confirmed;
                true
            }
            Part::Renew { claim, deadline } => {
                let standing = self.held(claim, at)?;
                let longer = matches!(*standing, Standing::Held(before) if before <= deadline);
                *standing = Standing::Held(deadline);
                longer
            }
            Part::Count { change, total } => {
                self.total += change;
                self.available(at) >= 0 && total.is_none_or(|total| total == self.total)
            }
            Part::SoldOut { asked, available } => {
                asked > available && self.available(at) == available
            }
            Part::BelowCommitted { total, held, sold } => {
                let now_held = self
                    .sum(|standing| matches!(standing, Standing::Held(deadline) if at < deadline));
                let now_sold = self.sum(|standing| standing == Standing::Confirmed);
                (held, sold) == (now_held, now_sold) && total < held + sold
            }
            Part::WasActive { claim } => self.standing(claim)?.is_active(at),
            Part::WasConfirmed { claim } => self.standing(claim)? == Standing::Confirmed,
            Part::WasCancelled { claim } => self.standing(claim)? == Standing::Cancelled,
            Part::WasExpired { claim } => {
                matches!(self.standing(claim)?, Standing::Held(deadline) if deadline <= at)
            }
            Part::Rows {
                total,
                available,
                ref claims,
            } => {
                let expected = self.claims.iter().map(|(number, (_, standing))| {
                    let word = match *standing {
                        Standing::Held(deadline) if deadline <= at => "expired",
                        Standing::Held(_) => "held",
                        Standing::Confirmed => "confirmed",
                        Standing::Cancelled => "cancelled",
                    };
                    (*number, word)
                });
                expected.eq(claims.iter().map(|(number, word)| (*number, word.as_str())))
                    && (total, available) == (self.total, self.available(at))
            }
        };
        right.then_some(())
    }
}

impl Model for Item {
    type Call = Vec<Part>;

    fn step(&self, call: &Vec<Part>, at: i64) -> Option<Self> {
        let mut next = self.clone();
        for part in call {
            next.part(part, at)?;
        }
        Some(next)
    }

    fn deadlines(&self) -> Vec<i64> {
        self.claims
            .values()
            .filter_map(|(_, standing)| match standing {
                Standing::Held(deadline) => Some(*deadline),
                _ => None,
            })
            .collect()
    }
}
