//! One strategy's race: round after round, all clients ask at the same moment.

use std::time::{Duration, Instant};

use fastrand::Rng;
use futures_util::future::{join_all, try_join_all};

use crate::demo::lab::figures::{End, Tally, Turn};
use crate::demo::lab::wishes::{Shelf, booking, quiet_booking};
use crate::demo::lab::{LabError, Length, Measured, Plan};
use crate::store::StoreError;
use crate::store::lab::{Again, Client, Lab, Referee, Reply, Strategy, Subject, Wish};

/// How often a wish is tried before it is given up, and how long: nobody stands at a counter for longer.
const TRIES: u64 = 30;
const PATIENCE: Duration = Duration::from_secs(5);

/// The longest pause before another try.
const LONGEST_PAUSE: Duration = Duration::from_millis(16);

/// Measures a strategy.
pub(super) async fn run(
    lab: &Lab,
    referee: &mut Referee,
    strategy: &'static Strategy,
    plan: &Plan,
) -> Result<Measured, LabError> {
    referee.prepare(strategy).await?;
    let mut clients = clients(lab, referee, strategy, plan).await?;
    let mut rng = Rng::with_seed(plan.seed);
    let mut tally = Tally::default();
    let started = Instant::now();
    for round in 1_i64.. {
        let wishes = wishes(referee, strategy.subject, round, plan.clients, &mut rng).await?;
        let begin = Instant::now();
        // One task polls them all: the work is in the server, and all are sent before the first answer is read.
        let turns = clients
            .iter_mut()
            .zip(&wishes)
            .map(|(client, wish)| turn(client, wish, begin, rng.fork()));
        let turns = try_join_all(turns).await?;
        tally.add_round(&turns, begin.elapsed());
        let over = match plan.length {
            Length::Time(time) => started.elapsed() >= time,
            Length::Rounds(rounds) => round >= i64::from(rounds),
        };
        if over {
            break;
        }
    }
    join_all(clients.into_iter().map(Client::leave)).await;
    let wrong = referee.count_wrong(strategy.subject).await?;
    Ok(tally.measured(strategy, wrong))
}

/// The clients, each connected and past its first steps.
async fn clients(
    lab: &Lab,
    referee: &mut Referee,
    strategy: &Strategy,
    plan: &Plan,
) -> Result<Vec<Client>, LabError> {
    let rehearsal = match strategy.subject {
        Subject::Slots => vec![quiet_booking()],
        Subject::Stock => {
            let claims = referee.open_item(0, 2, 1).await?;
            let take = Wish::Take {
                item: 0,
                quantity: 1,
            };
            let give_back = claims.into_iter().map(|claim| Wish::GiveBack { claim });
            std::iter::once(take).chain(give_back).collect()
        }
    };
    let mut clients = Vec::new();
    for _ in 0..plan.clients {
        let client = lab.client(strategy, plan.think).await;
        let mut client = client.map_err(|error| match error {
            StoreError::OutOfReach { reason } => LabError::NotEveryClient { reason },
            other => other.into(),
        })?;
        for wish in &rehearsal {
            client.rehearse(wish).await?;
        }
        clients.push(client);
    }
    Ok(clients)
}

/// What each client wants in this round: hours of one day, or units of one item.
async fn wishes(
    referee: &mut Referee,
    subject: Subject,
    round: i64,
    clients: u16,
    rng: &mut Rng,
) -> Result<Vec<Wish>, StoreError> {
    match subject {
        Subject::Slots => Ok((0..clients).map(|_| booking(round, rng)).collect()),
        Subject::Stock => {
            let shelf = Shelf::for_clients(clients);
            let claims = referee.open_item(round, shelf.units, shelf.taken).await?;
            Ok(shelf.wishes(round, &claims, clients, rng))
        }
    }
}

/// One client's turn: asks until there is an answer.
async fn turn(
    client: &mut Client,
    wish: &Wish,
    begin: Instant,
    mut rng: Rng,
) -> Result<Turn, StoreError> {
    let (mut deadlocks, mut retries) = (0, 0);
    let end = loop {
        match client.ask(wish).await? {
            Reply::Done => break End::Done,
            Reply::Refused => break End::Refused,
            Reply::Again(why) => deadlocks += u64::from(why == Again::Deadlock),
        }
        if retries + 1 == TRIES || begin.elapsed() >= PATIENCE {
            break End::GaveUp;
        }
        retries += 1;
        tokio::time::sleep(pause(retries, &mut rng)).await;
    };
    Ok(Turn {
        end,
        waited: begin.elapsed(),
        deadlocks,
        retries,
    })
}

/// Longer with every try, and never the same for two.
fn pause(retries: u64, rng: &mut Rng) -> Duration {
    let longest = Duration::from_millis(1 << retries.min(10)).min(LONGEST_PAUSE);
    longest.mul_f64(rng.f64())
}
