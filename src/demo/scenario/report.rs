//! What happened in a play, and whether it was what the scenario expects.

use serde::Serialize;

/// A play, from beginning to end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The scenario's title.
    pub title: String,
    /// Whether everything was as expected.
    pub ok: bool,
    /// What was played.
    pub steps: Vec<Played>,
    /// What was not as expected.
    pub problems: Vec<Problem>,
}

/// A step that was played.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Played {
    /// Where it stands in the file.
    pub line: usize,
    /// What a spectator read.
    pub caption: Option<String>,
    /// What happened, a sentence each.
    pub happened: Vec<String>,
}

/// Something that was not as expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where it stands in the file; none if it concerns all of it.
    pub line: Option<usize>,
    /// What was expected and what was seen.
    pub problem: String,
}

impl Problem {
    /// Of a line.
    pub(super) fn at(line: usize, problem: impl Into<String>) -> Self {
        Self {
            line: Some(line),
            problem: problem.into(),
        }
    }

    /// Of the whole.
    pub(super) fn of_all(problem: impl Into<String>) -> Self {
        Self {
            line: None,
            problem: problem.into(),
        }
    }

    /// In a sentence.
    pub fn sentence(&self) -> String {
        match self.line {
            Some(line) => format!("Line {line}: {}", self.problem),
            None => self.problem.clone(),
        }
    }
}

impl Report {
    /// For a person, in lines.
    pub fn text(&self) -> String {
        let mut lines = vec![self.title.clone()];
        for (number, step) in self.steps.iter().enumerate() {
            let caption = step.caption.as_deref().unwrap_or("…");
            lines.push(format!("{:>3}  {caption}", number + 1));
            lines.extend(step.happened.iter().map(|what| format!("       {what}")));
        }
        if self.ok {
            lines.push("Everything was as expected, and so is what is stored.".into());
        }
        lines.extend(self.problems.iter().map(Problem::sentence));
        lines.join("\n")
    }
}
