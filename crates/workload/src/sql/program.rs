//! Scripts, ready to run.
//!
//! The one idea: everything that can be decided before the run is: names are numbers, conditions are jumps, statements
//! have their places in one list. All workers share one program.

use super::command::{Action, Amount, Bound, Command, Keep, Unit};
use super::expression::Expression;
use super::names::{Names, is_name};
use super::problem::{Problem, Problems, ScriptPlace};
use super::reader::read;
use super::scalar::Held;
use super::substitute::Parameter;
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
    pub(super) steps: Vec<Instruction>,
    /// Variables that it may change.
    pub(super) writes: Vec<u16>,
}

/// One instruction and the line that it comes from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Instruction {
    pub(super) line: u32,
    pub(super) what: What,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
    Set(u16, Expression),
    Sleep(Amount, Unit),
    Send {
        calls: Box<[Send]>,
        keep: Option<Kept>,
    },
    /// Goes on there unless the condition holds.
    Unless(Expression, u32),
    Jump(u32),
    StartPipeline,
    SyncPipeline,
    EndPipeline,
}

/// One statement of a batch.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Send {
    pub(super) statement: u16,
    pub(super) parameters: Box<[Parameter]>,
    pub(super) bound: Option<Bound>,
}

/// Answers to keep, by number so that a worker can remember what their columns mean.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kept {
    pub(super) number: u16,
    pub(super) keep: Keep,
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
                let compiled = program.compile(&script.name, script.weight, &commands);
                match compiled {
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

    fn compile(&mut self, name: &str, weight: u32, commands: &[Command]) -> Option<Compiled> {
        let mut steps: Vec<Instruction> = Vec::new();
        // For each open condition: the jump to patch when the next branch begins, and those to patch at its end.
        let mut open: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
        for command in commands {
            let next = steps.len();
            let mut push = |what: What| steps.push(Instruction { line: command.place.line, what });
            match &command.action {
                Action::Set { variable, expression } => push(What::Set(*variable, expression.clone())),
                Action::Sleep { amount, unit } => push(What::Sleep(amount.clone(), *unit)),
                Action::StartPipeline => push(What::StartPipeline),
                Action::SyncPipeline => push(What::SyncPipeline),
                Action::EndPipeline => push(What::EndPipeline),
                Action::Sql { .. } => push(self.send(name, &command.action)?),
                Action::If(condition) => {
                    push(What::Unless(condition.clone(), 0));
                    open.push((Some(next), vec![]));
                }
                Action::Elif(condition) => {
                    let (branch, ends) = open.last_mut()?;
                    push(What::Jump(0));
                    ends.push(next);
                    push(What::Unless(condition.clone(), 0));
                    let before = branch.replace(next + 1);
                    patch(&mut steps, before, next + 1);
                }
                Action::Else => {
                    let (branch, ends) = open.last_mut()?;
                    push(What::Jump(0));
                    ends.push(next);
                    let before = branch.take();
                    patch(&mut steps, before, next + 1);
                }
                Action::Endif => {
                    let (branch, ends) = open.pop()?;
                    ends.into_iter().chain(branch).for_each(|at| patch(&mut steps, Some(at), next));
                }
            }
        }
        let writes = self.writes(commands);
        Some(Compiled { name: name.to_owned(), weight, steps, writes })
    }

    /// Gives the statements of a command their places.
    fn send(&mut self, script: &str, action: &Action) -> Option<What> {
        let Action::Sql { parts, keep } = action else { return None };
        let mut calls = Vec::new();
        let last = parts.len() - 1;
        for (index, part) in parts.iter().enumerate() {
            let statement = u16::try_from(self.statements.len()).ok()?;
            let name = format!("{script}:{} {}", part.place.line, part.gist());
            self.statements.push(Statement { name, sql: part.made.sql.clone(), rows: part.rows });
            let kept = keep.as_ref().filter(|keep| keep.all || index == last);
            self.kept.push(kept.map(|keep| keep.prefix.clone()));
            calls.push(Send { statement, parameters: part.made.parameters.clone().into(), bound: part.bound });
        }
        let keep = keep.clone().map(|keep| {
            self.keeps += 1;
            Kept { number: self.keeps - 1, keep }
        });
        Some(What::Send { calls: calls.into(), keep })
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

fn patch(steps: &mut [Instruction], at: Option<usize>, to: usize) {
    if let Some(What::Jump(target) | What::Unless(_, target)) = at.map(|at| &mut steps[at].what) {
        *target = to as u32;
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
        let mut steps = self.scripts.iter().flat_map(|script| &script.steps);
        usize::from(variable) < GIVEN.len()
            || defined
            || steps.any(|step| matches!(&step.what, What::Set(set, _) if *set == variable))
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
