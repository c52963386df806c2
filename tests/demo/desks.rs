//! Both desks on one house, without a terminal.

use std::collections::HashMap;
use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent};
use keyrack::console::actions;
use keyrack::demo::{Context, Desks, Happening, Verdict, Which};
use keyrack::domain::SiteFile;
use keyrack::domain::{ClaimState, Desk};
use keyrack::store::DemoSite;

use crate::support::{HOUSE, TestHouse};

/// Two desks in a demo's site, beside an ordinary house.
struct Demo {
    test: TestHouse,
    site: DemoSite,
    desks: Desks,
}

impl Demo {
    async fn open() -> Self {
        let test = TestHouse::new().await;
        let file = SiteFile::parse(HOUSE).unwrap();
        let site = test
            .store
            .open_demo_site(&Desk("anna".into()), &file)
            .await
            .unwrap();
        let desks = Desks::open(Context {
            site_store: site.site_store().clone(),
            names: [Desk("anna".into()), Desk("bert".into())],
            keymap: Arc::new(actions::keymap(&HashMap::new()).unwrap()),
            sizes: [(100, 30); 2],
            revive: None,
        })
        .await
        .unwrap();
        let mut demo = Self { test, site, desks };
        demo.desks.settle().await.unwrap();
        demo
    }

    /// Both take the next day, where nothing is over yet.
    fn tomorrow(&mut self) {
        self.desks.both(key('n'));
    }

    async fn fire(&mut self) -> Verdict {
        self.desks.fire(KeyEvent::from(KeyCode::Enter));
        loop {
            if let Happening::Verdict(verdict) = self.desks.next().await {
                return *verdict;
            }
        }
    }

    async fn close(self) {
        self.desks.close().await;
        self.site.remove().await.unwrap();
        self.test.assert_all_is_well().await;
    }
}

fn key(character: char) -> KeyEvent {
    KeyEvent::from(KeyCode::Char(character))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_fire_at_one_slot_and_one_has_it_in_the_order_that_the_rows_tell() {
    let mut demo = Demo::open().await;
    let mut connection = demo.test.database.connect().await;
    demo.tomorrow();
    let mut firsts = [0, 0];
    for round in 0..12 {
        demo.desks.settle().await.unwrap();
        let verdict = demo.fire().await;
        let (first, second) = (verdict.first(), verdict.second());
        assert!(first.outcome.is_ok(), "round {round}: {verdict:?}");
        assert!(second.outcome.is_err(), "round {round}: {verdict:?}");
        assert!(verdict.lead().unwrap() > chrono::TimeDelta::zero());
        firsts[first.which.index()] += 1;

        // The rows: whose claim it is, and that the other's request was refused after it had been made.
        let rows: Vec<(uuid::Uuid, String, Option<String>)> = sqlx::query_as(
            "SELECT request_id, desk, refusal FROM request
             WHERE request_id IN ($1, $2) ORDER BY at",
        )
        .bind(first.request.0)
        .bind(second.request.0)
        .fetch_all(&mut connection)
        .await
        .unwrap();
        assert_eq!(rows[0].0, first.request.0);
        assert_eq!(rows[0].1, demo.desks.name(first.which).0);
        assert_eq!(
            (&rows[0].2, rows[1].2.as_deref()),
            (&None, Some("slot_taken"))
        );
        let holder: Vec<uuid::Uuid> =
            sqlx::query_scalar("SELECT request_id FROM slot_hold WHERE request_id IN ($1, $2)")
                .bind(first.request.0)
                .bind(second.request.0)
                .fetch_all(&mut connection)
                .await
                .unwrap();
        assert_eq!(holder, [first.request.0]);
        let sentence = verdict.sentence(&[Desk("anna".into()), Desk("bert".into())]);
        assert!(sentence.contains("was first by"), "{sentence}");
        assert!(
            sentence.contains("was told: Blue room is taken"),
            "{sentence}"
        );

        // A free slot for the next round.
        for _ in 0..2 {
            demo.desks.both(KeyEvent::from(KeyCode::Right));
        }
        demo.desks.both(KeyEvent::from(KeyCode::Esc));
    }
    println!("first: {firsts:?}");
    demo.desks.settle().await.unwrap();
    let transcript = demo.desks.transcript().to_string();
    assert_eq!(
        transcript.matches(" was first by ").count(),
        12,
        "{transcript}"
    );
    assert_eq!(transcript.matches("refused (slot_taken)").count(), 12);
    demo.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_desk_has_its_own_cursor_and_both_see_what_one_does() {
    let mut demo = Demo::open().await;
    demo.tomorrow();
    demo.desks
        .press(Which::Second, KeyEvent::from(KeyCode::Down));
    demo.desks
        .press(Which::Second, KeyEvent::from(KeyCode::Enter));
    demo.desks.settle().await.unwrap();
    for which in Which::BOTH {
        let indexed = demo.desks.session(which).model().indexed.as_ref().unwrap();
        let claims = &indexed.snapshot().claims;
        assert_eq!(claims.len(), 1);
        assert_eq!(claims[0].desk.0, "bert");
        assert_eq!(claims[0].room_name, "Garden room");
        assert_eq!(claims[0].state, ClaimState::Held);
    }
    let backends: Vec<(String, i64)> = sqlx::query_as(
        "SELECT application_name, count(*) FROM pg_stat_activity WHERE datname = current_database()
         AND application_name = 'keyrack' GROUP BY 1",
    )
    .fetch_all(&mut demo.test.database.connect().await)
    .await
    .unwrap();
    assert!(backends[0].1 >= 4, "{backends:?}");
    demo.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_asks_nothing_of_the_house_is_only_pressed() {
    let mut demo = Demo::open().await;
    demo.tomorrow();
    // Nothing to confirm at either desk.
    demo.desks.fire(key('c'));
    assert!(!demo.desks.is_waiting());
    demo.desks.settle().await.unwrap();
    // One desk has its cursor where it may hold, the other stands in a dialog.
    demo.desks.press(Which::Second, key('g'));
    demo.desks.fire(KeyEvent::from(KeyCode::Enter));
    demo.desks.settle().await.unwrap();
    let indexed = demo
        .desks
        .session(Which::First)
        .model()
        .indexed
        .as_ref()
        .unwrap();
    assert_eq!(indexed.snapshot().claims.len(), 1);
    assert_eq!(indexed.snapshot().claims[0].desk.0, "anna");
    demo.close().await;
}
