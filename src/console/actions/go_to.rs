//! Show another date.

use crokey::key;

use crate::console::actions::action::{Action, Form, Submission};
use crate::console::effect::Effect;
use crate::console::message::Press;
use crate::console::model::Model;
use crate::console::model::dialog::{Dialog, Field, Subject};
use crate::console::model::keymap::ActionName;
use crate::domain::TimeReader;

const DATE: &str = "Date";

pub(super) const ACTION: Action = Action {
    name: ActionName("go_to"),
    keys: &[key!(g)],
    hint: |_| "go to",
    help: "Another date: 2026-12-03, 3 Dec, tomorrow, fri, +7",
    act,
    form: Some(&Form {
        title: "Go to a date",
        keys: |_| "Enter goes there   Esc stays",
        submit,
        is_page: false,
    }),
    ..Action::PLAIN
};

fn act(model: &mut Model, press: Press) -> Vec<Effect> {
    model.dialog = Some(Dialog::open(
        ACTION.name,
        Subject::Nothing,
        ACTION.help.to_owned(),
        vec![Field::new(DATE, "")],
        press,
    ));
    Vec::new()
}

fn submit(model: &mut Model, dialog: &Dialog) -> Submission {
    let calendar = model.calendar();
    let reader = TimeReader::at(&calendar, model.now());
    match reader.date(dialog.text(DATE)) {
        Ok(date) if calendar.day(date).is_some() => {
            model.show_date(date);
            Submission::Close
        }
        Ok(_) => Submission::Complain("This house has no such day. Choose another.".into()),
        Err(_) => Submission::Complain(
            "That is no date; write it like 2026-12-03, 3 Dec, tomorrow, fri or +7.".into(),
        ),
    }
}
