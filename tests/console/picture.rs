//! Pictures of the running console, for README.md. `KEYRACK_PICTURES=1 cargo test --test console picture` makes them
//! anew; without it the test only looks whether a picture can be made and README shows the one that is there.

use std::env;
use std::fs;
use std::path::Path;

use crate::server::OwnServer;
use crate::svg::svg;
use crate::terminal::{Frame, Program};

#[test]
fn the_picture_in_the_readme_is_of_the_running_console() {
    let own = OwnServer::new();
    let desk = own.desk_in(Program::keyrack(&[]).size(120, 36), "anna");
    desk.shows("● live");
    desk.shows("Guide book");
    desk.press(&["j", "j", "j", "j"]);
    let clock = |frame: &Frame| frame.line_with("● live");
    let then = desk.read("the room that was gone to", |frame| {
        frame.has("›Attic").then(|| clock(frame))
    });
    // When the clock has moved on, the frame before it is whole.
    desk.until("the next second", |frame| {
        clock(frame).is_some() && clock(frame) != then
    });
    let picture = desk.read("the console", |frame| Some(svg(frame)));
    assert!(picture.contains("Riverside House"));
    assert!(picture.matches("<text").count() > 50);

    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = root.join("assets/console.svg");
    if env::var_os("KEYRACK_PICTURES").is_some() {
        fs::write(&file, &picture).unwrap();
    }
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    assert!(readme.contains("(assets/console.svg)"));
    assert!(
        fs::read_to_string(file)
            .unwrap()
            .contains("Riverside House")
    );
    desk.leave();
}
