//! What the database says, taken into the model: snapshots, and claims as answers show them.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::console::model::Model;
use crate::console::model::snapshot_index::SnapshotIndex;
use crate::domain::{SlotHold, StockHold};
use crate::store::Snapshot;

impl Model {
    /// Takes a new snapshot in, with what is known from answers that are younger.
    pub(crate) fn accept(&mut self, snapshot: Arc<Snapshot>) {
        self.answered.forget_before(snapshot.read_at);
        self.site = snapshot.site.clone();
        self.show(snapshot);
    }

    /// Takes a claim in as the database answered it: from now on it may be painted as such.
    pub(crate) fn accept_slot(&mut self, claim: SlotHold, now: DateTime<Utc>) {
        self.answered.add_slot(claim, now);
        self.show_again();
    }

    /// The same for a claim on stock.
    pub(crate) fn accept_stock(&mut self, claim: StockHold, now: DateTime<Utc>) {
        self.answered.add_stock(claim, now);
        self.show_again();
    }

    fn show_again(&mut self) {
        if let Some(indexed) = &self.indexed {
            let snapshot = Arc::new(indexed.snapshot().clone());
            self.show(snapshot);
        }
    }

    fn show(&mut self, snapshot: Arc<Snapshot>) {
        let room_before = self
            .cursor
            .room
            .and_then(|room| self.indexed.as_ref()?.room_index(room));
        self.indexed = Some(SnapshotIndex::new(self.answered.put_into(snapshot)));
        self.revalidate(room_before.unwrap_or(0));
    }
}
