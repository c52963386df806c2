//! The names of those actions that others speak of, so that no action needs to know another's file.

use crate::console::model::keymap::ActionName;

pub(crate) const BACK: ActionName = ActionName("back");
pub(crate) const CANCEL: ActionName = ActionName("cancel");
pub(crate) const CONFIRM: ActionName = ActionName("confirm");
pub(crate) const COUNT: ActionName = ActionName("count");
pub(crate) const DOWN: ActionName = ActionName("down");
pub(crate) const EDIT: ActionName = ActionName("edit");
pub(crate) const HOLD: ActionName = ActionName("hold");
pub(crate) const LEFT: ActionName = ActionName("left");
pub(crate) const MOVE: ActionName = ActionName("move");
pub(crate) const RIGHT: ActionName = ActionName("right");
pub(crate) const UP: ActionName = ActionName("up");
