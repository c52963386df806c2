//! What a command from the command line asks the server: two statements, one lookup and the command; and a hint that nobody
//! waits for.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use keyrack::domain::Request;
use sqlx::postgres::PgListener;

use crate::support::{HOUSE, TestHouse, hold_slot, hour, hours};

/// Statements in the order in which the server was asked.
type Asked = Arc<Mutex<Vec<String>>>;

/// Stands between the program and the server, and writes down what is asked. What the server answers to a hint does not
/// come back.
struct Ear {
    url: String,
    asked: Asked,
}

impl Ear {
    fn before(test: &TestHouse) -> Self {
        let options = test.database.options();
        let server = options
            .get_socket()
            .unwrap()
            .join(format!(".s.PGSQL.{}", options.get_port()));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!(
            "postgres://{}@{}/{}?sslmode=disable",
            options.get_username(),
            listener.local_addr().unwrap(),
            options.get_database().unwrap()
        );
        let asked = Asked::default();
        let heard = asked.clone();
        thread::spawn(move || {
            for desk in listener.incoming() {
                let (server, heard) = (server.clone(), heard.clone());
                thread::spawn(move || listen(desk.unwrap(), &server, &heard));
            }
        });
        Self { url, asked }
    }

    /// Runs the program, which must succeed; what it printed and what it asked.
    fn run(&self, arguments: &[&str]) -> (String, Vec<String>) {
        self.asked.lock().unwrap().clear();
        let mut child = Command::new(env!("CARGO_BIN_EXE_keyrack"))
            .args(arguments)
            .args(["--json", "--database-url", &self.url])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .env_remove("DATABASE_URL")
            .env_remove("KEYRACK_SITE")
            .env("KEYRACK_DESK", "anna")
            .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .spawn()
            .unwrap();
        for _ in 0..1000 {
            if child.try_wait().unwrap().is_some() {
                let output = child.wait_with_output().unwrap();
                assert!(output.status.success(), "{arguments:?}: {output:?}");
                let printed = String::from_utf8(output.stdout).unwrap();
                return (printed, self.asked.lock().unwrap().clone());
            }
            thread::sleep(Duration::from_millis(10));
        }
        child.kill().unwrap();
        panic!("{arguments:?} waits: {:?}", self.asked.lock().unwrap());
    }

    /// The same for a command that costs a lookup, this function, and a hint that something changed.
    fn costs_two(&self, arguments: &[&str], function: &str) -> String {
        let (printed, asked) = self.run(arguments);
        assert_eq!(asked.len(), 3, "{arguments:?}: {asked:#?}");
        assert_eq!(asked[0], "SELECT open_site($1)", "{arguments:?}");
        assert!(
            asked[1].starts_with(&format!("SELECT {function}(")),
            "{asked:?}"
        );
        assert!(is_hint(&asked[2]), "{asked:?}");
        printed
    }
}

fn is_hint(statement: &str) -> bool {
    statement.contains("pg_notify")
}

fn listen(mut desk: TcpStream, server: &PathBuf, asked: &Asked) {
    let mut server = UnixStream::connect(server).unwrap();
    let hinted = Arc::new(Mutex::new(false));
    let answers = {
        let (mut desk, mut server) = (desk.try_clone().unwrap(), server.try_clone().unwrap());
        let hinted = hinted.clone();
        thread::spawn(move || {
            let mut buffer = [0; 65536];
            while let Ok(read @ 1..) = server.read(&mut buffer) {
                if !*hinted.lock().unwrap() && desk.write_all(&buffer[..read]).is_err() {
                    break;
                }
            }
        })
    };
    let mut typed = false;
    let mut prepared: Vec<(Vec<u8>, String)> = Vec::new();
    let mut bound = String::new();
    while let Some((kind, body)) = message(&mut desk, typed) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut strings = body[4..].split(|byte| *byte == 0);
        let mut string = || strings.next().unwrap_or_default();
        match kind {
            b'P' => prepared.push((string().to_vec(), text(string()))),
            b'B' => {
                let (_portal, name) = (string(), string());
                let known = prepared.iter().rev().find(|(known, _)| known == name);
                bound = known.unwrap().1.clone();
            }
            b'E' => asked.lock().unwrap().push(bound.clone()),
            b'Q' => {
                let statement = text(string());
                *hinted.lock().unwrap() |= is_hint(&statement);
                asked.lock().unwrap().push(statement);
            }
            _ => {}
        }
        if typed {
            server.write_all(&[kind]).unwrap();
        }
        server.write_all(&body).unwrap();
        typed = true;
    }
    let _ = server.shutdown(Shutdown::Write);
    answers.join().unwrap();
}

/// One message with its length before it. The first of a connection has no kind.
fn message(from: &mut TcpStream, typed: bool) -> Option<(u8, Vec<u8>)> {
    let mut kind = [0];
    if typed {
        from.read_exact(&mut kind).ok()?;
    }
    let mut length = [0; 4];
    from.read_exact(&mut length).ok()?;
    let mut body = vec![0; u32::from_be_bytes(length) as usize];
    body[..4].copy_from_slice(&length);
    from.read_exact(&mut body[4..]).ok()?;
    Some((kind[0], body))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_from_the_command_line_costs_two_statements_and_its_hint_is_heard_though_nobody_waits_for_it()
 {
    let test = TestHouse::new().await;
    let ear = Ear::before(&test);
    // The hint about the house that has just been made is not one that is waited for here.
    let ready = Request::fresh(test.desk.clone(), hold_slot(test.blue, hours(0, 1), None));
    test.house.make_ready(&ready).await.unwrap();
    let mut console = PgListener::connect_with(
        &sqlx::postgres::PgPoolOptions::new()
            .max_connections(1)
            .connect_lazy_with(test.database.options()),
    )
    .await
    .unwrap();
    console.listen("keyrack").await.unwrap();
    let mut heard = async |site: i64| {
        let notice = tokio::time::timeout(Duration::from_secs(10), console.recv());
        let notice = notice.await.expect("no hint was heard").unwrap();
        assert_eq!(notice.payload(), site.to_string());
    };
    let number = |printed: &str, key: &str| -> String {
        let printed: serde_json::Value = serde_json::from_str(printed).unwrap();
        printed[key].to_string()
    };

    let (from, to) = (hour(0).to_rfc3339(), hour(1).to_rfc3339());
    let held = ear.costs_two(&["room", "hold", "Blue room", &from, &to], "hold_slot");
    heard(test.site()).await;
    let hold = number(&held, "hold_id");
    for (arguments, function) in [
        (&["room", "confirm", &hold][..], "confirm_slot"),
        (&["room", "edit", &hold, "--note", "tea"], "edit_slot"),
        (&["room", "cancel", &hold], "cancel_slot"),
        (&["room", "add", "Attic"], "add_room"),
        (&["room", "retire", "attic"], "retire_room"),
        (&["stock", "hold", "Breakfast", "2"], "hold_stock"),
        (&["stock", "add", "Umbrella", "7"], "add_item"),
        (
            &["stock", "receive", "Breakfast", "2", "--reason", "came"],
            "receive_stock",
        ),
        (
            &["stock", "adjust", "Breakfast", "-1", "--reason", "broke"],
            "adjust_stock",
        ),
        (&["stock", "retire", "Umbrella"], "retire_item"),
        (
            &[
                "group",
                "hold",
                "--room",
                &format!("Blue room,{from},{to}"),
                "--stock",
                "Breakfast,1",
            ],
            "hold_group",
        ),
        (&["site", "default", "Test House"], "default_site"),
    ] {
        ear.costs_two(arguments, function);
        heard(test.site()).await;
    }

    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("house.toml");
    std::fs::write(&file, HOUSE.replace("capacity = 8", "capacity = 9")).unwrap();
    ear.costs_two(&["site", "apply", file.to_str().unwrap()], "apply_house");
    heard(test.site()).await;
    let added = ear.costs_two(&["site", "add", "Annexe", "Europe/London"], "add_site");
    heard(number(&added, "site_id").parse().unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_from_the_command_line_and_a_move_cost_little_more() {
    let test = TestHouse::new().await;
    let hold = test.hold(test.blue, hours(0, 1), None).await.id.to_string();
    let ear = Ear::before(&test);
    for (arguments, statements) in [
        (&["site", "list"][..], 2),
        (&["room", "list"], 1),
        (&["stock", "list"], 1),
        (&["room", "show", &hold], 3),
        // What time it is, asked once, because of the words.
        (
            &["room", "hold", "Blue room", "tomorrow 10:00", "+1 11:30"],
            4,
        ),
        // The claim is looked up, and the hint comes.
        (&["room", "move", &hold, "--to-room", "Garden room"], 4),
    ] {
        let (_, asked) = ear.run(arguments);
        assert!(asked.len() <= statements, "{arguments:?}: {asked:#?}");
    }
}
