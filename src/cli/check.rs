//! `keyrack check`: the house's rules, proved from what is stored.

use serde::Serialize;

use crate::cli::connect::Session;
use crate::cli::failure::Failure;
use crate::cli::output::{Output, table};
use crate::domain::rule;

#[derive(Serialize)]
struct CheckJson<'a> {
    ok: bool,
    problems: Vec<ProblemJson<'a>>,
}

#[derive(Serialize)]
struct ProblemJson<'a> {
    rule: &'a str,
    /// None if the rule is of a newer text than this program.
    sentence: Option<&'static str>,
    subject: &'a str,
    problem: &'a str,
}

/// Checks one house; problems fail the check.
pub(crate) async fn run(session: &Session) -> Result<Output, Failure> {
    let site_store = session.site_store().await?;
    let problems = site_store.check().await?;
    let text = if problems.is_empty() {
        "All is well: what is stored keeps every rule that can be checked.".to_owned()
    } else {
        let rows = problems.iter().map(|problem| {
            [
                problem.rule.clone(),
                problem.subject.clone(),
                problem.problem.clone(),
            ]
        });
        let rules = problems.iter().map(|problem| problem.rule.as_str());
        format!(
            "{}\n\n{}",
            table(["RULE", "WHERE", "WHAT IS WRONG"], rows),
            rule::explained(rules).join("\n")
        )
    };
    let json = CheckJson {
        ok: problems.is_empty(),
        problems: problems
            .iter()
            .map(|problem| ProblemJson {
                rule: &problem.rule,
                sentence: rule::sentence(&problem.rule),
                subject: &problem.subject,
                problem: &problem.problem,
            })
            .collect(),
    };
    Ok(Output {
        failed: !json.ok,
        ..Output::new(text, &json)
    })
}
