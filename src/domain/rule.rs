//! The rules of a booking, as docs/rules.md says them: the one place from which everybody takes a rule's sentence.
//!
//! An entry there is a heading with the number and a short name, and a first paragraph that is the sentence. This module
//! must not know what a rule is about.

use std::sync::LazyLock;

/// A rule: what `keyrack check` and scenarios refer to by its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Like `R11`.
    pub number: &'static str,
    /// A few words.
    pub name: &'static str,
    /// One or two sentences, short enough to stand beside the number.
    pub sentence: String,
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| parse(include_str!("../../docs/rules.md")));

/// Every rule, in the order of the page.
pub fn all() -> &'static [Rule] {
    &RULES
}

/// What the rule of this number says; none if there is no such rule.
pub fn sentence(number: &str) -> Option<&'static str> {
    let rule = all().iter().find(|rule| rule.number == number)?;
    Some(&rule.sentence)
}

/// `R11: …` for each of these numbers that is a rule's, each once, in the order of the page.
pub fn explained<'a>(numbers: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let numbers: Vec<&str> = numbers.into_iter().collect();
    all()
        .iter()
        .filter(|rule| numbers.contains(&rule.number))
        .map(|rule| format!("{}: {}", rule.number, rule.sentence))
        .collect()
}

/// The entries of the page.
fn parse(page: &'static str) -> Vec<Rule> {
    let mut rules = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some((number, name)) = heading(line) else {
            continue;
        };
        let paragraph = lines
            .by_ref()
            .skip_while(|line| line.is_empty())
            .take_while(|line| !line.is_empty());
        rules.push(Rule {
            number,
            name,
            sentence: paragraph.collect::<Vec<_>>().join(" "),
        });
    }
    rules
}

/// Number and name of an entry's heading, `### R11 Expiry is a write`.
fn heading(line: &str) -> Option<(&str, &str)> {
    let (number, name) = line.strip_prefix("### ")?.split_once(' ')?;
    let digits = number.strip_prefix('R')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some((number, name))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_name_and_a_sentence_of_its_own() {
        for (place, rule) in all().iter().enumerate() {
            assert!(!rule.name.is_empty(), "{}", rule.number);
            assert!(rule.sentence.ends_with('.'), "{}", rule.number);
            // As long as two lines of a terminal, and without what only a page can show.
            assert!(rule.sentence.len() <= 180, "{}", rule.number);
            assert!(!rule.sentence.contains(['`', '*', '[']), "{}", rule.number);
            assert!(
                all()[..place].iter().all(|other| {
                    other.number != rule.number && other.sentence != rule.sentence
                }),
                "{}",
                rule.number
            );
        }
    }

    #[test]
    fn a_number_is_said_with_its_sentence_and_an_unknown_one_is_not() {
        assert_eq!(
            sentence("R1"),
            Some("Active claims on one room never overlap, whoever writes them.")
        );
        assert_eq!(sentence("R"), None);
        assert_eq!(sentence("Rooms"), None);
        assert_eq!(
            explained(["R3", "nothing", "R1", "R3"])
                .iter()
                .map(|line| line.split(':').next().unwrap())
                .collect::<Vec<_>>(),
            ["R1", "R3"]
        );
    }

    #[test]
    fn a_sentence_may_stand_on_several_lines_and_ends_with_its_paragraph() {
        let page =
            "# Rules\n\n### R1 One\n\nThis is\nsaid.\nHere too.\n\nMore.\n\n### Rest\n\nNo rule.\n";
        assert_eq!(
            parse(page),
            [Rule {
                number: "R1",
                name: "One",
                sentence: "This is said. Here too.".into(),
            }]
        );
    }
}
