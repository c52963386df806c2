//! The page of all keys.

use crokey::key;

use crate::console::actions::action::{Action, Form, Submission};
use crate::console::effect::Effect;
use crate::console::message::Press;
use crate::console::model::Model;
use crate::console::model::dialog::{Dialog, Subject};
use crate::console::model::keymap::ActionName;

pub(super) const ACTION: Action = Action {
    name: ActionName("help"),
    keys: &[key!('?')],
    hint: |_| "help",
    help: "This page",
    act,
    form: Some(&Form {
        title: "Keys",
        keys: |_| "any other key closes",
        submit: |_, _| Submission::Close,
        is_page: true,
    }),
    ..Action::PLAIN
};

fn act(model: &mut Model, press: Press) -> Vec<Effect> {
    model.dialog = Some(Dialog::open(
        ACTION.name,
        Subject::Nothing,
        String::new(),
        Vec::new(),
        press,
    ));
    Vec::new()
}
