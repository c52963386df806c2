//! The moving picture of a scenario, for README.md: frame after frame of the running program.
//! `KEYRACK_PICTURES=1 cargo test --test demo picture` makes it anew; without it the test only looks whether it can be
//! made and README shows the one that is there.

use std::collections::BTreeSet;
use std::env;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::TestHouse;
use crate::svg::{beginning, line};
use crate::terminal::{Program, Terminal};

/// A frame in so much time is enough.
const BETWEEN_FRAMES: Duration = Duration::from_millis(180);

/// How much faster it is shown than it was played.
const SPEED: f32 = 1.5;

/// A line of the screen, as it was for a while.
struct Stretch {
    svg: String,
    from: Duration,
    to: Duration,
}

/// Every line of the screen, through all its stretches.
type Film = Vec<Vec<Stretch>>;

#[tokio::test(flavor = "multi_thread")]
async fn the_moving_picture_in_the_readme_is_of_the_running_demo() {
    let anew = env::var_os("KEYRACK_PICTURES").is_some();
    let test = TestHouse::new().await;
    let program = Program::keyrack(&["demo", "the-same-slot", "--slow"])
        .env("DATABASE_URL", &test.database.url())
        .size(120, 42);
    let terminal = program.start();
    terminal.shows("Anna and Bert each have a guest");
    let film = record(&terminal, !anew);
    terminal.type_text("q");
    terminal.ends_well();
    let picture = animated(&film, (120, 42));
    assert!(picture.contains("@keyframes"));
    assert!(picture.contains("Anna and Bert each have a guest"));
    assert!(picture.contains("Both desks are yours now"));
    assert!(picture.len() < 1_000_000, "{} bytes", picture.len());

    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = root.join("assets/demo.svg");
    if anew {
        fs::write(&file, &picture).unwrap();
    }
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    assert!(readme.contains("(assets/demo.svg)"));
    assert!(fs::read_to_string(file).unwrap().contains("@keyframes"));
}

/// Records until the scenario is over; in a hurry, whatever has been read is skipped.
fn record(terminal: &Terminal, hurry: bool) -> Film {
    let began = Instant::now();
    let mut film = Film::new();
    let mut last: Vec<String> = Vec::new();
    loop {
        if hurry {
            terminal.press(&["Enter"]);
        }
        let (now, over) = terminal.read("another frame", |frame| {
            let lines: Vec<String> = (0..frame.size().1).map(|row| line(frame, row)).collect();
            (lines != last).then(|| (lines, frame.has("Both desks are yours now")))
        });
        let at = if last.is_empty() {
            Duration::ZERO
        } else {
            began.elapsed()
        };
        film.resize_with(now.len(), Vec::new);
        for (stretches, (svg, before)) in film.iter_mut().zip(
            now.iter()
                .zip(last.iter().map(Some).chain([None].into_iter().cycle())),
        ) {
            if Some(svg) == before {
                continue;
            }
            if let Some(stretch) = stretches.last_mut() {
                stretch.to = at;
            }
            stretches.push(Stretch {
                svg: svg.clone(),
                from: at,
                to: Duration::MAX,
            });
        }
        last = now;
        if over {
            return film;
        }
        thread::sleep(BETWEEN_FRAMES);
    }
}

/// All lines above each other, each visible in its time; whoever wants no motion, or can't show it, sees the end.
fn animated(film: &Film, size: (u16, u16)) -> String {
    let stretches = || film.iter().flatten();
    let end = stretches()
        .map(|stretch| stretch.from)
        .max()
        .unwrap_or_default();
    let whole = (end + Duration::from_secs(6)).as_secs_f32();
    let percent =
        |at: Duration| (at.as_secs_f32().min(whole) * 100.0 / whole * 100.0).round() / 100.0;
    let name = |stretch: &Stretch| {
        let (from, to) = (percent(stretch.from), percent(stretch.to));
        format!("t{}_{}", (from * 100.0) as u32, (to * 100.0) as u32)
    };
    let mut keyframes = BTreeSet::new();
    let mut body = String::new();
    for stretch in stretches().filter(|stretch| !stretch.svg.is_empty()) {
        let (from, to) = (percent(stretch.from), percent(stretch.to));
        let name = name(stretch);
        let hidden_before = if from > 0.0 {
            "0%{visibility:hidden}"
        } else {
            ""
        };
        let hidden_after = if to < 100.0 {
            format!("{to}%{{visibility:hidden}}")
        } else {
            String::new()
        };
        keyframes.insert(format!(
            "@keyframes {name}{{{hidden_before}{from}%{{visibility:visible}}{hidden_after}}}\
             .{name}{{animation-name:{name}}}\n"
        ));
        let still = if stretch.to == Duration::MAX {
            " end"
        } else {
            ""
        };
        writeln!(body, "<g class=\"{name}{still}\">\n{}</g>", stretch.svg).unwrap();
    }
    let mut picture = beginning(size);
    writeln!(
        picture,
        "<style>\ng{{animation:{:.1}s step-end infinite;visibility:hidden}}\n.end{{visibility:visible}}\n{}\
         @media (prefers-reduced-motion:reduce){{g{{animation:none}}}}\n</style>",
        whole / SPEED,
        keyframes.into_iter().collect::<String>()
    )
    .unwrap();
    picture.push_str(&body);
    picture.push_str("</svg>\n");
    picture
}
