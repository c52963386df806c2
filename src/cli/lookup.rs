//! What a person means: by the name or the number of a room, an item or a claim, and by a time.

use crate::cli::failure::Failure;
use crate::cli::output::ClaimPrinter;
use crate::domain::{Item, Period, Refusal, Room, SlotHold, SlotHoldId, TimeReader, TimeTextError};
use crate::store::SiteStore;

/// The room that a person means: by its name, or #12.
pub(crate) async fn room(site_store: &SiteStore, name: &str) -> Result<Room, Failure> {
    site_store
        .room_named(name)
        .await?
        .map_err(|refusal| Failure::refused(refusal, &site_store.site().calendar))
}

/// The item that a person means: by its name, or #12.
pub(crate) async fn item(site_store: &SiteStore, name: &str) -> Result<Item, Failure> {
    site_store
        .item_named(name)
        .await?
        .map_err(|refusal| Failure::refused(refusal, &site_store.site().calendar))
}

/// The claim on a room that has a number.
pub(crate) async fn slot_hold(
    site_store: &SiteStore,
    hold: SlotHoldId,
) -> Result<SlotHold, Failure> {
    match site_store.slot_hold(hold).await? {
        Some(found) => Ok(found),
        None => Err(Failure::no_such_hold(site_store, hold.0).await),
    }
}

/// Prints claims as they are at this moment, by the database's clock (R10).
pub(crate) async fn printer(site_store: &SiteStore) -> Result<ClaimPrinter<'_>, Failure> {
    Ok(ClaimPrinter {
        site: site_store.site(),
        now: site_store.now().await?,
        repeated: false,
    })
}

/// A quantity as it was typed.
pub(crate) fn quantity(typed: &str) -> Result<i64, Failure> {
    typed
        .trim()
        .parse()
        .map_err(|_| Failure::Usage(format!("“{typed}” is not a quantity; write a number.")))
}

/// A quantity that the house can count; what is no quantity for other reasons the database refuses.
pub(crate) fn countable(site_store: &SiteStore, quantity: i64) -> Result<i32, Failure> {
    i32::try_from(quantity).map_err(|_| {
        Failure::refused(
            Refusal::QuantityInvalid { quantity },
            &site_store.site().calendar,
        )
    })
}

/// The period that a person means for a room.
pub(crate) async fn period(
    site_store: &SiteStore,
    room: &Room,
    from: &str,
    to: &str,
) -> Result<Period, Failure> {
    times(site_store, |reader| reader.period(room, from, to)).await
}

/// Times as they were typed. Only words such as `tomorrow` cost a question: what time it is (R10).
pub(crate) async fn times<T>(
    site_store: &SiteStore,
    read: impl Fn(TimeReader<'_>) -> Result<T, TimeTextError>,
) -> Result<T, Failure> {
    let calendar = &site_store.site().calendar;
    let mut outcome = read(TimeReader::without_clock(calendar));
    if matches!(outcome, Err(TimeTextError::NeedsNow)) {
        outcome = read(TimeReader::at(calendar, site_store.now().await?));
    }
    outcome.map_err(|error| Failure::times(error, calendar))
}
