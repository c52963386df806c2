//! What tests share: a private PostgreSQL under `target/`, a database of its own for each test, and a small house in it.
#![allow(dead_code, clippy::unwrap_used)]

use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Timelike, Utc};
use keyrack::domain::SiteFile;
use keyrack::domain::{
    Answer, Command, Desk, ItemId, Period, Refusal, Request, RoomId, ServerCommand, ServerRequest,
    SiteChange, SlotDetails, SlotHold, StockHold, Success,
};
use keyrack::postgres::{self, PostgresError, Server, Settings};
use keyrack::store::{SiteStore, Store};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, Connection, Executor};
use uuid::Uuid;

/// The house that tests start with.
pub const HOUSE: &str = r#"
[site]
name = "Test House"
time_zone = "Europe/London"

[[room]]
name = "Blue room"
capacity = 8

[[room]]
name = "Garden room"
capacity = 12

[[room]]
name = "Studio"
capacity = 4
turnaround = "15m"

[[room]]
name = "Loft"
capacity = 2
booked_by = "night"

[[item]]
name = "Breakfast"
total = 10

[[item]]
name = "Museum ticket"
total = 3
"#;

/// A database of its own, on the server that all tests share. Dropped with this value.
pub struct Database {
    server: Option<Server>,
    name: String,
    options: PgConnectOptions,
}

impl Database {
    /// An empty one.
    pub async fn empty() -> Self {
        Self::create(join().await, "template1").await
    }

    /// One with the schema.
    pub async fn migrated() -> Self {
        let server = join().await;
        let template = template(&server).await;
        Self::create(server, &template).await
    }

    async fn create(server: Server, template: &str) -> Self {
        let name = format!("test_{}", Uuid::new_v4().simple());
        let mut admin = PgConnection::connect_with(&server.connect_options())
            .await
            .unwrap();
        // Two tests may copy the template database at the same moment; PostgreSQL then refuses one of them.
        let started = Instant::now();
        while let Err(error) = admin
            .execute(AssertSqlSafe(format!(
                "CREATE DATABASE {name} TEMPLATE {template}"
            )))
            .await
        {
            assert!(started.elapsed() < Duration::from_secs(30), "{error}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        admin.close().await.unwrap();
        Self {
            // As a psql prompt finds everything at a database of Keyrack's.
            options: server
                .connect_options()
                .database(&name)
                .options([("search_path", "\"$user\", public, keyrack")]),
            server: Some(server),
            name,
        }
    }

    /// How to connect to it.
    pub fn options(&self) -> PgConnectOptions {
        self.options.clone()
    }

    /// A URL for a child process.
    pub fn url(&self) -> String {
        let url = self.server.as_ref().unwrap().url();
        url.replacen("/keyrack?", &format!("/{}?", self.name), 1)
    }

    /// One of the client programs that came with the server, if it has it.
    pub fn client_program(&self, name: &str) -> Option<PathBuf> {
        self.server.as_ref().unwrap().client_program(name)
    }

    /// A plain connection, around the store.
    pub async fn connect(&self) -> PgConnection {
        PgConnection::connect_with(&self.options).await.unwrap()
    }

    /// The same as the server's superuser, for what nobody else may do.
    pub async fn connect_as_superuser(&self) -> PgConnection {
        let options = self.options().username("postgres");
        PgConnection::connect_with(&options).await.unwrap()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let server = self.server.take();
        let name = self.name.clone();
        // A runtime of its own, because the test's own may be the one that is dropping this.
        let dropped = std::thread::spawn(move || {
            let Some(server) = server else { return };
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                if let Ok(mut admin) = PgConnection::connect_with(&server.connect_options()).await {
                    let _ = admin
                        .execute(AssertSqlSafe(format!("DROP DATABASE {name} WITH (FORCE)")))
                        .await;
                    let _ = admin.close().await;
                }
                let _ = server.leave().await;
            });
        });
        let _ = dropped.join();
    }
}

/// A database with the schema to copy, made once for each version of the migrations: that is faster than to migrate for
/// every test.
async fn template(server: &Server) -> String {
    let mut hasher = DefaultHasher::new();
    for folder in ["migrations", "migrations/protocol"] {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut files: Vec<PathBuf> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file())
            .collect();
        files.sort();
        for file in files {
            fs::read(file).unwrap().hash(&mut hasher);
        }
    }
    let name = format!("migrated_{:016x}", hasher.finish());

    let mut admin = PgConnection::connect_with(&server.connect_options())
        .await
        .unwrap();
    // One test makes it, the others wait.
    admin
        .execute("SELECT pg_advisory_lock(20261130)")
        .await
        .unwrap();
    let exists: bool =
        sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)")
            .bind(&name)
            .fetch_one(&mut admin)
            .await
            .unwrap();
    if !exists {
        admin
            .execute("DROP DATABASE IF EXISTS migrating")
            .await
            .unwrap();
        admin.execute("CREATE DATABASE migrating").await.unwrap();
        let store = Store::connect(server.connect_options().database("migrating"))
            .await
            .unwrap();
        store.migrate().await.unwrap();
        store.close().await;
        admin
            .execute(AssertSqlSafe(format!(
                "ALTER DATABASE migrating RENAME TO {name}"
            )))
            .await
            .unwrap();
    }
    admin.close().await.unwrap();
    name
}

async fn join() -> Server {
    let postgres_bin = env::var_os("KEYRACK_POSTGRES_BIN").map(PathBuf::from);
    // A cluster a version: CI runs the tests on two.
    let mut hasher = DefaultHasher::new();
    (&postgres_bin, env!("CARGO_TARGET_TMPDIR")).hash(&mut hasher);
    let name = format!("cluster-{:08x}", hasher.finish() as u32);
    let settings = |parent: PathBuf| Settings {
        data_dir: Some(parent.join(&name)),
        postgres_bin: postgres_bin.clone(),
    };
    let near = settings(PathBuf::from(env!("CARGO_TARGET_TMPDIR")));
    match postgres::join(&near, &mut |_| ()).await {
        Ok(server) => server,
        // Root runs the tests below a directory that the server's user may not enter.
        Err(PostgresError::NotTraversable { .. }) => {
            let shared = PathBuf::from("/var/tmp/keyrack-tests");
            fs::create_dir_all(&shared).unwrap();
            postgres::join(&settings(shared), &mut |_| ())
                .await
                .unwrap()
        }
        Err(error) => panic!("{error}"),
    }
}

/// A database with a house in it, and a desk at the counter.
pub struct TestHouse {
    pub database: Database,
    pub store: Store,
    pub house: SiteStore,
    pub desk: Desk,
    pub blue: RoomId,
    pub garden: RoomId,
    pub studio: RoomId,
    pub loft: RoomId,
    pub breakfast: ItemId,
    pub ticket: ItemId,
}

impl TestHouse {
    /// [`HOUSE`].
    pub async fn new() -> Self {
        Self::described(HOUSE).await
    }

    /// A house with at least the rooms and items of [`HOUSE`].
    pub async fn described(text: &str) -> Self {
        let database = Database::migrated().await;
        let store = Store::connect(database.options()).await.unwrap();
        store.check_schema().await.unwrap();
        let desk = Desk("anna".into());
        let file = SiteFile::parse(text).unwrap();
        let site = change_site(&store, &desk, ServerCommand::ApplySite { file }).await;
        let house = store.site_store(site.site);
        let room = async |name: &str| house.room_named(name).await.unwrap().unwrap().id;
        let item = async |name: &str| house.item_named(name).await.unwrap().unwrap().id;
        Self {
            blue: room("Blue room").await,
            garden: room("Garden room").await,
            studio: room("Studio").await,
            loft: room("Loft").await,
            breakfast: item("Breakfast").await,
            ticket: item("Museum ticket").await,
            database,
            store,
            house,
            desk,
        }
    }

    /// Another desk: a store of its own, with its own connections.
    pub async fn another_desk(&self) -> SiteStore {
        Store::connect(self.database.options())
            .await
            .unwrap()
            .site_store(self.house.site().clone())
    }

    /// The site's number, for SQL.
    pub fn site(&self) -> i64 {
        self.house.site().id.0
    }

    /// Asks as the desk, with a fresh request.
    pub async fn ask(&self, command: Command) -> Answer {
        self.house
            .execute(Request::fresh(self.desk.clone(), command))
            .await
            .unwrap()
    }

    /// Holds a room, which must work.
    pub async fn hold(&self, room: RoomId, period: Period, ttl: Option<TimeDelta>) -> SlotHold {
        match self.ask(hold_slot(room, period, ttl)).await.outcome {
            Ok(Success::Slot(hold)) => hold,
            other => panic!("not held: {other:?}"),
        }
    }

    /// Holds stock, which must work.
    pub async fn hold_stock(
        &self,
        item: ItemId,
        quantity: i32,
        ttl: Option<TimeDelta>,
    ) -> StockHold {
        match self.ask(hold_stock(item, quantity, ttl)).await.outcome {
            Ok(Success::Stock(hold)) => hold,
            other => panic!("not held: {other:?}"),
        }
    }

    /// Asserts that the rows keep every rule.
    pub async fn assert_all_is_well(&self) {
        let problems = self.house.check().await.unwrap();
        assert!(problems.is_empty(), "{problems:#?}");
    }
}

/// A command to the server, which must work.
pub async fn change_site(store: &Store, desk: &Desk, command: ServerCommand) -> SiteChange {
    let request = ServerRequest::fresh(desk.clone(), command);
    let answer = store.execute_server(request).await.unwrap();
    answer.outcome.unwrap()
}

/// A command to hold a room.
pub fn hold_slot(room: RoomId, period: Period, ttl: Option<TimeDelta>) -> Command {
    Command::HoldSlot {
        room,
        period,
        ttl,
        details: SlotDetails::default(),
    }
}

/// A command to hold stock.
pub fn hold_stock(item: ItemId, quantity: i32, ttl: Option<TimeDelta>) -> Command {
    Command::HoldStock {
        item,
        quantity,
        ttl,
        guest: String::new(),
        note: String::new(),
    }
}

/// The refusal in an answer.
pub fn refusal(answer: Answer) -> Refusal {
    answer.outcome.unwrap_err().refusal
}

/// Ten o'clock UTC on a day safely ahead, and so many hours later.
pub fn hour(hours: i64) -> DateTime<Utc> {
    let day = Utc::now() + TimeDelta::days(7);
    day.with_hour(10)
        .and_then(|time| time.with_minute(0))
        .and_then(|time| time.with_second(0))
        .and_then(|time| time.with_nanosecond(0))
        .unwrap()
        + TimeDelta::hours(hours)
}

/// From so many to so many hours after [`hour`] zero.
pub fn hours(from: i64, to: i64) -> Period {
    Period::new(hour(from), hour(to)).unwrap()
}

/// Waits until the backend with this process id waits for a lock that one of the others holds; no sleeping for luck,
/// only for politeness.
pub async fn until_blocked(observer: &mut PgConnection, waiting: i32, holders: &[i32]) {
    let started = Instant::now();
    loop {
        let blocked: bool =
            sqlx::query_scalar("SELECT pg_isolation_test_session_is_blocked($1, $2)")
                .bind(waiting)
                .bind(holders)
                .fetch_one(&mut *observer)
                .await
                .unwrap();
        if blocked {
            return;
        }
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "backend {waiting} never waited"
        );
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// The process id of a connection's backend.
pub async fn backend(connection: &mut PgConnection) -> i32 {
    sqlx::query_scalar("SELECT pg_backend_pid()")
        .fetch_one(connection)
        .await
        .unwrap()
}
