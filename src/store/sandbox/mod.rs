//! What demos and scenarios need besides commands: a site that goes with its demo, connections that are ready at once,
//! psql prompts, and the database's own record of what it answered when and of who waits for whom. Must not know who
//! plays what.

mod lock_waits;
mod prompt;
mod records;
mod site;

pub(crate) use prompt::{Prompt, PromptAnswer};
pub use site::DemoSite;
