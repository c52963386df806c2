//! What the spectators see, at each size.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::console::tests::fixtures::{
    console, now, request, sample_snapshot, screen, site, styles,
};
use crate::demo::keys::BINDINGS;
use crate::demo::script::Line;
use crate::demo::view::*;
use crate::domain::Desk;
use crate::domain::sentences::session::DatabaseSession;
use crate::store::stepping::{ListedLock, Names, Return, Step, StepWarning, TracedStep, Wait};
use crate::store::{StepLimits, StepPlace, StepView};
use crate::terminal::theme::{Background, Colours};

fn plain() -> Theme {
    Theme::new(Background::Dark, Colours::None, false)
}

fn state() -> State {
    let mut state = State::new(
        [Desk("anna".into()), Desk("bert".into())],
        site("Europe/London").calendar,
    );
    state.notice = Some(Notice {
        tone: Tone::Good,
        lines: vec![
            "bert was first by 0.41 ms; anna was told: Blue room is taken (desk bert) 10:00–10:30 on Thu 3 Dec 2026, held \
             until 10:34:07."
                .into(),
            "bert: sent first, decided at 10:24:07.000120 by the database's clock, answer here after 902 µs".into(),
            "anna: sent 14 µs later, decided at 10:24:07.000530 by the database's clock, answer here after 1350 µs".into(),
        ],
        in_short: vec![
            "bert was first by 0.41 ms; anna: Blue room is taken.".into(),
            "bert was first by 0.41 ms.".into(),
        ],
    });
    state
}

fn painted((columns, rows): (u16, u16), state: &State, theme: &Theme) -> Buffer {
    let sizes = areas((columns, rows), state).map(|layout| {
        layout.desks.map(|desk| {
            let console = desk.console.unwrap_or_default();
            (console.width, console.height)
        })
    });
    let [first, second] = sizes.unwrap_or_default();
    let anna = console(sample_snapshot(), first);
    let mut bert = console(sample_snapshot(), second);
    bert.desk = Desk("bert".into());
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
    paint(&mut buffer, [&anna, &bert], state, theme);
    buffer
}

fn shown(size: (u16, u16), state: &State) -> String {
    screen(&painted(size, state, &plain()))
}

/// A transaction that waits for anna's, and of which much is to be said.
fn waiting(state: &mut State) {
    let step = |gate, name: &str, words: &str, call: &str| Step {
        gate,
        name: name.into(),
        words: words.into(),
        call: call.into(),
        source: "".into(),
        depth: 0,
    };
    let waits_in = step(
        2,
        "lock_room",
        "Lock the room's row: from here on nobody else decides about this room.",
        "lock_room(p_site => 1, p_room => 1)",
    );
    let moment = Instant::now();
    state.moment = moment;
    state.step_mode = [false, true];
    state.steps[1] = Some(StepView {
        desk: Desk("bert".into()),
        request: request(7),
        command: "hold_slot",
        backend: 4711,
        place: StepPlace::Waiting(Wait {
            step: Some(waits_in.clone()),
            lock_kind: "tuple".into(),
            whom: vec![DatabaseSession {
                backend: 4710,
                program: "keyrack/anna".into(),
                desk: Some(Desk("anna".into())),
            }],
            since: now() - TimeDelta::seconds(4),
        }),
        trace: vec![
            TracedStep {
                step: step(
                    1,
                    "begin_request",
                    "Claim the request id.",
                    "begin_request(…)",
                ),
                arguments: json!({}),
                returned: Some(Return {
                    result: Value::Null,
                    at: now(),
                    took: Duration::from_micros(350),
                }),
                undone: false,
            },
            TracedStep {
                step: waits_in,
                arguments: json!({ "p_room": 1 }),
                returned: None,
                undone: false,
            },
        ],
        listed_locks: vec![ListedLock::Table {
            name: "request".into(),
            modes: "RowExclusiveLock".into(),
        }],
        blocked: Vec::new(),
        deadline: None,
        names: Arc::new(Names {
            rooms: [(1, "Blue room".into())].into(),
            items: [].into(),
        }),
        warning: Some(StepWarning {
            seconds_left: 28,
            blocks: Vec::new(),
        }),
        limits: StepLimits::default(),
        began: moment,
        clock: now(),
        seen: moment,
    });
}

#[test]
fn side_by_side_at_120_by_40() {
    assert_snapshot!(shown((120, 40), &state()));
}

#[test]
fn side_by_side_at_200_by_60() {
    assert_snapshot!(shown((200, 60), &state()));
}

#[test]
fn one_above_the_other_at_80_by_24() {
    assert_snapshot!(shown((80, 24), &state()));
}

#[test]
fn a_transaction_that_waits_at_120_by_40() {
    let mut state = state();
    waiting(&mut state);
    state.focus = Which::Second;
    assert_snapshot!(shown((120, 40), &state));
}

#[test]
fn a_transaction_that_waits_at_80_by_24() {
    let mut state = state();
    waiting(&mut state);
    state.focus = Which::Second;
    assert_snapshot!(shown((80, 24), &state));
}

#[test]
fn the_keys_of_the_demo() {
    let mut state = state();
    state.help = true;
    state.both = true;
    assert_snapshot!(shown((80, 24), &state));
}

#[test]
fn one_desk_and_the_other_as_a_line_where_there_is_no_more_room() {
    let mut state = state();
    state.focus = Which::Second;
    assert_snapshot!(shown((60, 18), &state));
}

#[test]
fn the_winner_s_line_is_never_cut() {
    for columns in 60..=200 {
        for rows in [20, 24, 30, 40] {
            let text = shown((columns, rows), &state());
            let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(
                flowing.contains("Blue room is taken. ")
                    || flowing.contains("Thu 3 Dec 2026, held until 10:34:07. "),
                "{columns}x{rows}: {text}"
            );
        }
    }
}

#[test]
fn the_hints_are_all_there_or_help_has_more() {
    let last = |size, state: &State| -> String {
        let text = shown(size, state);
        text.lines().last().unwrap_or_default().trim().to_owned()
    };
    let mut state = state();
    for (columns, line) in [
        (
            60,
            "F2 desk  F4 fire Enter  F6 steps  F3 to both  F1 all keys",
        ),
        (
            80,
            "F2 desk  F4 fire Enter  F6 steps  F3 to both  F5 fire key  Ctrl-t save  F1 help",
        ),
        (
            120,
            "F2 other desk   F4 fire Enter   F6 step mode   F3 keys to both   F5 fire a key   Ctrl-t transcript   F1 help",
        ),
    ] {
        assert_eq!(last((columns, 24), &state), line);
    }
    waiting(&mut state);
    state.focus = Which::Second;
    for (columns, line) in [
        (60, "F7 step  F8 run  F9 commit  F10 roll back  F1 all keys"),
        (
            80,
            "F7 step  F8 run  F9 commit  F10 roll back  F2 desk  F11 cut  F12 kill  F1 help",
        ),
    ] {
        assert_eq!(last((columns, 24), &state), line);
    }
}

#[test]
fn help_has_every_key_even_where_there_is_little_room() {
    let mut state = state();
    state.help = true;
    for size in [(60, 20), (80, 24), (200, 60)] {
        let text = shown(size, &state);
        for binding in &BINDINGS {
            assert!(text.contains(&binding.with_leader()), "{size:?}: {text}");
        }
    }
}

#[test]
fn how_far_a_scenario_is_stands_by_the_keys() {
    let mut state = state();
    state.watching = true;
    state.at = Some((11, 14));
    for columns in [60, 80, 120, 200] {
        let text = shown((columns, 24), &state);
        let last = text.lines().last().unwrap_or_default();
        assert!(
            last.ends_with("F1 help   step 11 of 14") || columns > 60,
            "{last}"
        );
        assert!(last.ends_with("step 11 of 14"), "{last}");
    }
    state.hear(Line::YourTurn("The end.".into()));
    assert!(!shown((80, 24), &state).contains("step 11"));
}

#[test]
fn what_is_hidden_of_a_transaction_can_be_had_by_a_key() {
    let mut state = state();
    waiting(&mut state);
    state.focus = Which::Second;
    assert!(shown((80, 24), &state).contains("more: Ctrl-g z"));
    state.alone = true;
    assert!(!shown((80, 24), &state).contains("more: Ctrl-g z"));
}

#[test]
fn who_has_the_keys_is_said_in_words_and_in_colour() {
    for background in [Background::Dark, Background::Light] {
        let theme = Theme::new(background, Colours::True, false);
        let buffer = painted((120, 40), &state(), &theme);
        let first_line = |text: String| text.lines().next().unwrap().to_owned();
        let line = first_line(screen(&buffer));
        assert!(
            line.contains("anna  has the keys") && !line.contains("bert  has"),
            "{line}"
        );
        assert_ne!(
            buffer[(3, 0)].style(),
            buffer[(63, 0)].style(),
            "{}",
            styles(&buffer)
        );
    }
}

#[test]
fn in_ascii_nothing_else_is_shown() {
    let theme = Theme::new(Background::Dark, Colours::None, true);
    let mut state = state();
    waiting(&mut state);
    for help in [false, true] {
        state.help = help;
        let text = screen(&painted((120, 40), &state, &theme));
        assert!(text.is_ascii(), "{text}");
        assert!(help || text.contains("answer here after 902 us"), "{text}");
    }
}

#[test]
fn whatever_the_size_it_paints() {
    let mut state = state();
    waiting(&mut state);
    for columns in (1..220).step_by(9) {
        for rows in (1..70).step_by(4) {
            for help in [false, true] {
                state.help = help;
                painted((columns, rows), &state, &plain());
            }
        }
    }
    assert!(shown((39, 40), &state).contains("Too small for two desks."));
}
