//! A room, one call after the other: what rules R1, R9, R11, R13 and R14 say of it.

use std::collections::BTreeMap;

use crate::checker::Model;

/// Where a claim stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// Until this moment.
    Held(i64),
    Confirmed,
    Cancelled,
}

impl Standing {
    /// Whether it keeps others out at this moment.
    pub fn is_active(self, at: i64) -> bool {
        match self {
            Self::Held(deadline) => at < deadline,
            Self::Confirmed => true,
            Self::Cancelled => false,
        }
    }
}

/// A part of a call; the parts of one call happen at the same moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// It has the period from now on.
    Place {
        claim: i64,
        from: i64,
        to: i64,
        standing: Standing,
    },
    /// It was active and is here no longer: moved.
    Leave {
        claim: i64,
    },
    /// It was active and was cancelled.
    Cancel {
        claim: i64,
    },
    /// It was held and is confirmed.
    Confirm {
        claim: i64,
    },
    /// It was held and is held until then.
    Renew {
        claim: i64,
        deadline: i64,
    },
    /// Refused: this other claim has the period.
    Taken {
        from: i64,
        to: i64,
        except: Option<i64>,
        by: i64,
    },
    /// Refused for what the claim was: active, confirmed, cancelled, expired.
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
    /// What stands in the table when all is over.
    Rows(Vec<(i64, i64, String)>),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Claim {
    from: i64,
    to: i64,
    standing: Standing,
}

/// The room's claims by number.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Room(BTreeMap<i64, Claim>);

impl Room {
    fn first_conflict(&self, from: i64, to: i64, except: Option<i64>, at: i64) -> Option<i64> {
        self.0
            .iter()
            .filter(|(number, claim)| {
                Some(**number) != except
                    && claim.standing.is_active(at)
                    && claim.from < to
                    && from < claim.to
            })
            .min_by_key(|(_, claim)| claim.from)
            .map(|(number, _)| *number)
    }

    fn is_active(&self, claim: i64, at: i64) -> bool {
        self.0
            .get(&claim)
            .is_some_and(|claim| claim.standing.is_active(at))
    }

    fn held(&mut self, claim: i64, at: i64) -> Option<&mut Claim> {
        self.0
            .get_mut(&claim)
            .filter(|claim| matches!(claim.standing, Standing::Held(deadline) if at < deadline))
    }

    fn part(&mut self, part: &Part, at: i64) -> Option<()> {
        let right = match *part {
            Part::Place {
                claim,
                from,
                to,
                standing,
            } => {
                let free = self.first_conflict(from, to, Some(claim), at).is_none();
                free && self.0.insert(claim, Claim { from, to, standing }).is_none()
            }
            Part::Leave { claim } => self.is_active(claim, at) && self.0.remove(&claim).is_some(),
            Part::Cancel { claim } => {
                let active = self.is_active(claim, at);
                self.0.get_mut(&claim)?.standing = Standing::Cancelled;
                active
            }
            Part::Confirm { claim } => {
                self.held(claim, at)?.standing = Standing::Confirmed;
                true
            }
            Part::Renew { claim, deadline } => {
                let claim = self.held(claim, at)?;
                // R13: never shorter.
                let longer = claim.standing == Standing::Held(deadline)
                    || matches!(claim.standing, Standing::Held(before) if before < deadline);
                claim.standing = Standing::Held(deadline);
                longer
            }
            Part::Taken {
                from,
                to,
                except,
                by,
            } => self.first_conflict(from, to, except, at) == Some(by),
            Part::WasActive { claim } => self.is_active(claim, at),
            Part::WasConfirmed { claim } => self.0.get(&claim)?.standing == Standing::Confirmed,
            Part::WasCancelled { claim } => self.0.get(&claim)?.standing == Standing::Cancelled,
            Part::WasExpired { claim } => {
                matches!(self.0.get(&claim)?.standing, Standing::Held(deadline) if deadline <= at)
            }
            Part::Rows(ref rows) => {
                let expected = self.0.iter().map(|(number, claim)| {
                    let word = match claim.standing {
                        Standing::Held(deadline) if deadline <= at => "expired",
                        Standing::Held(_) => "held",
                        Standing::Confirmed => "confirmed",
                        Standing::Cancelled => "cancelled",
                    };
                    (*number, claim.from, word)
                });
                expected.eq(rows
                    .iter()
                    .map(|(number, from, word)| (*number, *from, word.as_str())))
            }
        };
        right.then_some(())
    }
}

impl Model for Room {
    type Call = Vec<Part>;

    fn step(&self, call: &Vec<Part>, at: i64) -> Option<Self> {
        let mut next = self.clone();
        for part in call {
            next.part(part, at)?;
        }
        Some(next)
    }

    fn deadlines(&self) -> Vec<i64> {
        self.0
            .values()
            .filter_map(|claim| match claim.standing {
                Standing::Held(deadline) => Some(deadline),
                _ => None,
            })
            .collect()
    }
}
