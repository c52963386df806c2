//! Step mode: a command whose transaction stops between the protocol's own steps, so that a person can see what each
//! does, who waits for whom, and what would become of it.
//!
//! The gates are in the database (`migrations/protocol/15_step_mode.sql`) and so is the text of the protocol: nothing of it is
//! repeated here. Two connections play one command: the session that is stopped ([`session`]), and the controller that
//! opens its gates and looks at it from outside ([`controller`]). This module must not know who shows it, nor how it is
//! said.

mod controller;
mod inspection;
mod notices;
mod session;
mod stepwise;
mod trace;
mod view;

pub use stepwise::Stepwise;
pub use view::{
    Deadline, Ending, ListedLock, Names, Return, Step, StepLimits, StepPlace, StepView,
    StepWarning, TracedStep, Wait,
};
