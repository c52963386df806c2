//! What happened.

use crate::domain::{Event, RequestId, SlotHoldId, StockHoldId};
use crate::store::connection::error::StoreError;
use crate::store::handle::SiteStore;
use crate::store::read::decode::{List, PAGE, add_page, read_list};
use crate::store::read::rows::EventRow;

/// Whose history is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryOf {
    /// Everything of the site.
    Site,
    /// One claim on a room.
    SlotHold(SlotHoldId),
    /// One claim on stock.
    StockHold(StockHoldId),
    /// One request.
    Request(RequestId),
}

impl SiteStore {
    /// What happened, oldest first; the life of one claim in the order of its versions.
    ///
    /// # Errors
    /// As [`SiteStore::slot_hold`].
    pub async fn history(&self, of: HistoryOf) -> Result<Vec<Event>, StoreError> {
        let (slot, stock, request) = match of {
            HistoryOf::Site => (None, None, None),
            HistoryOf::SlotHold(hold) => (Some(hold.0), None, None),
            HistoryOf::StockHold(hold) => (None, Some(hold.0), None),
            HistoryOf::Request(request) => (None, None, Some(request.0)),
        };
        let life_of_a_claim = slot.or(stock).is_some();
        let mut found: Vec<EventRow> = Vec::new();
        loop {
            let after = found.last().map_or(0, |event| event.place(life_of_a_claim));
            let page = self
                .store
                .ask_value(|| {
                    sqlx::query_scalar!(
                        r#"SELECT list_events($1, $2, $3, $4, $5, $6) AS "page: List""#,
                        self.site.id.0,
                        slot,
                        stock,
                        request,
                        after,
                        PAGE
                    )
                })
                .await?;
            if !add_page(&mut found, read_list(page, "events")?) {
                return found.into_iter().map(Event::try_from).collect();
            }
        }
    }
}
