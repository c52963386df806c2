//! The names of those actions that others speak of, so that no action needs to know another's file.

use crate::console::model::keymap::ActionName;

pub const BACK: ActionName = ActionName("back");
pub const CANCEL: ActionName = ActionName("cancel");
pub const CONFIRM: ActionName = ActionName("confirm");
pub const COUNT: ActionName = ActionName("count");
pub const DOWN: ActionName = ActionName("down");
pub const EDIT: ActionName = ActionName("edit");
pub const HOLD: ActionName = ActionName("hold");
pub const LEFT: ActionName = ActionName("left");
pub const MOVE: ActionName = ActionName("move");
pub const RIGHT: ActionName = ActionName("right");
pub const UP: ActionName = ActionName("up");
