//! The strategies: what each is called, what it does in plain words, whether it can be trusted, and its SQL.

/// What a strategy is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A room by the hour: active claims must not overlap.
    Slots,
    /// An item of which there are few: no more may be claimed than there are.
    Stock,
}

/// A way to keep two from selling the same, right or wrong.
#[derive(Debug)]
pub struct Strategy {
    /// Its name, in kebab-case.
    pub name: &'static str,
    /// What it does and what comes of it, in a sentence or two.
    pub about: &'static str,
    /// What it is about.
    pub subject: Subject,
    /// Whether it keeps the rule, however many ask at once. Known by reasoning; the lab measures it.
    pub sound: bool,
    /// The level that its transactions run under.
    isolation: Isolation,
    script: &'static str,
}

#[derive(Debug, Clone, Copy)]
enum Isolation {
    ReadCommitted,
    Serializable,
}

impl Strategy {
    /// As PostgreSQL's settings write it.
    pub(super) fn isolation(&self) -> &'static str {
        match self.isolation {
            Isolation::ReadCommitted => "read committed",
            Isolation::Serializable => "serializable",
        }
    }

    /// What sets it up in an empty schema.
    pub(super) fn scripts(&self) -> [&'static str; 3] {
        let tables = match self.subject {
            Subject::Slots => include_str!("slots.sql"),
            Subject::Stock => include_str!("stock.sql"),
        };
        [include_str!("think.sql"), tables, self.script]
    }
}

/// The strategy of that name.
pub fn strategy(name: &str) -> Option<&'static Strategy> {
    STRATEGIES.iter().find(|strategy| strategy.name == name)
}

/// Every strategy, in the order in which a story would tell them.
pub static STRATEGIES: &[Strategy] = &[
    Strategy {
        name: "check-then-insert",
        about: "Looks whether the room is free, then writes. Two who look before either has committed both see it \
                free, and both write.",
        subject: Subject::Slots,
        sound: false,
        isolation: Isolation::ReadCommitted,
        script: include_str!("slots/check_then_insert.sql"),
    },
    Strategy {
        name: "unique-start-time",
        about: "Lets no two claims start at the same moment. Eleven to twelve inside ten to one starts at another \
                moment, and is booked too: no race is needed.",
        subject: Subject::Slots,
        sound: false,
        isolation: Isolation::ReadCommitted,
        script: include_str!("slots/unique_start_time.sql"),
    },
    Strategy {
        name: "trigger-without-lock",
        about: "Looks in a trigger, as part of the insert. It sees no more there: the other's claim is not committed \
                yet, and both stand.",
        subject: Subject::Slots,
        sound: false,
        isolation: Isolation::ReadCommitted,
        script: include_str!("slots/trigger_without_lock.sql"),
    },
    Strategy {
        name: "trigger-with-lock",
        about: "A trigger that locks the room's row before it looks. Right, as long as the trigger fires for every \
                writer and every way of writing.",
        subject: Subject::Slots,
        sound: true,
        isolation: Isolation::ReadCommitted,
        script: include_str!("slots/trigger_with_lock.sql"),
    },
    Strategy {
        name: "serializable-retry",
        about: "The text of check-then-insert under SERIALIZABLE: of two that would not have happened one after the \
                other, one is rolled back and asks again. Right only if every writer does it and retries.",
        subject: Subject::Slots,
        sound: true,
        isolation: Isolation::Serializable,
        script: include_str!("slots/check_then_insert.sql"),
    },
    Strategy {
        name: "advisory-lock",
        about: "Takes a lock on the room's number, then looks, then writes. Right only among those who take the lock; \
                the table knows nothing of it.",
        subject: Subject::Slots,
        sound: true,
        isolation: Isolation::ReadCommitted,
        script: include_str!("slots/advisory_lock.sql"),
    },
    Strategy {
        name: "row-lock-then-check",
        about: "Locks the room's row, then looks, then writes. Right only among those who lock; one who forgets it \
                books twice.",
        subject: Subject::Slots,
        sound: true,
        isolation: Isolation::ReadCommitted,
        script: include_str!("slots/row_lock_then_check.sql"),
    },
    Strategy {
        name: "row-per-slot",
        about: "Writes a row for every hour of a claim, and each hour is unique in its room. Right for whole hours or \
                nights, with as many rows; a quarter past is not bookable.",
        subject: Subject::Slots,
        sound: true,
        isolation: Isolation::ReadCommitted,
        script: include_str!("slots/row_per_slot.sql"),
    },
    Strategy {
        name: "exclusion-alone",
        about: "An exclusion constraint refuses overlaps, whoever writes. Right; but two who insert at once wait for \
                each other, until the server notices the deadlock and ends one.",
        subject: Subject::Slots,
        sound: true,
        isolation: Isolation::ReadCommitted,
        script: include_str!("slots/exclusion_alone.sql"),
    },
    Strategy {
        name: "exclusion-behind-lock",
        about: "Locks the room's row, looks, writes, and the exclusion constraint stands behind it, against whoever \
                does not lock. Keyrack's own way.",
        subject: Subject::Slots,
        sound: true,
        isolation: Isolation::ReadCommitted,
        script: include_str!("slots/exclusion_behind_lock.sql"),
    },
    Strategy {
        name: "read-then-write",
        about: "Reads the counter, works out the new one, and writes it. Two who read the same write the same: two are \
                sold, one is counted. A CHECK against less than nothing does not see it.",
        subject: Subject::Stock,
        sound: false,
        isolation: Isolation::ReadCommitted,
        script: include_str!("stock/read_then_write.sql"),
    },
    Strategy {
        name: "conditional-decrement",
        about: "Takes the quantity off where there is enough, in one statement. Right, and nobody holds a lock while \
                thinking. Keyrack does this, behind the item's lock, because it first expires what is due.",
        subject: Subject::Stock,
        sound: true,
        isolation: Isolation::ReadCommitted,
        script: include_str!("stock/conditional_decrement.sql"),
    },
    Strategy {
        name: "optimistic-version",
        about: "Reads the counter with its version, and writes only if the version is still the same; if not, it starts \
                again. Right; the more ask at once, the more of the work is done in vain.",
        subject: Subject::Stock,
        sound: true,
        isolation: Isolation::ReadCommitted,
        script: include_str!("stock/optimistic_version.sql"),
    },
    Strategy {
        name: "row-lock-then-write",
        about: "Locks the item's row, then reads, then writes. Right only among those who lock; all others wait while \
                one thinks.",
        subject: Subject::Stock,
        sound: true,
        isolation: Isolation::ReadCommitted,
        script: include_str!("stock/row_lock_then_write.sql"),
    },
    Strategy {
        name: "skip-locked-units",
        about: "A row for every unit; each takes units that nobody else has locked, and nobody waits. Right; but it may \
                say sold out while somebody only looks at the last one and then lets go.",
        subject: Subject::Stock,
        sound: true,
        isolation: Isolation::ReadCommitted,
        script: include_str!("stock/skip_locked_units.sql"),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kebab_case_and_told_apart() {
        for (index, strategy) in STRATEGIES.iter().enumerate() {
            assert!(
                strategy
                    .name
                    .chars()
                    .all(|sign| sign.is_ascii_lowercase() || sign == '-'),
                "{}",
                strategy.name
            );
            assert!(strategy.about.ends_with('.'), "{}", strategy.name);
            assert!(
                STRATEGIES[..index]
                    .iter()
                    .all(|other| other.name != strategy.name),
                "{}",
                strategy.name
            );
        }
    }
}
