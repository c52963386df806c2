//! The statement of each command, and what its answer means: one command, one statement, one round trip.

use serde_json::{Value, json};
use sqlx::postgres::PgConnection;

use crate::domain::{
    Answer, Change, Command, Request, ServerAnswer, ServerCommand, ServerRequest, SiteId, SlotLine,
    StockLine,
};
use crate::store::command::answer::AnswerRow;
use crate::store::command::site_file::site_file_json;
use crate::store::connection::error::StoreError;
use crate::store::read::decode::read;

/// Why a command got no answer.
pub(crate) enum SendError {
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

/// How the function is told what becomes of a party: null keeps it, 0 clears it.
fn party_number(party: Change<i32>) -> Option<i32> {
    match party {
        Change::Keep => None,
        Change::Clear => Some(0),
        Change::Set(party) => Some(party),
    }
}

/// A row a command: the function that it calls, the call, and its arguments.
macro_rules! commands {
    ($kind:ident ($($shared:ident: $type:ty),*);
     $($command:ident { $($field:ident),* } => $function:ident, $call:tt, [$($argument:tt)*];)*) => {
        impl $kind {
            /// The function that a command calls.
            pub(crate) fn function(&self) -> &'static str {
                match self {
                    $(Self::$command { .. } => stringify!($function),)*
                }
            }
            async fn call(
                &self,
                connection: &mut PgConnection,
                $($shared: $type),*
            ) -> Result<Option<Value>, sqlx::Error> {
                match self {
                    $(Self::$command { $($field),* } => {
                        sqlx::query_scalar!($call, $($argument)*)
                            .fetch_one(connection)
                            .await
                    })*
                }
            }
        }
    };
}

commands! {
    Command (site: i64, id: uuid::Uuid, desk: &str);

    HoldSlot { room, period, ttl, details } => hold_slot,
        "SELECT hold_slot($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        [site, id, desk, room.0, period.start(), period.end(), *ttl as _, details.guest, details.note, details.party];
    BlockSlot { room, period, reason } => block_slot,
        "SELECT block_slot($1, $2, $3, $4, $5, $6, $7)",
        [site, id, desk, room.0, period.start(), period.end(), reason];
    ImportSlot { room, period, details } => import_slot,
        "SELECT import_slot($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        [site, id, desk, room.0, period.start(), period.end(), details.guest, details.note, details.party];
    ConfirmSlot { hold, expect_version } => confirm_slot,
        "SELECT confirm_slot($1, $2, $3, $4, $5)",
        [site, id, desk, hold.0, expect_version.map(|version| version.0)];
    CancelSlot { hold, expect_version, reason } => cancel_slot,
        "SELECT cancel_slot($1, $2, $3, $4, $5, $6)",
        [site, id, desk, hold.0, reason, expect_version.map(|version| version.0)];
    EditSlot { hold, expect_version, edit } => edit_slot,
        "SELECT edit_slot($1, $2, $3, $4, $5, $6, $7, $8)",
        [site, id, desk, hold.0, edit.guest.as_deref(), edit.note.as_deref(), party_number(edit.party), expect_version.map(|version| version.0)];
    RenewSlot { hold, expect_version, ttl } => renew_slot,
        "SELECT renew_slot($1, $2, $3, $4, $5, $6)",
        [site, id, desk, hold.0, *ttl as _, expect_version.map(|version| version.0)];
    MoveSlot { hold, expect_version, to_room, from, to } => move_slot,
        "SELECT move_slot($1, $2, $3, $4, $5, $6, $7, $8)",
        [site, id, desk, hold.0, to_room.map(|room| room.0), *from, *to, expect_version.map(|version| version.0)];
    SwapSlots { first, second, expect_version } => swap_slots,
        "SELECT swap_slots($1, $2, $3, $4, $5, $6)",
        [site, id, desk, first.0, second.0, expect_version.map(|version| version.0)];
    HoldStock { item, quantity, ttl, guest, note } => hold_stock,
        "SELECT hold_stock($1, $2, $3, $4, $5, $6, $7, $8)",
        [site, id, desk, item.0, quantity, *ttl as _, guest, note];
    ConfirmStock { hold, expect_version } => confirm_stock,
        "SELECT confirm_stock($1, $2, $3, $4, $5)",
        [site, id, desk, hold.0, expect_version.map(|version| version.0)];
    CancelStock { hold, expect_version, reason } => cancel_stock,
        "SELECT cancel_stock($1, $2, $3, $4, $5, $6)",
        [site, id, desk, hold.0, reason, expect_version.map(|version| version.0)];
    RenewStock { hold, expect_version, ttl } => renew_stock,
        "SELECT renew_stock($1, $2, $3, $4, $5, $6)",
        [site, id, desk, hold.0, *ttl as _, expect_version.map(|version| version.0)];
    HoldGroup { rooms, stock, ttl, details } => hold_group,
        "SELECT hold_group($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        [site, id, desk, slot_lines(rooms), stock_lines(stock), *ttl as _, details.guest, details.note, details.party];
    ConfirmGroup { group } => confirm_group,
        "SELECT confirm_group($1, $2, $3, $4)",
        [site, id, desk, group.0];
    RenewGroup { group, ttl } => renew_group,
        "SELECT renew_group($1, $2, $3, $4, $5)",
        [site, id, desk, group.0, *ttl as _];
    CancelGroup { group, reason, rooms_only } => cancel_group,
        "SELECT cancel_group($1, $2, $3, $4, $5, $6)",
        [site, id, desk, group.0, reason, *rooms_only];
    ReceiveStock { item, quantity, reason } => receive_stock,
        "SELECT receive_stock($1, $2, $3, $4, $5, $6)",
        [site, id, desk, item.0, quantity, reason];
    AdjustStock { item, change, reason } => adjust_stock,
        "SELECT adjust_stock($1, $2, $3, $4, $5, $6)",
        [site, id, desk, item.0, change, reason];
    AddRoom { room } => add_room,
        "SELECT add_room($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        [
            site, id, desk, room.name, room.capacity, room.booked_by.word(), room.turnaround as _, &room.features,
            room.night_times.check_in, room.night_times.check_out
        ];
    RetireRoom { room } => retire_room,
        "SELECT retire_room($1, $2, $3, $4)",
        [site, id, desk, room.0];
    AddItem { item } => add_item,
        "SELECT add_item($1, $2, $3, $4, $5)",
        [site, id, desk, item.name, item.quantity];
    RetireItem { item } => retire_item,
        "SELECT retire_item($1, $2, $3, $4)",
        [site, id, desk, item.0];
}

commands! {
    ServerCommand (id: uuid::Uuid, desk: &str);

    AddSite { name, time_zone } => add_site,
        "SELECT add_site($1, $2, $3, $4)",
        [id, desk, name, time_zone];
    ApplySite { file } => apply_house,
        "SELECT apply_house($1, $2, $3)",
        [id, desk, site_file_json(file)];
    DefaultSite { site } => default_site,
        "SELECT default_site($1, $2, $3)",
        [id, desk, site.0];
}

/// Asks a site for a command.
pub(crate) async fn send(
    connection: &mut PgConnection,
    site: SiteId,
    request: &Request,
) -> Result<Answer, SendError> {
    let (command, desk) = (&request.command, &request.desk.0);
    let answer = command.call(connection, site.0, request.id.0, desk).await?;
    Ok(read::<AnswerRow>(answer, command.function())?.try_into()?)
}

/// Asks the server for a command that comes before there is a site to ask.
pub(crate) async fn send_to_server(
    connection: &mut PgConnection,
    request: &ServerRequest,
) -> Result<ServerAnswer, SendError> {
    let (command, desk) = (&request.command, &request.desk.0);
    let answer = command.call(connection, request.id.0, desk).await?;
    Ok(read::<AnswerRow>(answer, command.function())?.try_into()?)
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
