//! A word that is none of the known ones.

use strum::VariantNames;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("“{word}” is no {what}; there are {choices}")]
pub struct UnknownWord {
    /// The kind of thing that was expected.
    what: &'static str,
    /// The word that was found.
    word: String,
    /// The words that there are.
    choices: String,
}

impl UnknownWord {
    pub(crate) fn new<Known: VariantNames>(what: &'static str, word: &str) -> Self {
        Self {
            what,
            word: word.to_owned(),
            choices: enumerate::<Known>("and"),
        }
    }
}

/// Every word of a kind: `held, cancelled and expired`.
pub(crate) fn enumerate<Known: VariantNames>(last: &str) -> String {
    match Known::VARIANTS {
        [first @ .., end] if !first.is_empty() => format!("{} {last} {end}", first.join(", ")),
        words => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use strum::VariantNames;

    use crate::domain::BookedBy;
    use crate::domain::unknown_word::{UnknownWord, enumerate};

    #[derive(VariantNames)]
    #[strum(serialize_all = "snake_case")]
    #[allow(dead_code)]
    enum Meal {
        Breakfast,
        Lunch,
        Dinner,
    }

    #[test]
    fn a_word_that_is_unknown_is_told_with_those_that_are_known() {
        let told = |error: UnknownWord| error.to_string();
        assert_eq!(
            told(UnknownWord::new::<Meal>("meal", "tea")),
            "“tea” is no meal; there are breakfast, lunch and dinner"
        );
        assert_eq!(enumerate::<Meal>("or"), "breakfast, lunch or dinner");
        assert_eq!(
            "Hour".parse::<BookedBy>().map_err(told),
            Err("“Hour” is no way to book a room; there are hour and night".into())
        );
        assert_eq!("night".parse(), Ok(BookedBy::Night));
        assert_eq!(format!("{:>6}", BookedBy::Hour), "  hour");
    }
}
