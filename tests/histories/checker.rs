//! Is there an order in which the calls could have happened one by one, each between its invocation and its response,
//! each answered as a sequential model answers? The search of Wing and Gong with Lowe's memory of what was tried.
//!
//! Time is part of it: a call decides at a moment of the database's clock within known bounds, moments never go back
//! in the order, and a hold may be over from its deadline on. So the model is asked at the earliest moment that is
//! possible, and at every deadline up to the latest one.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A room or an item, one call after the other.
pub trait Model: Clone + Hash {
    /// A call with its answer.
    type Call: Debug;

    /// The state after a call that is decided at this moment, if the answer is right.
    fn step(&self, call: &Self::Call, at: i64) -> Option<Self>;

    /// Every moment at which something runs out.
    fn deadlines(&self) -> Vec<i64>;
}

/// A call as it was seen from outside.
#[derive(Debug)]
pub struct Seen<Call> {
    /// When it was sent and when it was answered, by the desks' common clock that never goes back.
    pub invoked: u64,
    pub returned: u64,
    /// The bounds of its decision, by the database's clock, in microseconds.
    pub earliest: i64,
    pub latest: i64,
    pub call: Call,
}

/// How many steps the search may take before it gives up, which is a failure too.
const PATIENCE: usize = 3_000_000;

struct Frame<M> {
    state: M,
    now: i64,
    /// What could come next here, last first.
    choices: Vec<(usize, i64)>,
    /// The call that led here.
    by: usize,
}

/// The number of steps that the search took, or why there is no such order.
pub fn check<M: Model>(initial: M, mut history: Vec<Seen<M::Call>>) -> Result<usize, String> {
    history.sort_by_key(|seen| seen.invoked);
    let mut placed = vec![false; history.len()];
    let mut tried = HashSet::new();
    let mut steps = 0;
    let mut best = (0, String::new());
    let mut stack = vec![Frame {
        choices: choices(&history, &placed, &initial, i64::MIN),
        state: initial,
        now: i64::MIN,
        by: usize::MAX,
    }];
    let mut depth = 0;
    while let Some(frame) = stack.last_mut() {
        if depth == history.len() {
            return Ok(steps);
        }
        let Some((index, at)) = frame.choices.pop() else {
            if depth >= best.0 {
                best = (depth, explain(&history, &placed, frame.now));
            }
            if frame.by != usize::MAX {
                placed[frame.by] = false;
                depth -= 1;
            }
            stack.pop();
            continue;
        };
        let Some(state) = frame.state.step(&history[index].call, at) else {
            continue;
        };
        steps += 1;
        if steps > PATIENCE {
            return Err(format!("no order was found in {PATIENCE} steps"));
        }
        placed[index] = true;
        let mut hasher = DefaultHasher::new();
        (&placed, &state, at).hash(&mut hasher);
        if !tried.insert(hasher.finish()) {
            placed[index] = false;
            continue;
        }
        depth += 1;
        stack.push(Frame {
            choices: choices(&history, &placed, &state, at),
            state,
            now: at,
            by: index,
        });
    }
    Err(format!(
        "after {} of {} calls none of these can be next:\n{}",
        best.0,
        history.len(),
        best.1
    ))
}

/// The calls that may come next, with the moments to try, the most promising last.
fn choices<M: Model>(
    history: &[Seen<M::Call>],
    placed: &[bool],
    state: &M,
    now: i64,
) -> Vec<(usize, i64)> {
    let open = || (0..history.len()).filter(|index| !placed[*index]);
    // Nothing may come after the response of a call that has not had its turn.
    let first_response = open().map(|index| history[index].returned).min();
    let Some(first_response) = first_response else {
        return Vec::new();
    };
    // Nor after the last moment at which it can have decided.
    let last_moment = open()
        .map(|index| history[index].latest)
        .min()
        .unwrap_or(i64::MAX);
    let deadlines = state.deadlines();
    let mut choices = Vec::new();
    for index in open().take_while(|index| history[*index].invoked <= first_response) {
        let seen = &history[index];
        let earliest = seen.earliest.max(now);
        let latest = seen.latest.min(last_moment);
        if earliest <= latest {
            choices.push((index, earliest));
        }
        if earliest < latest {
            choices.extend(
                deadlines
                    .iter()
                    .copied()
                    .filter(|deadline| earliest < *deadline && *deadline <= latest)
                    .map(|deadline| (index, deadline)),
            );
        }
    }
    choices.sort_by_key(|(index, at)| std::cmp::Reverse((*at, history[*index].latest)));
    choices
}

fn explain<Call: Debug>(history: &[Seen<Call>], placed: &[bool], now: i64) -> String {
    let mut lines = vec![format!("  now: {now}")];
    lines.extend(
        (0..history.len())
            .filter(|index| !placed[*index])
            .take(12)
            .map(|index| format!("  {:?}", history[index])),
    );
    lines.join("\n")
}
