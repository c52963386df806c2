//! The statement of each command, and what its answer means: one command, one statement, one round trip.

use serde_json::{Value, json};
use sqlx::postgres::PgConnection;

use super::StoreError;
use super::house::room_rows;
use super::rows::{
    GroupAnswerRow, Head, ItemAnswerRow, ItemRow, RoomAnswerRow, SlotAnswerRow, SlotRow,
    StockAnswerRow, StockRow,
};
use super::sites::{house_json, site_rows};
use crate::domain::{
    Answer, Applied, Claim, Command, Done, Refusal, Refused, Request, Room, ServerAnswer,
    ServerCommand, ServerRequest, SiteChange, SiteId, SlotLine, StockLine,
};

/// Why a command got no answer.
pub(super) enum SendError {
    /// The statement failed.
    Sql(sqlx::Error),
    /// The statement ran, and its answer makes no sense.
    Unreadable(StoreError),
}

impl From<sqlx::Error> for SendError {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for SendError {
    fn from(error: StoreError) -> Self {
        Self::Unreadable(error)
    }
}

/// The function that a command calls.
pub(super) fn function(command: &Command) -> &'static str {
    match command {
        Command::HoldSlot { .. } => "hold_slot",
        Command::BlockSlot { .. } => "block_slot",
        Command::ImportSlot { .. } => "import_slot",
        Command::ConfirmSlot { .. } => "confirm_slot",
        Command::CancelSlot { .. } => "cancel_slot",
        Command::EditSlot { .. } => "edit_slot",
        Command::RenewSlot { .. } => "renew_slot",
        Command::MoveSlot { .. } => "move_slot",
        Command::SwapSlots { .. } => "swap_slots",
        Command::HoldStock { .. } => "hold_stock",
        Command::ConfirmStock { .. } => "confirm_stock",
        Command::CancelStock { .. } => "cancel_stock",
        Command::RenewStock { .. } => "renew_stock",
        Command::HoldGroup { .. } => "hold_group",
        Command::ConfirmGroup { .. } => "confirm_group",
        Command::RenewGroup { .. } => "renew_group",
        Command::CancelGroup { .. } => "cancel_group",
        Command::ReceiveStock { .. } => "receive_stock",
        Command::AdjustStock { .. } => "adjust_stock",
        Command::AddRoom { .. } => "add_room",
        Command::RetireRoom { .. } => "retire_room",
        Command::AddItem { .. } => "add_item",
        Command::RetireItem { .. } => "retire_item",
    }
}

/// One command, one statement, one round trip; a room itself is read behind it.
pub(super) async fn send(
    connection: &mut PgConnection,
    site: SiteId,
    request: &Request,
) -> Result<Answer, SendError> {
    let (house, site, id, desk) = (site, site.0, request.id.0, request.desk.0.as_str());
    Ok(match &request.command {
        Command::HoldSlot {
            room,
            period,
            ttl,
            guest,
            note,
            party,
        } => slot_answer(
            sqlx::query_as!(
                SlotAnswerRow,
                "SELECT * FROM hold_slot($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
                site,
                id,
                desk,
                room.0,
                period.start(),
                period.end(),
                *ttl as _,
                guest,
                note,
                *party
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::BlockSlot {
            room,
            period,
            reason,
        } => slot_answer(
            sqlx::query_as!(
                SlotAnswerRow,
                "SELECT * FROM block_slot($1, $2, $3, $4, $5, $6, $7)",
                site,
                id,
                desk,
                room.0,
                period.start(),
                period.end(),
                reason
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::ImportSlot {
            room,
            period,
            guest,
            note,
            party,
        } => slot_answer(
            sqlx::query_as!(
                SlotAnswerRow,
                "SELECT * FROM import_slot($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                site,
                id,
                desk,
                room.0,
                period.start(),
                period.end(),
                guest,
                note,
                *party
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::ConfirmSlot {
            hold,
            expect_version,
        } => slot_answer(
            sqlx::query_as!(
                SlotAnswerRow,
                "SELECT * FROM confirm_slot($1, $2, $3, $4, $5)",
                site,
                id,
                desk,
                hold.0,
                expect_version.map(|version| version.0)
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::CancelSlot {
            hold,
            expect_version,
            reason,
        } => slot_answer(
            sqlx::query_as!(
                SlotAnswerRow,
                "SELECT * FROM cancel_slot($1, $2, $3, $4, $5, $6)",
                site,
                id,
                desk,
                hold.0,
                reason,
                expect_version.map(|version| version.0)
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::EditSlot {
            hold,
            expect_version,
            guest,
            note,
            party,
        } => slot_answer(
            sqlx::query_as!(
                SlotAnswerRow,
                "SELECT * FROM edit_slot($1, $2, $3, $4, $5, $6, $7, $8)",
                site,
                id,
                desk,
                hold.0,
                guest.as_deref(),
                note.as_deref(),
                *party,
                expect_version.map(|version| version.0)
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::RenewSlot {
            hold,
            expect_version,
            ttl,
        } => slot_answer(
            sqlx::query_as!(
                SlotAnswerRow,
                "SELECT * FROM renew_slot($1, $2, $3, $4, $5, $6)",
                site,
                id,
                desk,
                hold.0,
                *ttl as _,
                expect_version.map(|version| version.0)
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::MoveSlot {
            hold,
            expect_version,
            to_room,
            from,
            to,
        } => slot_answer(
            sqlx::query_as!(
                SlotAnswerRow,
                "SELECT * FROM move_slot($1, $2, $3, $4, $5, $6, $7, $8)",
                site,
                id,
                desk,
                hold.0,
                to_room.map(|room| room.0),
                *from,
                *to,
                expect_version.map(|version| version.0)
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::SwapSlots {
            first,
            second,
            expect_version,
        } => slot_answer(
            sqlx::query_as!(
                SlotAnswerRow,
                "SELECT * FROM swap_slots($1, $2, $3, $4, $5, $6)",
                site,
                id,
                desk,
                first.0,
                second.0,
                expect_version.map(|version| version.0)
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::HoldStock {
            item,
            quantity,
            ttl,
            guest,
            note,
        } => stock_answer(
            sqlx::query_as!(
                StockAnswerRow,
                "SELECT * FROM hold_stock($1, $2, $3, $4, $5, $6, $7, $8)",
                site,
                id,
                desk,
                item.0,
                quantity,
                *ttl as _,
                guest,
                note
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::ConfirmStock {
            hold,
            expect_version,
        } => stock_answer(
            sqlx::query_as!(
                StockAnswerRow,
                "SELECT * FROM confirm_stock($1, $2, $3, $4, $5)",
                site,
                id,
                desk,
                hold.0,
                expect_version.map(|version| version.0)
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::CancelStock {
            hold,
            expect_version,
            reason,
        } => stock_answer(
            sqlx::query_as!(
                StockAnswerRow,
                "SELECT * FROM cancel_stock($1, $2, $3, $4, $5, $6)",
                site,
                id,
                desk,
                hold.0,
                reason,
                expect_version.map(|version| version.0)
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::RenewStock {
            hold,
            expect_version,
            ttl,
        } => stock_answer(
            sqlx::query_as!(
                StockAnswerRow,
                "SELECT * FROM renew_stock($1, $2, $3, $4, $5, $6)",
                site,
                id,
                desk,
                hold.0,
                *ttl as _,
                expect_version.map(|version| version.0)
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::HoldGroup {
            rooms,
            stock,
            ttl,
            guest,
            note,
            party,
        } => group_answer(
            sqlx::query_as!(
                GroupAnswerRow,
                "SELECT * FROM hold_group($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                site,
                id,
                desk,
                slot_lines(rooms),
                stock_lines(stock),
                *ttl as _,
                guest,
                note,
                *party
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::ConfirmGroup { group } => group_answer(
            sqlx::query_as!(
                GroupAnswerRow,
                "SELECT * FROM confirm_group($1, $2, $3, $4)",
                site,
                id,
                desk,
                group.0
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::RenewGroup { group, ttl } => group_answer(
            sqlx::query_as!(
                GroupAnswerRow,
                "SELECT * FROM renew_group($1, $2, $3, $4, $5)",
                site,
                id,
                desk,
                group.0,
                *ttl as _
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::CancelGroup {
            group,
            reason,
            rooms_only,
        } => group_answer(
            sqlx::query_as!(
                GroupAnswerRow,
                "SELECT * FROM cancel_group($1, $2, $3, $4, $5, $6)",
                site,
                id,
                desk,
                group.0,
                reason,
                *rooms_only
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::ReceiveStock {
            item,
            quantity,
            reason,
        } => item_answer(
            sqlx::query_as!(
                ItemAnswerRow,
                "SELECT * FROM receive_stock($1, $2, $3, $4, $5, $6)",
                site,
                id,
                desk,
                item.0,
                quantity,
                reason
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::AdjustStock {
            item,
            change,
            reason,
        } => item_answer(
            sqlx::query_as!(
                ItemAnswerRow,
                "SELECT * FROM adjust_stock($1, $2, $3, $4, $5, $6)",
                site,
                id,
                desk,
                item.0,
                change,
                reason
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::AddRoom { room } => {
            let row = sqlx::query_as!(
                RoomAnswerRow,
                "SELECT * FROM add_room($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
                site,
                id,
                desk,
                room.name,
                room.capacity,
                room.booked_by.word(),
                room.turnaround as _,
                &room.features,
                room.night_times.check_in,
                room.night_times.check_out
            )
            .fetch_one(&mut *connection)
            .await?;
            room_answer(connection, house, row).await?
        }
        Command::RetireRoom { room } => {
            let row = sqlx::query_as!(
                RoomAnswerRow,
                "SELECT * FROM retire_room($1, $2, $3, $4)",
                site,
                id,
                desk,
                room.0
            )
            .fetch_one(&mut *connection)
            .await?;
            room_answer(connection, house, row).await?
        }
        Command::AddItem { item } => item_answer(
            sqlx::query_as!(
                ItemAnswerRow,
                "SELECT * FROM add_item($1, $2, $3, $4, $5)",
                site,
                id,
                desk,
                item.name,
                item.quantity
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::RetireItem { item } => item_answer(
            sqlx::query_as!(
                ItemAnswerRow,
                "SELECT * FROM retire_item($1, $2, $3, $4)",
                site,
                id,
                desk,
                item.0
            )
            .fetch_one(connection)
            .await?,
        )?,
    })
}

/// One command to the server; its site and the time are read behind it.
pub(super) async fn send_to_server(
    connection: &mut PgConnection,
    request: &ServerRequest,
) -> Result<ServerAnswer, SendError> {
    let (id, desk) = (request.id.0, request.desk.0.as_str());
    let mut applied = Vec::new();
    match &request.command {
        ServerCommand::AddSite { name, time_zone } => {
            sqlx::query_scalar!(
                r#"SELECT add_site($1, $2, $3, $4) AS "site_id!""#,
                id,
                desk,
                name,
                time_zone
            )
            .fetch_one(&mut *connection)
            .await?;
        }
        ServerCommand::ApplySite { file } => {
            applied = sqlx::query_as!(
                Applied,
                r#"
                    SELECT kind AS "kind!", name AS "name!", change AS "change!", detail
                    FROM apply_house($1, $2, $3)
                    "#,
                id,
                desk,
                house_json(file)
            )
            .fetch_all(&mut *connection)
            .await?;
        }
        ServerCommand::DefaultSite { site } => {
            sqlx::query!("SELECT set_default_site($1)", site.0)
                .execute(&mut *connection)
                .await?;
        }
    }
    let reused = applied
        .iter()
        .find(|applied| applied.change == "request_reused");
    let outcome = match reused {
        Some(reused) => Err(Refusal::RequestReused {
            command: reused.name.clone(),
        }),
        None => {
            let rows = site_rows(&mut *connection).await?;
            let row = rows.into_iter().find(|row| match &request.command {
                ServerCommand::AddSite { name, .. } => row.name == *name,
                ServerCommand::ApplySite { file } => row.name == file.site.name,
                ServerCommand::DefaultSite { site } => row.site_id == site.0,
            });
            let site = row
                .ok_or_else(|| StoreError::Fault("The site was changed and is not there.".into()))?
                .try_into()?;
            Ok(SiteChange { site, applied })
        }
    };
    Ok(ServerAnswer {
        outcome,
        // These functions don't say.
        repeated: false,
        now: sqlx::query_scalar!(r#"SELECT clock_timestamp() AS "now!""#)
            .fetch_one(connection)
            .await?,
    })
}

/// The answer, with what came in it: where the request was refused, a claim as it is now.
fn answer<Found>(
    head: Head,
    found: Option<Found>,
    done: impl FnOnce(Found) -> Done,
    claim: impl FnOnce(Found) -> Option<Claim>,
) -> Result<Answer, StoreError> {
    let outcome = match (head.refusal, found) {
        (Some(refusal), found) => Err(Refused {
            refusal,
            claim: found.and_then(claim),
            line: head.failed_line,
        }),
        (None, Some(found)) => Ok(done(found)),
        (None, None) => {
            return Err(StoreError::Fault(
                "The database said done and sent no claim.".into(),
            ));
        }
    };
    Ok(Answer {
        outcome,
        repeated: head.repeated,
        now: head.now,
    })
}

fn slot_answer(row: SlotAnswerRow) -> Result<Answer, StoreError> {
    let (head, row): (Head, SlotRow) = row.split()?;
    let hold = row.hold_id.map(|_| row.try_into()).transpose()?;
    answer(head, hold, Done::Slot, |hold| Some(Claim::Slot(hold)))
}

fn stock_answer(row: StockAnswerRow) -> Result<Answer, StoreError> {
    let (head, row): (Head, StockRow) = row.split()?;
    let hold = row.hold_id.map(|_| row.try_into()).transpose()?;
    answer(head, hold, Done::Stock, |hold| Some(Claim::Stock(hold)))
}

async fn room_answer(
    connection: &mut PgConnection,
    site: SiteId,
    row: RoomAnswerRow,
) -> Result<Answer, SendError> {
    let (head, row) = row.split()?;
    let rooms = room_rows(connection, site).await?.into_iter();
    let room = rooms
        .filter(|room| Some(room.room_id) == row.room_id)
        .map(Room::try_from)
        .next()
        .transpose()?;
    Ok(answer(head, room, Done::Room, |_| None)?)
}

fn item_answer(row: ItemAnswerRow) -> Result<Answer, StoreError> {
    let (head, row): (Head, ItemRow) = row.split()?;
    let item = row.item_id.map(|_| row.try_into()).transpose()?;
    answer(head, item, Done::Item, |_| None)
}

fn group_answer(row: GroupAnswerRow) -> Result<Answer, StoreError> {
    let (head, group) = row.split()?;
    answer(head, group, Done::Group, |_| None)
}

fn slot_lines(lines: &[SlotLine]) -> Value {
    lines
        .iter()
        .map(|line| {
            json!({
                "room": line.room,
                "from": line.period.start(),
                "to": line.period.end(),
            })
        })
        .collect()
}

fn stock_lines(lines: &[StockLine]) -> Value {
    lines
        .iter()
        .map(|line| json!({ "item": line.item, "quantity": line.quantity }))
        .collect()
}
