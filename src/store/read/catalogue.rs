//! Rooms and items themselves, looked up.

use crate::domain::{Item, Refusal, Room};
use crate::store::connection::error::StoreError;
use crate::store::handle::SiteStore;
use crate::store::read::decode::read;

impl SiteStore {
    /// Every room in the site's order, retired ones too.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub async fn rooms(&self) -> Result<Vec<Room>, StoreError> {
        let rooms = self
            .store
            .ask_value(|| sqlx::query_scalar!("SELECT list_rooms($1)", self.site.id.0))
            .await?;
        read(rooms, "rooms")
    }

    /// Every item in the site's order, retired ones too.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub async fn items(&self) -> Result<Vec<Item>, StoreError> {
        let items = self
            .store
            .ask_value(|| sqlx::query_scalar!("SELECT list_items($1)", self.site.id.0))
            .await?;
        read(items, "items")
    }

    /// The same as they were when the site was opened for a command, without asking again.
    ///
    /// # Errors
    /// As [`SiteStore::rooms`].
    pub(crate) async fn rooms_as_found(&self) -> Result<Vec<Room>, StoreError> {
        match &self.catalogue {
            Some(catalogue) => Ok(catalogue.rooms.clone()),
            None => self.rooms().await,
        }
    }

    /// The same as they were when the site was opened for a command, without asking again.
    ///
    /// # Errors
    /// As [`SiteStore::items`].
    pub(crate) async fn items_as_found(&self) -> Result<Vec<Item>, StoreError> {
        match &self.catalogue {
            Some(catalogue) => Ok(catalogue.items.clone()),
            None => self.items().await,
        }
    }

    /// The room that a person means: `#12`, its name, or its name in other capitals if that is unmistakable.
    ///
    /// # Errors
    /// As [`SiteStore::rooms`].
    pub async fn room_named(&self, meant: &str) -> Result<Result<Room, Refusal>, StoreError> {
        let rooms = self.rooms_as_found().await?;
        Ok(
            meant_by(meant, rooms, |room| (room.id.0, &room.name)).ok_or_else(|| {
                Refusal::NoSuchRoom {
                    room: meant.to_owned(),
                }
            }),
        )
    }

    /// The item that a person means: `#12`, its name, or its name in other capitals if that is unmistakable.
    ///
    /// # Errors
    /// As [`SiteStore::items`].
    pub async fn item_named(&self, meant: &str) -> Result<Result<Item, Refusal>, StoreError> {
        let items = self.items_as_found().await?;
        Ok(
            meant_by(meant, items, |item| (item.id.0, &item.name)).ok_or_else(|| {
                Refusal::NoSuchItem {
                    item: meant.to_owned(),
                }
            }),
        )
    }
}

fn meant_by<T>(meant: &str, things: Vec<T>, key: impl Fn(&T) -> (i64, &String)) -> Option<T> {
    let by_number = meant
        .strip_prefix('#')
        .and_then(|number| number.parse::<i64>().ok());
    let exact = things.iter().position(|thing| {
        let (id, name) = key(thing);
        name == meant || Some(id) == by_number
    });
    let found = exact.or_else(|| {
        let folded = meant.to_lowercase();
        let mut alike = things
            .iter()
            .enumerate()
            .filter(|(_, thing)| key(thing).1.to_lowercase() == folded);
        match (alike.next(), alike.next()) {
            (Some((position, _)), None) => Some(position),
            _ => None,
        }
    })?;
    things.into_iter().nth(found)
}
