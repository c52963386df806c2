//! Plays a case in every order, or in orders drawn by lot: a schedule is the list of who moves next.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::stage::Stage;

/// Several commands that start together in a house.
#[derive(Clone)]
pub struct Case {
    /// What is in the house.
    pub setting: &'static str,
    /// The commands' names and calls.
    pub commands: Vec<(&'static str, &'static str)>,
    /// Whether the deadline of what is held passes at some moment.
    pub deadline: bool,
    /// Whether the commands are one request, sent again and again.
    pub twins: bool,
}

impl Case {
    /// Whether a command's next step may read the clock. The deadline passes before such a step only: to pass before
    /// another one is the same as to pass after it.
    fn reads_clock(&self, session: usize, step: &str) -> bool {
        match step {
            // Only a sweep looks at the clock before it locks.
            "begin" => self.commands[session].0.starts_with("sweep"),
            "slot_ended_or_stale"
            | "find_slot_conflict"
            | "place_slot"
            | "replace_slot"
            | "exchange_slots"
            | "settle_stock"
            | "commit" => false,
            _ => true,
        }
    }

    /// Whether a command's next step reads nothing but what has been committed, and writes what nobody else looks at: it
    /// claims its request id and looks where the claim is, or it looks for a conflict in a room that it has locked.
    fn only_reads(&self, session: usize, step: &str) -> bool {
        let name = self.commands[session].0;
        match step {
            // A sweep locks what it finds; twins wait for one another's request.
            "begin" => !name.starts_with("sweep") && !self.twins,
            // A group takes back what it has placed if it finds one.
            "find_slot_conflict" => !name.contains("group"),
            _ => false,
        }
    }

    /// Whether a step is about an item, in a command that is about nothing else.
    fn only_stock(&self, step: Step) -> bool {
        self.commands[step.actor].1.contains("_stock(")
            && matches!(step.name, "lock_item" | "lock_stock_hold" | "expire_item")
    }

    /// Whether a step is about rooms.
    fn only_rooms(step: Step) -> bool {
        matches!(
            step.name,
            "lock_room" | "lock_slot_hold" | "expire_room" | "find_slot_conflict" | "place_slot"
        )
    }

    /// Whether two neighbouring steps of different actors come to the same in either order.
    fn commute(&self, one: Step, other: Step) -> bool {
        let deadline = self.commands.len();
        if one.actor == deadline {
            !self.reads_clock(other.actor, other.name)
        } else if other.actor == deadline {
            !self.reads_clock(one.actor, one.name)
        } else {
            let reads =
                self.only_reads(one.actor, one.name) || self.only_reads(other.actor, other.name);
            let apart = self.only_stock(one) && Self::only_rooms(other)
                || self.only_stock(other) && Self::only_rooms(one);
            one.name != "commit" && other.name != "commit" && (reads || apart)
        }
    }
}

/// What an actor does next: a session, or after the last of them the deadline.
#[derive(Clone, Copy, PartialEq)]
struct Step {
    actor: usize,
    name: &'static str,
}

/// One move of a schedule.
struct Choice {
    chosen: Step,
    /// Who could have moved, in order.
    possible: Vec<Step>,
    /// Who need not: what begins with that step was played in another order of steps that commute.
    asleep: Vec<Step>,
}

impl Choice {
    /// What is asleep after this move: it wakes what does not commute with it.
    fn still_asleep(&self, case: &Case) -> Vec<Step> {
        let asleep = self.asleep.iter().copied();
        asleep
            .filter(|&step| case.commute(step, self.chosen))
            .collect()
    }
}

/// How much of a case to play.
#[derive(Clone, Copy)]
pub enum Extent {
    /// So many schedules, drawn by lot.
    Sample(usize),
    /// One of each class of schedules that differ only in the order of neighbouring steps that commute.
    All,
    /// Every schedule.
    Every,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.commands.iter().map(|(name, _)| *name).collect();
        write!(f, "{}: {}", self.setting, names.join(" × "))?;
        if self.twins {
            write!(f, " (the same request)")?;
        }
        if self.deadline {
            write!(f, " × deadline")?;
        }
        Ok(())
    }
}

/// How to choose who moves next.
enum Plan<'a> {
    /// One after the other; each command whole.
    Serial(&'a [usize]),
    /// These, and then the first that can move and is not asleep.
    Prefix(&'a [Move]),
    /// By lot.
    Lot(&'a mut Lot),
}

/// What became of one schedule.
struct Played {
    choices: Vec<Choice>,
    /// Whether every way on was asleep at some point: it was played before in another order.
    again: bool,
    /// The answers and the house, in words that do not depend on chance.
    result: String,
    /// What must never be.
    problems: Vec<String>,
    /// The steps.
    story: Vec<String>,
    /// Who must come before whom in a serial order that explains this.
    precedence: Vec<(usize, usize)>,
}

/// Random numbers that are the same each time (SplitMix64).
pub struct Lot(pub u64);

impl Lot {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).unwrap()
    }
}

/// What the commands of a case, and the deadline, come to one after the other, for every order.
pub async fn serial_results(
    stage: &mut Stage,
    case: &Case,
) -> Result<Vec<(Vec<usize>, String)>, Failure> {
    let actors = case.commands.len() + usize::from(case.deadline);
    let mut results = Vec::new();
    for order in orders(actors) {
        let played = play(stage, case, Plan::Serial(&order)).await;
        if !played.problems.is_empty() {
            return Err(Failure::new(case, 0, &played));
        }
        results.push((order, played.result));
    }
    Ok(results)
}

/// A schedule that went wrong.
pub struct Failure {
    case: String,
    /// How many were played up to it; 0 if it was a serial one.
    pub schedules: usize,
    /// What is wrong, if it is more than that no serial order comes to this.
    pub problem: Option<String>,
    story: Vec<String>,
    result: String,
}

impl Failure {
    fn new(case: &Case, schedules: usize, played: &Played) -> Self {
        Self {
            case: case.to_string(),
            schedules,
            problem: played.problems.first().cloned(),
            story: played.story.clone(),
            result: played.result.clone(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.case)?;
        for step in &self.story {
            writeln!(f, "  {step}")?;
        }
        match &self.problem {
            Some(problem) => write!(f, "{problem}"),
            None => write!(f, "No serial order comes to {}", self.result),
        }
    }
}

/// Plays a case. How many different schedules there were.
pub async fn explore(
    stage: &mut Stage,
    case: &Case,
    serial: &[(Vec<usize>, String)],
    extent: Extent,
    lot: Lot,
) -> Result<usize, Failure> {
    each(stage, case, extent, lot, |count, played| {
        judge(case, count, serial, played)
    })
    .await
}

/// Everything that a case can come to: results, and who was done before who began.
pub async fn outcomes(stage: &mut Stage, case: &Case, extent: Extent) -> BTreeSet<String> {
    let mut outcomes = BTreeSet::new();
    let played = each(stage, case, extent, Lot(0), |_, played| {
        outcomes.insert(format!("{:?} {}", played.precedence, played.result));
        Ok(())
    });
    let count = played.await.unwrap_or_default();
    println!("{count} schedules, {} outcomes of {case}", outcomes.len());
    outcomes
}

/// Looks at every schedule with the number that were there so far.
async fn each(
    stage: &mut Stage,
    case: &Case,
    extent: Extent,
    mut lot: Lot,
    mut look: impl FnMut(usize, &Played) -> Result<(), Failure>,
) -> Result<usize, Failure> {
    let mut count = 0;
    if let Extent::Sample(size) = extent {
        let mut seen = HashSet::new();
        for _ in 0..size {
            let played = play(stage, case, Plan::Lot(&mut lot)).await;
            count += usize::from(seen.insert(played.story.clone()));
            look(count, &played)?;
        }
        return Ok(count);
    }
    let mut prefix = Some(Vec::new());
    while let Some(moves) = prefix {
        let played = play(stage, case, Plan::Prefix(&moves)).await;
        count += usize::from(!played.again);
        look(count, &played)?;
        prefix = following(played.choices, extent);
    }
    Ok(count)
}

/// A move that a prefix prescribes.
#[derive(Clone)]
struct Move {
    actor: usize,
    /// What is asleep from here on, unless this move wakes it: the moves that were played here before this one.
    asleep: Vec<Step>,
}

/// The next schedule depth-first: the last choice that could still have been another one.
fn following(mut choices: Vec<Choice>, extent: Extent) -> Option<Vec<Move>> {
    while let Some(last) = choices.pop() {
        let asleep = match extent {
            Extent::All => [last.asleep.clone(), vec![last.chosen]].concat(),
            _ => Vec::new(),
        };
        let other = last
            .possible
            .iter()
            .find(|step| step.actor > last.chosen.actor && !asleep.contains(step));
        if let Some(other) = other {
            let mut prefix: Vec<Move> = choices
                .into_iter()
                .map(|choice| Move {
                    actor: choice.chosen.actor,
                    asleep: choice.asleep,
                })
                .collect();
            prefix.push(Move {
                actor: other.actor,
                asleep,
            });
            return Some(prefix);
        }
    }
    None
}

/// Nothing may have gone wrong, and some serial order must come to the same that keeps the order of what did not overlap.
fn judge(
    case: &Case,
    count: usize,
    serial: &[(Vec<usize>, String)],
    played: &Played,
) -> Result<(), Failure> {
    let explained = serial.iter().any(|(order, result)| {
        let place = |actor: usize| order.iter().position(|&other| other == actor);
        *result == played.result
            && played
                .precedence
                .iter()
                .all(|&(first, second)| place(first) < place(second))
    });
    if explained && played.problems.is_empty() {
        Ok(())
    } else {
        Err(Failure::new(case, count, played))
    }
}

async fn play(stage: &mut Stage, case: &Case, mut plan: Plan<'_>) -> Played {
    let house = stage.fresh_house(case.setting).await;
    let sessions = case.commands.len();
    let requests: Vec<Uuid> = if case.twins {
        vec![Uuid::new_v4(); sessions]
    } else {
        (0..sessions).map(|_| Uuid::new_v4()).collect()
    };
    for (session, (_, call)) in case.commands.iter().enumerate() {
        stage.play(session, fill_in(call, &house, &requests[session]));
    }
    let mut played = Played {
        choices: Vec::new(),
        result: String::new(),
        again: false,
        problems: Vec::new(),
        story: Vec::new(),
        precedence: Vec::new(),
    };
    let mut passed = !case.deadline;
    let mut just_passed = false;
    loop {
        if !stage.settle().await {
            // The database ends a deadlock by itself; that it was one stays a problem.
            played.problems.push("deadlock".into());
            let started = Instant::now();
            while !stage.settle().await {
                assert!(started.elapsed() < Duration::from_secs(30), "{case}: stuck");
                tokio::task::yield_now().await;
            }
        }
        if (0..sessions).all(|session| stage.is_done(session)) {
            break;
        }
        let mut possible: Vec<Step> = (0..sessions)
            .filter(|&session| stage.can_move(session))
            .map(|actor| Step {
                actor,
                name: stage.step_of(actor),
            })
            .collect();
        let reads_clock = |step: &Step| case.reads_clock(step.actor, step.name);
        if !passed && possible.iter().any(reads_clock) {
            possible.push(Step {
                actor: sessions,
                name: "the deadline passes",
            });
        }
        if just_passed && !matches!(plan, Plan::Serial(_)) {
            possible.retain(reads_clock);
        }
        let move_of = |actor: usize| possible.iter().position(|step| step.actor == actor);
        let mut asleep = match played.choices.last() {
            Some(last) => last.still_asleep(case),
            None => Vec::new(),
        };
        let chosen = match &mut plan {
            Plan::Serial(order) => order.iter().find_map(|&actor| move_of(actor)).unwrap(),
            Plan::Prefix(prefix) => match prefix.get(played.choices.len()) {
                Some(next) => {
                    asleep = next.asleep.clone();
                    move_of(next.actor).unwrap_or_else(|| {
                        let (story, actor) = (played.story.join("\n"), next.actor + 1);
                        panic!("{case}: this time {actor} can't move after\n{story}")
                    })
                }
                None => {
                    let awake = possible.iter().position(|step| !asleep.contains(step));
                    played.again |= awake.is_none();
                    awake.unwrap_or(0)
                }
            },
            Plan::Lot(lot) => lot.below(possible.len()),
        };
        let chosen = possible[chosen];
        played.story.push(if chosen.actor == sessions {
            chosen.name.into()
        } else {
            let name = case.commands[chosen.actor].0;
            format!("{} {name}: {}", chosen.actor + 1, chosen.name)
        });
        just_passed = chosen.actor == sessions;
        if just_passed {
            stage.pass_the_deadline().await;
            passed = true;
        } else {
            stage.let_go(chosen.actor).await;
        }
        if played.again {
            // Nothing new comes after this.
            possible.clear();
        }
        played.choices.push(Choice {
            chosen,
            possible,
            asleep,
        });
    }

    let mut answers = Vec::new();
    for session in 0..sessions {
        match stage.answer(session) {
            Ok(answer) => answers.push(answer),
            Err(error) => {
                let name = case.commands[session].0;
                played.problems.push(format!("{name} raised {error}"));
                answers.push(Value::Null);
            }
        }
    }
    let (picture, remembered, broken) = stage
        .result(house["site"].as_i64().unwrap(), &requests)
        .await;
    played.problems.extend(broken);
    for (session, answer) in answers.iter().enumerate() {
        // R21: what was answered is what a desk hears that asks again. A sweep has no request.
        if answer.is_object()
            && answer["refusal"] != "busy"
            && answer["refusal"] != remembered[session]
        {
            played.problems.push(format!(
                "{} answered {} and {} is remembered",
                case.commands[session].0, answer["refusal"], remembered[session]
            ));
        }
    }
    played.precedence = precedence(case, &played);
    let answers: Vec<Value> = answers.into_iter().map(without_chance).collect();
    played.result = json!({ "answers": answers, "house": picture }).to_string();
    played
}

/// Who was done before who began. A command meets the deadline where it locks a claim or sweeps, not where it begins: the
/// clock counts from then on (R10).
fn precedence(case: &Case, played: &Played) -> Vec<(usize, usize)> {
    const DECIDES: [&str; 4] = [
        "lock_slot_hold",
        "lock_stock_hold",
        "expire_room",
        "expire_item",
    ];
    let moves = |actor: usize| {
        let taken = played.choices.iter().enumerate();
        taken.filter(move |(_, choice)| choice.chosen.actor == actor)
    };
    let deadline = case.commands.len();
    let mut pairs = Vec::new();
    for first in 0..=deadline {
        for second in 0..=deadline {
            let Some((end, _)) = moves(first).next_back() else {
                continue;
            };
            let begins = moves(second)
                .find(|(at, _)| {
                    let decides = DECIDES.iter().any(|step| played.story[*at].ends_with(step));
                    first != deadline || decides
                })
                .map(|(at, _)| at);
            if begins.is_some_and(|begins| end < begins) {
                pairs.push((first, second));
            }
        }
    }
    pairs
}

fn fill_in(call: &str, house: &Value, request: &Uuid) -> String {
    let mut filled = call.replace("{id}", &format!("'{request}'"));
    for (name, number) in house.as_object().unwrap() {
        filled = filled.replace(&format!("{{{name}}}"), &number.to_string());
    }
    filled
}

/// An answer without what differs from house to house: numbers of rows, readings of the clock, and the nearest free
/// choices, which are advice about other claims that nobody has locked.
fn without_chance(answer: Value) -> Value {
    const CHANCE: [&str; 18] = [
        "now",
        "created_at",
        "changed_at",
        "expires_at",
        "expired_at",
        "retired_at",
        "late_seconds",
        "request_id",
        "hold_id",
        "group_id",
        "room_id",
        "item_id",
        "site_id",
        "choices",
        "next_release",
        "starts_at",
        "ends_at",
        "occupied_until",
    ];
    match answer {
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .filter(|(name, _)| !CHANCE.contains(&name.as_str()))
                .map(|(name, value)| (name, without_chance(value)))
                .collect::<Map<_, _>>(),
        ),
        Value::Array(values) => values.into_iter().map(without_chance).collect(),
        other => other,
    }
}

/// Every order of so many.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for shorter in orders(count - 1) {
        for place in 0..count {
            let mut order = shorter.clone();
            order.insert(place, count - 1);
            all.push(order);
        }
    }
    all
}
