//! What a new picture tells about claims that are gone: a person who looks at one, or made it, learns what became of it.

use crate::domain::{ClaimState, Event, EventKind, SlotHold, Subject};
use crate::store::Picture;

use super::model::{Model, Tone};
use super::selection::StockCursor;

/// The claim that was under the cursor until it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Departed {
    /// As it was last seen.
    pub claim: SlotHold,
    /// How it ended.
    pub state: ClaimState,
    /// When, by the house's clocks.
    pub at: String,
}

impl Model {
    /// Compares a new picture with the one before.
    pub(super) fn read_news(&mut self, picture: &Picture) {
        let Some(board) = &self.board else { return };
        let newest = board.picture().events.first().map_or(0, |event| event.id);
        let news = picture.events.iter().take_while(|event| event.id > newest);
        let ends = news.filter_map(|event| Some((event, ended(event)?)));
        for (event, state) in ends.collect::<Vec<_>>().into_iter().rev() {
            match event.subject {
                Subject::SlotHold(..) => self.slot_ended(event, state),
                Subject::StockHold(..) => self.stock_ended(event, state),
                Subject::Room(_) | Subject::Item(_) | Subject::House => {}
            }
        }
    }

    fn slot_ended(&mut self, event: &Event, state: ClaimState) {
        let Subject::SlotHold(id, _) = event.subject else {
            return;
        };
        self.carried.take_if(|carried| carried.claim.id == id);
        let Some(claim) = self
            .board
            .as_ref()
            .and_then(|board| board.claim(id))
            .cloned()
        else {
            return;
        };
        let calendar = self.calendar();
        let looking = self.cursor.on == Some(id);
        let what = format!("{} {}", claim.room_name, calendar.span(&claim.period));
        self.tell_end(event, state, looking, claim.desk == self.desk, &what);
        if looking {
            let at = calendar.clock_time(event.at);
            self.departed = Some(Departed { claim, state, at });
        }
    }

    fn stock_ended(&mut self, event: &Event, state: ClaimState) {
        let Subject::StockHold(id, item) = event.subject else {
            return;
        };
        let Some(claim) = self
            .board
            .as_ref()
            .and_then(|board| board.stock_claim(id))
            .cloned()
        else {
            return;
        };
        let looking = self.stock_cursor == Some(StockCursor::Claim(id, item));
        let what = format!("{} of {}", claim.quantity, claim.item_name);
        self.tell_end(event, state, looking, claim.desk == self.desk, &what);
    }

    fn tell_end(
        &mut self,
        event: &Event,
        state: ClaimState,
        looking: bool,
        mine: bool,
        what: &str,
    ) {
        let guest = if event.guest.is_empty() {
            String::new()
        } else {
            format!(", {}", event.guest)
        };
        let reason = if event.reason.is_empty() {
            String::new()
        } else {
            format!(" ({})", event.reason)
        };
        if state == ClaimState::Expired && (looking || mine) {
            self.say(
                Tone::Refused,
                &format!("Expired: {what}{guest}. It is free again."),
            );
        } else if looking && event.desk != self.desk {
            let desk = &event.desk;
            self.say(
                Tone::Refused,
                &format!("Given back by desk {desk}: {what}{guest}{reason}."),
            );
        }
    }
}

fn ended(event: &Event) -> Option<ClaimState> {
    match event.kind {
        EventKind::Expired => Some(ClaimState::Expired),
        EventKind::Cancelled => Some(ClaimState::Cancelled),
        _ => None,
    }
}
