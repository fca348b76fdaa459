//! What was understood of a script, in words and values.
//!
//! The one idea: whoever brings a script sees, command by command, what it will do here, and where that differs from what
//! pgbench would do, before anything runs.

use super::command::{Action, Amount, Command, Part};
use super::expression::{Expression, Function};
use super::names::Names;
use super::problem::{Problem, ScriptPlace};
use super::program::GIVEN;
use super::reader::{DEEPEST, read};
use super::substitute::Parameter;
use std::collections::BTreeSet;

/// What was understood of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Name of the script.
    pub name: String,
    /// Its commands in order.
    pub commands: Vec<Explained>,
    /// Variables that it reads, by name.
    pub reads: Vec<String>,
    /// Variables that it sets; those of `\gset` and `\aset` as far as the script reads them.
    pub sets: Vec<String>,
    /// Variables that it reads and neither sets nor finds set: they must be defined.
    pub needs: Vec<String>,
    /// Statements as the server sees them, with `$1` for variables.
    pub statements: Vec<String>,
    /// What differs from pgbench or may surprise.
    pub notes: Vec<Note>,
    /// What keeps it from being run.
    pub problems: Vec<Problem>,
}

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// Where it stands.
    pub place: ScriptPlace,
    /// What kind it is: `set`, `statement`, `if`, ...
    pub kind: &'static str,
    /// What it does.
    pub text: String,
    /// How deep it lies in conditions.
    pub depth: u32,
}

/// Something to know about a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Where.
    pub place: ScriptPlace,
    /// What it is and what follows from it.
    pub text: String,
}

/// Explains a script; no text is too broken.
pub fn explain(name: &str, text: &str) -> Explanation {
    let mut names = Names::default();
    let read = read(name, text, false, &mut names);
    let mut found = Found { names: &names, reads: BTreeSet::new(), sets: BTreeSet::new(), notes: vec![], drew: false };
    let mut depth = 0u32;
    let mut commands = Vec::new();
    for command in &read.commands {
        found.look(command);
        let closes = matches!(command.action, Action::Elif(_) | Action::Else | Action::Endif);
        let here = depth.saturating_sub(u32::from(closes));
        let (kind, text) = describe(&command.action, &names);
        // Deeper ones are a problem of the script, and need no margin as wide as they are deep.
        commands.push(Explained { place: command.place, kind, text, depth: here.min(DEEPEST) });
        depth = match command.action {
            Action::If(_) => depth + 1,
            Action::Endif => here,
            _ => depth,
        };
    }
    let words = |numbers: &BTreeSet<u16>| -> Vec<String> {
        numbers.iter().map(|number| names.name(*number).to_owned()).collect::<BTreeSet<_>>().into_iter().collect()
    };
    let kept = read.commands.iter().filter_map(|command| match &command.action {
        Action::Sql { keep: Some(keep), .. } => Some(keep.prefix.as_str()),
        _ => None,
    });
    let kept = names.beginning_with(kept).into_iter().filter(|number| !found.given(*number));
    found.sets = kept.chain(found.sets.iter().copied()).collect();
    let (reads, sets) = (words(&found.reads), words(&found.sets));
    let needs = reads
        .iter()
        .filter(|name| sets.binary_search(name).is_err() && !GIVEN.contains(&name.as_str()))
        .cloned()
        .collect();
    let parts = read.commands.iter().flat_map(parts);
    let statements = parts.map(|part| part.made.sql.clone()).collect();
    Explanation {
        name: name.to_owned(),
        commands,
        needs,
        reads,
        sets,
        statements,
        notes: found.notes,
        problems: read.problems,
    }
}

fn parts(command: &Command) -> &[Part] {
    match &command.action {
        Action::Sql { parts, .. } => parts,
        _ => &[],
    }
}

struct Found<'a> {
    names: &'a Names,
    reads: BTreeSet<u16>,
    sets: BTreeSet<u16>,
    notes: Vec<Note>,
    /// Whether it was said that random numbers differ.
    drew: bool,
}

impl Found<'_> {
    fn note(&mut self, place: ScriptPlace, text: impl Into<String>) {
        self.notes.push(Note { place, text: text.into() });
    }

    fn look(&mut self, command: &Command) {
        let place = command.place;
        match &command.action {
            Action::Set { variable, expression } => {
                self.expression(expression, place);
                self.sets.insert(*variable);
            }
            Action::If(condition) | Action::Elif(condition) => self.expression(condition, place),
            Action::Sleep { amount: Amount::Variable(variable), .. } => self.reads.extend([*variable]),
            Action::Sleep { .. } => {
                self.note(place, "the pause is part of the transaction and of its response time, as in pgbench");
            }
            Action::SyncPipeline => self.note(place, "pgbench knows \\syncpipeline from version 17 on"),
            Action::Sql { parts, .. } => {
                parts.iter().for_each(|part| self.statement(part));
                if parts.len() > 1 {
                    let text = format!("{} statements travel together, in any protocol", parts.len());
                    self.note(place, text);
                }
            }
            _ => {}
        }
    }

    fn given(&self, number: u16) -> bool {
        GIVEN.contains(&self.names.name(number))
    }

    fn expression(&mut self, expression: &Expression, place: ScriptPlace) {
        expression.reads(|variable| self.reads.extend([variable]));
        if expression.draws() && !std::mem::replace(&mut self.drew, true) {
            self.note(place, "random numbers have pgbench's distributions, but not its values for a seed");
        }
        if expression.calls(Function::Debug) {
            self.note(place, "debug() gives back its argument and prints nothing here");
        }
    }

    fn statement(&mut self, part: &Part) {
        for parameter in &part.made.parameters {
            if let Parameter::Variable(variable) = parameter {
                self.reads.insert(*variable);
            }
        }
        for variable in &part.made.quoted {
            let text = format!(
                ":{} stands in quotes or in a comment: the simple protocol puts its value there, the others leave a bare \
                 parameter, which the server refuses",
                self.names.name(*variable)
            );
            self.note(part.place, text);
        }
        if part.made.own {
            let text = "the text has a $1 of its own: in the extended and prepared protocol it is the first variable";
            self.note(part.place, text);
        }
        if part.made.sql == ";" || part.made.sql.starts_with("/*") && part.made.sql.ends_with("*/") {
            self.note(part.place, "an empty query, which some servers refuse");
        }
    }
}

fn describe(action: &Action, names: &Names) -> (&'static str, String) {
    match action {
        Action::Set { variable, expression } => {
            ("set", format!("{} = {}", names.name(*variable), expression.text(names)))
        }
        Action::Sleep { amount: Amount::Fixed(amount), unit } => ("sleep", format!("{amount} {}", unit.0)),
        Action::Sleep { amount: Amount::Variable(variable), unit } => {
            ("sleep", format!(":{} {}", names.name(*variable), unit.0))
        }
        Action::If(condition) => ("if", condition.text(names)),
        Action::Elif(condition) => ("elif", condition.text(names)),
        Action::Else => ("else", String::new()),
        Action::Endif => ("endif", String::new()),
        Action::StartPipeline => ("startpipeline", "statements travel together from here".to_owned()),
        Action::SyncPipeline => ("syncpipeline", "what was gathered is sent".to_owned()),
        Action::EndPipeline => ("endpipeline", "what was gathered is sent, and answers are awaited".to_owned()),
        Action::Sql { parts, keep, .. } => {
            let sql = parts.iter().map(|part| part.written.as_str()).collect::<Vec<_>>().join("; ");
            match keep {
                None => ("statement", sql),
                Some(keep) => {
                    let which = if keep.all { "last row of every answer" } else { "its one row" };
                    ("statement", format!("{sql}  -> {which} becomes variables {}*", keep.prefix))
                }
            }
        }
    }
}
