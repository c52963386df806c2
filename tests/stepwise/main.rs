//! Step mode over real connections: a command's transaction stops between the protocol's steps, can be seen, led on and
//! ended at every place, and comes to what the plain call comes to.
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod endings;
mod gates;
mod limits;
mod log;
mod places;
mod same;

use keyrack::domain::{Answer, Command, Desk, Request, SlotHold, StockHold, Success};
use keyrack::store::stepping::{Step, Wait};
use keyrack::store::{SiteStore, StepLimits, StepPlace, StepView, Stepwise};
use serde_json::Value;
use sqlx::AssertSqlSafe;
use sqlx::postgres::PgConnection;

/// A command in step mode, at its first gate.
pub async fn begin(house: &SiteStore, desk: &str, command: Command) -> Stepwise {
    ask(house, Request::fresh(Desk(desk.into()), command)).await
}

/// A request in step mode, at its first gate.
pub async fn ask(house: &SiteStore, request: Request) -> Stepwise {
    let stepwise = house
        .step_through(request, StepLimits::default())
        .await
        .unwrap();
    at_gate(&stepwise.settled().await);
    stepwise
}

/// The step at whose gate it stands.
pub fn at_gate(view: &StepView) -> &Step {
    match &view.place {
        StepPlace::AtGate(step) => step,
        other => panic!("not at a gate: {other:?}"),
    }
}

/// What it waits for.
pub fn waiting(view: &StepView) -> &Wait {
    match &view.place {
        StepPlace::Waiting(wait) => wait,
        other => panic!("not waiting: {other:?}"),
    }
}

/// What the command answered, in its open transaction.
pub fn answered(view: &StepView) -> &Answer {
    match &view.place {
        StepPlace::Answered(answer) => answer,
        other => panic!("not answered: {other:?}"),
    }
}

/// The claim on a room that a command made or changed.
pub fn slot(answer: Answer) -> SlotHold {
    match answer.outcome {
        Ok(Success::Slot(hold)) => hold,
        other => panic!("no claim on a room: {other:?}"),
    }
}

/// The claim on stock that a command made or changed.
pub fn stock(answer: Answer) -> StockHold {
    match answer.outcome {
        Ok(Success::Stock(hold)) => hold,
        other => panic!("no claim on stock: {other:?}"),
    }
}

/// One value.
pub async fn value<T>(connection: &mut PgConnection, sql: &str) -> T
where
    T: Send + Unpin + for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
{
    sqlx::query_scalar(AssertSqlSafe(sql.to_owned()))
        .fetch_one(connection)
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// Every row that commands write, without what depends on the moment and on the house's own request.
pub async fn rows(connection: &mut PgConnection) -> Value {
    value(
        connection,
        "SELECT jsonb_build_object(
             'slots', (
                 SELECT jsonb_agg(to_jsonb(s) - 'created_at' - 'changed_at' - 'expires_at'
                     || jsonb_build_object('minutes', round(extract(epoch FROM expires_at - created_at) / 60))
                     ORDER BY hold_id)
                 FROM slot_hold AS s
             ),
             'stock', (
                 SELECT jsonb_agg(to_jsonb(s) - 'created_at' - 'changed_at' - 'expires_at'
                     || jsonb_build_object('minutes', round(extract(epoch FROM expires_at - created_at) / 60))
                     ORDER BY hold_id)
                 FROM stock_hold AS s
             ),
             'items', (SELECT jsonb_agg(to_jsonb(i) - 'created_at' ORDER BY item_id) FROM inventory AS i),
             'movements', (SELECT jsonb_agg(to_jsonb(m) - 'at' - 'request_id' ORDER BY movement_id) FROM stock_movement AS m),
             'groups', (SELECT jsonb_agg(to_jsonb(g) - 'created_at' ORDER BY group_id) FROM claim_group AS g),
             'events', (
                 SELECT jsonb_agg(to_jsonb(e) - 'at' ORDER BY event_id) FROM hold_event AS e
                 WHERE what NOT IN ('added', 'changed')
             ),
             'requests', (
                 SELECT jsonb_agg(to_jsonb(r) - 'at' #- '{details,late_seconds}' #- '{details,expired_at}'
                     ORDER BY request_id)
                 FROM request AS r
                 WHERE command <> 'apply_house'
             ),
             'changes', (SELECT count(*) FROM change_log)
         )",
    )
    .await
}
