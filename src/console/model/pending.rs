//! Commands that were sent and not answered yet, and what each of them is about.

use crate::console::model::keymap::ActionName;
use crate::domain::{
    ClaimId, Command, GroupId, ItemId, Period, Request, RoomId, SlotHoldId, StockHoldId,
};

/// A command that was sent and not answered yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// The action that asked; it says what the answer means.
    pub action: ActionName,
    /// What was sent.
    pub request: Request,
    /// Whether its outcome is unknown and is being asked again (R24).
    pub checking: bool,
    /// Whether it must be sent again when the database is back (R24).
    pub ask_again: bool,
}

impl Pending {
    /// The period of a room that is asked for.
    pub(crate) fn place(&self) -> Option<(RoomId, Period)> {
        match self.request.command {
            Command::HoldSlot { room, period, .. } | Command::BlockSlot { room, period, .. } => {
                Some((room, period))
            }
            Command::MoveSlot {
                to_room: Some(room),
                from: Some(from),
                to: Some(to),
                ..
            } => Some((room, Period::new(from, to).ok()?)),
            _ => None,
        }
    }

    /// The item of which units are asked for.
    pub(crate) fn item(&self) -> Option<ItemId> {
        match self.request.command {
            Command::HoldStock { item, .. } => Some(item),
            _ => None,
        }
    }

    /// Whether it is about a claim on a room, or about the group that the claim belongs to.
    pub(crate) fn is_about_slot(&self, claim: SlotHoldId, group: Option<GroupId>) -> bool {
        match self.request.command.claim() {
            Some(ClaimId::Slot(hold)) => hold == claim,
            _ => self.is_about_group(group),
        }
    }

    /// The same for a claim on stock.
    pub(crate) fn is_about_stock(&self, claim: StockHoldId, group: Option<GroupId>) -> bool {
        match self.request.command.claim() {
            Some(ClaimId::Stock(hold)) => hold == claim,
            _ => self.is_about_group(group),
        }
    }

    fn is_about_group(&self, group: Option<GroupId>) -> bool {
        match self.request.command.claim() {
            Some(ClaimId::Group(asked)) => group == Some(asked),
            _ => false,
        }
    }
}
