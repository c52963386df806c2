//! The rules in docs/rules.md, the tests that prove them, and everybody who cites them: nothing is said of a rule that is
//! not so. Reads files and needs no database.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use keyrack::domain::rule;

const PAGE: &str = include_str!("../docs/rules.md");

/// What may cite a rule. A number in here is a rule's; things in samples and tests have other names.
const PLACES: [&str; 10] = [
    "src",
    "tests",
    "benches",
    "migrations",
    "assets",
    "docs",
    ".ci",
    "README.md",
    "CONTRIBUTING.md",
    "Cargo.toml",
];

/// A file of the repository, and what it says.
struct File {
    path: String,
    text: String,
}

/// Every text file of these places.
fn files(places: &[&str]) -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut left: Vec<PathBuf> = places.iter().map(|place| root.join(place)).collect();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if let Ok(text) = fs::read_to_string(&path) {
            let path = path.strip_prefix(root).unwrap().display().to_string();
            found.push(File { path, text });
        }
    }
    assert!(found.len() >= places.len());
    found
}

/// The words of a text: letters, digits and underscores that stand together.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
}

/// Whether a word is the number of a rule, written with this letter.
fn is_number(word: &str, letter: char) -> bool {
    word.strip_prefix(letter).is_some_and(|digits| {
        !digits.is_empty() && digits.len() <= 2 && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The names of the functions that a Rust file defines.
fn functions(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (before, rest) = line.split_once("fn ")?;
        let is_code = before
            .split_whitespace()
            .all(|word| word.starts_with("pub") || ["async", "const", "unsafe"].contains(&word));
        is_code.then(|| words(rest).next()).flatten()
    })
}

/// The rules that a test's name begins with: `r10_r12_a_confirm…`.
fn proved(name: &str) -> impl Iterator<Item = String> + '_ {
    name.split('_')
        .take_while(|part| is_number(part, 'r'))
        .map(str::to_uppercase)
}

/// What stands in backticks.
fn names(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Each rule's entry, from its heading to the next one, in paragraphs.
fn entries() -> BTreeMap<&'static str, Vec<String>> {
    let mut entries: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for part in PAGE.split("\n### ").skip(1) {
        let entry = part.split("\n## ").next().unwrap();
        let paragraphs = entry
            .split("\n\n")
            .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        entries.insert(part.split(' ').next().unwrap(), paragraphs);
    }
    entries
}

fn tests() -> BTreeSet<String> {
    files(&["src", "tests"])
        .iter()
        .filter(|file| file.path.ends_with(".rs"))
        .flat_map(|file| functions(&file.text).map(str::to_owned))
        .collect()
}

#[test]
fn every_entry_has_the_same_form() {
    let entries = entries();
    assert_eq!(entries.len(), rule::all().len());
    for rule in rule::all() {
        let entry = &entries[rule.number];
        assert_eq!(entry[1], rule.sentence);
        for beginning in ["Held by: ", "Tests: "] {
            let count = entry
                .iter()
                .filter(|text| text.starts_with(beginning))
                .count();
            assert_eq!(count, 1, "{}: {beginning}", rule.number);
        }
        assert!(
            entry.last().unwrap().starts_with("Tests: "),
            "{}",
            rule.number
        );
    }
}

#[test]
fn every_rule_has_a_test_that_names_it_and_no_test_names_another() {
    let known: BTreeSet<String> = rule::all()
        .iter()
        .map(|rule| rule.number.to_owned())
        .collect();
    let mut tested = BTreeSet::new();
    for name in tests() {
        for number in proved(&name) {
            assert!(
                known.contains(&number),
                "{name} names a rule that docs/rules.md lacks"
            );
            tested.insert(number);
        }
    }
    let untested: Vec<_> = known.difference(&tested).collect();
    assert!(untested.is_empty(), "no test names {untested:?}");
}

#[test]
fn every_test_that_the_page_names_exists_and_names_the_rule() {
    let tests = tests();
    for (number, entry) in entries() {
        let listed = names(entry.last().unwrap());
        assert!(!listed.is_empty(), "{number}");
        for name in listed {
            assert!(tests.contains(name), "{number}: there is no test {name}");
            assert!(
                proved(name).any(|proved| proved == number),
                "{number}: {name}"
            );
        }
    }
}

#[test]
fn whatever_holds_a_rule_exists() {
    let text: String = files(&["migrations", "src"])
        .into_iter()
        .map(|file| file.text)
        .collect();
    let known: BTreeSet<&str> = words(&text).collect();
    for (number, entry) in entries() {
        let held = entry.iter().filter(|text| text.starts_with("Held by: "));
        for name in held.flat_map(|text| names(text)) {
            let exists = match name.split_once('/') {
                Some(_) => Path::new(env!("CARGO_MANIFEST_DIR")).join(name).exists(),
                None => words(name).all(|word| known.contains(word)),
            };
            assert!(exists, "{number}: there is no {name}");
        }
    }
}

#[test]
fn every_number_that_is_cited_is_a_rules() {
    let known: BTreeSet<&str> = rule::all().iter().map(|rule| rule.number).collect();
    let mut unknown = Vec::new();
    for file in files(&PLACES) {
        for (line, number) in file.text.lines().zip(1..) {
            for word in words(line).filter(|word| is_number(word, 'R')) {
                if !known.contains(word) {
                    unknown.push(format!("{}:{number}: {word}", file.path));
                }
            }
        }
    }
    assert!(
        unknown.is_empty(),
        "docs/rules.md lacks these: {unknown:#?}"
    );
}

#[test]
fn what_is_said_beside_a_number_is_the_rules_sentence() {
    for file in files(&["assets/scenarios"]) {
        let lines = file
            .text
            .lines()
            .map(|line| line.trim_start_matches(['#', ' ']));
        let said = lines.collect::<Vec<_>>().join(" ");
        for rule in rule::all() {
            if words(&said).any(|word| word == rule.number) {
                let both = format!("{}: {}", rule.number, rule.sentence);
                assert!(said.contains(&both), "{} should say: {both}", file.path);
            }
        }
    }
}

#[test]
fn every_refusal_of_the_protocol_is_explained() {
    let page = include_str!("../docs/json.md");
    let explained: BTreeSet<&str> = page
        .lines()
        .filter(|line| line.starts_with("- `"))
        .flat_map(|line| names(line.split(':').next().unwrap()))
        .collect();
    for file in files(&["migrations"]) {
        for said in file.text.split("refuse('").skip(1) {
            let code = said.split('\'').next().unwrap();
            assert!(explained.contains(code), "{}: {code}", file.path);
        }
    }
}

/// What a heading is called in a link: `## The order of the checks` is `the-order-of-the-checks`.
fn anchor(heading: &str) -> String {
    let kept =
        |character: &char| character.is_alphanumeric() || [' ', '-', '_'].contains(character);
    let name = heading.trim_start_matches('#').trim().to_lowercase();
    name.chars()
        .filter(kept)
        .collect::<String>()
        .replace(' ', "-")
}

#[test]
fn every_link_of_the_docs_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in files(&["docs", "README.md", "CONTRIBUTING.md"]) {
        for link in file.text.split("](").skip(1) {
            let link = link.split(')').next().unwrap();
            if link.contains("://") {
                continue;
            }
            let (place, heading) = link.split_once('#').unwrap_or((link, ""));
            let here = root.join(&file.path);
            let target = match place {
                "" => here,
                place => here.parent().unwrap().join(place),
            };
            assert!(target.exists(), "{}: {link}", file.path);
            if !heading.is_empty() {
                let page = fs::read_to_string(target).unwrap();
                let found = page
                    .lines()
                    .any(|line| line.starts_with('#') && anchor(line) == heading);
                assert!(found, "{}: {link}", file.path);
            }
        }
    }
}

#[test]
fn nobody_cites_what_is_not_in_the_repository() {
    let mut found = Vec::new();
    for file in files(&PLACES) {
        // A citation may be broken over two lines of a comment.
        let marks = ['/', '!', '-', '#', ' ', '\t'];
        let lines = file
            .text
            .lines()
            .map(|line| line.trim_matches(marks).to_lowercase());
        let text = lines.collect::<Vec<_>>().join(" ");
        for cited in [
            concat!("design", " section"),
            concat!("design", ", section"),
            concat!("design", ".md"),
            concat!("../", "shared"),
        ] {
            if text.contains(cited) {
                found.push(format!("{}: {cited}", file.path));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
