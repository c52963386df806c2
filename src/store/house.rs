//! Rooms and items themselves: looked up, added, retired (R28).

use super::rows::{Head, ItemAnswerRow, ItemRow, RoomAnswerRow, RoomRow};
use super::{House, StoreError};
use crate::domain::{Desk, Item, ItemId, NewItem, NewRoom, Refusal, RequestId, Room, RoomId};

/// What became of a request about a room itself.
#[derive(Debug, Clone, PartialEq)]
pub struct RoomAnswer {
    /// The room as it is now, or the refusal.
    pub outcome: Result<Room, Refusal>,
    /// Whether this request had been answered before (R21).
    pub repeated: bool,
}

/// What became of a request about an item itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemAnswer {
    /// The item as it is now, or the refusal.
    pub outcome: Result<Item, Refusal>,
    /// Whether this request had been answered before (R21).
    pub repeated: bool,
}

impl House {
    /// Every room in the house's order, retired ones too.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub async fn rooms(&self) -> Result<Vec<Room>, StoreError> {
        self.store
            .ask(async |mut connection| {
                let rows = sqlx::query_as!(
                    RoomRow,
                    r#"
                    SELECT
                        room_id,
                        name,
                        capacity,
                        booked_by,
                        check_in,
                        check_out,
                        extract(epoch FROM turnaround)::bigint AS "turnaround_seconds!",
                        features,
                        retired_at
                    FROM room
                    WHERE site_id = $1
                    ORDER BY room_id
                    "#,
                    self.site.id.0
                )
                .fetch_all(&mut connection)
                .await;
                (connection, rows)
            })
            .await?
            .into_iter()
            .map(Room::try_from)
            .collect()
    }

    /// Every item in the house's order, retired ones too.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub async fn items(&self) -> Result<Vec<Item>, StoreError> {
        self.store
            .ask(async |mut connection| {
                let rows = sqlx::query_as!(
                    ItemRow,
                    "
                    SELECT item_id, item, total, available, held, sold, retired_at
                    FROM item_now
                    WHERE site_id = $1
                    ORDER BY item_id
                    ",
                    self.site.id.0
                )
                .fetch_all(&mut connection)
                .await;
                (connection, rows)
            })
            .await?
            .into_iter()
            .map(Item::try_from)
            .collect()
    }

    /// The room that a person means: `#12`, its name, or its name in other capitals if that is unmistakable.
    ///
    /// # Errors
    /// As [`House::rooms`].
    pub async fn room_named(&self, meant: &str) -> Result<Result<Room, Refusal>, StoreError> {
        let rooms = self.rooms().await?;
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
    /// As [`House::items`].
    pub async fn item_named(&self, meant: &str) -> Result<Result<Item, Refusal>, StoreError> {
        let items = self.items().await?;
        Ok(
            meant_by(meant, items, |item| (item.id.0, &item.name)).ok_or_else(|| {
                Refusal::NoSuchItem {
                    item: meant.to_owned(),
                }
            }),
        )
    }

    /// Adds a room.
    ///
    /// # Errors
    /// [`StoreError::Usage`] if the name is taken, and faults.
    pub async fn add_room(
        &self,
        request: RequestId,
        desk: &Desk,
        room: &NewRoom,
    ) -> Result<RoomAnswer, StoreError> {
        let row = self
            .store
            .change(request, async |mut connection| {
                let row = sqlx::query_as!(
                    RoomAnswerRow,
                    "SELECT * FROM add_room($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
                    self.site.id.0,
                    request.0,
                    desk.0,
                    room.name,
                    room.capacity,
                    room.booked_by.word(),
                    room.turnaround as _,
                    &room.features,
                    room.night_times.check_in,
                    room.night_times.check_out
                )
                .fetch_one(&mut connection)
                .await;
                (connection, row)
            })
            .await?;
        self.room_answer(row).await
    }

    /// Takes no new claims on a room from now on.
    ///
    /// # Errors
    /// As [`House::rooms`].
    pub async fn retire_room(
        &self,
        request: RequestId,
        desk: &Desk,
        room: RoomId,
    ) -> Result<RoomAnswer, StoreError> {
        let row = self
            .store
            .change(request, async |mut connection| {
                let row = sqlx::query_as!(
                    RoomAnswerRow,
                    "SELECT * FROM retire_room($1, $2, $3, $4)",
                    self.site.id.0,
                    request.0,
                    desk.0,
                    room.0
                )
                .fetch_one(&mut connection)
                .await;
                (connection, row)
            })
            .await?;
        self.room_answer(row).await
    }

    /// Adds an item with its opening quantity.
    ///
    /// # Errors
    /// [`StoreError::Usage`] if the name is taken, and faults.
    pub async fn add_item(
        &self,
        request: RequestId,
        desk: &Desk,
        item: &NewItem,
    ) -> Result<ItemAnswer, StoreError> {
        let row = self
            .store
            .change(request, async |mut connection| {
                let row = sqlx::query_as!(
                    ItemAnswerRow,
                    "SELECT * FROM add_item($1, $2, $3, $4, $5)",
                    self.site.id.0,
                    request.0,
                    desk.0,
                    item.name,
                    item.quantity
                )
                .fetch_one(&mut connection)
                .await;
                (connection, row)
            })
            .await?;
        self.item_answer(row)
    }

    /// Takes no new claims on an item from now on.
    ///
    /// # Errors
    /// As [`House::items`].
    pub async fn retire_item(
        &self,
        request: RequestId,
        desk: &Desk,
        item: ItemId,
    ) -> Result<ItemAnswer, StoreError> {
        let row = self
            .store
            .change(request, async |mut connection| {
                let row = sqlx::query_as!(
                    ItemAnswerRow,
                    "SELECT * FROM retire_item($1, $2, $3, $4)",
                    self.site.id.0,
                    request.0,
                    desk.0,
                    item.0
                )
                .fetch_one(&mut connection)
                .await;
                (connection, row)
            })
            .await?;
        self.item_answer(row)
    }

    async fn room_answer(&self, row: RoomAnswerRow) -> Result<RoomAnswer, StoreError> {
        let (head, row): (Head, _) = row.split()?;
        self.hint();
        let outcome = match head.refusal {
            Some(refusal) => Err(refusal),
            None => Ok(self
                .rooms()
                .await?
                .into_iter()
                .find(|room| Some(room.id.0) == row.room_id)
                .ok_or_else(|| {
                    StoreError::Fault("The database said done and has no such room.".into())
                })?),
        };
        Ok(RoomAnswer {
            outcome,
            repeated: head.repeated,
        })
    }

    fn item_answer(&self, row: ItemAnswerRow) -> Result<ItemAnswer, StoreError> {
        let (head, row): (Head, ItemRow) = row.split()?;
        self.hint();
        let outcome = match head.refusal {
            Some(refusal) => Err(refusal),
            None => Ok(row.try_into()?),
        };
        Ok(ItemAnswer {
            outcome,
            repeated: head.repeated,
        })
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
