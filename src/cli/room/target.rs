//! Where a claim is moved to, from what was typed: in the way of the room that it moves to, and the rest as the claim is.

use crate::cli::arguments::ClaimArguments;
use crate::cli::failure::Failure;
use crate::cli::lookup;
use crate::domain::{BookedBy, Command, Room, SiteCalendar, SlotHold, SlotHoldId};
use crate::store::SiteStore;

/// What was typed; something was.
pub(crate) struct Target {
    pub(crate) to_room: Option<String>,
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
}

impl Target {
    /// The command that moves a claim there. It names only what changes, so that asked again it is the same (R21).
    pub(crate) async fn command(
        self,
        site_store: &SiteStore,
        arguments: ClaimArguments,
    ) -> Result<Command, Failure> {
        let found = lookup::slot_hold(site_store, SlotHoldId(arguments.hold)).await?;
        let name = match &self.to_room {
            Some(name) => name.clone(),
            None => format!("#{}", found.room),
        };
        let room = lookup::room(site_store, &name).await?;
        let [from, to] = self.typed(&found, &room, &site_store.site().calendar);
        let period = lookup::period(site_store, &room, &from, &to).await?;
        let changed = |typed: bool, new, old| (typed || new != old).then_some(new);
        Ok(Command::MoveSlot {
            hold: found.id,
            expect_version: arguments.expect_version(),
            to_room: self.to_room.is_some().then_some(room.id),
            from: changed(self.from.is_some(), period.start(), found.period.start()),
            to: changed(self.to.is_some(), period.end(), found.period.end()),
        })
    }

    /// The start and the end, the claim's own in place of what was not typed: dates only from nights to nights.
    fn typed(&self, found: &SlotHold, room: &Room, calendar: &SiteCalendar) -> [String; 2] {
        let nights = room.booked_by == BookedBy::Night && found.nights.is_some();
        let kept = |instant| {
            if nights {
                calendar.date(instant).to_string()
            } else {
                calendar.rfc3339(instant)
            }
        };
        [
            self.from
                .clone()
                .unwrap_or_else(|| kept(found.period.start())),
            self.to.clone().unwrap_or_else(|| kept(found.period.end())),
        ]
    }
}
