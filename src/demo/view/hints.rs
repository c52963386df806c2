//! The last line: the keys that matter now, from the demo's key table, and how far a scenario is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::demo::keys::{Action, Binding, binding_of};
use crate::demo::state::{NextKey, State};
use crate::terminal::canvas::put;
use crate::terminal::text::width;
use crate::terminal::theme::Theme;

/// What help is called where it knows more keys than there is room for.
const MORE: &str = "all keys";

/// A key, and what it does.
type Hint = (String, &'static str);

/// Paints the line.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, state: &State, theme: &Theme) {
    let words = match state.next_key {
        NextKey::Desk => None,
        NextKey::Letter => Some("a letter of the demo's own keys (? shows them, Esc: none)"),
        NextKey::Fire => Some("the key that both desks are to press at once (Esc: none)"),
    };
    if let Some(words) = words {
        put(buffer, area.x + 1, area.y, words, area.width, theme.key);
        return;
    }
    let mut room = area.width.saturating_sub(1);
    if let Some((step, of)) = state.at.filter(|_| state.watching) {
        let words = format!("step {step} of {of}");
        let cells = u16::try_from(width(&words)).unwrap_or(0);
        let x = area.right().saturating_sub(cells + 1);
        put(buffer, x, area.y, &words, cells, theme.dim);
        room = room.saturating_sub(cells + 2);
    }
    let (hints, gap) = if state.watching {
        let hints = watching(state.paused);
        fitting(&hints, &hints, room)
    } else {
        let hints = |words: fn(&Binding) -> &'static str| -> Vec<Hint> {
            let bindings = state.hints().iter().map(|action| binding_of(*action));
            bindings
                .map(|binding| (binding.keys(), words(binding)))
                .collect()
        };
        fitting(
            &hints(|binding| binding.hint),
            &hints(|binding| binding.brief),
            room,
        )
    };
    let mut x = area.x + 1;
    for (keys, words) in &hints {
        let rest = |x: u16| area.right().saturating_sub(x);
        x = put(buffer, x, area.y, keys, rest(x), theme.key) + 1;
        x = put(buffer, x, area.y, words, rest(x), theme.dim) + gap;
    }
}

/// The keys of a spectator, while a scenario has the desks.
fn watching(paused: bool) -> Vec<Hint> {
    let pause = if paused { "go on" } else { "pause" };
    let help = binding_of(Action::Help);
    vec![
        ("Space".to_owned(), pause),
        ("Enter".to_owned(), "onwards"),
        ("q".to_owned(), binding_of(Action::Quit).hint),
        (help.keys(), help.hint),
    ]
}

/// All of them, in as many words as there is room for, and the cells between them; where there is too little even for
/// few words, the first ones, and help, which has the others.
fn fitting(hints: &[Hint], brief: &[Hint], room: u16) -> (Vec<Hint>, u16) {
    let cells = |hints: &[Hint], gap: usize| -> usize {
        let each = hints
            .iter()
            .map(|(keys, words)| width(keys) + 1 + width(words) + gap);
        each.sum::<usize>().saturating_sub(gap)
    };
    let room = usize::from(room);
    for (hints, gap) in [(hints, 3), (hints, 2), (brief, 2)] {
        if cells(hints, gap.into()) <= room {
            return (hints.to_vec(), gap);
        }
    }
    let Some(((help, _), first)) = brief.split_last() else {
        return (Vec::new(), 2);
    };
    (0..=first.len())
        .rev()
        .map(|many| {
            let more = std::iter::once((help.clone(), MORE));
            first[..many].iter().cloned().chain(more).collect()
        })
        .find(|hints: &Vec<Hint>| hints.len() == 1 || cells(hints, 2) <= room)
        .map_or((Vec::new(), 2), |hints| (hints, 2))
}
