//! A scenario played without a screen, as fast as it goes: for tests, and for whoever wants to know whether it holds.

use std::collections::HashMap;
use std::sync::Arc;

use color_eyre::eyre::Result;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::console::actions;
use crate::demo::scenario::{DESKS, Pace, Play, Report, Scenario, Stage};
use crate::demo::script::Order;
use crate::demo::{Context, Desks};
use crate::domain::Desk;
use crate::store::Store;

/// As large as a desk's window on a large screen.
const SIZE: (u16, u16) = (120, 40);

/// Plays a scenario in a site of its own, which is gone afterwards. None if it was stopped before its end.
///
/// # Errors
/// If the database can't be asked; what is not as expected is in the report.
pub async fn play(
    store: &Store,
    scenario: &Scenario,
    stop: impl Future<Output = ()>,
) -> Result<Option<Report>> {
    let stage = Stage::build(store, scenario, Pace::Headless).await?;
    let played = tokio::select! {
        played = play_on(&stage, scenario) => played.map(Some),
        () = stop => Ok(None),
    };
    let struck = stage.strike().await;
    let report = played?;
    struck?;
    Ok(report)
}

async fn play_on(stage: &Stage, scenario: &Scenario) -> Result<Report> {
    let mut desks = Desks::open(Context {
        site_store: stage.site_store().clone(),
        names: DESKS.map(|name| Desk(name.to_owned())),
        keymap: Arc::new(actions::keymap(&HashMap::new())?),
        sizes: [SIZE; 2],
        revive: None,
    })
    .await?;
    let (orders, mut session_events) = mpsc::unbounded_channel::<Order>();
    // Nobody looks; the report has it all.
    let (cues, _) = mpsc::unbounded_channel();
    let mut play = Play::new(scenario.clone(), stage, Pace::Headless, orders, cues).await?;
    // It ends with us.
    let mut playing = JoinSet::new();
    playing.spawn(async move { play.run().await });
    let report = loop {
        tokio::select! {
            biased;
            Some(report) = playing.join_next() => break report,
            Some(order) = session_events.recv() => order(&mut desks),
            _ = desks.next() => {}
        }
    };
    desks.close().await;
    Ok(report?)
}
