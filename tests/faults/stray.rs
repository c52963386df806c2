//! Writers that go around the protocol and race it: plain INSERT, UPDATE and DELETE. The constraints and guards hold,
//! and a desk hears a refusal, `busy` or a sentence, never a raw error.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use keyrack::domain::sentences::fault::FaultKind;
use keyrack::domain::{Command, Desk, Request, RoomId, SlotHoldId, StockHoldId};
use keyrack::store::SiteStore;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, Connection, Executor};

use crate::support::{TestHouse, hold_slot, hold_stock, hour, hours};
use crate::{seed, whole_space};

/// What the database said to stray writers: the name of a guard, or a code, and how often.
type Said = BTreeMap<String, usize>;

/// What a writer that knows no rules tries. Every statement is one that somebody could type.
fn statement(site: i64, rooms: &[i64], item: i64, rng: &mut fastrand::Rng) -> String {
    let room = rooms[rng.usize(..rooms.len())];
    let from = rng.i64(0..6);
    let period = format!(
        "tstzrange('{}', '{}')",
        hour(from).to_rfc3339(),
        hour(from + rng.i64(1..3)).to_rfc3339()
    );
    let deadline = format!(
        "clock_timestamp() + interval '{} milliseconds'",
        rng.i64(-20..200)
    );
    let some_slot = format!(
        "hold_id = (SELECT hold_id FROM slot_hold WHERE site_id = {site} ORDER BY hold_id DESC OFFSET {} LIMIT 1)",
        rng.u8(..12)
    );
    let some_stock = format!(
        "hold_id = (SELECT hold_id FROM stock_hold WHERE site_id = {site} ORDER BY hold_id DESC OFFSET {} LIMIT 1)",
        rng.u8(..6)
    );
    match rng.u8(..16) {
        0..4 => format!(
            "INSERT INTO slot_hold (site_id, room_id, period, expires_at) VALUES ({site}, {room}, {period}, {deadline})"
        ),
        4 => format!(
            "UPDATE slot_hold SET state = 'confirmed' WHERE site_id = {site} AND {some_slot}"
        ),
        5 => format!("UPDATE slot_hold SET state = 'held' WHERE site_id = {site} AND {some_slot}"),
        6 => format!(
            "UPDATE slot_hold SET state = 'cancelled' WHERE site_id = {site} AND {some_slot}"
        ),
        7 => {
            format!("UPDATE slot_hold SET period = {period} WHERE site_id = {site} AND {some_slot}")
        }
        8 => {
            format!("UPDATE slot_hold SET room_id = {room} WHERE site_id = {site} AND {some_slot}")
        }
        9 => format!("DELETE FROM slot_hold WHERE site_id = {site} AND {some_slot}"),
        10 => format!(
            "UPDATE inventory SET available = available - 2 WHERE site_id = {site} AND item_id = {item}"
        ),
        11 => format!(
            "UPDATE inventory SET available = available + 1 WHERE site_id = {site} AND item_id = {item}"
        ),
        12 => format!(
            "UPDATE stock_hold SET state = 'confirmed' WHERE site_id = {site} AND {some_stock}"
        ),
        13 => format!(
            "UPDATE stock_hold SET quantity = quantity + 1 WHERE site_id = {site} AND {some_stock}"
        ),
        14 => format!("UPDATE hold_event SET reason = 'never happened' WHERE site_id = {site}"),
        _ => format!(
            "INSERT INTO slot_hold (site_id, room_id, period, expires_at) VALUES (NULL, {room}, {period}, {deadline})"
        ),
    }
}

async fn stray(
    options: PgConnectOptions,
    site: i64,
    rooms: Vec<i64>,
    item: i64,
    mut rng: fastrand::Rng,
    until: Instant,
) -> Said {
    let mut connection = PgConnection::connect_with(&options).await.unwrap();
    connection.execute("SET lock_timeout = '3s'").await.unwrap();
    let mut said = Said::new();
    while Instant::now() < until {
        connection.execute("BEGIN").await.unwrap();
        for _ in 0..rng.usize(1..4) {
            let statement = statement(site, &rooms, item, &mut rng);
            let outcome = connection.execute(AssertSqlSafe(statement)).await;
            let word = match outcome {
                Ok(done) if done.rows_affected() > 0 => "done".to_owned(),
                Ok(_) => "nothing to do".to_owned(),
                Err(error) => {
                    let error = error.into_database_error().unwrap();
                    match error.constraint() {
                        Some(name) => name.to_owned(),
                        None => error.code().unwrap().into_owned(),
                    }
                }
            };
            let failed = word != "done" && word != "nothing to do";
            *said.entry(word).or_default() += 1;
            if failed {
                break;
            }
            // In the middle of its transaction, with its locks.
            tokio::time::sleep(Duration::from_millis(rng.u64(0..6))).await;
        }
        let end = if rng.u8(..4) == 0 {
            "ROLLBACK"
        } else {
            "COMMIT"
        };
        connection.execute(end).await.unwrap();
    }
    said
}

/// A desk that works beside them. Says how it was answered: a refusal's code, or the sentence of a fault.
async fn work(
    house: SiteStore,
    rooms: Vec<i64>,
    item: keyrack::domain::ItemId,
    mut rng: fastrand::Rng,
    until: Instant,
) -> Said {
    let mut said = Said::new();
    let (mut slots, mut stock): (Vec<SlotHoldId>, Vec<StockHoldId>) = (Vec::new(), Vec::new());
    let ttl = |rng: &mut fastrand::Rng| Some(chrono::TimeDelta::milliseconds(rng.i64(50..400)));
    while Instant::now() < until {
        let from = rng.i64(0..6);
        let room = RoomId(rooms[rng.usize(..rooms.len())]);
        let slot = rng.choice(slots.iter().rev().take(6).copied());
        let claim = rng.choice(stock.iter().rev().take(6).copied());
        let expect_version = None;
        let command = match (rng.u8(..12), slot, claim) {
            (0..2, Some(hold), _) => Command::ConfirmSlot {
                hold,
                expect_version,
            },
            (2..4, Some(hold), _) => Command::CancelSlot {
                hold,
                expect_version,
                reason: String::new(),
            },
            (4, Some(hold), _) => Command::RenewSlot {
                hold,
                expect_version,
                ttl: ttl(&mut rng),
            },
            (5, Some(hold), _) => Command::MoveSlot {
                hold,
                expect_version,
                to_room: Some(room),
                from: Some(hour(from)),
                to: Some(hour(from + 1)),
            },
            (6, _, Some(hold)) => Command::ConfirmStock {
                hold,
                expect_version,
            },
            (7, _, Some(hold)) => Command::CancelStock {
                hold,
                expect_version,
                reason: String::new(),
            },
            (8, _, _) => hold_stock(item, 1, ttl(&mut rng)),
            _ => hold_slot(room, hours(from, from + rng.i64(1..3)), ttl(&mut rng)),
        };
        let answer = house
            .execute(Request::fresh(Desk("anna".into()), command))
            .await;
        let word = match answer {
            Ok(answer) => match answer.outcome {
                Ok(done) => {
                    match done {
                        keyrack::domain::Success::Slot(hold) => slots.push(hold.id),
                        keyrack::domain::Success::Stock(hold) => stock.push(hold.id),
                        _ => {}
                    }
                    "done".to_owned()
                }
                Err(refused) => refused.refusal.code().to_owned(),
            },
            Err(error) if error.kind() == FaultKind::Broken => error.sentence(),
            Err(other) => panic!("{other}"),
        };
        *said.entry(word).or_default() += 1;
    }
    said
}

fn merge(all: impl IntoIterator<Item = Said>) -> Said {
    let mut merged = Said::new();
    for (word, count) in all.into_iter().flatten() {
        *merged.entry(word).or_default() += count;
    }
    merged
}

#[tokio::test(flavor = "multi_thread")]
async fn r9_r23_writers_around_the_protocol_break_no_rule_and_no_desk() {
    let mut rng = seed();
    let test = TestHouse::new().await;
    let site = test.site();
    let rooms = vec![test.blue.0, test.garden.0];
    let until = Instant::now() + Duration::from_secs(if whole_space() { 120 } else { 5 });
    let strays: Vec<_> = (0..5)
        .map(|_| {
            let options = test.database.options();
            tokio::spawn(stray(
                options,
                site,
                rooms.clone(),
                test.breakfast.0,
                rng.fork(),
                until,
            ))
        })
        .collect();
    let mut desks = Vec::new();
    for _ in 0..5 {
        let house = test.another_desk().await;
        desks.push(tokio::spawn(work(
            house,
            rooms.clone(),
            test.breakfast,
            rng.fork(),
            until,
        )));
    }
    let strays = merge(join_all(strays).await.into_iter().map(Result::unwrap));
    let desks = merge(join_all(desks).await.into_iter().map(Result::unwrap));
    println!("stray writers: {strays:#?}\ndesks: {desks:#?}");

    // What is known of refusing them, and nothing else: names of guards, and contention.
    let known = [
        "done",
        "nothing to do",
        "slot_hold_no_overlap",
        "slot_hold_ended",
        "slot_hold_edge",
        "slot_hold_in_time",
        "slot_hold_is_kept",
        "stock_hold_ended",
        "stock_hold_edge",
        "stock_hold_in_time",
        "stock_hold_quantity_is_kept",
        "hold_event_append_only",
        "inventory_available_not_negative",
        // Not null: a claim without a site.
        "23502",
        // Deadlock, lock time-out.
        "40P01",
        "55P03",
    ];
    for word in strays.keys() {
        assert!(known.contains(&word.as_str()), "{word}");
    }
    for guard in [
        "done",
        "slot_hold_no_overlap",
        "hold_event_append_only",
        "slot_hold_is_kept",
        "23502",
    ] {
        assert!(strays.contains_key(guard), "{guard} was never met");
    }
    // A desk hears codes of refusals, and for figures that were changed by hand a sentence.
    for word in desks.keys() {
        let is_code = word
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        let is_sentence = word.starts_with("The figures of this item do not add up")
            || word.starts_with("The claim was changed by somebody else");
        assert!(is_code || is_sentence, "{word}");
    }
    assert!(desks.contains_key("done") && desks.contains_key("slot_taken"));

    // Whatever they did, no rule that the database holds is broken; what they forged is told by `check`, and no more.
    for problem in test.house.check().await.unwrap() {
        let theirs = ["R17", "R19", "R25"].contains(&problem.rule.as_str());
        assert!(theirs, "{problem:?}");
    }
}
