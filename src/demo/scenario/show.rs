//! A scenario on the demo's screen: what a play says, in lines that fit beneath the two desks, and what a spectator
//! does to it.

use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

use crate::demo::Which;
use crate::demo::layout::layout;
use crate::demo::scenario::{Controls, Cue, Pace, Play, Report, Scenario, Stage};
use crate::demo::script::{Direction, Line, Script};
use crate::store::StoreError;
use crate::terminal::text::wrap;

/// In so many rows there is room for a caption of several lines and for what happened beneath it.
const TALL: u16 = 3;

/// Begins a play. It goes on as the screen carries out its orders, and ends with the screen.
///
/// # Errors
/// If the site can't be read.
pub async fn begin(
    scenario: Scenario,
    stage: &Stage,
    pace: Pace,
) -> Result<(Script, JoinHandle<Report>), StoreError> {
    let (orders, session_events) = unbounded_channel();
    let (cues, said) = unbounded_channel();
    let (lines, shown) = unbounded_channel();
    let mut play = Play::new(scenario, stage, pace, orders, cues).await?;
    let controls = play.controls();
    tokio::spawn(tell(said, lines, controls.clone(), pace));
    let playing = tokio::spawn(async move {
        let report = play.run().await;
        // Its psql windows and its transactions stay open for whoever took over.
        play.stay().await;
        report
    });
    let script = Script {
        orders: Some(session_events),
        lines: Some(shown),
        director: Box::new(move |direction| match direction {
            Direction::Pause => controls.toggle(),
            Direction::Onwards => controls.onwards(),
        }),
    };
    Ok((script, playing))
}

/// Turns cues into lines.
async fn tell(
    mut cues: UnboundedReceiver<Cue>,
    lines: UnboundedSender<Line>,
    controls: Controls,
    pace: Pace,
) {
    while let Some(cue) = cues.recv().await {
        let (width, height) = crossterm::terminal::size().unwrap_or((80, 24));
        let tall = layout((width, height), Which::First, false, [0, 0])
            .is_some_and(|layout| layout.notice.height >= TALL);
        let (caption, over) = match cue {
            Cue::Step {
                number,
                of,
                caption,
            } => {
                if lines.send(Line::At(number, of)).is_err() {
                    return;
                }
                let Some(caption) = caption else { continue };
                (caption, false)
            }
            // Where there is one line, the caption has been read by now and makes room.
            Cue::Happened(what) if tall => {
                if lines.send(Line::Happened(what)).is_err() {
                    return;
                }
                continue;
            }
            Cue::Happened(what) => (what, false),
            Cue::HandOver(what) => (format!("Your turn. {what}"), true),
            Cue::Over(report) => (farewell(&report), true),
        };
        let pages = if tall {
            vec![caption]
        } else {
            balanced(&caption, usize::from(width).saturating_sub(6))
        };
        let last = pages.len().saturating_sub(1);
        for (index, page) in pages.into_iter().enumerate() {
            let reading = time_for(&page, pace, over);
            let page = if index < last {
                format!("{page} …")
            } else {
                page
            };
            let line = if over && index == last {
                Line::YourTurn(page)
            } else {
                Line::Caption(page)
            };
            if lines.send(line).is_err() {
                return;
            }
            if index < last {
                controls.rest(reading).await;
            }
        }
    }
}

/// How long a page stays that another one follows. What a person is asked to do is read, however fast it was set up.
fn time_for(page: &str, pace: Pace, over: bool) -> Duration {
    let pace = if over && pace == Pace::Sandbox {
        Pace::Slow
    } else {
        pace
    };
    pace.reading_page(page)
}

/// As few pages of one line as there can be, none much shorter than the others.
fn balanced(text: &str, cells: usize) -> Vec<String> {
    let pages = wrap(text, cells);
    let narrower = (1..cells).rev().map(|cells| wrap(text, cells));
    narrower
        .take_while(|lines| lines.len() == pages.len())
        .last()
        .unwrap_or(pages)
}

fn farewell(report: &Report) -> String {
    match report.problems.first() {
        None => {
            "The end. Everything was as it should be. Both desks are yours now; q leaves.".into()
        }
        Some(problem) => format!("This was not to be expected. {}", problem.sentence()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_is_asked_to_do_stays_until_it_is_read() {
        let page = "Your turn. Type 2 and press Enter in both desks at …";
        assert!(time_for(page, Pace::Sandbox, true) > Duration::from_secs(2));
        assert_eq!(time_for(page, Pace::Sandbox, false), Duration::ZERO);
    }

    #[test]
    fn a_caption_in_pages_leaves_no_word_alone() {
        let caption =
            "At the deadline: in this house holds last twenty seconds. Anna takes the Garden room.";
        assert_eq!(
            balanced(caption, 74),
            [
                "At the deadline: in this house holds last",
                "twenty seconds. Anna takes the Garden room."
            ]
        );
        assert_eq!(balanced("Bert commits.", 74), ["Bert commits."]);
    }
}
