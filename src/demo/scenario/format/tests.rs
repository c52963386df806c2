use crate::demo::Which;
use crate::demo::scenario::format::*;
use crate::demo::scenario::library::LIBRARY;
use crate::demo::scenario::{Deed, StepMove, Stop};

const HEAD: &str = "title = \"T\"\nshows = \"S.\"\n[[room]]\nname = \"Blue room\"\n[[item]]\nname = \"Breakfast\"\ntotal = 3\n";

fn parsed(rest: &str) -> Scenario {
    Scenario::parse(&format!("{HEAD}{rest}")).unwrap()
}

fn error(rest: &str) -> ScenarioError {
    Scenario::parse(&format!("{HEAD}{rest}")).unwrap_err()
}

#[test]
fn every_built_in_scenario_is_one_and_every_file_is_built_in() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/scenarios");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut names: Vec<_> = LIBRARY
        .iter()
        .map(|scenario| format!("{}.toml", scenario.name))
        .collect();
    files.sort();
    names.sort();
    assert_eq!(files, names);
    for built_in in LIBRARY {
        let scenario = Scenario::parse(built_in.text)
            .unwrap_or_else(|error| panic!("{}: {error}", built_in.name));
        assert!(scenario.shows.ends_with('.'), "{}", built_in.name);
        assert!(
            !scenario.ending.is_empty(),
            "{} proves nothing",
            built_in.name
        );
        let expects = scenario.steps.iter().any(|step| !step.expect.is_empty());
        assert!(expects, "{} expects nothing", built_in.name);
        let (steps, _) = scenario.hand_over();
        assert!(steps <= scenario.steps.len());
    }
}

#[test]
fn what_a_step_can_say_is_read() {
    let scenario = parsed(
        "[[claim]]\ndesk = \"carla\"\nhold = [\"Blue room, 9:00-24:00\", \"2 Breakfast\"]\nttl = \"5s\"\nname = \"c\"\n\
         [[step]]\ncaption = \"Look.\"\npause = \"2s\"\nwho = [\"anna\", \"bert\"]\ngo = \"Blue room, 10:00\"\n\
         type = \"x\"\npress = \"2 Enter\"\nstop = \"after lock_room\"\nwinners = 1\nothers = \"sold_out\"\n\
         [[step]]\ntogether = [{ who = \"anna\", move = \"run on to place_slot\" }, { who = \"psql\", sql = \
         \"SELECT {{claim c}}\", returns = \"1\" }]\nwait = \"c is expired\"\nexpect = { psql = \"done\" }\n",
    );
    let hold = Ask::Hold {
        places: vec![
            words::place("Blue room, 9:00-24:00", &scenario.site_file).unwrap(),
            words::place("2 Breakfast", &scenario.site_file).unwrap(),
        ],
        ttl: Some(TimeDelta::seconds(5)),
        guest: String::new(),
    };
    assert_eq!(scenario.opening[0].ask, hold);
    let [first, second] = &scenario.steps[..] else {
        panic!("two steps");
    };
    assert_eq!(first.acts.len(), 2);
    assert_eq!(first.acts[1].who, Actor::Desk(1));
    let Deed::Hands {
        go,
        text,
        keys,
        stop,
    } = &first.acts[0].deed
    else {
        panic!("hands");
    };
    assert_eq!(
        *go,
        Some(words::place("Blue room, 10:00", &scenario.site_file).unwrap())
    );
    assert_eq!((text.as_str(), keys.len()), ("x", 2));
    assert_eq!(*stop, Some(Stop::After("lock_room".into())));
    let deeds: Vec<_> = second.acts.iter().map(|act| &act.deed).collect();
    assert_eq!(
        *deeds[0],
        Deed::Move(StepMove::RunOnTo("place_slot".into()))
    );
    assert!(matches!(
        deeds[1],
        Deed::Sql {
            returns: Some(_),
            ..
        }
    ));
    assert!(matches!(second.wait, Some(Wait::State(..))));
}

#[test]
fn the_desk_to_look_at_is_the_one_that_acts_or_else_the_one_that_is_spoken_of() {
    let scenario = parsed(
        "[[step]]\nwho = \"bert\"\npress = \"Enter\"\nexpect = { anna = \"waits for bert\" }\n\
         [[step]]\nwho = [\"anna\", \"bert\"]\npress = \"Enter\"\nexpect = { anna = \"done\" }\n\
         [[step]]\nwho = \"psql\"\nsql = \"SELECT 1\"\nexpect = { anna = \"done\", psql = \"done\" }\n\
         [[step]]\ncaption = \"Look.\"\n",
    );
    let desks: Vec<_> = scenario.steps.iter().map(Step::desk).collect();
    let (anna, bert) = (Which::First, Which::Second);
    assert_eq!(desks, [Some(bert), None, Some(anna), None]);
}

#[test]
fn without_a_site_it_plays_in_the_usual_one_and_faster_when_nobody_watches() {
    let scenario = parsed("");
    assert_eq!(scenario.site_file.site.name, "Demo house");
    assert_eq!(scenario.headless_site_file(), scenario.site_file);
    let hurried = Scenario::parse(&format!("headless_hold = \"4s\"\n{HEAD}")).unwrap();
    let length = hurried.headless_site_file().site.default_hold;
    assert_eq!(length, TimeDelta::seconds(4));
}

#[test]
fn an_unknown_key_is_an_error_with_its_line() {
    for (rest, line) in [
        ("[[step]]\ncolour = \"red\"\n", 9),
        (
            "[[step]]\nwho = \"carla\"\nask = { holdd = \"Breakfast\" }\n",
            10,
        ),
        (
            "[[step]]\ntogether = [\n { who = \"anna\", pres = \"c\" },\n]\n",
            10,
        ),
        (
            "[[claim]]\ndesk = \"a\"\nhold = \"Breakfast\"\nstate = 1\n",
            11,
        ),
        ("[[rows]]\nroom = \"Blue room\"\nhold = 1\n", 10),
        ("[[curtain]]\n", 8),
    ] {
        let error = error(rest);
        assert_eq!(error.line, line, "{rest}: {error}");
        assert!(error.problem.contains("unknown field"), "{rest}: {error}");
    }
}

#[test]
fn a_mistake_is_an_error_with_its_line() {
    for (step, line, word) in [
        ("who = \"anna\"\npress = \"entr\"\n", 10, "entr"),
        ("who = \"anna\"\ngo = \"Red room, 10:00\"\n", 10, "Red room"),
        ("who = \"anna\"\ngo = \"Blue room, 25:00\"\n", 10, "25:00"),
        (
            "who = \"anna\"\ngo = \"Blue room, 12:00-10:00\"\n",
            10,
            "end after",
        ),
        ("who = \"anna\"\ngo = \"Lunch\"\n", 10, "Lunch"),
        ("who = \"carla\"\npress = \"c\"\n", 9, "Only anna and bert"),
        ("who = \"anna\"\nsql = \"SELECT 1\"\n", 9, "psql"),
        ("who = \"psql\"\nask = { sweep = true }\n", 9, "only sql"),
        (
            "who = \"anna\"\npress = \"c\"\nask = { sweep = true }\n",
            9,
            "one thing",
        ),
        ("who = \"anna\"\n", 9, "one thing"),
        ("press = \"c\"\n", 9, "who"),
        ("who = \"\"\npress = \"c\"\n", 9, "characters"),
        ("who = \"anna\"\nask = { confirm = \"x\" }\n", 10, "“x”"),
        (
            "who = \"anna\"\nask = { confirm = \"x\", hold = \"Breakfast\" }\n",
            10,
            "one thing",
        ),
        (
            "who = \"anna\"\nask = { sweep = true, ttl = \"5s\" }\n",
            10,
            "Only hold",
        ),
        (
            "who = \"anna\"\nask = { hold = \"Breakfast\", ttl = \"soon\" }\n",
            10,
            "soon",
        ),
        (
            "who = \"anna\"\nask = { hold = \"0 Breakfast\" }\n",
            10,
            "number of units",
        ),
        ("who = \"anna\"\nask = { hold = [] }\n", 10, "nothing"),
        ("who = \"anna\"\nask = { hold = 3 }\n", 10, "list of texts"),
        ("who = \"anna\"\nmove = \"jump\"\n", 10, "jump"),
        (
            "who = \"anna\"\npress = \"c\"\nstop = \"somewhere\"\n",
            11,
            "somewhere",
        ),
        (
            "who = \"anna\"\nmove = \"step\"\nstop = \"before commit\"\n",
            11,
            "stops",
        ),
        (
            "who = \"psql\"\nsql = \"SELECT {{nothing}}\"\n",
            10,
            "nothing",
        ),
        ("who = \"psql\"\nsql = \"SELECT {{site\"\n", 10, "closed"),
        ("who = \"psql\"\nsql = \"SELECT {{claim x}}\"\n", 10, "“x”"),
        (
            "who = \"anna\"\npress = \"c\"\nreturns = \"1\"\n",
            11,
            "Only sql",
        ),
        ("wait = \"Godot\"\n", 9, "Godot"),
        ("wait = \"the deadline of x\"\n", 9, "“x”"),
        ("expect = { anna = \"happiness\" }\n", 9, "happiness"),
        ("winners = 1\n", 9, "others"),
        ("others = \"slot_taken\"\n", 9, "winners"),
        (
            "winners = \"one\"\nothers = \"slot_taken\"\n",
            9,
            "this must be a whole number, not the text \"one\"",
        ),
        (
            "[[rows]]\nroom = \"Blue room\"\nheld = \"one\"\n",
            11,
            "a whole number",
        ),
        ("winners = -1\nothers = \"slot_taken\"\n", 9, "from 0"),
        ("pause = \"long\"\n", 9, "long"),
        (
            "who = [\"anna\", \"bert\"]\npress = \"Enter\"\nname = \"x\"\n",
            11,
            "One name",
        ),
        (
            "hand_over = \"a\"\n[[step]]\nhand_over = \"b\"\n",
            10,
            "one step",
        ),
        ("[[rows]]\nroom = \"Red room\"\n", 10, "Red room"),
        ("[[rows]]\nroom = \"Blue room\"\nsold = 1\n", 9, "items"),
        (
            "[[rows]]\nitem = \"Breakfast\"\nexpired = 1\n",
            9,
            "available",
        ),
        ("[[rows]]\nheld = 1\n", 9, "room or of an item"),
        ("[[rows]]\nroom = \"Blue room\"\nheld = -1\n", 9, "from 0"),
        (
            "[[claim]]\ndesk = \"a\"\nhold = \"Breakfast\"\nname = \"a\"\n[[claim]]\ndesk = \"a\"\nhold = \"Breakfast\"\nname = \"a\"\n",
            16,
            "another",
        ),
        ("[[room]]\nname = \" \"\n", 10, "empty"),
        ("[step\n", 9, ""),
    ] {
        let error = error(&format!("[[step]]\n{step}"));
        assert_eq!(error.line, line, "{step}: {error}");
        assert!(error.problem.contains(word), "{step}: {error}");
    }
    assert_eq!(Scenario::parse("").unwrap_err().line, 1);
    let endless = Scenario::parse(&format!("headless_hold = \"25h\"\n{HEAD}")).unwrap_err();
    assert_eq!(endless.line, 1);
}

#[test]
fn r26_hostile_names_are_kept_as_they_are_and_shown_harmless() {
    let scenario = parsed(
        "[[step]]\nwho = \"\\u001b[31mred\"\nask = { hold = \"Breakfast\", guest = \"\\u202eevil\" }\n",
    );
    let act = &scenario.steps[0].acts[0];
    assert_eq!(act.who.name(), "\u{1b}[31mred");
    assert_eq!(act.who.to_string(), "␛[31mred");
    let Deed::Ask {
        ask: Ask::Hold { guest, .. },
        ..
    } = &act.deed
    else {
        panic!("a hold");
    };
    assert_eq!(guest, "\u{202e}evil");
}

#[test]
fn what_is_to_be_read_is_one_harmless_paragraph() {
    let text = "title = \"A\\u001b[31mB\"\nshows = \"S\\u202e.\"\n[[room]]\nname = \"Blue room\"\n[[step]]\ncaption = \"\"\"\n  one\n  two\\u0007\n\"\"\"\n";
    let scenario = Scenario::parse(text).unwrap();
    assert_eq!(scenario.title, "A␛[31mB");
    assert_eq!(scenario.shows, "S�.");
    assert_eq!(scenario.steps[0].caption.as_deref(), Some("one two␇"));
}
