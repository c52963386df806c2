//! Commands: one autocommit statement each, asked again with the same request id when that is right. Must not know what a
//! command is for, nor who waits for its answer.

mod answer;
pub(super) mod retry;
pub(super) mod site_file;
pub(super) mod statements;
mod sweep;

pub use retry::Progress;
