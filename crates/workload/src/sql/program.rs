//! Scripts, ready to run.
//!
//! The one idea: everything that can be decided before the run is: names are numbers, of each branch it is known where the next one
//! stands, statements have their places in one list. All workers share one program.

use super::command::{Action, Command, Keep, Part};
use super::names::{Names, is_name};
use super::problem::{Problem, Problems, ScriptPlace};
use super::reader::read;
use super::scalar::Held;
use crate::transaction::{Sample, Statement, Value};

/// All scripts of a workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    pub(super) scripts: Vec<Compiled>,
    pub(super) statements: Vec<Statement>,
    /// For statements whose answers become variables, what the names of those begin with.
    pub(super) kept: Vec<Option<String>>,
    /// How many commands keep answers.
    pub(super) keeps: u16,
    pub(super) names: Names,
    /// What variables hold when a client begins.
    pub(super) defined: Vec<Held>,
    pub(super) scale: u32,
    pub(super) textual: bool,
}

/// The variables that every script has; their numbers are their places here.
pub(super) const GIVEN: [&str; 4] = ["scale", "client_id", "random_seed", "default_seed"];

/// One script.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Compiled {
    pub(super) name: String,
    pub(super) weight: u32,
    pub(super) commands: Vec<Command>,
    /// For each branch of a condition, where the next one stands, or the end.
    pub(super) branches: Vec<usize>,
    /// Variables that it may change.
    pub(super) writes: Vec<u16>,
}

impl Program {
    /// Reads and resolves the scripts.
    ///
    /// # Errors
    /// All problems of all scripts.
    pub fn build(spec: &Spec) -> Result<Program, Problems> {
        let mut names = Names::default();
        for name in GIVEN {
            names.number(name);
        }
        let mut problems = outside(spec);
        let mut scripts = Vec::new();
        for script in &spec.scripts {
            let read = read(&script.name, &script.text, spec.textual, &mut names);
            problems.extend(read.problems);
            scripts.push((script, read.commands));
        }
        let mut defined = Vec::new();
        for (name, text) in &spec.define {
            if let Some(number) = names.number(name) {
                defined.resize(defined.len().max(usize::from(number) + 1), Held::Nothing);
                defined[usize::from(number)] = Held::Text(text.clone());
            }
        }
        defined.resize(names.len(), Held::Nothing);
        let mut program = Program {
            scripts: vec![],
            statements: vec![],
            kept: vec![],
            keeps: 0,
            names,
            defined,
            scale: spec.scale,
            textual: spec.textual,
        };
        if problems.is_empty() {
            for (script, commands) in scripts {
                match program.compile(script, commands) {
                    Some(compiled) => program.scripts.push(compiled),
                    None => problems.push(general("more than 65,536 statements".to_owned())),
                }
            }
        }
        if problems.is_empty() { Ok(program) } else { Err(Problems(problems)) }
    }

    /// The statements of all scripts; calls name them by their place here.
    pub fn statements(&self) -> Vec<Statement> {
        self.statements.clone()
    }

    /// Whether the session is to say what the columns of the answers to a statement are called
    /// ([`Answers::named`](crate::transaction::Answers::named)), because `\gset` or `\aset` makes variables of them.
    pub fn wants_names(&self, statement: u16) -> bool {
        self.kept.get(usize::from(statement)).is_some_and(Option::is_some)
    }

    /// Whether the texts of statements are to be made by [`splice`](super::splice).
    pub fn textual(&self) -> bool {
        self.textual
    }

    /// Gives statements their places and branches their ends; none when there are too many statements.
    fn compile(&mut self, script: &Script, mut commands: Vec<Command>) -> Option<Compiled> {
        let (mut branches, mut open) = (vec![0; commands.len()], Vec::new());
        for (at, command) in commands.iter_mut().enumerate() {
            if matches!(command.action, Action::Elif(_) | Action::Else | Action::Endif) {
                branches[open.pop()?] = at;
            }
            match &mut command.action {
                Action::If(_) | Action::Elif(_) | Action::Else => open.push(at),
                Action::Sql { parts, keep, first } => {
                    *first = u16::try_from(self.statements.len()).ok()?;
                    self.name(&script.name, parts, keep.as_mut())?;
                }
                _ => {}
            }
        }
        let writes = self.writes(&commands);
        Some(Compiled { name: script.name.clone(), weight: script.weight, commands, branches, writes })
    }

    /// Names the statements of a command, and says which answers are kept.
    fn name(&mut self, script: &str, parts: &[Part], keep: Option<&mut Keep>) -> Option<()> {
        u16::try_from(self.statements.len() + parts.len() - 1).ok()?;
        for part in parts {
            let name = format!("{script}:{} {}", part.place.line, part.gist());
            self.statements.push(Statement { name, sql: part.made.sql.clone(), rows: part.rows });
        }
        self.kept.resize(self.statements.len(), None);
        if let Some(keep) = keep {
            let all = if keep.all { parts.len() } else { 1 };
            self.kept.iter_mut().rev().take(all).for_each(|kept| *kept = Some(keep.prefix.clone()));
            keep.number = self.keeps;
            self.keeps += 1;
        }
        Some(())
    }

    /// Variables that a script may change. Which columns an answer has is not known yet, so that all names count that
    /// begin as its variables do.
    fn writes(&self, commands: &[Command]) -> Vec<u16> {
        let kept = commands.iter().filter_map(|command| match &command.action {
            Action::Sql { keep: Some(keep), .. } => Some(keep.prefix.as_str()),
            _ => None,
        });
        let mut writes = self.names.beginning_with(kept);
        writes.extend(commands.iter().filter_map(|command| match command.action {
            Action::Set { variable, .. } => Some(variable),
            _ => None,
        }));
        writes.into_iter().collect()
    }
}

/// What is wrong with a spec outside of its scripts.
fn outside(spec: &Spec) -> Vec<Problem> {
    let mut problems = Vec::new();
    if spec.scripts.is_empty() {
        problems.push(general("no script was given; name a file, tpcb-like, simple-update or select-only".to_owned()));
    } else if spec.scripts.iter().all(|script| script.weight == 0) {
        problems.push(general("all scripts have weight 0; at least one must be drawn".to_owned()));
    }
    for (name, _) in spec.define.iter().filter(|(name, _)| !is_name(name)) {
        problems.push(general(format!("invalid variable name: \"{name}\"; letters, digits and _, no digit first")));
    }
    problems
}

fn general(text: String) -> Problem {
    Problem { script: String::new(), place: ScriptPlace::default(), text }
}

// What a script's statements would give, for a database that holds no rows.
//
// The one idea: a script goes on behind `\\gset` only when one row came back, so its statement gives one, with a column
// for every variable that the script may read from it.
//
// What it does not do: it reads no SQL. Rows that no variable is made of are not given.

impl Program {
    /// One entry a statement; nothing for those whose answers are not kept.
    pub fn samples(&self) -> Vec<Option<Sample>> {
        self.kept.iter().map(|kept| kept.as_deref().map(|prefix| self.sample(prefix))).collect()
    }

    fn sample(&self, prefix: &str) -> Sample {
        let fetched = (0..self.names.len() as u16).filter(|variable| !self.has_source(*variable));
        let names = fetched.filter_map(|variable| self.names.name(variable).strip_prefix(prefix));
        let names: Vec<String> = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
        Sample::new(1.0, vec![vec![Value::Int(1); names.len()]]).named(names.into())
    }

    /// Whether a variable gets its value otherwise: given, defined, or set by a script.
    fn has_source(&self, variable: u16) -> bool {
        let defined = self.defined.get(usize::from(variable)).is_some_and(|held| *held != Held::Nothing);
        let mut commands = self.scripts.iter().flat_map(|script| &script.commands);
        usize::from(variable) < GIVEN.len()
            || defined
            || commands.any(|one| matches!(one.action, Action::Set { variable: set, .. } if set == variable))
    }
}

// What a study says about scripts.

/// A script and how often it is drawn.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Script {
    /// What reports call it: a file's name, or a built-in one.
    pub name: String,
    /// Its text, in the script language of pgbench.
    pub text: String,
    /// How often it is drawn, beside the weights of the others. Zero: never.
    pub weight: u32,
}

/// The workload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Spec {
    /// The scripts; each is a class of its own.
    pub scripts: Vec<Script>,
    /// Variables that are defined before (`-D`), with their texts.
    pub define: Vec<(String, String)>,
    /// What `:scale` gives.
    pub scale: u32,
    /// Whether sessions speak the simple protocol, so that values are spliced into the text (see
    /// [`splice`](super::splice)) rather than sent beside it.
    pub textual: bool,
}

#[cfg(test)]
mod tests {
    use super::super::{Script, Spec};
    use super::*;
    use crate::transaction::{Answers, Turn};

    #[test]
    fn a_statement_ahead_of_gset_gives_one_row_with_the_variables_that_nothing_else_sets() {
        let text = "\\set aid 7\nselect 1 as bal, 2 as far \\gset\nselect :bal + :far + :aid + :scale;\n";
        let script = Script { name: "own".into(), text: text.into(), weight: 1 };
        let spec = Spec { scripts: vec![script], define: vec![], scale: 1, textual: false };
        let samples = Program::build(&spec).unwrap().samples();
        let (mut answers, mut turn) = (Answers::default(), Turn::default());
        samples[0].as_ref().unwrap().answer(&mut turn, &mut answers);
        assert_eq!(answers.names(0).unwrap().to_vec(), ["bal", "far"]);
        assert_eq!((answers.get(0).row_count(), samples[1].is_none()), (1, true));
    }
}
