//! What an action is: a row in the key table, why it is not possible now, what it does, its dialog, what its answer says.
//!
//! Must not know any single action.

use crokey::KeyCombination;

use crate::console::effect::Effect;
use crate::console::message::Press;
use crate::console::model::Model;
use crate::console::model::dialog::Dialog;
use crate::console::model::keymap::{ActionName, KeyRow};
use crate::console::model::pending::Pending;
use crate::domain::{Command, Request, Success};

/// Something that a key does.
pub(crate) struct Action {
    /// Its name in the configuration.
    pub name: ActionName,
    /// Keys that can't be taken away from it.
    pub fixed: &'static [KeyCombination],
    /// Keys that the configuration can replace.
    pub keys: &'static [KeyCombination],
    /// Two or three words for the hint line; empty for none.
    pub hint: fn(&Model) -> &'static str,
    /// A sentence for help.
    pub help: &'static str,
    /// Why it is not possible now, in a full sentence; none if it is.
    pub why_not: fn(&Model) -> Option<String>,
    /// Where it can be asked for.
    pub scope: Scope,
    /// Whether what was said last, and a number that was typed, stay for the next key.
    pub is_part_of_a_number: bool,
    /// What it does, once it is possible. The model is painted afterwards in any case.
    pub act: fn(&mut Model, Press) -> Vec<Effect>,
    /// What its dialog asks for, if it opens one.
    pub form: Option<&'static Form>,
    /// What is said, and done on the screen, when the database has done what it asked for.
    pub done: fn(&mut Model, &Request, &Success) -> String,
}

/// Where an action can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Where there is room for the console and no dialog is open.
    Console,
    /// Wherever no dialog is open.
    NoDialog,
    /// Everywhere.
    Everywhere,
}

impl Action {
    /// Always possible, does nothing, says nothing: what the actions differ from.
    pub(crate) const PLAIN: Self = Self {
        name: ActionName(""),
        fixed: &[],
        keys: &[],
        hint: |_| "",
        help: "",
        why_not: |_| None,
        scope: Scope::Console,
        is_part_of_a_number: false,
        act: |_, _| Vec::new(),
        form: None,
        done: |_, _, _| String::new(),
    };

    /// Its row in the key table.
    pub(crate) const fn key_row(&self) -> KeyRow {
        KeyRow {
            action: self.name,
            fixed: self.fixed,
            keys: self.keys,
        }
    }
}

/// What a dialog asks for.
pub(crate) struct Form {
    /// The title.
    pub title: &'static str,
    /// The keys, on its lower edge.
    pub keys: fn(&Dialog) -> &'static str,
    /// What Enter in the last field, or the last button, does with what was typed.
    pub submit: fn(&mut Model, &Dialog) -> Submission,
    /// Whether it is the page of all keys, with nothing to type in.
    pub is_page: bool,
}

/// What becomes of a dialog that was submitted.
pub(crate) enum Submission {
    /// It waits for the answer to this.
    Ask(Command),
    /// It closes.
    Close,
    /// It stays open, with a sentence that says why.
    Complain(String),
}

/// Sends a command under the id of the press that asked for it.
pub(crate) fn ask(model: &mut Model, action: ActionName, press: Press, command: Command) -> Effect {
    let request = Request {
        id: press.id,
        desk: model.desk.clone(),
        command,
    };
    model.pending.push(Pending {
        action,
        request: request.clone(),
        checking: false,
        ask_again: false,
    });
    Effect::Execute(request)
}
