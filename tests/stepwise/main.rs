//! Step mode over real connections: a command's transaction stops between the protocol's steps, can be seen, led on and
//! ended at every place, and comes to what the plain call comes to (design section 8).
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod places;

use keyrack::domain::{Command, Desk, Request};
use keyrack::store::{House, StepLimits, StepPlace, StepView, Stepwise};

/// The step at whose gate it stands.
pub fn gate(view: &StepView) -> &str {
    match &view.place {
        StepPlace::AtGate(step) => &step.name,
        other => panic!("not at a gate: {other:?}"),
    }
}

/// A command in step mode, at its first gate.
pub async fn begin(house: &House, desk: &str, command: Command) -> Stepwise {
    let request = Request::fresh(Desk(desk.into()), command);
    let stepwise = house
        .step_through(request, StepLimits::default())
        .await
        .unwrap();
    stepwise.settled().await;
    stepwise
}
