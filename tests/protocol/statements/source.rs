//! A function's source as statements.

use super::tokens::{Node, read};

/// Words after which the next statement begins.
const BEGINS: [&str; 5] = ["begin", "declare", "then", "else", "loop"];

/// The statements of a body in PL/pgSQL: what a loop goes over and what an IF asks are statements too.
pub fn statements(body: &str) -> Vec<Vec<Node>> {
    let mut statements = Vec::new();
    let mut current: Vec<Node> = Vec::new();
    // Of CASE as an expression; as a statement its parts are statements.
    let mut cases = 0;
    for node in read(body) {
        let ends_here = node.is_mark(";")
            || cases == 0 && node.word().is_some_and(|word| BEGINS.contains(&word));
        if ends_here {
            if !current.is_empty() {
                statements.push(std::mem::take(&mut current));
            }
            continue;
        }
        let closes_a_statement = current.len() == 1 && current[0].is_word("end");
        if node.is_word("case") && !current.is_empty() && !closes_a_statement {
            cases += 1;
        } else if node.is_word("end") && cases > 0 {
            cases -= 1;
        }
        current.push(node);
    }
    if !current.is_empty() {
        statements.push(current);
    }
    statements
}

/// A query, or one arm of it: what stands between UNION, EXCEPT and INTERSECT, with everything in its parentheses.
pub type Arm<'a> = &'a [Node];

/// Every query in a statement, those in parentheses too.
pub fn arms(statement: &[Node]) -> Vec<Arm<'_>> {
    let mut found: Vec<Arm<'_>> = statement
        .split(|node| {
            ["union", "except", "intersect"]
                .iter()
                .any(|word| node.is_word(word))
        })
        .collect();
    for group in statement.iter().filter_map(Node::group) {
        found.extend(arms(group));
    }
    found
}

/// A table or a view that a query names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    pub name: String,
    /// What the query calls it.
    pub alias: String,
}

/// Words that follow a relation and are no alias of it.
const AFTER_RELATION: [&str; 22] = [
    "as",
    "cross",
    "default",
    "for",
    "full",
    "group",
    "having",
    "inner",
    "join",
    "left",
    "limit",
    "natural",
    "offset",
    "on",
    "order",
    "returning",
    "right",
    "set",
    "using",
    "values",
    "where",
    "window",
];

/// Words that end a list of relations.
const ENDS_FROM: [&str; 10] = [
    "for",
    "group",
    "having",
    "limit",
    "offset",
    "order",
    "returning",
    "set",
    "where",
    "window",
];

/// The relations that an arm itself names; those of queries in its parentheses are theirs.
pub fn relations(arm: Arm<'_>) -> Vec<Relation> {
    sources(arm).filter_map(relation).collect()
}

/// The queries in parentheses that an arm reads from as it does from a table.
pub fn derived(arm: Arm<'_>) -> impl Iterator<Item = &[Node]> {
    sources(arm).filter_map(|nodes| without_words_before_relation(nodes).first()?.group())
}

/// The places in an arm where what it reads from or writes to begins.
fn sources(arm: Arm<'_>) -> impl Iterator<Item = &[Node]> {
    let mut in_from = false;
    arm.iter().enumerate().filter_map(move |(position, node)| {
        let before = |steps: usize| {
            position
                .checked_sub(steps)
                .and_then(|at| arm[at].word())
                .unwrap_or("")
        };
        let follows = match node.word() {
            // "IS DISTINCT FROM" compares.
            Some("from") if before(1) != "distinct" => {
                in_from = true;
                true
            }
            Some("join") => true,
            Some("using") => arm
                .get(position + 1)
                .is_some_and(|next| next.group().is_none()),
            Some("into") => before(1) == "insert" || before(1) == "merge",
            // "FOR UPDATE" and "FOR NO KEY UPDATE" lock, "DO UPDATE" has no name.
            Some("update") => !["for", "key", "do"].contains(&before(1)),
            Some("truncate" | "lock") => true,
            Some(word) => {
                in_from &= !ENDS_FROM.contains(&word);
                false
            }
            None => in_from && node.is_mark(","),
        };
        follows.then(|| &arm[position + 1..])
    })
}

fn without_words_before_relation(mut nodes: &[Node]) -> &[Node] {
    while nodes.first().is_some_and(|node| {
        ["only", "lateral", "table"]
            .iter()
            .any(|word| node.is_word(word))
    }) {
        nodes = &nodes[1..];
    }
    nodes
}

/// The relation that begins here; a function or a query in parentheses is none.
fn relation(nodes: &[Node]) -> Option<Relation> {
    let mut nodes = without_words_before_relation(nodes);
    let mut name = nodes.first()?.word()?;
    nodes = &nodes[1..];
    if let [dot, Node::Word(inner), ..] = nodes
        && dot.is_mark(".")
    {
        name = inner;
        nodes = &nodes[2..];
    }
    // After the name of a table that is written to there may be its columns.
    let alias = match nodes {
        [Node::Word(with), Node::Word(alias), ..] if with == "as" => alias,
        [Node::Word(alias), ..] if !AFTER_RELATION.contains(&alias.as_str()) => alias,
        _ => name,
    };
    Some(Relation {
        name: name.to_owned(),
        alias: alias.to_owned(),
    })
}

/// A function that is called, with its arguments.
pub struct Call<'a> {
    pub name: &'a str,
    pub arguments: &'a [Node],
}

/// Words before parentheses that are no function's name.
const NO_FUNCTIONS: [&str; 24] = [
    "all", "and", "any", "as", "by", "case", "else", "exists", "filter", "from", "if", "in",
    "into", "not", "on", "or", "over", "select", "then", "using", "values", "when", "where",
    "with",
];

/// Every call in these nodes, those in parentheses too. The name of a table or of an alias before its columns is none.
pub fn calls(nodes: &[Node]) -> Vec<Call<'_>> {
    let mut found = Vec::new();
    for (position, node) in nodes.iter().enumerate() {
        let Some(arguments) = node.group() else {
            continue;
        };
        let before = |steps: usize| {
            position
                .checked_sub(steps)
                .and_then(|at| nodes[at].word())
                .unwrap_or("")
        };
        let names_columns = ["as", "into"].contains(&before(2));
        if !before(1).is_empty() && !names_columns && !NO_FUNCTIONS.contains(&before(1)) {
            found.push(Call {
                name: before(1),
                arguments,
            });
        }
        found.extend(calls(arguments));
    }
    found
}
