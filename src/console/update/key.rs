//! A key was pressed: the action that it stands for is done, or the sentence said why it can't be done now.

use crate::console::actions;
use crate::console::actions::action::Scope;
use crate::console::effect::Effect;
use crate::console::message::Press;
use crate::console::model::Model;
use crate::console::model::layout::Screen;
use crate::console::model::notice::Tone;
use crate::console::update::dialog;

pub(super) fn press(model: &mut Model, press: Press) -> Vec<Effect> {
    model.clock.tick(press.at);
    let action = model.keymap.action(press.key).and_then(actions::find);
    let in_any_case = action.filter(|action| match action.scope {
        Scope::Everywhere => true,
        Scope::NoDialog => model.dialog.is_none(),
        Scope::Console => false,
    });
    if let Some(action) = in_any_case {
        return (action.act)(model, press);
    }
    if model.screen() == Screen::TooSmall {
        return Vec::new();
    }
    if model.dialog.is_some() {
        return dialog::press(model, press);
    }
    let Some(action) = action else {
        return Vec::new();
    };
    if let Some(reason) = (action.why_not)(model) {
        model.cursor.surprised = false;
        model.count = None;
        model.say(Tone::Refused, &reason);
        return vec![Effect::DRAW];
    }
    // What was said last was about what was there before this key.
    if !action.is_part_of_a_number {
        model.notice = None;
    }
    let mut effects = vec![Effect::DRAW];
    effects.extend((action.act)(model, press));
    if !action.is_part_of_a_number {
        model.count = None;
    }
    effects
}
