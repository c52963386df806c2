//! What every statement of the protocol is held to (R34).

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Arm, Relation, arms, calls, derived, relations, statements};
use super::tokens::{Node, split_at, written};

/// A rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A statement on a table with site_id names it as a parameter.
    Site,
    /// A function in LANGUAGE sql reads no table.
    SqlReads,
    /// No VOLATILE call inside UPDATE or DELETE.
    Volatile,
    /// No simple CASE in a statement that writes.
    SimpleCase,
    /// No arithmetic inside CASE or COALESCE in a statement that writes.
    Arithmetic,
    /// No function that reads tables is called within a query on a table.
    ReadsWithin,
    /// No whole row of a table is an argument.
    WholeRow,
    /// No INSERT … SELECT.
    InsertSelect,
    /// No VALUES … LEFT JOIN.
    ValuesLeftJoin,
    /// No WITH that writes.
    WritingWith,
    /// No aggregate in a LATERAL.
    LateralAggregate,
    /// No statement that is put together while it runs, nor MERGE: they can't be read here.
    Unread,
}

/// A function as the database has it.
pub struct Function {
    /// Its name, with the schema if it is not the first.
    pub name: String,
    pub language: String,
    pub body: String,
}

/// What the database knows about names.
#[derive(Default)]
pub struct Names {
    /// Tables and views, and whether they have a site_id.
    pub relations: BTreeMap<String, bool>,
    /// The tables among them.
    pub tables: BTreeSet<String>,
    pub volatile: BTreeSet<String>,
    pub aggregates: BTreeSet<String>,
    /// Functions that read tables, themselves or by what they call.
    pub reading: BTreeSet<String>,
}

/// A statement that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    pub function: String,
    pub rule: Rule,
    pub statement: String,
}

impl Names {
    /// Finds out which functions read tables: those with a query, and those that call such a function.
    pub fn find_reading(&mut self, functions: &[Function]) {
        loop {
            let before = self.reading.len();
            for function in functions {
                let reads = statements(&function.body)
                    .iter()
                    .any(|statement| self.reads(statement));
                if reads {
                    self.reading.insert(bare(&function.name).to_owned());
                }
            }
            if self.reading.len() == before {
                return;
            }
        }
    }

    fn reads(&self, statement: &[Node]) -> bool {
        self.touches(statement) || self.calls_one_of(statement, &self.reading)
    }

    fn touches(&self, statement: &[Node]) -> bool {
        arms(statement)
            .into_iter()
            .any(|arm| !self.known_relations(arm).is_empty())
    }

    /// Whether a query is one on tables: itself, or by a query that it reads from as from a table.
    fn is_on_tables(&self, arm: Arm<'_>) -> bool {
        !self.known_relations(arm).is_empty() || derived(arm).any(|query| self.touches(query))
    }

    fn known_relations(&self, arm: Arm<'_>) -> Vec<Relation> {
        let mut known = relations(arm);
        known.retain(|relation| self.relations.contains_key(&relation.name));
        known
    }

    fn calls_one_of(&self, nodes: &[Node], names: &BTreeSet<String>) -> bool {
        calls(nodes).iter().any(|call| names.contains(call.name))
    }

    /// What is wrong with a function.
    pub fn complaints(&self, function: &Function) -> Vec<Complaint> {
        let mut found = Vec::new();
        for statement in statements(&function.body) {
            let mut rules = self.broken(&statement);
            if function.language == "sql" && self.touches(&statement) {
                rules.insert(Rule::SqlReads);
            }
            if !["sql", "plpgsql"].contains(&function.language.as_str()) {
                rules.insert(Rule::Unread);
            }
            let statement = written(&statement);
            found.extend(rules.into_iter().map(|rule| Complaint {
                function: function.name.clone(),
                rule,
                statement: statement.chars().take(300).collect(),
            }));
        }
        found
    }

    /// Which rules a statement breaks.
    pub fn broken(&self, statement: &[Node]) -> BTreeSet<Rule> {
        let arms = arms(statement);
        let on_tables = || {
            arms.iter()
                .filter(|arm| !self.known_relations(arm).is_empty())
        };
        let writes = writes(statement);
        let checks = [
            (Rule::Site, on_tables().any(|arm| !self.names_its_site(arm))),
            (
                Rule::Volatile,
                arms.iter()
                    .any(|arm| self.calls_one_of(changing_part(arm), &self.volatile)),
            ),
            (Rule::SimpleCase, writes && has_simple_case(statement)),
            (
                Rule::Arithmetic,
                writes && has_arithmetic_in_choice(statement),
            ),
            (
                Rule::ReadsWithin,
                arms.iter()
                    .any(|arm| self.is_on_tables(arm) && self.calls_one_of(arm, &self.reading)),
            ),
            (
                Rule::WholeRow,
                on_tables().any(|arm| self.passes_whole_row(arm)),
            ),
            (
                Rule::InsertSelect,
                arms.iter().any(|arm| inserts_query(arm)),
            ),
            (
                Rule::ValuesLeftJoin,
                arms.iter().any(|arm| joins_values(arm)),
            ),
            (Rule::WritingWith, has_writing_with(statement)),
            (
                Rule::LateralAggregate,
                on_tables().any(|arm| self.has_lateral_aggregate(arm)),
            ),
            (
                Rule::Unread,
                ["execute", "merge"]
                    .iter()
                    .any(|word| statement[0].is_word(word)),
            ),
        ];
        checks
            .into_iter()
            .filter(|(_, is_broken)| *is_broken)
            .map(|(rule, _)| rule)
            .collect()
    }

    /// Every relation with a site_id is tied to a site, and at least one of them to a parameter.
    fn names_its_site(&self, arm: Arm<'_>) -> bool {
        let mut known = self.known_relations(arm);
        known.retain(|relation| self.relations[&relation.name]);
        if known.is_empty() {
            return true;
        }
        if inserts(arm) {
            return inserts_site(arm);
        }
        let ties = ties_to_site(arm);
        ties.len() >= known.len() && ties.contains(&true)
    }

    fn passes_whole_row(&self, arm: Arm<'_>) -> bool {
        let mut tables = self.known_relations(arm);
        tables.retain(|relation| self.tables.contains(&relation.name));
        calls(arm).iter().any(|call| {
            split_at(call.arguments, ",").any(|argument| {
                tables
                    .iter()
                    .any(|table| is_whole_row(argument, &table.alias))
            })
        })
    }

    fn has_lateral_aggregate(&self, arm: Arm<'_>) -> bool {
        arm.windows(2).any(|pair| {
            pair[0].is_word("lateral")
                && pair[1]
                    .group()
                    .is_some_and(|query| self.calls_one_of(query, &self.aggregates))
        })
    }
}

/// A function's name without its schema.
fn bare(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Whether it changes rows.
fn writes(statement: &[Node]) -> bool {
    arms(statement)
        .into_iter()
        .any(|arm| inserts(arm) || !changing_part(arm).is_empty())
}

fn inserts(arm: Arm<'_>) -> bool {
    arm.windows(2)
        .any(|pair| pair[0].is_word("insert") && pair[1].is_word("into"))
}

/// From UPDATE or DELETE on; nothing if there is neither. "FOR UPDATE" is none.
fn changing_part(arm: Arm<'_>) -> &[Node] {
    let begins = arm.iter().enumerate().position(|(position, node)| {
        let locks = position > 0
            && ["for", "key"]
                .iter()
                .any(|word| arm[position - 1].is_word(word));
        (node.is_word("update") && !locks) || node.is_word("delete")
    });
    begins.map_or(&[], |begins| &arm[begins..])
}

/// Each "AND site_id = …" of a query, and whether that is a parameter. Under an OR it ties nothing.
fn ties_to_site(arm: Arm<'_>) -> Vec<bool> {
    let conditions = arm
        .iter()
        .position(|node| node.is_word("from") || node.is_word("update"));
    let conditions = &arm[conditions.unwrap_or(0)..];
    if conditions.iter().any(|node| node.is_word("or")) {
        return Vec::new();
    }
    let mut ties = Vec::new();
    for (position, node) in conditions.iter().enumerate() {
        let [equals, value @ ..] = &conditions[position + 1..] else {
            break;
        };
        if !node.is_word("site_id") || !equals.is_mark("=") {
            continue;
        }
        let qualified = position > 1 && conditions[position - 1].is_mark(".");
        let before = position.checked_sub(if qualified { 3 } else { 1 });
        let is_condition = before.is_some_and(|before| {
            ["where", "and", "on"]
                .iter()
                .any(|word| conditions[before].is_word(word))
        });
        let value = column_or_parameter(value);
        let is_whole = value.is_some_and(|(_, rest)| rest.first().is_none_or(ends_condition));
        if let Some((is_parameter, _)) = value
            && is_condition
            && is_whole
        {
            ties.push(is_parameter);
        }
    }
    ties
}

/// Whether a value that begins here is a parameter (or a variable, which is one to the statement), and what follows it.
fn column_or_parameter(nodes: &[Node]) -> Option<(bool, &[Node])> {
    let first = nodes.first()?.word()?;
    let is_variable = ["p_", "v_", "$"]
        .iter()
        .any(|prefix| first.starts_with(prefix));
    match nodes {
        [_, dot, Node::Word(field), rest @ ..] if dot.is_mark(".") => {
            let is_row = ["new", "old"].contains(&first);
            (is_variable || is_row || field == "site_id").then_some((is_variable || is_row, rest))
        }
        [_, rest @ ..] => is_variable.then_some((true, rest)),
        [] => None,
    }
}

fn ends_condition(node: &Node) -> bool {
    let words = [
        "and",
        "cross",
        "for",
        "full",
        "group",
        "inner",
        "join",
        "left",
        "limit",
        "offset",
        "order",
        "returning",
        "right",
        "where",
    ];
    node.word().is_some_and(|word| words.contains(&word))
}

/// Whether a row is written with a parameter for its site.
fn inserts_site(arm: Arm<'_>) -> bool {
    let mut groups = arm
        .iter()
        .enumerate()
        .filter_map(|(position, node)| Some((position, node.group()?)));
    let Some((_, columns)) = groups.next() else {
        return false;
    };
    let site =
        split_at(columns, ",").position(|column| column.len() == 1 && column[0].is_word("site_id"));
    let Some((position, values)) = groups.next() else {
        return false;
    };
    let Some(site) = site.filter(|_| arm[position - 1].is_word("values")) else {
        return false;
    };
    split_at(values, ",")
        .nth(site)
        .and_then(column_or_parameter)
        .is_some_and(|(is_parameter, rest)| is_parameter && rest.is_empty())
}

fn is_whole_row(argument: &[Node], alias: &str) -> bool {
    let argument = match argument {
        [distinct, rest @ ..] if distinct.is_word("distinct") => rest,
        whole => whole,
    };
    match argument {
        [row] => row.is_word(alias),
        [row, order, ..] if order.is_word("order") => row.is_word(alias),
        [row, dot, star, ..] => row.is_word(alias) && dot.is_mark(".") && star.is_mark("*"),
        _ => false,
    }
}

/// "CASE value WHEN …".
fn has_simple_case(nodes: &[Node]) -> bool {
    nodes
        .windows(2)
        .any(|pair| pair[0].is_word("case") && !pair[1].is_word("when"))
        || nodes.iter().filter_map(Node::group).any(has_simple_case)
}

/// Plus or minus between CASE and END, or in the parentheses of COALESCE.
fn has_arithmetic_in_choice(nodes: &[Node]) -> bool {
    let mut cases = 0;
    nodes.iter().enumerate().any(|(position, node)| {
        if node.is_word("case") {
            cases += 1;
        } else if node.is_word("end") {
            cases -= 1;
        }
        let in_coalesce = position > 0 && nodes[position - 1].is_word("coalesce");
        match node.group() {
            Some(inner) if cases > 0 || in_coalesce => has_arithmetic(inner),
            Some(inner) => has_arithmetic_in_choice(inner),
            None => cases > 0 && is_arithmetic(node),
        }
    })
}

fn has_arithmetic(nodes: &[Node]) -> bool {
    nodes
        .iter()
        .any(|node| is_arithmetic(node) || node.group().is_some_and(has_arithmetic))
}

fn is_arithmetic(node: &Node) -> bool {
    node.is_mark("+") || node.is_mark("-")
}

fn inserts_query(arm: Arm<'_>) -> bool {
    let is_query = |nodes: &[Node]| {
        nodes.iter().any(|node| {
            ["select", "with", "table"]
                .iter()
                .any(|word| node.is_word(word))
        })
    };
    let Some(insert) = arm.iter().position(|node| node.is_word("insert")) else {
        return false;
    };
    // "WITH" before it belongs to a rule of its own.
    let rest = &arm[insert..];
    is_query(rest)
        || rest
            .iter()
            .filter_map(Node::group)
            .any(|group| group.first().is_some_and(|node| node.is_word("select")))
}

fn joins_values(arm: Arm<'_>) -> bool {
    let begins = |group: &[Node]| group.first().is_some_and(|node| node.is_word("values"));
    arm.iter().any(|node| node.group().is_some_and(begins))
        && arm.iter().any(|node| node.is_word("left"))
}

/// A query in parentheses that writes can only stand in a WITH.
fn has_writing_with(nodes: &[Node]) -> bool {
    nodes.iter().filter_map(Node::group).any(|group| {
        let writes = ["insert", "update", "delete"]
            .iter()
            .any(|word| group.first().is_some_and(|node| node.is_word(word)));
        writes || has_writing_with(group)
    })
}
