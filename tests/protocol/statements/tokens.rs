//! SQL as a list of words, with what is in parentheses as one of them.

use std::fmt;

/// A piece of SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A keyword, a name or a parameter, in lower case unless it is quoted.
    Word(String),
    /// A constant, whatever is in it.
    Constant,
    /// An operator or a mark.
    Mark(String),
    /// What is in parentheses.
    Group(Vec<Node>),
}

impl Node {
    /// Whether it is this keyword or name.
    pub fn is_word(&self, word: &str) -> bool {
        matches!(self, Self::Word(found) if found == word)
    }

    /// Whether it is this operator or mark.
    pub fn is_mark(&self, mark: &str) -> bool {
        matches!(self, Self::Mark(found) if found == mark)
    }

    /// The word, if it is one.
    pub fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            _ => None,
        }
    }

    /// What is in the parentheses, if it is a pair of them.
    pub fn group(&self) -> Option<&[Self]> {
        match self {
            Self::Group(nodes) => Some(nodes),
            _ => None,
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(text) | Self::Mark(text) => f.write_str(text),
            Self::Constant => f.write_str("…"),
            Self::Group(nodes) => write!(f, "({})", written(nodes)),
        }
    }
}

/// What was read, for a message.
pub fn written(nodes: &[Node]) -> String {
    let words: Vec<String> = nodes.iter().map(Node::to_string).collect();
    words.join(" ")
}

/// What stands between marks of one kind, commas for one.
pub fn split_at<'a>(nodes: &'a [Node], mark: &'a str) -> impl Iterator<Item = &'a [Node]> {
    nodes.split(move |node| node.is_mark(mark))
}

/// Reads SQL. Comments and the insides of constants are skipped, so that nothing in them is taken for a statement.
pub fn read(sql: &str) -> Vec<Node> {
    let mut reader = Reader { rest: sql };
    let nodes = reader.nodes();
    assert!(
        reader.rest.is_empty(),
        "a parenthesis too many: {}",
        reader.rest
    );
    nodes
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    /// Up to the parenthesis that closes, or the end.
    fn nodes(&mut self) -> Vec<Node> {
        let mut nodes = Vec::new();
        loop {
            self.skip_blanks_and_comments();
            let Some(first) = self.rest.chars().next() else {
                return nodes;
            };
            match first {
                ')' => return nodes,
                '(' => {
                    self.take(1);
                    nodes.push(Node::Group(self.nodes()));
                    assert!(self.rest.starts_with(')'), "a parenthesis is not closed");
                    self.take(1);
                }
                _ => nodes.push(self.node(first)),
            }
        }
    }

    fn node(&mut self, first: char) -> Node {
        if first == '\'' {
            self.quoted('\'');
            return Node::Constant;
        }
        if first == '"' {
            return Node::Word(self.quoted('"'));
        }
        if first == '$' {
            return self.after_dollar();
        }
        if first.is_ascii_digit() {
            // Two dots are a range of a loop and no part of a number.
            let length = self.rest.find(|c: char| !c.is_ascii_alphanumeric());
            self.take(length.unwrap_or(self.rest.len()));
            return Node::Constant;
        }
        if is_of_name(first) {
            return self.name();
        }
        Node::Mark(self.mark(first))
    }

    fn name(&mut self) -> Node {
        let length = self.rest.find(|c: char| !is_of_name(c) && c != '$');
        let word = self.take(length.unwrap_or(self.rest.len())).to_lowercase();
        // A letter right before a quotation mark says what kind of constant it is.
        if self.rest.starts_with('\'') && ["e", "b", "x", "n"].contains(&word.as_str()) {
            assert_ne!(word, "e", "constants with backslashes are not read here");
            self.quoted('\'');
            return Node::Constant;
        }
        Node::Word(word)
    }

    fn after_dollar(&mut self) -> Node {
        let inner = &self.rest[1..];
        let length = inner.find(|c: char| !is_of_name(c)).unwrap_or(inner.len());
        if inner.starts_with(|c: char| c.is_ascii_digit()) {
            return Node::Word(self.take(1 + length).to_owned());
        }
        let tag = self.take(length + 2).to_owned();
        assert!(tag.ends_with('$'), "a lonely dollar sign: {tag}");
        let end = self
            .rest
            .find(&tag)
            .unwrap_or_else(|| panic!("{tag} is not closed"));
        self.take(end + tag.len());
        Node::Constant
    }

    fn mark(&mut self, first: char) -> String {
        for mark in [":=", "::", "..", "=>"] {
            if self.rest.starts_with(mark) {
                return self.take(2).to_owned();
            }
        }
        if !is_of_operator(first) {
            return self.take(first.len_utf8()).to_owned();
        }
        let mut length = self
            .rest
            .find(|c: char| !is_of_operator(c))
            .unwrap_or(self.rest.len());
        for comment in ["--", "/*"] {
            if let Some(begins) = self.rest[..length].find(comment) {
                length = begins;
            }
        }
        self.take(length).to_owned()
    }

    /// What is in quotation marks; one that is doubled stands for itself.
    fn quoted(&mut self, mark: char) -> String {
        self.take(1);
        let mut text = String::new();
        loop {
            let end = self
                .rest
                .find(mark)
                .expect("a quotation mark is not closed");
            text.push_str(self.take(end));
            self.take(1);
            if !self.rest.starts_with(mark) {
                return text;
            }
            text.push(mark);
            self.take(1);
        }
    }

    fn skip_blanks_and_comments(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            if self.rest.starts_with("--") {
                self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                self.skip_block_comment();
            } else {
                return;
            }
        }
    }

    /// They nest.
    fn skip_block_comment(&mut self) {
        self.take(2);
        loop {
            let end = self.rest.find("*/").expect("a comment is not closed");
            let inner = self.rest.find("/*").filter(|begin| *begin < end);
            match inner {
                Some(begin) => {
                    self.take(begin);
                    self.skip_block_comment();
                }
                None => {
                    self.take(end + 2);
                    return;
                }
            }
        }
    }

    fn take(&mut self, bytes: usize) -> &str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }
}

fn is_of_name(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn is_of_operator(c: char) -> bool {
    "+-*/<>=~!@#%^&|`?".contains(c)
}
