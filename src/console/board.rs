//! The last picture of the house, indexed once when it arrives so that a frame costs what is visible and no more.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::domain::{
    Item, ItemId, Period, Room, RoomId, SlotHold, SlotHoldId, StockHold, StockHoldId,
};
use crate::store::Picture;

use super::text::display;

/// A picture with its indexes.
#[derive(Debug, Clone)]
pub struct Board {
    picture: Arc<Picture>,
    rooms: HashMap<RoomId, usize>,
    room_names: Vec<String>,
    item_names: Vec<String>,
    claims: HashMap<SlotHoldId, usize>,
    guests: Vec<String>,
    lanes: HashMap<RoomId, Vec<usize>>,
    holds_of_item: HashMap<ItemId, Vec<usize>>,
}

impl Board {
    /// Indexes a picture.
    pub fn new(picture: Arc<Picture>) -> Self {
        let mut lanes: HashMap<RoomId, Vec<usize>> = HashMap::new();
        for (index, claim) in picture.claims.iter().enumerate() {
            lanes.entry(claim.room).or_default().push(index);
        }
        for lane in lanes.values_mut() {
            lane.sort_by_key(|index| picture.claims[*index].period.start());
        }
        let mut holds_of_item: HashMap<ItemId, Vec<usize>> = HashMap::new();
        for (index, hold) in picture.stock_claims.iter().enumerate() {
            if hold.state.is_active() {
                holds_of_item.entry(hold.item).or_default().push(index);
            }
        }
        for holds in holds_of_item.values_mut() {
            holds.sort_by_key(|index| {
                let hold = &picture.stock_claims[*index];
                (
                    hold.state.word() != "held",
                    hold.expires_at,
                    std::cmp::Reverse(hold.changed_at),
                )
            });
        }
        Self {
            rooms: picture
                .rooms
                .iter()
                .enumerate()
                .map(|(index, room)| (room.id, index))
                .collect(),
            room_names: picture
                .rooms
                .iter()
                .map(|room| display(&room.name))
                .collect(),
            item_names: picture
                .items
                .iter()
                .map(|item| display(&item.name))
                .collect(),
            claims: picture
                .claims
                .iter()
                .enumerate()
                .map(|(index, claim)| (claim.id, index))
                .collect(),
            guests: picture
                .claims
                .iter()
                .map(|claim| display(&claim.guest))
                .collect(),
            lanes,
            holds_of_item,
            picture,
        }
    }

    /// The picture itself.
    pub fn picture(&self) -> &Picture {
        &self.picture
    }

    /// The rooms, in the house's order.
    pub fn rooms(&self) -> &[Room] {
        &self.picture.rooms
    }

    /// Where a room stands in that order.
    pub fn room_index(&self, room: RoomId) -> Option<usize> {
        self.rooms.get(&room).copied()
    }

    /// A room.
    pub fn room(&self, room: RoomId) -> Option<&Room> {
        self.room_index(room)
            .map(|index| &self.picture.rooms[index])
    }

    /// A room's name, made for the screen, by its place in the order.
    pub fn room_name(&self, index: usize) -> &str {
        &self.room_names[index]
    }

    /// An item's name, made for the screen, by its place in the order.
    pub fn item_name(&self, index: usize) -> &str {
        &self.item_names[index]
    }

    /// An active claim.
    pub fn claim(&self, claim: SlotHoldId) -> Option<&SlotHold> {
        self.claims
            .get(&claim)
            .map(|index| &self.picture.claims[*index])
    }

    /// Active claims of a room that share an instant with `[from, to)`, turnaround included, in order of time, each
    /// with the guest's name made for the screen.
    pub fn touching(
        &self,
        room: RoomId,
        from: DateTime<Utc>,
        to: DateTime<Utc>,
    ) -> impl Iterator<Item = (&SlotHold, &str)> {
        let lane: &[usize] = self.lanes.get(&room).map_or(&[], Vec::as_slice);
        let claims = &self.picture.claims;
        let first = lane.partition_point(|index| claims[*index].occupied_until <= from);
        lane[first..]
            .iter()
            .map(move |index| (&claims[*index], self.guests[*index].as_str()))
            .take_while(move |(claim, _)| claim.period.start() < to)
    }

    /// The active claim of a room at an instant, without its turnaround.
    pub fn claim_at(&self, room: RoomId, at: DateTime<Utc>) -> Option<&SlotHold> {
        let next = at + chrono::TimeDelta::microseconds(1);
        self.touching(room, at, next)
            .map(|(claim, _)| claim)
            .find(|claim| claim.period.contains(at))
    }

    /// The first active claim of a room in a period that a new claim, or one that moves there, would collide with: due
    /// ones don't count (R11).
    pub fn in_the_way(
        &self,
        room: RoomId,
        period: &Period,
        now: DateTime<Utc>,
        moved: Option<SlotHoldId>,
    ) -> Option<&SlotHold> {
        self.touching(room, period.start(), period.end())
            .map(|(claim, _)| claim)
            .find(|claim| !claim.is_due(now) && Some(claim.id) != moved)
    }

    /// The items, in the house's order.
    pub fn items(&self) -> &[Item] {
        &self.picture.items
    }

    /// An item.
    pub fn item(&self, item: ItemId) -> Option<&Item> {
        self.picture.items.iter().find(|known| known.id == item)
    }

    /// Active claims on an item: held ones first, by deadline.
    pub fn holds_of(&self, item: ItemId) -> impl DoubleEndedIterator<Item = &StockHold> {
        let holds: &[usize] = self.holds_of_item.get(&item).map_or(&[], Vec::as_slice);
        holds.iter().map(|index| &self.picture.stock_claims[*index])
    }

    /// A claim on stock.
    pub fn stock_claim(&self, hold: StockHoldId) -> Option<&StockHold> {
        self.picture
            .stock_claims
            .iter()
            .find(|known| known.id == hold)
    }

    /// Whether the picture says something about the whole period.
    pub fn covers(&self, period: &Period) -> bool {
        let window = &self.picture.window;
        window.start() <= period.start() && period.end() <= window.end()
    }
}

/// The picture with a claim as the database answered it, if the picture is older than the answer.
pub fn with_slot(picture: &mut Picture, claim: &SlotHold) {
    let known = picture.claims.iter().position(|known| known.id == claim.id);
    match known {
        Some(index) if picture.claims[index].version > claim.version => {}
        Some(index) if claim.state.is_active() => picture.claims[index] = claim.clone(),
        Some(index) => {
            picture.claims.remove(index);
        }
        None if claim.state.is_active() => picture.claims.push(claim.clone()),
        None => {}
    }
}

/// The same for a claim on stock. The item's figures follow with the next picture.
pub fn with_stock(picture: &mut Picture, claim: &StockHold) {
    let known = picture
        .stock_claims
        .iter()
        .position(|known| known.id == claim.id);
    match known {
        Some(index) if picture.stock_claims[index].version > claim.version => {}
        Some(index) => picture.stock_claims[index] = claim.clone(),
        None => picture.stock_claims.push(claim.clone()),
    }
}
