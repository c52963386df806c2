//! Desks that work while the text is replaced notice nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::future::try_join_all;
use keyrack::domain::{Answer, Command, Desk, Refusal, Request, RoomId, Success};
use keyrack::store::{ProtocolText, SiteStore, Store};
use sqlx::{AssertSqlSafe, Executor};

use crate::support::{TestHouse, hold_slot, hold_stock, hours};
use crate::{superuser, text_like_ours, value, with_step};

const DESKS: usize = 8;
const APPLICATIONS: i64 = 20;

/// Every text has another step; some have a function that the next one does not know, or call a step by another name.
fn text(number: i64) -> ProtocolText {
    text_like_ours(number, |ours| {
        let sql = with_step(ours, "place_slot", &format!("PERFORM {number};"));
        match number % 4 {
            1 => {
                let sql = with_step(&sql, "take_stock", "PERFORM only_now();");
                format!(
                    "CREATE FUNCTION only_now() RETURNS void LANGUAGE plpgsql AS $$ BEGIN END $$;\n{sql}"
                )
            }
            3 => sql.replace("lock_slot_hold", "lock_claim_on_room"),
            _ => sql,
        }
    })
}

struct Worker {
    house: SiteStore,
    desk: Desk,
    rooms: [RoomId; 2],
    breakfast: keyrack::domain::ItemId,
}

impl Worker {
    async fn ask(&self, command: Command) -> Result<Answer, String> {
        let what = format!("{command:?}");
        let request = Request::fresh(self.desk.clone(), command);
        let answer = self.house.execute(request).await;
        answer.map_err(|error| format!("{what}: {error}"))
    }

    /// Holds, confirms and cancels until it is enough; how many commands were done and how many refused.
    async fn work(self, enough: Arc<AtomicBool>, asked: Arc<AtomicUsize>) -> Result<(), String> {
        for turn in 0.. {
            if enough.load(Ordering::Relaxed) {
                break;
            }
            let from = turn % 5;
            let room = self.rooms[usize::from(turn % 2 == 0)];
            let held = self
                .ask(hold_slot(room, hours(from, from + 1), None))
                .await?;
            asked.fetch_add(1, Ordering::Relaxed);
            match held.outcome {
                Ok(Success::Slot(hold)) => {
                    for command in [
                        Command::ConfirmSlot {
                            hold: hold.id,
                            expect_version: None,
                        },
                        Command::CancelSlot {
                            hold: hold.id,
                            expect_version: None,
                            reason: String::new(),
                        },
                    ] {
                        let answer = self.ask(command).await?;
                        asked.fetch_add(1, Ordering::Relaxed);
                        answer.outcome.map_err(|refused| format!("{refused:?}"))?;
                    }
                }
                Err(refused) if matches!(refused.refusal, Refusal::SlotTaken(_)) => {}
                other => return Err(format!("{other:?}")),
            }
            let held = self.ask(hold_stock(self.breakfast, 2, None)).await?;
            asked.fetch_add(1, Ordering::Relaxed);
            match held.outcome {
                Ok(Success::Stock(hold)) => {
                    let command = Command::CancelStock {
                        hold: hold.id,
                        expect_version: None,
                        reason: String::new(),
                    };
                    let answer = self.ask(command).await?;
                    asked.fetch_add(1, Ordering::Relaxed);
                    answer.outcome.map_err(|refused| format!("{refused:?}"))?;
                }
                Err(refused) if matches!(refused.refusal, Refusal::SoldOut { .. }) => {}
                other => return Err(format!("{other:?}")),
            }
        }
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn desks_that_work_while_the_text_is_put_in_force_twenty_times_hear_answers_only() {
    let test = TestHouse::new().await;
    let mut admin = superuser(&test.database).await;
    let role = format!("clerk_{}", uuid::Uuid::new_v4().simple());
    admin
        .execute(AssertSqlSafe(format!(
            "CREATE ROLE {role};
             GRANT EXECUTE ON FUNCTION hold_slot TO {role};
             GRANT SELECT ON slot_claim TO {role}"
        )))
        .await
        .unwrap();

    let enough = Arc::new(AtomicBool::new(false));
    let mut asked = Vec::new();
    let mut desks = Vec::new();
    for number in 0..DESKS {
        let answers = Arc::new(AtomicUsize::new(0));
        asked.push(answers.clone());
        let worker = Worker {
            house: test.another_desk().await,
            desk: Desk(format!("desk {number}")),
            rooms: [test.blue, test.garden],
            breakfast: test.breakfast,
        };
        desks.push(tokio::spawn(worker.work(enough.clone(), answers)));
    }
    // And somebody who looks all the time.
    let looking = tokio::spawn({
        let (house, enough) = (test.another_desk().await, enough.clone());
        async move {
            while !enough.load(Ordering::Relaxed) {
                house
                    .snapshot(hours(-1, 24))
                    .await
                    .map_err(|error| error.to_string())?;
            }
            Ok::<_, String>(())
        }
    });

    let applier = Store::connect(test.database.options()).await.unwrap();
    for number in 1..=APPLICATIONS {
        applier
            .put_in_force(&text(number), &|sentence| println!("{number}: {sentence}"))
            .await
            .unwrap();
        let in_force: i64 = value(&mut admin, "SELECT revision FROM keyrack.protocol_text").await;
        assert_eq!(in_force, ProtocolText::ours().revision() + number);
        // Every desk works with every text: its second answer from here is to a command that began with it.
        let before: Vec<usize> = asked
            .iter()
            .map(|count| count.load(Ordering::Relaxed))
            .collect();
        while (asked.iter().zip(&before))
            .any(|(count, before)| count.load(Ordering::Relaxed) < before + 2)
        {
            if let Some(desk) = desks.iter_mut().find(|desk| desk.is_finished()) {
                panic!("a desk gave up: {:?}", desk.await);
            }
            tokio::task::yield_now().await;
        }
    }
    enough.store(true, Ordering::Relaxed);
    for outcome in try_join_all(desks).await.unwrap() {
        outcome.unwrap();
    }
    looking.await.unwrap().unwrap();
    let commands: usize = asked
        .iter()
        .map(|count| count.load(Ordering::Relaxed))
        .sum();
    println!("{commands} commands were answered");

    // What the text no longer names is gone, and what it names is there once.
    let left: i64 = value(
        &mut admin,
        "SELECT count(*) FROM pg_proc WHERE proname IN ('only_now', 'lock_claim_on_room')",
    )
    .await;
    assert_eq!(left, 0);
    for (function, expected) in [
        ("hold_slot", true),
        ("confirm_slot", true),
        ("place_stock", false),
    ] {
        let may: Option<bool> = value(
            &mut admin,
            &format!("SELECT has_function_privilege('{role}', '{function}'::regproc, 'EXECUTE')"),
        )
        .await;
        assert_eq!(may, Some(expected), "{function}");
    }
    // Its own grants besides everybody's.
    let granted: i64 = value(
        &mut admin,
        &format!(
            "SELECT count(*) FROM (
                 SELECT proacl AS acl FROM pg_proc WHERE proname = 'hold_slot' AND pronamespace = 'keyrack'::regnamespace
                 UNION ALL
                 SELECT relacl FROM pg_class WHERE oid = 'slot_claim'::regclass
             ) AS of_each, aclexplode(acl) WHERE grantee = '{role}'::regrole"
        ),
    )
    .await;
    assert_eq!(granted, 2);
    test.assert_all_is_well().await;
    admin
        .execute(AssertSqlSafe(format!(
            "DROP OWNED BY {role}; DROP ROLE {role}"
        )))
        .await
        .unwrap();
}
