//! Every file of `assets/scenarios`, played headless over a real PostgreSQL: a test each, by its name. A new file is
//! tested by being there.
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use keyrack::demo::scenario::{Scenario, headless};
use keyrack::store::Store;
use libtest_mimic::{Arguments, Failed, Trial};

use support::Database;

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scenarios");
    let mut trials: Vec<Trial> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|file| {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            Trial::test(name, move || play(&file))
        })
        .collect();
    trials.sort_by(|one, other| one.name().cmp(other.name()));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn play(file: &Path) -> Result<(), Failed> {
    let scenario = Scenario::parse(&fs::read_to_string(file)?)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let database = Database::migrated().await;
        let store = Store::connect(database.options()).await?;
        let report = headless::play(&store, &scenario, std::future::pending())
            .await
            .map_err(|error| format!("{error:#}"))?
            .ok_or("it was stopped")?;
        store.close().await;
        if report.ok {
            Ok(())
        } else {
            Err(Failed::from(report.text()))
        }
    })
}
