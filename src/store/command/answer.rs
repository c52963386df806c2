//! What the answer of a command means.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::{
    Answer, Claim, FailedLine, FileChange, Group, Item, Refusal, RefusalAnswer, Room, ServerAnswer,
    SiteChange, SlotHold, StockHold, Success,
};
use crate::store::connection::error::StoreError;
use crate::store::read::decode::{read, unreadable};
use crate::store::read::rows::SiteRow;

/// The answer of every command.
#[derive(Debug, Deserialize)]
pub(super) struct AnswerRow {
    refusal: Option<String>,
    details: Option<Value>,
    repeated: bool,
    now: DateTime<Utc>,
    slot: Option<SlotHold>,
    stock: Option<StockHold>,
    group: Option<Group>,
    item: Option<Item>,
    room: Option<Room>,
    site: Option<SiteRow>,
    applied: Option<Vec<FileChange>>,
}

impl AnswerRow {
    fn refusal(&mut self) -> Result<Option<Refusal>, StoreError> {
        let Some(code) = self.refusal.take() else {
            return Ok(None);
        };
        let details = self.details.take().unwrap_or_else(|| json!({}));
        read(
            Some(json!({ "refusal": code, "details": details })),
            "refusal",
        )
        .map(Some)
    }
}

impl TryFrom<AnswerRow> for Answer {
    type Error = StoreError;

    fn try_from(mut row: AnswerRow) -> Result<Self, StoreError> {
        let line = row
            .details
            .as_ref()
            .and_then(|details| details.get("line"))
            .and_then(|line| FailedLine::deserialize(line).ok());
        let refusal = row.refusal()?;
        let outcome = match refusal {
            Some(refusal) => Err(RefusalAnswer {
                refusal,
                claim: row.slot.map(Claim::Slot).or(row.stock.map(Claim::Stock)),
                line,
            }),
            None => Ok(None
                .or(row.slot.map(Success::Slot))
                .or(row.stock.map(Success::Stock))
                .or(row.group.map(Success::Group))
                .or(row.item.map(Success::Item))
                .or(row.room.map(Success::Room))
                .ok_or_else(|| unreadable("an answer about nothing"))?),
        };
        Ok(Self {
            outcome,
            repeated: row.repeated,
            now: row.now,
        })
    }
}

impl TryFrom<AnswerRow> for ServerAnswer {
    type Error = StoreError;

    fn try_from(mut row: AnswerRow) -> Result<Self, StoreError> {
        let outcome = match row.refusal()? {
            Some(refusal) => Err(refusal),
            None => Ok(SiteChange {
                site: row
                    .site
                    .ok_or_else(|| unreadable("an answer about no site"))?
                    .try_into()?,
                changes: row.applied.unwrap_or_default(),
            }),
        };
        Ok(Self {
            outcome,
            repeated: row.repeated,
            now: row.now,
        })
    }
}
