//! What others write shows here: a function called over plain SQL, an UPDATE around the protocol, a corruption.

use serde_json::Value;
use sqlx::Executor;

use crate::desk::{Desk, keyrack, program};
use crate::support::{TestHouse, hours};

#[tokio::test(flavor = "multi_thread")]
async fn a_function_called_from_sql_shows_and_check_tells_a_corruption_by_name() {
    let test = TestHouse::new().await;
    let desk = Desk::with(program(&test.database, "anna").size(200, 50));
    let mut psql = test.database.connect().await;
    let period = hours(0, 2);
    let refusal: Option<String> = sqlx::query_scalar(
        "SELECT hold_slot($1, gen_random_uuid(), 'psql', $2, $3, $4, '10 minutes', 'Sørensen') ->> 'refusal'",
    )
    .bind(test.site())
    .bind(test.blue.0)
    .bind(period.start())
    .bind(period.end())
    .fetch_one(&mut psql)
    .await
    .unwrap();
    assert_eq!(refusal, None);
    desk.shows("held Blue room, Sørensen · psql");

    // Its day shows it in the grid, and under the cursor in full.
    desk.press(&["g"]);
    desk.shows("Go to a date");
    desk.type_text("+7");
    desk.press(&["Enter"]);
    desk.hides("Go to a date");
    desk.until("the hold in the grid", |frame| {
        frame
            .line_with("Blue room")
            .is_some_and(|line| line.contains("Sør"))
    });

    let (code, check) = keyrack(&test.database, &["check"]);
    assert_eq!((code, &check["ok"]), (0, &true.into()), "{check}");

    // Around every function, and so without a hint: the console looks all the same, within some seconds.
    psql.execute("UPDATE slot_hold SET guest = 'Renamed by hand'")
        .await
        .unwrap();
    desk.shows("Renamed");
    psql.execute("UPDATE inventory SET available = available - 2 WHERE name = 'Breakfast'")
        .await
        .unwrap();
    let (code, check) = keyrack(&test.database, &["check"]);
    assert_eq!((code, &check["ok"]), (1, &false.into()), "{check}");
    let problems = check["problems"].as_array().unwrap();
    for (rule, subject) in [("R19", "Breakfast"), ("R25", "room claim 1")] {
        let named =
            |problem: &Value| problem["rule"] == rule && problem.to_string().contains(subject);
        assert!(problems.iter().any(named), "{rule}: {check}");
    }
    desk.leave();
}
