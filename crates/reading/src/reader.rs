//! TOML text as a tree in which every key and value knows its line and column.
//!
//! The one idea: whoever reads sees three forms only (text, list, table), because every quantity is read from its
//! text, whether it was written as `32`, `"32"` or `32.0`.
//!
//! What it does not do: it knows no key.

use crate::problem::{Origin, Problems, did_you_mean, listed};
use toml_edit::{Document, Item, TableLike};

/// A value with its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it stands.
    pub at: Origin,
    /// What it is.
    pub form: Form,
}

/// What a value is.
#[derive(Clone, Debug)]
pub enum Form {
    /// A string, number, date or truth value, as its text.
    Text(String),
    /// An array, or an array of tables.
    List(Vec<Node>),
    /// A table of any spelling.
    Table(Vec<Entry>),
}

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub name: String,
    /// Where the key stands.
    pub at: Origin,
    /// Its value.
    pub node: Node,
}

/// Reads the whole text.
///
/// # Errors
/// The text is not TOML; the one problem says where.
pub fn read(file: &str, text: &str) -> Result<Vec<Entry>, Problems> {
    let lines = Lines::of(text);
    match Document::parse(text) {
        Ok(document) => Ok(lines.entries(document.as_table())),
        Err(error) => {
            let mut problems = Problems::of(file);
            let at = lines.origin(error.span());
            problems.add(&at, "", format!("not TOML: {}", error.message().replace('\n', "; ")));
            Err(problems)
        }
    }
}

/// The text with other texts in the place of its string values: what `change` gives for a value, however the value is
/// spelled. A text that is not TOML stays as it is.
pub fn rewritten(text: &str, change: impl Fn(&str) -> Option<String>) -> String {
    let Ok(document) = Document::parse(text) else { return text.to_owned() };
    let mut found = Vec::new();
    strings(document.as_item(), &mut |value, span| {
        found.extend(change(value).map(|new| (span, spelled(&new))));
    });
    // From the end, so that places before stay where they are.
    found.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    let mut text = text.to_owned();
    for (span, new) in found {
        text.replace_range(span, &new);
    }
    text
}

/// A text as a value of TOML.
fn spelled(text: &str) -> String {
    let letter = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(letter).collect::<String>())
}

/// Visits every string value below an item, with the place of its spelling.
fn strings(item: &Item, visit: &mut dyn FnMut(&str, std::ops::Range<usize>)) {
    match item {
        Item::None => {}
        Item::Value(value) => strings_of(value, visit),
        Item::Table(table) => table.iter().for_each(|(_, item)| strings(item, visit)),
        Item::ArrayOfTables(list) => {
            list.iter().flat_map(|table| table.iter()).for_each(|(_, item)| strings(item, visit));
        }
    }
}

fn strings_of(value: &toml_edit::Value, visit: &mut dyn FnMut(&str, std::ops::Range<usize>)) {
    match value {
        toml_edit::Value::String(text) => {
            if let Some(span) = text.span() {
                visit(text.value(), span);
            }
        }
        toml_edit::Value::Array(list) => list.iter().for_each(|value| strings_of(value, visit)),
        toml_edit::Value::InlineTable(table) => table.iter().for_each(|(_, value)| strings_of(value, visit)),
        _ => {}
    }
}

/// From this column on, columns are bytes.
const LONG_LINE: usize = 4096;

struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Lines<'a> {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
        Lines { text, starts }
    }

    fn origin(&self, span: Option<std::ops::Range<usize>>) -> Origin {
        let Some(span) = span else { return Origin::Whole };
        let line = self.starts.partition_point(|start| *start <= span.start) - 1;
        let before = self.text.get(self.starts[line]..span.start).unwrap_or_default();
        // Of a line of megabytes every key would be counted from its beginning; nobody counts characters there.
        let column = if before.len() < LONG_LINE { before.chars().count() } else { before.len() };
        Origin::File { line: line as u32 + 1, column: column as u32 + 1 }
    }

    fn entries(&self, table: &dyn TableLike) -> Vec<Entry> {
        let entry = |(name, item): (&str, &Item)| {
            let at = self.origin(table.key(name).and_then(|key| key.span()));
            let mut node = self.node(item);
            // Tables that only dotted keys made have no span of their own.
            if node.at == Origin::Whole {
                node.at = at.clone();
            }
            Entry { name: name.to_owned(), at, node }
        };
        table.iter().map(entry).collect()
    }

    fn node(&self, item: &Item) -> Node {
        let at = self.origin(item.span());
        let form = match item {
            Item::None => Form::Text(String::new()),
            Item::Value(value) => return self.value(value),
            Item::Table(table) => Form::Table(self.entries(table)),
            Item::ArrayOfTables(list) => Form::List(list.iter().map(|table| self.table(table)).collect()),
        };
        Node { at, form }
    }

    fn table(&self, table: &toml_edit::Table) -> Node {
        Node { at: self.origin(table.span()), form: Form::Table(self.entries(table)) }
    }

    fn value(&self, value: &toml_edit::Value) -> Node {
        let form = match value {
            toml_edit::Value::String(text) => Form::Text(text.value().clone()),
            toml_edit::Value::Integer(number) => Form::Text(number.value().to_string()),
            toml_edit::Value::Float(number) => Form::Text(number.value().to_string()),
            toml_edit::Value::Boolean(flag) => Form::Text(flag.value().to_string()),
            toml_edit::Value::Datetime(date) => Form::Text(date.value().to_string()),
            toml_edit::Value::Array(list) => Form::List(list.iter().map(|value| self.value(value)).collect()),
            toml_edit::Value::InlineTable(table) => Form::Table(self.entries(table)),
        };
        Node { at: self.origin(value.span()), form }
    }
}

impl Node {
    /// The form as a noun.
    pub fn noun(&self) -> &'static str {
        match self.form {
            Form::Text(_) => "a single value",
            Form::List(_) => "a list",
            Form::Table(_) => "a table",
        }
    }
}

/// A text with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The text.
    pub text: String,
    /// Where it stands.
    pub at: Origin,
}

/// A table that is being read: entries are taken out by name, and what is left at the end is unknown.
pub struct Section {
    /// Where the table stands.
    pub at: Origin,
    /// How its keys are called in problems: `system.target.`.
    pub prefix: String,
    entries: Vec<Entry>,
    known: Vec<&'static str>,
}

impl Section {
    /// A table with its entries; `prefix` stands before its keys in problems.
    pub fn new(prefix: impl Into<String>, at: Origin, entries: Vec<Entry>) -> Section {
        Section { at, prefix: prefix.into(), entries, known: Vec::new() }
    }

    /// The section of a node, or a problem when it is not a table.
    pub fn of(prefix: impl Into<String>, node: Node, problems: &mut Problems) -> Option<Section> {
        let prefix = prefix.into();
        let noun = node.noun();
        match node.form {
            Form::Table(entries) => Some(Section::new(format!("{prefix}."), node.at, entries)),
            _ => {
                problems.add(&node.at, &prefix, format!("a table, got {noun}"));
                None
            }
        }
    }

    /// How a key of this table is called in problems.
    pub fn key(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Takes out an entry.
    pub fn take(&mut self, name: &'static str) -> Option<Entry> {
        self.known.push(name);
        let place = self.entries.iter().position(|entry| entry.name == name)?;
        Some(self.entries.remove(place))
    }

    /// Takes out a single value.
    pub fn text(&mut self, name: &'static str, problems: &mut Problems) -> Option<Placed> {
        let entry = self.take(name)?;
        let noun = entry.node.noun();
        match entry.node.form {
            Form::Text(text) => Some(Placed { text, at: entry.node.at }),
            _ => {
                problems.add(&entry.node.at, &self.key(name), format!("a single value, got {noun}"));
                None
            }
        }
    }

    /// Takes out a list of single values; one value counts as a list of one.
    pub fn texts(&mut self, name: &'static str, problems: &mut Problems) -> Option<Vec<Placed>> {
        let entry = self.take(name)?;
        let nodes = match entry.node.form {
            Form::List(nodes) => nodes,
            _ => vec![entry.node],
        };
        let mut list = Vec::new();
        for node in nodes {
            let noun = node.noun();
            match node.form {
                Form::Text(text) => list.push(Placed { text, at: node.at }),
                _ => problems.add(&node.at, &self.key(name), format!("a list of single values, got {noun}")),
            }
        }
        Some(list)
    }

    /// Takes out a value by a reader of its text.
    pub fn read<T>(
        &mut self,
        name: &'static str,
        problems: &mut Problems,
        reader: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let placed = self.text(name, problems)?;
        problems.kept(&placed.at, &self.key(name), reader(&placed.text))
    }

    /// Takes out every entry that `wanted` knows.
    pub fn take_all<T>(&mut self, wanted: impl Fn(&str) -> Option<T>) -> Vec<(T, Entry)> {
        let mut taken = Vec::new();
        for entry in std::mem::take(&mut self.entries) {
            match wanted(&entry.name) {
                Some(what) => taken.push((what, entry)),
                None => self.entries.push(entry),
            }
        }
        taken
    }

    /// Everything that is left, for tables whose keys are names.
    pub fn rest(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.entries)
    }

    /// Complains of every entry that nobody took. `more` are names that [`Section::take_all`] would have known;
    /// `elsewhere` explains keys that exist but stand in another table.
    pub fn finish(
        mut self,
        more: &[&'static str],
        elsewhere: impl Fn(&str) -> Option<String>,
        problems: &mut Problems,
    ) {
        let entries = std::mem::take(&mut self.entries);
        let known: Vec<&str> = self.known.iter().chain(more).copied().collect();
        for entry in entries {
            let hint = elsewhere(&entry.name)
                .or_else(|| did_you_mean(&entry.name, known.iter().copied()))
                .unwrap_or_else(|| format!("known here: {}", listed(known.iter().copied())));
            problems.add_with(&entry.at, &self.key(&entry.name), "unknown key", Some(hint));
        }
    }
}
