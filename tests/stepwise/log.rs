//! What the log hears of a transaction in step mode: no guest, at its loudest (R27).

use std::io;
use std::sync::{Arc, Mutex};

use keyrack::domain::Command;
use sqlx::Executor;
use tracing_subscriber::EnvFilter;

use crate::support::{TestHouse, hold_slot, hours};
use crate::{answered, begin};

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r27_the_log_of_a_stepped_command_names_no_guest() {
    const GUEST: &str = "Unmistakable Guest";
    let log = Log::default();
    let writer = log.clone();
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new("trace"))
        .with_writer(move || writer.clone())
        .init();

    let test = TestHouse::new().await;
    // A notice that is no report goes where it always goes.
    test.database
        .connect()
        .await
        .execute(
            "CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS
             $$BEGIN RAISE WARNING 'a warning of the server'; RETURN NULL; END$$;
             CREATE TRIGGER warn AFTER INSERT ON slot_hold EXECUTE FUNCTION warn()",
        )
        .await
        .unwrap();
    let mut command = hold_slot(test.blue, hours(0, 2), None);
    if let Command::HoldSlot { details, .. } = &mut command {
        details.guest = GUEST.into();
    }
    let stepwise = begin(&test.house, "anna", command).await;
    let view = stepwise.run_on().await;
    assert!(answered(&view).outcome.is_ok());
    // The view does name the guest: the reports came through.
    assert!(
        view.passed()
            .any(|(passed, _)| passed.step.call.contains(GUEST))
    );
    stepwise.commit().await.unwrap();

    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("a warning of the server"), "{log}");
    assert!(!log.contains(GUEST), "{log}");
    assert!(!log.contains("place_slot("), "{log}");
}
