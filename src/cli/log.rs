//! The log: a file in the user's state directory, one a day, a week of them kept. It names rooms, ids and periods,
//! never guests (R27). `KEYRACK_LOG` says how much: `warn`, `keyrack=debug`, `off`.

use directories::ProjectDirs;
use tracing_appender::rolling::{Builder, Rotation};
use tracing_subscriber::EnvFilter;

/// Starts the log. Nothing is logged, and nothing fails, where there is no place for it.
pub(crate) fn to_file() {
    let Some(directories) = ProjectDirs::from("", "", "keyrack") else {
        return;
    };
    let directory = directories
        .state_dir()
        .unwrap_or_else(|| directories.data_local_dir());
    // The appender says aloud what goes wrong when it looks for old files, so the directory is made before.
    if std::fs::create_dir_all(directory).is_err() {
        return;
    }
    let Ok(file) = Builder::new()
        .rotation(Rotation::DAILY)
        .filename_prefix("keyrack")
        .filename_suffix("log")
        .max_log_files(7)
        .build(directory)
    else {
        return;
    };
    let filter = EnvFilter::try_from_env("KEYRACK_LOG")
        .unwrap_or_else(|_| EnvFilter::new("warn,keyrack=info"));
    // A second logger in one process, as in a test, changes nothing.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(std::sync::Mutex::new(file))
        .try_init();
}
