//! Rooms and items themselves, looked up.

use sqlx::postgres::PgConnection;

use super::rows::{ItemRow, RoomRow};
use super::{House, StoreError};
use crate::domain::{Item, Refusal, Room, SiteId};

impl House {
    /// Every room in the house's order, retired ones too.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] and faults.
    pub async fn rooms(&self) -> Result<Vec<Room>, StoreError> {
        let site = self.site.id;
        self.store
            .ask(async |mut connection| {
                let rows = room_rows(&mut connection, site).await;
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
}

pub(super) async fn room_rows(
    connection: &mut PgConnection,
    site: SiteId,
) -> Result<Vec<RoomRow>, sqlx::Error> {
    sqlx::query_as!(
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
        site.0
    )
    .fetch_all(connection)
    .await
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
