//! The last snapshot of the site, indexed once when it arrives so that a frame costs what is visible and no more.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::domain::{
    ClaimState, Item, ItemId, Period, Room, RoomId, SlotHold, SlotHoldId, StockHold, StockHoldId,
};
use crate::store::Snapshot;
use crate::terminal::text::display;

/// A snapshot with its indexes.
#[derive(Debug, Clone)]
pub struct SnapshotIndex {
    snapshot: Arc<Snapshot>,
    rooms: HashMap<RoomId, usize>,
    room_names: Vec<String>,
    item_names: Vec<String>,
    claims: HashMap<SlotHoldId, usize>,
    guests: Vec<String>,
    lanes: HashMap<RoomId, Vec<usize>>,
    holds_of_item: HashMap<ItemId, Vec<usize>>,
}

impl SnapshotIndex {
    /// Indexes a snapshot.
    pub(crate) fn new(snapshot: Arc<Snapshot>) -> Self {
        let mut lanes: HashMap<RoomId, Vec<usize>> = HashMap::new();
        for (index, claim) in snapshot.claims.iter().enumerate() {
            lanes.entry(claim.room).or_default().push(index);
        }
        for lane in lanes.values_mut() {
            lane.sort_by_key(|index| snapshot.claims[*index].period.start());
        }
        let mut holds_of_item: HashMap<ItemId, Vec<usize>> = HashMap::new();
        for (index, hold) in snapshot.stock_claims.iter().enumerate() {
            if hold.state.is_active() {
                holds_of_item.entry(hold.item).or_default().push(index);
            }
        }
        for holds in holds_of_item.values_mut() {
            holds.sort_by_key(|index| {
                let hold = &snapshot.stock_claims[*index];
                (
                    hold.state != ClaimState::Held,
                    hold.expires_at,
                    std::cmp::Reverse(hold.changed_at),
                )
            });
        }
        Self {
            rooms: snapshot
                .rooms
                .iter()
                .enumerate()
                .map(|(index, room)| (room.id, index))
                .collect(),
            room_names: snapshot
                .rooms
                .iter()
                .map(|room| display(&room.name))
                .collect(),
            item_names: snapshot
                .items
                .iter()
                .map(|item| display(&item.name))
                .collect(),
            claims: snapshot
                .claims
                .iter()
                .enumerate()
                .map(|(index, claim)| (claim.id, index))
                .collect(),
            guests: snapshot
                .claims
                .iter()
                .map(|claim| display(&claim.guest))
                .collect(),
            lanes,
            holds_of_item,
            snapshot,
        }
    }

    /// The snapshot itself.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The rooms, in the site's order.
    pub(crate) fn rooms(&self) -> &[Room] {
        &self.snapshot.rooms
    }

    /// Where a room stands in that order.
    pub(crate) fn room_index(&self, room: RoomId) -> Option<usize> {
        self.rooms.get(&room).copied()
    }

    /// A room.
    pub(crate) fn room(&self, room: RoomId) -> Option<&Room> {
        self.room_index(room)
            .map(|index| &self.snapshot.rooms[index])
    }

    /// A room's name, made for the screen, by its place in the order.
    pub(crate) fn room_name(&self, index: usize) -> &str {
        &self.room_names[index]
    }

    /// An item's name, made for the screen, by its place in the order.
    pub(crate) fn item_name(&self, index: usize) -> &str {
        &self.item_names[index]
    }

    /// An active claim.
    pub(crate) fn claim(&self, claim: SlotHoldId) -> Option<&SlotHold> {
        self.claims
            .get(&claim)
            .map(|index| &self.snapshot.claims[*index])
    }

    /// Active claims of a room that share an instant with `[from, to)`, turnaround included, in order of time, each
    /// with the guest's name made for the screen.
    pub(crate) fn touching(
        &self,
        room: RoomId,
        from: DateTime<Utc>,
        to: DateTime<Utc>,
    ) -> impl Iterator<Item = (&SlotHold, &str)> {
        let lane: &[usize] = self.lanes.get(&room).map_or(&[], Vec::as_slice);
        let claims = &self.snapshot.claims;
        let first = lane.partition_point(|index| claims[*index].occupied_until <= from);
        lane[first..]
            .iter()
            .map(move |index| (&claims[*index], self.guests[*index].as_str()))
            .take_while(move |(claim, _)| claim.period.start() < to)
    }

    /// The active claim of a room at an instant, without its turnaround.
    pub(crate) fn claim_at(&self, room: RoomId, at: DateTime<Utc>) -> Option<&SlotHold> {
        let next = at + chrono::TimeDelta::microseconds(1);
        self.touching(room, at, next)
            .map(|(claim, _)| claim)
            .find(|claim| claim.period.contains(at))
    }

    /// The first active claim of a room in a period that a new claim, or one that moves there, would collide with: due
    /// ones don't count (R11).
    pub(crate) fn in_the_way(
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

    /// The items, in the site's order.
    pub(crate) fn items(&self) -> &[Item] {
        &self.snapshot.items
    }

    /// An item.
    pub(crate) fn item(&self, item: ItemId) -> Option<&Item> {
        self.snapshot.items.iter().find(|known| known.id == item)
    }

    /// Active claims on an item: held ones first, by deadline.
    pub(crate) fn holds_of(&self, item: ItemId) -> impl DoubleEndedIterator<Item = &StockHold> {
        let holds: &[usize] = self.holds_of_item.get(&item).map_or(&[], Vec::as_slice);
        holds
            .iter()
            .map(|index| &self.snapshot.stock_claims[*index])
    }

    /// A claim on stock.
    pub(crate) fn stock_claim(&self, hold: StockHoldId) -> Option<&StockHold> {
        self.snapshot
            .stock_claims
            .iter()
            .find(|known| known.id == hold)
    }

    /// Whether the snapshot says something about the whole period.
    pub(crate) fn covers(&self, period: &Period) -> bool {
        let window = &self.snapshot.window;
        window.start() <= period.start() && period.end() <= window.end()
    }
}

/// Claims as the database answered them, each kept until a snapshot is newer than its answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnsweredClaims {
    slots: Vec<(SlotHold, DateTime<Utc>)>,
    stock: Vec<(StockHold, DateTime<Utc>)>,
}

impl AnsweredClaims {
    /// A claim on a room, and when the database answered.
    pub(crate) fn add_slot(&mut self, claim: SlotHold, at: DateTime<Utc>) {
        self.slots.push((claim, at));
    }

    /// A claim on stock, and when the database answered.
    pub(crate) fn add_stock(&mut self, claim: StockHold, at: DateTime<Utc>) {
        self.stock.push((claim, at));
    }

    /// Whatever was answered before a snapshot was read is in the snapshot.
    pub(crate) fn forget_before(&mut self, read_at: DateTime<Utc>) {
        self.slots.retain(|(_, at)| *at >= read_at);
        self.stock.retain(|(_, at)| *at >= read_at);
    }

    /// The snapshot with these claims, where they are newer. The items' figures follow with the next snapshot.
    pub(crate) fn put_into(&self, snapshot: Arc<Snapshot>) -> Arc<Snapshot> {
        if self.slots.is_empty() && self.stock.is_empty() {
            return snapshot;
        }
        let mut snapshot = Arc::unwrap_or_clone(snapshot);
        for (claim, _) in &self.slots {
            with_slot(&mut snapshot, claim);
        }
        for (claim, _) in &self.stock {
            with_stock(&mut snapshot, claim);
        }
        Arc::new(snapshot)
    }
}

fn with_slot(snapshot: &mut Snapshot, claim: &SlotHold) {
    let known = snapshot
        .claims
        .iter()
        .position(|known| known.id == claim.id);
    match known {
        Some(index) if snapshot.claims[index].version > claim.version => {}
        Some(index) if claim.state.is_active() => snapshot.claims[index] = claim.clone(),
        Some(index) => {
            snapshot.claims.remove(index);
        }
        None if claim.state.is_active() => snapshot.claims.push(claim.clone()),
        None => {}
    }
}

fn with_stock(snapshot: &mut Snapshot, claim: &StockHold) {
    let known = snapshot
        .stock_claims
        .iter()
        .position(|known| known.id == claim.id);
    match known {
        Some(index) if snapshot.stock_claims[index].version > claim.version => {}
        Some(index) => snapshot.stock_claims[index] = claim.clone(),
        None => snapshot.stock_claims.push(claim.clone()),
    }
}
