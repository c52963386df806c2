//! Keyrack: arguments in, exit code out.

use std::process::ExitCode;

use clap::Parser;
use color_eyre::eyre::{Result, WrapErr};
use keyrack::cli::{self, Cli};

fn main() -> Result<ExitCode> {
    color_eyre::install()?;
    let cli = Cli::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .wrap_err("the asynchronous runtime could not be started")?;
    Ok(runtime.block_on(cli::run(cli)))
}
